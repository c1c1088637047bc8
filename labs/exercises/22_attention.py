"""Attention for one head: scores, online softmax and weighted sum in one loop over the keys.

单头 attention：沿着 key 循环一遍，同时完成打分、在线 softmax 和加权求和。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    n,
    stride_qm,
    stride_kn,
    stride_vn,
    stride_om,
    scale,
    CAUSAL: tl.constexpr,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    queries = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    mask_m = queries[:, None] < n
    q = tl.load(q_ptr + queries[:, None] * stride_qm + dims[None, :], mask=mask_m, other=0.0)
    running_max = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    running_sum = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)  # the weighted sum of v, not yet divided
    for start in range(0, n, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        mask_n = keys[:, None] < n
        k = tl.load(k_ptr + keys[:, None] * stride_kn + dims[None, :], mask=mask_n, other=0.0)
        v = tl.load(v_ptr + keys[:, None] * stride_vn + dims[None, :], mask=mask_n, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        ...  # hide what a query must not see, then update running_max, running_sum and acc
    out = acc / running_sum[:, None]
    tl.store(out_ptr + queries[:, None] * stride_om + dims[None, :], out, mask=mask_m)


def attention(q, k, v, out, scale, CAUSAL, BLOCK_M, BLOCK_N):
    """q, k, v and out are n x D in fp16. D is a power of two and at least 16."""
    n, d = q.shape
    strides = (q.stride(0), k.stride(0), v.stride(0), out.stride(0))
    blocks = {"D": d, "BLOCK_M": BLOCK_M, "BLOCK_N": BLOCK_N}
    grid = (triton.cdiv(n, BLOCK_M),)
    attention_kernel[grid](q, k, v, out, n, *strides, scale, CAUSAL=CAUSAL, **blocks)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
