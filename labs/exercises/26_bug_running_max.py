"""Find the bug: an average weighted by softmax that is correct only if the largest score comes first.

找 bug：按 softmax 加权的平均值，只有最大的得分排在最前面时才算得对。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def pool_kernel(scores_ptr, values_ptr, out_ptr, n_cols, stride_sm, stride_vm, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    running_max = -float("inf")
    running_sum = 0.0
    acc = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        scores = tl.load(scores_ptr + row * stride_sm + cols, mask=mask, other=-float("inf"))
        values = tl.load(values_ptr + row * stride_vm + cols, mask=mask, other=0.0)
        new_max = tl.maximum(running_max, tl.max(scores, axis=0))
        weights = tl.exp(scores - new_max)
        running_max = new_max
        rescale = tl.exp(running_max - new_max)
        running_sum = running_sum * rescale + tl.sum(weights, axis=0)
        acc = acc * rescale + tl.sum(weights * values, axis=0)
    tl.store(out_ptr + row, acc / running_sum)


def pool(scores, values, out, BLOCK):
    """out[r] is the sum of softmax(scores[r, :]) * values[r, :]."""
    n_rows, n_cols = scores.shape
    strides = (scores.stride(0), values.stride(0))
    pool_kernel[(n_rows,)](scores, values, out, n_cols, *strides, BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
