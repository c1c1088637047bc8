"""Exercises outside of the project: in the folder that exercises.zip unpacks to, and alone."""

import os
import subprocess
import sys
import zipfile

import pytest
from answers import NAMES, ROOT, handed_out, solution
from click.testing import CliRunner

from proof.book.archive import exercises_archive
from proof.cli import main


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The folder that the archive unpacks to."""
    folder = tmp_path_factory.mktemp("download")
    archive = folder / "exercises.zip"
    archive.write_bytes(exercises_archive(ROOT))
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    return folder / "exercises"


def run(folder, *arguments):
    """What Python does with the arguments in this folder, which is all that it knows of the project."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": "", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_an_exercise_is_judged_in_the_unpacked_folder(unpacked):
    result = run(unpacked, "01_mask_tail.py")
    assert result.stdout.splitlines()[1].startswith("Still to fill in: the `...` in line 16.")
    assert (result.returncode, result.stderr) == (1, "")


def test_triton_judges_in_the_unpacked_folder_too_and_shows_what_was_printed(unpacked):
    printing = solution("01_mask_tail").replace(
        "    n = out", "    print('x' * 1_000_000)\n    n = out"
    )
    (unpacked / "01_mask_tail.py").write_text(printing, encoding="utf-8")
    result = run(unpacked, "judging.py", "01_mask_tail")
    lines = result.stdout.splitlines()
    assert lines[1] == (
        "The playground's evaluator: all 5 cases are correct, and every access is in bounds."
    )
    assert lines[2:5] == ["The program printed:", "x" * 2000, "… (5000005 characters in all)"]
    assert lines[5].endswith(": all 5 cases are correct.")
    assert lines[6] == f"Compare with the solution: {unpacked / '01_mask_tail' / 'solution.py'}"
    assert (result.returncode, result.stderr) == (0, "")


def test_all_that_judges_lies_in_the_unpacked_folder(unpacked):
    program = (
        "from importlib.util import find_spec; import judging;"
        " print(*(find_spec(name).origin for name in ('play', 'judge', 'claims', 'checking')))"
    )
    result = run(unpacked, "-c", program)
    names = ("play/__init__.py", "judge.py", "claims.py", "checking.py")
    assert (result.stdout.split(), result.stderr) == ([str(unpacked / name) for name in names], "")


def test_the_unpacked_folder_knows_every_exercise(unpacked):
    assert sorted(path.parent.name for path in unpacked.glob("*/exercise.yml")) == NAMES
    assert sorted(path.stem for path in unpacked.glob("[0-9]*.py")) == NAMES


def test_an_exercise_alone_says_where_its_judge_is(tmp_path):
    (tmp_path / "03_pick_stride.py").write_text(handed_out("03_pick_stride"), encoding="utf-8")
    result = run(tmp_path, "03_pick_stride.py")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "The judge is not beside this file: move it into the folder that exercises.zip unpacks to.",
        "评判程序不在旁边：请解压 exercises.zip，把这个文件放进解压出来的文件夹。",
    ]


def test_equal_exercises_give_equal_archives():
    assert exercises_archive(ROOT) == exercises_archive(ROOT)


def test_proof_bundle_writes_the_archive(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(main, ["bundle", "exercises", "-o", str(tmp_path)])
    assert (result.exit_code, result.output) == (0, f"{tmp_path / 'exercises.zip'}\n")
    assert (tmp_path / "exercises.zip").read_bytes() == exercises_archive(ROOT)
