"""Dropout from a seed: no mask is stored, and the same seed drops the same elements.

由种子决定的 dropout：不必保存 mask，种子相同，丢掉的元素就相同。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, p, seed, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0.0)
    y = ...  # x / (1 - p) where the random number of the element is at least p, else 0
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)


def dropout(x, out, p, seed, BLOCK):
    """0 <= p < 1. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    strides = (x.stride(0), out.stride(0))
    dropout_kernel[(n_rows,)](x, out, n_cols, *strides, p, seed, BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
