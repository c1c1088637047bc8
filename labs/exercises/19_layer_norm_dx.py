"""The backward pass of LayerNorm: the gradient with respect to its input, row by row.

LayerNorm 的反向传播：逐行求出对输入的梯度。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def layer_norm_dx_kernel(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, rstd_ptr, dx_ptr, n_cols, stride, BLOCK: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0)
    x_hat = (x - mean) * rstd
    g = dy * weight
    dx = ...  # from x_hat, g and rstd, with two means over the row
    tl.store(dx_ptr + row * stride + cols, dx, mask=mask)


def layer_norm_dx(x, weight, dy, mean, rstd, dx, BLOCK):
    """Rows of x, dy and dx lie equally far apart. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    layer_norm_dx_kernel[(n_rows,)](x, weight, dy, mean, rstd, dx, n_cols, x.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
