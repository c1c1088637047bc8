"""Find the bug: a matmul that was correct until K was 72.

找 bug：一个矩阵乘法，一直算得对，直到 K 成了 72。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(axis=0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(axis=1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + ks[:, None] * stride_bk + cols[None, :] * stride_bn
    in_k = ks < K
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a_mask = (rows[:, None] < M) & in_k[None, :]
        b_mask = in_k[:, None] & (cols[None, :] < N)
        a = tl.load(a_ptrs + start * stride_ak, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs + start * stride_bk, mask=b_mask, other=0.0)
        acc += tl.dot(a, b)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def matmul(a, b, c, BLOCK_M, BLOCK_N, BLOCK_K):
    """c = a @ b. a and b are fp16, c is fp32."""
    M, K = a.shape
    N = b.shape[1]
    strides = (*a.stride(), *b.stride(), *c.stride())
    grid = (triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
    matmul_kernel[grid](
        a, b, c, M, N, K, *strides, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K
    )


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
