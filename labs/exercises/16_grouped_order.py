"""Which tile a program computes: groups of rows, walked through column by column.

一个 program 该算哪一块：把几行小块编成一组，在组里一列一列地走。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def order_kernel(order_ptr, tiles_m, tiles_n, stride_om, GROUP: tl.constexpr):
    pid = tl.program_id(axis=0)
    tile_m = ...  # the row of the tile that belongs to this program
    tile_n = ...  # its column
    tl.store(order_ptr + tile_m * stride_om + tile_n, pid)


def order(order, GROUP):
    """One program for each tile. order[m, n] is the program that computes tile (m, n), int32."""
    tiles_m, tiles_n = order.shape
    order_kernel[(tiles_m * tiles_n,)](order, tiles_m, tiles_n, order.stride(0), GROUP=GROUP)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
