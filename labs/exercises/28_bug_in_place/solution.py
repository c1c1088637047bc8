import triton
import triton.language as tl


@triton.jit
def rotate_kernel(x_ptr, cos_ptr, sin_ptr, half, stride_xm, stride_cm, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < half
    cos = tl.load(cos_ptr + row * stride_cm + cols, mask=mask, other=0.0)
    sin = tl.load(sin_ptr + row * stride_cm + cols, mask=mask, other=0.0)
    a_ptr = x_ptr + row * stride_xm + cols  # the first half of the row
    b_ptr = a_ptr + half  # and the second
    a = tl.load(a_ptr, mask=mask, other=0.0)
    b = tl.load(b_ptr, mask=mask, other=0.0)
    tl.store(a_ptr, a * cos - b * sin, mask=mask)
    tl.store(b_ptr, b * cos + a * sin, mask=mask)


def rotate(x, cos, sin, BLOCK):
    """Rotates x in place. Rows of cos and sin are half as long as rows of x, and equally far apart.

    BLOCK is at least half a row.
    """
    n_rows, n_cols = x.shape
    rotate_kernel[(n_rows,)](x, cos, sin, n_cols // 2, x.stride(0), cos.stride(0), BLOCK=BLOCK)
