"""The sum of every row, where a row is longer than a block: go through it in a loop.

求每一行的和，而一行比一个块长：用循环一段一段地走完。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, n_cols, stride_xm, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    ...  # add the row to acc, BLOCK elements at a time
    tl.store(out_ptr + row, tl.sum(acc, axis=0))


def row_sum(x, out, BLOCK):
    """A row may be many times as long as BLOCK."""
    n_rows, n_cols = x.shape
    row_sum_kernel[(n_rows,)](x, out, n_cols, x.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
