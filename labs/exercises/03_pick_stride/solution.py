import triton
import triton.language as tl


@triton.jit
def column_kernel(x_ptr, out_ptr, col, n_rows, n_cols, stride_xm, stride_xn, BLOCK: tl.constexpr):
    rows = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = rows < n_rows
    offsets = rows * stride_xm + col * stride_xn  # how far x[rows, col] lies from x_ptr
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + rows, x, mask=mask)


def column(x, col, out, BLOCK):
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, BLOCK),)
    column_kernel[grid](x, out, col, n_rows, n_cols, x.stride(0), x.stride(1), BLOCK=BLOCK)
