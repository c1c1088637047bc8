"""Find the bug: the sums of the columns are right in the interpreter and wrong on a GPU.

找 bug：列和在解释器里是对的，在 GPU 上却是错的。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def column_sum_kernel(
    x_ptr, sums_ptr, n_rows, n_cols, stride_xm, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(axis=1) * COLS + tl.arange(0, COLS)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=0.0)
    part = tl.sum(x, axis=0)
    before = tl.load(sums_ptr + cols, mask=cols < n_cols, other=0.0)
    tl.store(sums_ptr + cols, before + part, mask=cols < n_cols)


def column_sum(x, sums, ROWS, COLS):
    """`sums` holds zeros when this is called."""
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, ROWS), triton.cdiv(n_cols, COLS))
    column_sum_kernel[grid](x, sums, n_rows, n_cols, x.stride(0), ROWS=ROWS, COLS=COLS)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
