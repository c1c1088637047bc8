import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(
    logits_ptr, target_ptr, loss_ptr, n_cols, stride, ignore_index, BLOCK: tl.constexpr
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    logits_ptr += row * stride
    target = tl.load(target_ptr + row)
    x = tl.load(logits_ptr + cols, mask=cols < n_cols, other=-float("inf"))
    largest = tl.max(x, axis=0)
    log_sum = largest + tl.log(tl.sum(tl.exp(x - largest), axis=0))
    counts = target != ignore_index
    x_target = tl.load(logits_ptr + target, mask=counts, other=0.0)
    loss = tl.where(counts, log_sum - x_target, 0.0)
    tl.store(loss_ptr + row, loss)


def cross_entropy(logits, target, loss, ignore_index, BLOCK):
    """BLOCK is at least the number of columns. Targets are int64."""
    n_rows, n_cols = logits.shape
    cross_entropy_kernel[(n_rows,)](
        logits, target, loss, n_cols, logits.stride(0), ignore_index, BLOCK=BLOCK
    )
