"""The sum of every segment, where each has a length of its own, and some have none.

求每一段的和；各段长短不一，有的段是空的。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def segmented_sum_kernel(values_ptr, starts_ptr, sums_ptr, stride, BLOCK: tl.constexpr):
    segment = tl.program_id(axis=0)
    first = tl.load(starts_ptr + segment)
    last = tl.load(starts_ptr + segment + 1)
    total = ...  # the sum of the values first … last - 1, in fp32
    tl.store(sums_ptr + segment, total)


def segmented_sum(values, starts, sums, BLOCK):
    """values are fp16 and `stride` elements apart, starts are int32, sums are fp32."""
    grid = (sums.numel(),)
    segmented_sum_kernel[grid](values, starts, sums, values.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
