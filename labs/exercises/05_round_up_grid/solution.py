import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, x + x, mask=mask)


def double(x, out, BLOCK):
    n = x.numel()
    n_programs = triton.cdiv(n, BLOCK)  # as many as the elements need
    double_kernel[(n_programs,)](x, out, n, BLOCK=BLOCK)
