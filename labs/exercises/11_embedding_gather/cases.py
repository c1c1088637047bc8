"""Tables with and without gaps; ids in any order, repeated, and -1 for padding."""

from exercise import Case, Given, Output, draws, flat, rows

FUNCTION = "gather"


def case(
    name: str, n_words: int, n_cols: int, ids: list[int], block: int, table_strides=None, out=None
) -> Case:
    values = draws(1, n_words * n_cols)
    table = rows(values, n_cols)
    zeros = [0.0] * n_cols
    args = {
        "table": Given(values, (n_words, n_cols), strides=table_strides),
        "ids": Given(ids, dtype="int64"),
        "out": Output(
            flat([table[word] if word >= 0 else zeros for word in ids]),
            (len(ids), n_cols),
            strides=out,
        ),
        "BLOCK": block,
    }
    suspects = {"first_word": flat([table[0] if word >= 0 else zeros for word in ids])}
    if len(ids) <= n_words:
        own = zip(table, ids, strict=False)
        suspects["own_row"] = flat([row if word >= 0 else zeros for row, word in own])
    return Case(name, args, {key: {"out": found} for key, found in suspects.items()})


CASES = [
    case("ragged", 6, 5, [4, 2, 5, 4, 1], 8),
    case("padding", 3, 4, [2, -1, 0, -1, 1, 2], 4),
    case("padded_rows", 4, 3, [3, 1, -1], 4, table_strides=(5, 1), out=(4, 1)),
    case("one", 1, 1, [0], 1),
    case("only_padding", 2, 3, [-1, -1], 4),
    case("empty", 3, 4, [], 4),
]
