"""Make it faster: a row sum that reads one column at a time.

让它更快：这个行求和每次只读一列。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, ROWS: tl.constexpr):
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    mask = rows < n_rows
    acc = tl.zeros((ROWS,), tl.float32)
    for col in range(0, n_cols):
        acc += tl.load(x_ptr + rows * stride_xm + col, mask=mask, other=0.0)
    tl.store(out_ptr + rows, acc, mask=mask)


def row_sum(x, out):
    n_rows, n_cols = x.shape
    ROWS = 32
    grid = (triton.cdiv(n_rows, ROWS),)
    row_sum_kernel[grid](x, out, n_rows, n_cols, x.stride(0), ROWS=ROWS)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
