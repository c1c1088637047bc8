import triton
import triton.language as tl


@triton.jit
def transpose_kernel(x_ptr, out_ptr, n_rows, n_cols, stride_xm, stride_om, TILE: tl.constexpr):
    rows = tl.program_id(axis=0).to(tl.int64) * TILE + tl.arange(0, TILE)
    cols = tl.program_id(axis=1).to(tl.int64) * TILE + tl.arange(0, TILE)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=0.0)
    out = out_ptr + cols[:, None] * stride_om + rows[None, :]
    tl.store(out, tl.trans(x), mask=tl.trans(mask))


def transpose(x, out):
    n_rows, n_cols = x.shape
    TILE = 32
    grid = (triton.cdiv(n_rows, TILE), triton.cdiv(n_cols, TILE))
    strides = (x.stride(0), out.stride(0))
    transpose_kernel[grid](x, out, n_rows, n_cols, *strides, TILE=TILE)
