"""Keep the k largest elements of every row, and make the others minus infinity.

每一行只留下最大的 k 个元素，其余的都换成负无穷。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def topk_mask_kernel(x_ptr, out_ptr, k, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=inside, other=-float("inf"))
    keep = cols < 0  # false everywhere, to begin with
    ...  # make keep true for the k largest elements
    tl.store(out_ptr + row * stride_om + cols, tl.where(keep, x, -float("inf")), mask=inside)


def topk_mask(x, out, k, BLOCK):
    """1 <= k <= the number of columns <= BLOCK."""
    n_rows, n_cols = x.shape
    topk_mask_kernel[(n_rows,)](x, out, k, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
