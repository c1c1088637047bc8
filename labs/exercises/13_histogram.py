"""Count how often each value occurs, with many programs adding to the same counts.

数一数每个值出现了几次；很多 program 会往同一组计数里加。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def histogram_kernel(
    values_ptr, counts_ptr, n, n_bins, stride, BLOCK: tl.constexpr, BINS: tl.constexpr
):
    at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.arange(0, BINS)
    ...  # add to counts how often each bin occurs among these values


def histogram(values, counts, BLOCK, BINS):
    """`counts` holds zeros when this is called. BINS is at least the number of counts."""
    n, n_bins = values.numel(), counts.numel()
    grid = (triton.cdiv(n, BLOCK),)
    histogram_kernel[grid](values, counts, n, n_bins, values.stride(0), BLOCK=BLOCK, BINS=BINS)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
