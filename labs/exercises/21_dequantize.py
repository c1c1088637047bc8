"""Dequantize int4: unpack two weights from every byte and multiply by the scale of their group.

int4 反量化：从每个字节里取出两个权重，再乘上所在组的 scale。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def dequantize_kernel(
    packed_ptr,
    scales_ptr,
    out_ptr,
    n_cols,
    stride_packed,
    stride_scales,
    stride_out,
    GROUP: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.program_id(axis=1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    ...  # load the byte and the scale of each column, unpack, subtract 8, multiply, store


def dequantize(packed, scales, out, GROUP, BLOCK):
    n_rows, n_cols = out.shape
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    strides = (packed.stride(0), scales.stride(0), out.stride(0))
    dequantize_kernel[grid](packed, scales, out, n_cols, *strides, GROUP=GROUP, BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
