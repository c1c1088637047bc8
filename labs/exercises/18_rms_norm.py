"""RMSNorm in fp16: divide every row by its root mean square, then scale the columns.

fp16 的 RMSNorm：每一行除以自己的均方根，再给每一列乘上权重。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(
    x_ptr, weight_ptr, out_ptr, n_cols, stride_xm, stride_om, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    ...  # load the row and the weights, normalize in fp32, scale, store


def rms_norm(x, weight, out, eps, BLOCK):
    """x, weight and out are fp16. BLOCK is at least the number of columns."""
    n_rows, n_cols = x.shape
    rms_norm_kernel[(n_rows,)](x, weight, out, n_cols, x.stride(0), out.stride(0), eps, BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
