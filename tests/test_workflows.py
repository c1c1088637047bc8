"""What runs in CI, and that none of it can be green for nothing."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from proof.checks import workflows

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.y*ml"))
RUN = ROOT / ".ci" / "run"
RESULTS = ("success", "failure", "cancelled", "skipped")


def load(path: Path) -> dict:
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


@pytest.fixture
def ci() -> dict:
    return load(FOLDER / "ci.yml")


@pytest.fixture
def gpu() -> dict:
    return load(FOLDER / "gpu.yml")


# C022: no code of a fork reaches a machine or a secret of ours


def test_c022_no_workflow_has_a_hole(book):
    assert [str(problem) for problem in workflows.faults(book)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_every_job_only_reads_and_ends(path):
    workflow = load(path)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"] in ({}, {"contents": "read"})
        assert job["timeout-minutes"] <= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_checkouts_leave_no_token_behind(path):
    steps = [step for job in load(path)["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_pins_name_their_version(path):
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    for line in lines:
        assert re.fullmatch(r"- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_c022_the_gpu_job_waits_for_a_person(gpu):
    assert list(gpu["on"]) == ["workflow_dispatch"] and not (gpu["on"]["workflow_dispatch"] or {}).get("inputs")
    assert {job["environment"] for job in gpu["jobs"].values()} == {"gpu"}
    assert "secrets." not in (FOLDER / "gpu.yml").read_text(encoding="utf-8")


# C004: one check that is red unless everything was a success


def verdict(ci: dict, results: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The script of the verdict, run as the runner does, with the results of the jobs it needs."""
    (step,) = ci["jobs"]["verdict"]["steps"]
    assert step["env"] == {"RESULTS": "${{ join(needs.*.result, ' ') }}"}
    env = os.environ | {"RESULTS": results, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    return subprocess.run(["bash", "-e", "-c", step["run"]], env=env, capture_output=True, text=True)


def test_c004_the_verdict_always_runs_and_needs_every_other_job(ci):
    job = ci["jobs"]["verdict"]
    assert job["if"] == "always()"
    assert set(job["needs"]) == set(ci["jobs"]) - {"verdict"}


@pytest.mark.parametrize("result", RESULTS)
def test_c004_the_verdict_on_one_job(ci, tmp_path, result):
    assert (verdict(ci, result, tmp_path).returncode == 0) == (result == "success")


@pytest.mark.parametrize("results", list(itertools.product(RESULTS, repeat=2)), ids=" ".join)
def test_c004_the_verdict_on_two_jobs(ci, tmp_path, results):
    assert (verdict(ci, " ".join(results), tmp_path).returncode == 0) == (set(results) == {"success"})


@pytest.mark.parametrize("results", ["", " ", "successful", "Success"])
def test_c004_no_result_is_no_success(ci, tmp_path, results):
    assert verdict(ci, results, tmp_path).returncode != 0


def test_c004_the_verdict_says_that_no_gpu_was_asked(ci, tmp_path):
    assert "Not verified on GPU" in verdict(ci, "success", tmp_path).stdout
    assert "Not verified on GPU" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c004_nothing_is_forgiven_or_left_out(path):
    text = path.read_text(encoding="utf-8")
    for word in ("continue-on-error", "|| true", "paths:", "paths-ignore:", "branches-ignore:"):
        assert word not in text
    conditions = [part["if"] for job in load(path)["jobs"].values() for part in (job, *job["steps"]) if "if" in part]
    assert set(conditions) == {"always()"}


def test_c004_every_change_is_checked(ci):
    assert set(ci["on"]) == {"pull_request", "push", "merge_group"}
    assert ci["on"]["push"] == {"branches": ["main"]} and ci["on"]["pull_request"] is None
    assert [step["run"] for step in ci["jobs"]["test"]["steps"] if "run" in step] == ["bash .ci/run"]


# C003: the gated job


def test_c003_the_gated_job_runs_the_gpu_tests_and_hands_over_what_labs_printed(gpu):
    *_, test, upload = gpu["jobs"]["labs"]["steps"]
    assert test["run"].split("#")[0].split() == [".venv/bin/pytest", "-m", "gpu"]
    assert upload["uses"].startswith("actions/upload-artifact@") and upload["if"] == "always()"
    assert upload["with"]["path"] == test["env"]["PROOF_GPU_OUT"] + "/*.json"
    assert upload["with"]["if-no-files-found"] == "error"


# .ci/run


def run(tmp_path: Path, make: str) -> subprocess.CompletedProcess[str]:
    """.ci/run in a folder of its own, with this for `make` and something for a browser."""
    for folder in (tmp_path / "clone" / ".ci", tmp_path / "bin"):
        folder.mkdir(parents=True)
    script = Path(shutil.copy(RUN, tmp_path / "clone" / ".ci" / "run"))
    for name, text in (("make", make), ("chromium", "exit 0"), ("apt-get", "echo apt-get was called; exit 1")):
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(["bash", script], cwd=tmp_path, env=env, capture_output=True, text=True)


def test_ci_run_is_a_program():
    assert RUN.stat().st_mode & stat.S_IXUSR
    assert RUN.read_text().startswith("#!/usr/bin/env bash\n")


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("===== 812 passed, 3 deselected in 401.22s (0:06:41) =====", 0),
        ("812 passed in 401.22s", 0),
        ("===== 2 failed, 810 passed in 9.1s =====", 1),
        ("===== 1 error in 0.4s =====", 2),
    ],
)
def test_ci_run_ends_with_the_line_of_the_test_runner_and_its_status(tmp_path, line, status):
    done = run(tmp_path, f"[ $1 = test ] || exit 9; echo first; echo '{line}'; echo afterwards; exit {status}")
    assert done.stdout.splitlines()[-1] == line and done.returncode == status
    assert "apt-get was called" not in done.stdout


@pytest.mark.parametrize("make", ["true", "echo '===== no tests ran in 0.01s ====='", "echo '3 deselected in 0.01s'"])
def test_ci_run_that_tested_nothing_is_red(tmp_path, make):
    done = run(tmp_path, make)
    assert done.returncode == 1 and "no test ran" in done.stderr


def test_ci_run_where_make_fails_before_the_tests_is_red(tmp_path):
    assert run(tmp_path, "echo 'a check failed'; exit 2").returncode == 2


@pytest.mark.parametrize("path", [RUN, *FILES], ids=lambda path: path.name)
def test_ci_knows_no_machine_and_no_host(path):
    text = path.read_text(encoding="utf-8").removeprefix("#!/usr/bin/env bash")
    assert not re.search(r"https?://|(?<![\w.])/(?!dev/null)[a-z]+/", text)
