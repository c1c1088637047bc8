"""Every lab as one file: alone in an empty folder it gives the same rows as the lab beside its companions."""

import functools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from running import LABS, ROOT, run

from proof.book.companions import bundle, names_twice

COMPANIONS = {
    path.name: path.read_text(encoding="utf-8")
    for path in (ROOT / "labs").glob("*.py")
    if not path.name.startswith("triton_")
}
MEASURED_ANEW = {"peak_mib", "timings", "low", "high"}  # what differs from run to run


def source(stem: str) -> str:
    return (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")


def rows(done: subprocess.CompletedProcess) -> list[dict]:
    assert done.returncode == 0, done.stderr
    judged = json.loads(re.sub(r" at 0x[0-9a-f]+>", ">", done.stdout))["claims"]
    return [
        {key: value for key, value in row.items() if key not in MEASURED_ANEW} for row in judged
    ]


@pytest.fixture(scope="session")
def one_file(tmp_path_factory):
    """one_file("triton_matmul") is what the bundle of that lab did with --json, once, alone in an empty folder."""

    @functools.cache
    def once(stem: str) -> tuple[subprocess.CompletedProcess, list[str]]:
        path = tmp_path_factory.mktemp(f"{stem} 空") / f"{stem}.py"
        path.write_text(bundle(source(stem), COMPANIONS), encoding="utf-8")
        done = run(path, "--json")
        return done, [left.name for left in path.parent.iterdir()]

    return once


@pytest.mark.parametrize("stem", LABS)
def test_a_bundle_alone_runs_and_leaves_nothing_behind(one_file, stem):
    done, left = one_file(stem)
    assert done.returncode == 0, done.stderr
    assert left == [f"{stem}.py"]


@pytest.mark.parametrize("stem", LABS)
def test_a_bundle_gives_the_rows_of_its_lab(one_file, alone, stem):
    assert rows(one_file(stem)[0]) == rows(alone(stem))


@pytest.mark.parametrize("stem", LABS)
def test_no_name_stands_twice_in_a_bundle(stem):
    assert names_twice(source(stem), COMPANIONS) == []


@pytest.mark.parametrize("stem", LABS)
def test_the_kernel_is_near_the_top_of_a_bundle(stem):
    lines = bundle(source(stem), COMPANIONS).split("\n")
    assert (
        next(number for number, line in enumerate(lines, 1) if "def " in line and "kernel" in line)
        <= 150
    )


def test_a_bundle_runs_in_a_folder_that_cannot_be_written(tmp_path):
    path = tmp_path / "triton_vector_add.py"
    path.write_text(bundle(source("triton_vector_add"), COMPANIONS), encoding="utf-8")
    path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        done = run(path, "--only", "one_fp32.max_abs_err")
    finally:
        tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr


def test_a_lab_without_its_companions_names_the_way_out(tmp_path):
    path = Path(shutil.copy(ROOT / "labs/triton_vector_add.py", tmp_path))
    done = run(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "download this lab as one file, or run proof bundle" in done.stderr
    assert done.stderr.count("\n") == 1
