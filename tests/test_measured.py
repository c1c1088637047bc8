""".github/measured.py: which run's bundle may be filed."""

from __future__ import annotations

import pytest
from measured import Refused, check, main

SHA, OTHER = "a" * 40, "b" * 40
RUN = {
    "path": ".github/workflows/gpu.yml@refs/heads/main",
    "event": "workflow_dispatch",
    "head_branch": "main",
    "head_repository": {"full_name": "someone/course"},
    "repository": {"full_name": "someone/course"},
    "status": "completed",
    "conclusion": "success",
    "display_title": f"labs of 7 at {SHA}",
}
BUNDLE = {"name": f"gpu-{SHA}", "expired": False}


def interface(run: dict, bundles: list[dict]):
    return {"actions/runs/5": run, "actions/runs/5/artifacts": {"artifacts": bundles}}.__getitem__


def test_a_run_of_gpu_yml_on_main_that_measured_the_commit_may_be_filed():
    said = check("5", SHA, interface(RUN, [BUNDLE, {"name": "else", "expired": False}]))
    assert said == f"run 5 of .github/workflows/gpu.yml on main measured {SHA}"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"path": ".github/workflows/ci.yml"}, "is of .github/workflows/ci.yml"),
        ({"path": ".github/workflows/other/gpu.yml"}, "only .github/workflows/gpu.yml measures"),
        ({"event": "pull_request"}, "was started by pull_request"),
        ({"head_branch": "mine"}, "on mine"),
        ({"head_repository": {"full_name": "fork/course"}}, "another repository"),
        ({"status": "in_progress", "conclusion": None}, "is in_progress"),
        ({"conclusion": "failure"}, "is failure"),
        ({"conclusion": "cancelled"}, "is cancelled"),
        ({"conclusion": "skipped"}, "is skipped"),
        ({"display_title": f"labs of 7 at {OTHER}"}, "did not measure"),
        ({"display_title": f"labs of 7 at {SHA} and more"}, "did not measure"),
    ],
)
def test_any_other_run_is_refused(change, why):
    with pytest.raises(Refused, match=why):
        check("5", SHA, interface(RUN | change, [BUNDLE]))


@pytest.mark.parametrize("bundles", [[], [BUNDLE, BUNDLE], [BUNDLE | {"expired": True}]])
def test_a_run_without_one_bundle_of_the_commit_is_refused(bundles):
    with pytest.raises(Refused, match="bundles of"):
        check("5", SHA, interface(RUN, bundles))


@pytest.mark.parametrize(
    ("run", "sha"), [("5/../6", SHA), ("", SHA), ("5", SHA[:9]), ("5", SHA.upper()), ("5;id", SHA)]
)
def test_a_run_or_commit_that_is_no_number_is_refused_before_anything_is_asked(run, sha):
    with pytest.raises(Refused):
        check(run, sha, {}.__getitem__)


def test_the_command_says_why_and_fails(capsys):
    assert main(["5", OTHER], interface(RUN, [BUNDLE])) == 1
    assert capsys.readouterr().err.startswith("error: run 5 is called")
    assert main(["5", SHA], interface(RUN, [BUNDLE])) == 0
