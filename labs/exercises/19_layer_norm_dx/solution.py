import triton
import triton.language as tl


@triton.jit
def layer_norm_dx_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, n_cols, stride, BLOCK: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    x_hat = (x - mean) * rstd
    g = dy * weight
    mean_g = tl.sum(g, axis=0) / n_cols
    mean_gx = tl.sum(g * x_hat, axis=0) / n_cols
    dx = rstd * (g - mean_g - x_hat * mean_gx)
    tl.store(dx_ptr + row * stride + cols, dx, mask=mask)


def layer_norm_dx(x, weight, dy, mean, rstd, dx, BLOCK):
    """Rows of x, dy and dx lie equally far apart. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    layer_norm_dx_kernel[(n_rows,)](x, weight, dy, mean, rstd, dx, n_cols, x.stride(0), BLOCK=BLOCK)
