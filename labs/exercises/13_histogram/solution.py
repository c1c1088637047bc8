import triton
import triton.language as tl


@triton.jit
def histogram_kernel(
    values_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr, BINS: tl.constexpr
):
    at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.arange(0, BINS)
    values = tl.load(values_ptr + at * stride, mask=at < n, other=-1)
    found = values[:, None] == bins[None, :]
    part = tl.sum(found.to(tl.int32), axis=0)
    tl.atomic_add(counts_ptr + bins, part, mask=bins < n_bins)


def histogram(values, counts, BLOCK, BINS):
    """`counts` holds zeros when this is called. BINS is at least the number of counts."""
    n, n_bins = values.numel(), counts.numel()
    grid = (triton.cdiv(n, BLOCK),)
    histogram_kernel[grid](values, counts, n, n_bins, values.stride(0), BLOCK=BLOCK, BINS=BINS)
