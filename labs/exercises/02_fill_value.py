"""The fill value: the largest element of every row, where a row does not fill its block.

填充值：求每一行的最大值，而一行填不满一个块。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def row_max_kernel(x_ptr, out_ptr, n_cols, stride_xm, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK)
    fill = ...  # what a lane holds that has no element
    x = tl.load(x_ptr + row * stride_xm + cols, mask=cols < n_cols, other=fill)
    tl.store(out_ptr + row, tl.max(x, axis=0))


def row_max(x, out, BLOCK):
    """BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    row_max_kernel[(n_rows,)](x, out, n_cols, x.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
