import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)
    tl.store(out_ptr + cols * stride_om + row, x, mask=mask)


def transpose(x, out):
    n_rows, n_cols = x.shape
    BLOCK = 128
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    transpose_kernel[grid](x, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)
