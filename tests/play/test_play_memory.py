"""What programs should not do is found, and told in terms of the kernel, with the line."""

import play

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\n"


def run(
    body: str, grid=(1,), parameters: str = "x_ptr, out_ptr, n, BLOCK: tl.constexpr", **arguments
):
    """The report of a kernel with this body; the body begins at line 6."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return play.run(f"{HEAD}def kernel({parameters}):\n{lines}", "kernel", arguments, grid)


def test_a_store_past_the_end_is_told_with_program_count_and_place():
    x, out = play.tensor(range(10)), play.empty(10)
    body = "i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n, other=0)\ntl.store(out_ptr + i, x)"
    report = run(body, (3,), x_ptr=x, out_ptr=out, n=10, BLOCK=4)
    assert report.lines("en") == [
        "line 8: program 2 wrote 2 elements past the end of out, from [10] on."
    ]
    assert report.lines("zh") == ["第 8 行：program 2 越过 out 的末尾写了 2 个元素，从 [10] 开始。"]
    assert out.tolist() == list(range(10))


def test_several_programs_are_counted():
    x, out = play.tensor(range(4)), play.tensor([0] * 64)
    body = "i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\ntl.store(out_ptr + i, tl.load(x_ptr + i))"
    report = run(body, (4,), x_ptr=x, out_ptr=out, n=4, BLOCK=4)
    assert report.lines("en")[0] == (
        "line 7: program 1 read 4 elements past the end of x, from [4] on; 2 other programs did the same."
    )


def test_a_read_before_the_start():
    x, out = play.tensor(range(4)), play.empty(4)
    body = (
        "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i - 1)\ntl.store(out_ptr + i, x, mask=i > 0)"
    )
    report = run(body, x_ptr=x, out_ptr=out, n=4, BLOCK=4)
    assert report.lines("en") == [
        "line 7: program 0 read 1 element before the start of x, the first at [-1]."
    ]


def test_a_masked_lane_without_other_marks_what_it_touches():
    x, out = play.tensor(range(3)), play.empty(1)
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n)\ntl.store(out_ptr, tl.sum(x, axis=0))"
    report = run(body, x_ptr=x, out_ptr=out, n=3, BLOCK=4)
    assert [finding.kind for finding in report.findings] == ["undefined"]
    assert report.lines("en")[0].startswith(
        "line 8: program 0 wrote 1 undefined value to out, the first at [0]."
    )


def test_a_masked_lane_without_other_that_nothing_uses_is_fine():
    x, out = play.tensor(range(3)), play.empty(3)
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n)\ntl.store(out_ptr + i, x + 1, mask=i < n)"
    assert run(body, x_ptr=x, out_ptr=out, n=3, BLOCK=4).ok
    assert out.tolist() == [1.0, 2.0, 3.0]


def test_where_chooses_away_what_is_undefined():
    x, out = play.tensor(range(3)), play.empty(1)
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n)\ntl.store(out_ptr, tl.sum(tl.where(i < n, x, 0), axis=0))"
    assert run(body, x_ptr=x, out_ptr=out, n=3, BLOCK=4).ok
    assert out.item() == 3.0


def test_programs_that_write_one_element_overlap():
    x, out = play.tensor(range(8)), play.empty(8)
    body = "i = tl.program_id(0) + tl.arange(0, BLOCK)\ntl.store(out_ptr + i, tl.load(x_ptr + i))"
    report = run(body, (2,), x_ptr=x, out_ptr=out, n=8, BLOCK=4)
    assert report.lines("en") == [
        "line 7: programs 0 and 1 both wrote out at [1], 3 elements in all: which value stays depends on the order of programs."
    ]
    assert [message.text("en") for message in report.unwritten()] == [
        "3 elements of out were written by no program, the first at [5]."
    ]


def test_one_program_may_write_an_element_again():
    out = play.empty(4)
    body = "i = tl.arange(0, BLOCK)\ntl.store(out_ptr + i, i)\ntl.store(out_ptr + i, i + 1)"
    assert run(body, x_ptr=out, out_ptr=out, n=4, BLOCK=4).ok


def test_reading_what_another_program_writes_is_a_race():
    x = play.tensor(range(8), name="x")
    body = "i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nx = tl.load(x_ptr + (i + 1) % n)\ntl.store(x_ptr + i, x)"
    report = run(body, (2,), x_ptr=x, out_ptr=x, n=8, BLOCK=4)
    assert {finding.kind for finding in report.findings} == {"race"}


def test_reading_and_writing_ones_own_elements_in_place_is_no_race():
    x = play.tensor(range(8))
    body = "i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\ntl.store(x_ptr + i, tl.load(x_ptr + i) * 2)"
    assert run(body, (2,), x_ptr=x, out_ptr=x, n=8, BLOCK=4).ok


def test_atomic_additions_of_all_programs_are_no_race_and_happen_in_order():
    out = play.tensor([0])
    body = "tl.atomic_add(out_ptr, tl.program_id(0) + 1)"
    assert run(body, (4,), x_ptr=out, out_ptr=out, n=1, BLOCK=1).ok
    assert out.item() == 10.0


def test_an_atomic_addition_to_what_nobody_wrote():
    out = play.empty(1)
    report = run("tl.atomic_add(out_ptr, 1.0)", x_ptr=out, out_ptr=out, n=1, BLOCK=1)
    assert [finding.kind for finding in report.findings] == ["unwritten_read"]


def test_lanes_that_write_different_values_to_one_element():
    out = play.empty(4, name="out")
    body = "i = tl.arange(0, BLOCK)\ntl.store(out_ptr + i // 2, i)"
    report = run(body, x_ptr=out, out_ptr=out, n=4, BLOCK=4)
    assert [finding.kind for finding in report.findings] == ["lanes"]
    assert "element [0] of out" in report.lines("en")[0]


def test_between_rows_lies_nothing():
    x = play.tensor([[1, 2, 3], [4, 5, 6]], strides=(4, 1))
    out = play.empty((2, 3))
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n, other=0)\ntl.store(out_ptr + i, x, mask=i < n)"
    report = run(body, x_ptr=x, out_ptr=out, n=6, BLOCK=8)
    assert [finding.kind for finding in report.findings] == ["gap", "undefined"]
    assert "1 element between the rows of x" in report.lines("en")[0]


def test_places_of_a_matrix_are_row_and_column():
    out = play.tensor([[0] * 3] * 2, name="out")
    body = "i = tl.arange(0, BLOCK)\ntl.store(out_ptr + 3 * i + 1, i)"
    report = run(body, (2,), x_ptr=out, out_ptr=out, n=1, BLOCK=2)
    assert "out at [0, 1], 2 elements" in report.lines("en")[0]


def test_a_strided_view_is_read_by_its_strides():
    x = play.tensor(range(10))
    view, out = x[1::2], play.empty(5)
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i * 2, mask=i < n, other=0)\ntl.store(out_ptr + i, x, mask=i < n)"
    assert view.stride(0) == 2
    assert run(body, x_ptr=view, out_ptr=out, n=5, BLOCK=8).ok
    assert out.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]


def test_the_log_holds_program_line_positions_and_masked_lanes():
    x, out = play.tensor(range(6)), play.empty(6)
    body = "i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i, mask=i < n, other=0)\ntl.store(out_ptr + i, x * 2, mask=i < n)"
    report = run(body, (2,), x_ptr=x, out_ptr=out, n=6, BLOCK=4)
    seen = [
        (a.program[0], a.line, a.kind, a.cells, a.masked, a.values) for a in report.log.accesses
    ]
    assert seen == [
        (0, 7, "load", [0, 1, 2, 3], 0, None),
        (0, 8, "store", [0, 1, 2, 3], 0, [0.0, 2.0, 4.0, 6.0]),
        (1, 7, "load", [4, 5], 2, None),
        (1, 8, "store", [4, 5], 2, [8.0, 10.0]),
    ]


def test_a_second_launch_may_read_what_the_first_wrote():
    source = HEAD + (
        "def kernel(x_ptr, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    tl.store(x_ptr + i, tl.load(x_ptr + (i + 1) % BLOCK))\n\n"
        "def twice(x):\n    kernel[(1,)](x, BLOCK=4)\n    kernel[(1,)](x, BLOCK=4)\n"
    )
    x = play.tensor(range(4))
    report = play.run(source, "twice", {"x": x})
    assert report.ok and report.launches == [("kernel", (1, 1, 1))] * 2
    assert x.tolist() == [2.0, 3.0, 0.0, 1.0]


def test_a_second_run_of_the_same_source_begins_anew():
    source = "seen = []\ndef remember():\n    seen.append(1)\n    return len(seen)"
    assert [play.run(source, "remember").result for _ in range(2)] == [1, 1]


def test_a_place_outside_of_a_matrix_is_in_a_row_that_it_does_not_have():
    x, out = play.tensor(range(6), shape=(2, 3)), play.empty((2, 3))
    body = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i - 1)\ntl.store(out_ptr + i, x)"
    report = run(body, x_ptr=x, out_ptr=out, n=6, BLOCK=8)
    places = {(finding.kind, finding.place) for finding in report.findings}
    assert {("before_start", "[-1, 2]"), ("past_end", "[2, 0]")} <= places


def test_a_place_outside_of_an_empty_matrix_is_its_distance_from_the_start():
    out = play.empty((5, 0))
    report = run("tl.store(out_ptr + 2, 1.0)", x_ptr=out, out_ptr=out, n=0, BLOCK=1)
    assert [finding.place for finding in report.findings] == ["[2]"]
