"""Transpose a matrix tile by tile: out[c, r] = x[r, c].

一小块一小块地转置矩阵：out[c, r] = x[r, c]。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr, out_ptr, n_rows, n_cols, stride_xm, stride_xn, stride_om, stride_on,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(axis=1) * COLS + tl.arange(0, COLS)
    ...  # load the tile of x that begins here, store it where the transpose has it


def transpose(x, out, ROWS, COLS):
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, ROWS), triton.cdiv(n_cols, COLS))
    transpose_kernel[grid](
        x, out, n_rows, n_cols, x.stride(0), x.stride(1), out.stride(0), out.stride(1),
        ROWS=ROWS, COLS=COLS,
    )  # fmt: skip


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
