"""Grids whose last group is full, has one row, or has several; groups larger than the grid."""

from collections.abc import Callable

from exercise import Case, Output

FUNCTION = "order"
Tile = tuple[int, int]


def case(name: str, tiles_m: int, tiles_n: int, group: int, strides=None) -> Case:
    per_group = group * tiles_n

    def height(pid: int) -> int:
        return min(tiles_m - pid // per_group * group, group)

    def grouped(pid: int) -> Tile:
        within = pid % per_group
        return pid // per_group * group + within % height(pid), within // height(pid)

    def row_major(pid: int) -> Tile:
        return pid // tiles_n, pid % tiles_n

    def column_major(pid: int) -> Tile:
        return pid % tiles_m, pid // tiles_m

    def from_whole_pid(pid: int) -> Tile:
        return pid // per_group * group + pid % height(pid), pid % per_group // height(pid)

    def ordered(tile_of: Callable[[int], Tile]) -> list[int]:
        order = [0] * (tiles_m * tiles_n)
        for pid in range(tiles_m * tiles_n):
            m, n = tile_of(pid)
            order[m * tiles_n + n] = pid
        return order

    suspects = {
        "row_major": ordered(row_major),
        "column_major": ordered(column_major),
        "from_whole_pid": ordered(from_whole_pid),
    }
    args = {
        "order": Output(ordered(grouped), (tiles_m, tiles_n), "int32", strides),
        "GROUP": group,
    }
    return Case(name, args, {key: {"order": found} for key, found in suspects.items()})


CASES = [
    case("whole_groups", 4, 3, 2),
    case("last_group_of_one_row", 5, 4, 2),
    case("last_group_of_two_rows", 5, 3, 3),
    case("fewer_rows_than_a_group", 2, 5, 8),
    case("padded_rows", 3, 3, 2, strides=(5, 1)),
    case("one", 1, 1, 1),
    case("empty", 0, 4, 2),
]
