import triton
import triton.language as tl


@triton.jit
def gather_kernel(table_ptr, ids_ptr, out_ptr, n_cols, stride_tm, stride_om, BLOCK: tl.constexpr):
    token = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    word = tl.load(ids_ptr + token)
    inside = cols < n_cols
    row = tl.load(table_ptr + word * stride_tm + cols, mask=inside & (word >= 0), other=0.0)
    tl.store(out_ptr + token * stride_om + cols, row, mask=inside)


def gather(table, ids, out, BLOCK):
    """BLOCK is at least the number of columns. Ids are int64."""
    n_tokens, n_cols = out.shape
    gather_kernel[(n_tokens,)](table, ids, out, n_cols, table.stride(0), out.stride(0), BLOCK=BLOCK)
