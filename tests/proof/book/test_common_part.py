"""`make fix` writes the common part into labs and leaves the lesson part alone."""

from pathlib import Path

import pytest

from proof import common
from proof.book.common_part import MARKER, fix, master, repaired

LESSON = '"""A lab."""\n\nx = 1'


@pytest.fixture
def labs(tmp_path):
    (tmp_path / "labs").mkdir()
    return tmp_path / "labs"


def test_the_master_begins_with_its_marker_and_ends_with_one_newline():
    assert master().startswith(MARKER)
    assert master().endswith("\n") and not master().endswith("\n\n")
    assert Path(common.__file__).read_text(encoding="utf-8").endswith(master())


def test_two_blank_lines_stand_between_lesson_and_common_part():
    assert repaired(f"{LESSON}\n{MARKER} of old\nrest") == f"{LESSON}\n\n\n{master()}"


@pytest.mark.parametrize("blanks", ["\n", "\n\n\n", "\n\n\n\n\n\n", "\n  \n\t\n"])
def test_any_number_of_blank_lines_becomes_two(blanks):
    assert repaired(f"{LESSON}{blanks}{master()}") == f"{LESSON}\n\n\n{master()}"


def test_the_lesson_part_keeps_every_byte():
    lesson = '"""A lab."""\n\n\n\nx  =  1  # 中文 \t \n\n\n'
    assert repaired(f"{lesson}{MARKER}\n").startswith(lesson)


def test_a_right_lab_stays_as_it_is():
    right = f"{LESSON}\n\n\n{master()}"
    assert repaired(right) == right


def test_a_missing_newline_at_the_end_is_added():
    assert repaired(f"{LESSON}\n\n\n{master().rstrip()}") == f"{LESSON}\n\n\n{master()}"


def test_text_below_the_common_part_goes():
    assert repaired(f"{LESSON}\n\n\n{master()}print('more')\n") == f"{LESSON}\n\n\n{master()}"


def test_windows_line_ends_stay():
    crlf = f"{LESSON}\n\n\n{MARKER}\n".replace("\n", "\r\n")
    assert repaired(crlf) == f"{LESSON}\n\n\n{master()}".replace("\n", "\r\n")


def test_a_marker_that_does_not_begin_its_line_is_no_marker():
    assert repaired(f"{LESSON}\n    {MARKER}\n") is None


def test_fix_rewrites_and_names_the_labs_that_differ(labs):
    (labs / "good.py").write_text(f"{LESSON}\n\n\n{master()}", encoding="utf-8")
    (labs / "old.py").write_text(f"{LESSON}\n{MARKER}, version 0\n", encoding="utf-8")
    assert fix(labs.parent) == ["labs/old.py: common part rewritten"]
    assert (labs / "old.py").read_text(encoding="utf-8") == (labs / "good.py").read_text(encoding="utf-8")
    assert fix(labs.parent) == []


def test_without_write_nothing_changes(labs):
    (labs / "old.py").write_text(f"{LESSON}\n{MARKER}\n", encoding="utf-8")
    assert fix(labs.parent, write=False) == ["labs/old.py: common part differs"]
    assert (labs / "old.py").read_text(encoding="utf-8") == f"{LESSON}\n{MARKER}\n"


def test_a_file_without_marker_or_not_utf8_is_named_and_left(labs):
    (labs / "bare.py").write_text(LESSON, encoding="utf-8")
    (labs / "gbk.py").write_bytes("# 中文".encode("gbk"))
    assert fix(labs.parent) == [
        f"labs/bare.py: has no line that begins with “{MARKER}”, left as it is",
        "labs/gbk.py: is not UTF-8, left as it is",
    ]
    assert (labs / "bare.py").read_text(encoding="utf-8") == LESSON


def test_a_byte_order_mark_and_the_file_mode_stay(labs):
    path = labs / "bom.py"
    path.write_bytes(b"\xef\xbb\xbf" + f"{LESSON}\n{MARKER}\n".encode())
    path.chmod(0o755)
    fix(labs.parent)
    assert path.read_bytes() == b"\xef\xbb\xbf" + f"{LESSON}\n\n\n{master()}".encode()
    assert path.stat().st_mode & 0o777 == 0o755
    assert [p.name for p in labs.iterdir()] == ["bom.py"]


def test_the_labs_of_this_project_carry_the_common_part():
    assert fix(Path(common.__file__).parents[1], write=False) == []
