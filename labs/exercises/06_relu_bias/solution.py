import triton
import triton.language as tl


@triton.jit
def relu_bias_kernel(x_ptr, bias_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.program_id(axis=1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)
    bias = tl.load(bias_ptr + cols, mask=mask, other=0.0)
    y = tl.maximum(x + bias, 0.0)
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)


def relu_bias(x, bias, out, BLOCK):
    n_rows, n_cols = x.shape
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    relu_bias_kernel[grid](x, bias, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)
