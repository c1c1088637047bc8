import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, p, seed, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)
    random = tl.rand(seed, row * n_cols + cols)
    y = tl.where(random >= p, x / (1 - p), 0.0)
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)


def dropout(x, out, p, seed, BLOCK):
    """0 <= p < 1. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    strides = (x.stride(0), out.stride(0))
    dropout_kernel[(n_rows,)](x, out, n_cols, *strides, p, seed, BLOCK=BLOCK)
