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
    byte = tl.load(packed_ptr + row * stride_packed + cols // 2, mask=mask, other=0)
    scale = tl.load(scales_ptr + row * stride_scales + cols // GROUP, mask=mask, other=0.0)
    quantized = (byte >> (cols % 2) * 4) & 0xF
    weight = (quantized.to(tl.int32) - 8) * scale
    tl.store(out_ptr + row * stride_out + cols, weight, mask=mask)


def dequantize(packed, scales, out, GROUP, BLOCK):
    n_rows, n_cols = out.shape
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    strides = (packed.stride(0), scales.stride(0), out.stride(0))
    dequantize_kernel[grid](packed, scales, out, n_cols, *strides, GROUP=GROUP, BLOCK=BLOCK)
