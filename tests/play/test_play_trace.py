"""What the page draws: tensors as rows of cells, and what each program did to them."""

import json

from test_play_memory import run

import play
from play.trace import Fault, expand, runs, trace

COPY = """
i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
x = tl.load(x_ptr + i, mask=i < n, other=0)
tl.store(out_ptr + i, x, mask=i < n)
"""


def copied(body: str = COPY, size: int = 6, room: int = 6, cells: int = 2_000, grid=(2,)):
    x, out = play.tensor(range(size)), play.empty(room)
    return trace(run(body, grid, x_ptr=x, out_ptr=out, n=size, BLOCK=4), cells)


def test_each_program_is_a_step_with_its_accesses_their_lines_and_their_masks():
    found = copied()
    assert [step.program for step in found.steps] == [(0, 0, 0), (1, 0, 0)]
    load, store = found.steps[1].accesses
    assert (load.line, load.kind, load.cells, load.lanes, load.masked, load.values) == (
        (7, "load", [(4, 1, 2)], 2, 2, None)
    )
    assert (store.line, store.kind, store.values) == (8, "store", [4.0, 5.0])


def test_a_tensor_says_what_it_held_and_that_an_output_held_nothing():
    x, out = copied().tensors
    assert (x.name, x.dtype, x.initial, x.blank) == ("x", "fp32", [0, 1, 2, 3, 4, 5], [])
    assert (out.name, out.blank, out.unwritten) == ("out", [(0, 1, 6)], [])


def test_what_no_program_wrote_is_named():
    found = copied(grid=(1,))
    assert found.tensors[1].unwritten == [(4, 1, 2)]
    assert "2 elements of out" in found.unwritten[0].texts["en"]


def test_cells_past_the_end_are_in_the_window_and_in_the_fault():
    body = COPY.replace("x, mask=i < n", "x")
    found = copied(body)
    (fault,) = found.faults
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.line, fault.tensor, fault.cells, fault.programs) == (
        ("past_end", 8, 1, [(6, 1, 2)], [(1, 0, 0)])
    )
    assert (found.tensors[1].size, found.tensors[1].end) == (6, 8)
    assert fault.texts["en"].startswith("line 8: program 1 wrote 2 elements past the end of out")


def test_cells_before_the_start_are_in_the_window():
    body = "i = tl.arange(0, BLOCK)\ntl.store(out_ptr + i, tl.load(x_ptr + i - 1))"
    found = copied(body, grid=(1,))
    assert found.tensors[0].first == -1
    assert found.steps[0].accesses[0].cells == [(-1, 1, 4)]


def test_rows_of_a_matrix_are_as_far_apart_as_in_memory_and_gaps_are_named():
    x = play.tensor(range(6), shape=(2, 3), strides=(5, 1))
    body = "i = tl.arange(0, BLOCK)\ntl.store(out_ptr + i, tl.load(x_ptr + i))"
    found = trace(run(body, x_ptr=x, out_ptr=play.empty(4), n=4, BLOCK=4))
    assert (found.tensors[0].width, found.tensors[0].gaps) == (5, [(3, 1, 2)])
    assert [fault.kind for fault in found.faults] == ["gap", "undefined"]
    assert found.steps[0].accesses[1].values == [0, 1, 2, "?"]


def test_a_long_tensor_is_cut_and_the_window_moves_to_the_fault():
    found = copied(size=400, room=390, cells=100, grid=(100,))
    x, out = found.tensors
    assert (x.first, x.end, len(x.initial)) == (0, 50, 50)
    assert (out.first, out.end) == (340, 400)
    step = found.steps[97]
    assert (step.accesses[0].cells, step.accesses[0].lanes) == ([], 4)
    assert step.accesses[1].cells == [(388, 1, 4)]


def test_numbers_that_json_lacks_are_words():
    x = play.tensor([float("nan"), float("inf"), 1 / 3, True])
    found = trace(run(COPY, x_ptr=x, out_ptr=play.empty(4), n=4, BLOCK=4))
    assert json.loads(found.json())["tensors"][0]["initial"] == ["nan", "inf", 0.333333, 1]


def test_a_run_that_stops_keeps_what_happened_before():
    found = copied(COPY + "boom\n", grid=(1,))
    assert not found.ok
    assert len(found.steps[0].accesses) == 2
    assert found.messages[0].line == 9
    assert found.messages[0].texts["zh"].startswith("第 9 行")


def test_stretches_of_equal_steps_stand_for_positions_in_their_order():
    cells = [0, 1, 2, 9, 16, 16, 3, 3, 3]
    assert runs(cells) == [(0, 1, 3), (9, 7, 2), (16, -13, 2), (3, 0, 2)]
    assert expand(runs(cells)) == cells
