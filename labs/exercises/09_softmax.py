"""Softmax of every row, from a scaffold: load once, compute on the chip, store once.

从骨架写出 softmax：读一次，在片上算完，写一次。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=...)
    shifted = ...  # the same softmax, and no power overflows
    powers = tl.exp(shifted)
    y = ...  # what adds up to 1
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)


def softmax(x, out, BLOCK):
    """BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    softmax_kernel[(n_rows,)](x, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
