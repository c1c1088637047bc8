"""Online softmax: rows that are longer than a block, with maximum and sum found in one pass.

在线 softmax：一行比一个块还长，只走一遍就同时求出最大值和总和。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def online_softmax_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    x_ptr += row * stride_xm
    out_ptr += row * stride_om
    running_max = -float("inf")  # of the elements seen so far
    running_sum = 0.0  # of exp(element - running_max) over the same elements
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        ...  # load a block, then bring running_max and running_sum up to date
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(x_ptr + cols, mask=mask, other=0.0)
        tl.store(out_ptr + cols, tl.exp(x - running_max) / running_sum, mask=mask)


def online_softmax(x, out, BLOCK):
    n_rows, n_cols = x.shape
    online_softmax_kernel[(n_rows,)](x, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
