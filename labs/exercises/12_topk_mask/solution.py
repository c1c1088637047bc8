import triton
import triton.language as tl


@triton.jit
def topk_mask_kernel(x_ptr, out_ptr, k, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=inside, other=-float("inf"))
    keep = cols < 0
    rest = x
    for _ in range(k):
        largest = cols == tl.argmax(rest, axis=0)
        keep = keep | largest
        rest = tl.where(largest, -float("inf"), rest)
    tl.store(out_ptr + row * stride_om + cols, tl.where(keep, x, -float("inf")), mask=inside)


def topk_mask(x, out, k, BLOCK):
    """1 <= k <= the number of columns <= BLOCK."""
    n_rows, n_cols = x.shape
    topk_mask_kernel[(n_rows,)](x, out, k, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)
