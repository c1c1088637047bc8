"""Bias and ReLU in one kernel: out[r, c] = max(x[r, c] + bias[c], 0).

一个 kernel 里完成加偏置和 ReLU：out[r, c] = max(x[r, c] + bias[c], 0)。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def relu_bias_kernel(x_ptr, bias_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    cols = tl.program_id(axis=1) * BLOCK + tl.arange(0, BLOCK)
    ...  # load a piece of the row and of the bias, add, keep what is positive, store


def relu_bias(x, bias, out, BLOCK):
    n_rows, n_cols = x.shape
    grid = (n_rows, triton.cdiv(n_cols, BLOCK))
    relu_bias_kernel[grid](x, bias, out, n_cols, x.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
