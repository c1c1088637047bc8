"""Cross-entropy: the loss of every row of logits, without ever forming the probabilities.

交叉熵：直接从 logits 求出每一行的损失，不必先算出概率。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

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
    loss = ...  # the loss of this row, 0 if its target is ignore_index
    tl.store(loss_ptr + row, loss)


def cross_entropy(logits, target, loss, ignore_index, BLOCK):
    """BLOCK is at least the number of columns. Targets are int64."""
    n_rows, n_cols = logits.shape
    cross_entropy_kernel[(n_rows,)](
        logits, target, loss, n_cols, logits.stride(0), ignore_index, BLOCK=BLOCK
    )


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
