import triton
import triton.language as tl


@triton.jit
def segmented_sum_kernel(values_ptr, starts_ptr, sums_ptr, stride, BLOCK: tl.constexpr):
    segment = tl.program_id(axis=0)
    first = tl.load(starts_ptr + segment)
    last = tl.load(starts_ptr + segment + 1)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, last, BLOCK):
        at = start + tl.arange(0, BLOCK)
        acc += tl.load(values_ptr + at * stride, mask=at < last, other=0.0)
    tl.store(sums_ptr + segment, tl.sum(acc, axis=0))


def segmented_sum(values, starts, sums, BLOCK):
    """values are fp16 and `stride` elements apart, starts are int32, sums are fp32."""
    grid = (sums.numel(),)
    segmented_sum_kernel[grid](values, starts, sums, values.stride(0), BLOCK=BLOCK)
