import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    x_ptr, out_ptr, n_rows, n_cols, stride_xm, stride_om, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=-float("inf"))
    largest = tl.max(x, axis=1)
    powers = tl.exp(x - largest[:, None])
    total = tl.sum(powers, axis=1)
    y = powers / total[:, None]
    tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :], y, mask=mask)


def softmax(x, out, ROWS, COLS):
    """Each program takes ROWS rows. COLS is at least the number of columns."""
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, ROWS),)
    strides = (x.stride(0), out.stride(0))
    softmax_kernel[grid](x, out, n_rows, n_cols, *strides, ROWS=ROWS, COLS=COLS)
