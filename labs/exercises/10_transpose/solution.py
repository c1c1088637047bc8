import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr, out_ptr, n_rows, n_cols, stride_xm, stride_xn, stride_om, stride_on,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(axis=1) * COLS + tl.arange(0, COLS)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn, mask=mask, other=0.0)
    tl.store(out_ptr + cols[None, :] * stride_om + rows[:, None] * stride_on, x, mask=mask)


def transpose(x, out, ROWS, COLS):
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, ROWS), triton.cdiv(n_cols, COLS))
    transpose_kernel[grid](
        x, out, n_rows, n_cols, x.stride(0), x.stride(1), out.stride(0), out.stride(1),
        ROWS=ROWS, COLS=COLS,
    )  # fmt: skip
