"""Pick the stride: copy one column of a matrix, however the matrix lies in memory.

选对 stride：复制矩阵的一列，不管矩阵在显存里怎么放。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def column_kernel(x_ptr, out_ptr, col, n_rows, n_cols, stride_xm, stride_xn, BLOCK: tl.constexpr):
    rows = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = rows < n_rows
    offsets = ...  # how far x[rows, col] lies from x_ptr
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + rows, x, mask=mask)


def column(x, col, out, BLOCK):
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, BLOCK),)
    column_kernel[grid](x, out, col, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
