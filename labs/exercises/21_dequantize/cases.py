"""Odd numbers of columns, groups that do not fill, rows with gaps; every nibble from 0 to 15."""

from exercise import Case, Given, Output, draws, flat, integers

FUNCTION = "dequantize"


def case(
    name: str, n_rows: int, n_cols: int, group: int, block: int, gap: int | None = None
) -> Case:
    n_bytes, n_groups = -(-n_cols // 2), -(-n_cols // group)
    packed = [integers(row + 1, n_bytes, 0, 256) for row in range(n_rows)]
    scales = [draws(row + 50, n_groups, 0.125, 2.0) for row in range(n_rows)]

    def byte(row, col):
        return packed[row][col // 2]

    def nibble(row, col):
        return byte(row, col) // 16 if col % 2 else byte(row, col) % 16

    def results(quantized=lambda row, col: nibble(row, col) - 8, scale_at=lambda col: col // group):
        return [
            quantized(row, col) * scales[row][min(scale_at(col), n_groups - 1)]
            for row in range(n_rows)
            for col in range(n_cols)
        ]

    suspects = {
        "swapped": results(lambda row, col: nibble(row, col + 1 - 2 * (col % 2)) - 8),
        "no_zero_point": results(nibble),
        "no_and": results(
            lambda row, col: (byte(row, col) // 16 if col % 2 else byte(row, col)) - 8
        ),
        "wrapped": results(lambda row, col: (nibble(row, col) - 8) % 256),
        "byte_group": results(scale_at=lambda col: col // 2 // group),
    }

    def strides(width):
        return (width + gap, 1) if gap else None

    args = {
        "packed": Given(flat(packed), (n_rows, n_bytes), "uint8", strides(n_bytes)),
        "scales": Given(flat(scales), (n_rows, n_groups), strides=strides(n_groups)),
        "out": Output(results(), (n_rows, n_cols), strides=strides(n_cols)),
        "GROUP": group,
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


CASES = [
    case("ragged", 2, 22, 8, 16),
    case("odd", 3, 11, 4, 8),
    case("whole", 2, 16, 8, 16),
    case("padded_rows", 2, 10, 4, 16, gap=3),
    case("one", 1, 1, 4, 2),
    case("empty", 0, 8, 4, 8),
]
