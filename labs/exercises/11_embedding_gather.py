"""Embedding lookup: copy the row of the table that each token names.

查嵌入表：每个 token 是一个编号，把表里对应的那一行取出来。

To be judged, run this file; --hint 1 shows a hint, --lang zh 用中文评判。
"""

import triton
import triton.language as tl


@triton.jit
def gather_kernel(table_ptr, ids_ptr, out_ptr, n_cols, stride_tm, stride_om, BLOCK: tl.constexpr):
    token = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    ...  # the row of the table for this token, or zeros where its id is -1, goes to row `token` of out


def gather(table, ids, out, BLOCK):
    """BLOCK is at least the number of columns. Ids are int64."""
    n_tokens, n_cols = out.shape
    gather_kernel[(n_tokens,)](table, ids, out, n_cols, table.stride(0), out.stride(0), BLOCK=BLOCK)


if __name__ == "__main__":
    try:
        from judging import judge
    except ModuleNotFoundError:
        raise SystemExit(
            "The judge is not beside this file: move it into the folder that exercises.zip unpacks to."
            "\n评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。"
        ) from None
    judge(__file__)
