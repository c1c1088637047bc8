"""Make it faster: a transpose whose stores touch one element in every sector.

让它更快：这个转置每次写入，在一个扇区里只写一个元素。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.program_id(axis=1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)
    tl.store(out_ptr + cols * stride_om + row, x, mask=mask)


def transpose(x, out):
    n_rows, n_cols = x.shape
    BLOCK = 128
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    transpose_kernel[grid](x, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
