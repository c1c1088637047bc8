import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, n_cols, stride_xm, stride_om, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    mean_square = tl.sum(x * x, axis=0) / n_cols
    y = x * tl.rsqrt(mean_square + eps) * weight
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)


def rms_norm(x, weight, out, eps, BLOCK):
    """x, weight and out are fp16. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    rms_norm_kernel[(n_rows,)](x, weight, out, n_cols, x.stride(0), out.stride(0), eps, BLOCK=BLOCK)
