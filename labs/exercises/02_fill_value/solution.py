import triton
import triton.language as tl


@triton.jit
def row_max_kernel(x_ptr, out_ptr, n_cols, stride_xm, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK)
    fill = -float("inf")  # what a lane holds that has no element
    x = tl.load(x_ptr + row * stride_xm + cols, mask=cols < n_cols, other=fill)
    tl.store(out_ptr + row, tl.max(x, axis=0))


def row_max(x, out, BLOCK):
    """BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    row_max_kernel[(n_rows,)](x, out, n_cols, x.stride(0), BLOCK=BLOCK)
