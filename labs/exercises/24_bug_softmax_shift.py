"""Find the bug: a softmax of several rows at a time, and some rows come out as NaN.

找 bug：一次算几行的 softmax，有的行却成了 NaN。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    x_ptr, out_ptr, n_rows, n_cols, stride_xm, stride_om, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=-float("inf"))
    largest = tl.max(x)
    powers = tl.exp(x - largest)
    total = tl.sum(powers, axis=1)
    y = powers / total[:, None]
    tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :], y, mask=mask)


def softmax(x, out, ROWS, COLS):
    """Each program takes ROWS rows. COLS is at least the number of columns."""
    n_rows, n_cols = x.shape
    grid = (triton.cdiv(n_rows, ROWS),)
    strides = (x.stride(0), out.stride(0))
    softmax_kernel[grid](x, out, n_rows, n_cols, *strides, ROWS=ROWS, COLS=COLS)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
