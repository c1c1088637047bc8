"""A second opinion on every access: triton-viz's sanitizer, which solves for addresses instead of walking through them.

It is a group of its own (`make sanitizer`), takes Triton up to 3.7.1, and cannot read views with gaps. Pointers that a
loop carries along it follows only through one turn, so an alarm counts if the exact watch of `doubting` confirms it.
What was not checked, and each alarm that was not confirmed, is told in the warnings at the end of the run.
"""

import functools
import importlib.util
import json
import subprocess
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import judge as instrument  # labs/judge.py
import pytest
import triton
from doubting import ROOT, changed, claims_of, judge, kernels_of
from packaging.version import Version
from test_doubt import LABS

CHILD = Path(__file__).with_name("sanitize.py")
PATIENCE = 120  # seconds for a lab; what it has not checked by then is told
CHECKS = 40  # claims of a lab, the quickest first; the long tests take all
MISSING = (
    "" if importlib.util.find_spec("triton_viz") else "triton-viz is not installed: make sanitizer"
)
if not MISSING and Version(triton.__version__) > Version("3.7.1"):
    MISSING = (
        f"triton-viz 3.0 reads no interpreter after Triton 3.7.1, and here is {triton.__version__}"
    )
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def sanitize(path: Path, claims: list[str]) -> list[dict]:
    """What the sanitizer said of each launch, in order; where it was stopped, what it had said until then."""
    command = [sys.executable, str(CHILD), str(path), *claims]
    try:
        out = subprocess.run(command, capture_output=True, timeout=PATIENCE, cwd=path.parent).stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout or b""
    return [json.loads(line) for line in out.splitlines() if line.endswith(b"}")]


@pytest.fixture(scope="session")
def quickest(lab):
    """quickest("triton_matmul"): its claims that the interpreter judges, those with the smallest arguments first."""

    @functools.cache
    def order(stem: str) -> list[str]:
        def size(claim):
            return sum(
                n
                for value in instrument.claim_named(lab(stem), claim).args.values()
                for n in _numbers(value)
            )

        return sorted(claims_of(lab(stem)), key=size)

    return order


def _numbers(value) -> list[int]:
    if isinstance(value, tuple | list):
        return [n for one in value for n in _numbers(one)]
    return [value] if type(value) is int else []


def second_opinion(module, stem: str, claims: list[str]) -> None:
    said = sanitize(ROOT / "labs" / f"{stem}.py", claims)
    ended = {one["claim"] for one in said if "ended" in one}
    launches = [one for one in said if "kernel" in one]
    clean, told, alarms = set(), defaultdict(int), defaultdict(set)
    for one in launches:
        if one["not"]:
            told[f"{one['kernel']}: {one['not']}"] += 1
        elif one["outside"]:
            alarms[one["claim"]] |= set(one["outside"])
        else:
            clean.add(one["kernel"])
    confirmed = {
        claim: sorted(lines)
        for claim, lines in alarms.items()
        if judge(module, claim).doubts.outside
    }
    assert confirmed == {}
    unchecked = [f"{kernel} was not checked" for kernel in sorted(kernels_of(module) - clean)]
    late = (
        [f"no end within {PATIENCE} s: {', '.join(set(claims) - ended)}"]
        if set(claims) - ended
        else []
    )
    refuted = [
        f"alarm not confirmed in {claim}: {line}"
        for claim, lines in alarms.items()
        for line in sorted(lines)
    ]
    refused = [f"{count} launches not checked, {why}" for why, count in told.items()]
    if notes := [*unchecked, *late, *refused, *refuted]:
        warnings.warn(
            f"sanitizer, {stem}: {len(launches)} launches; " + "; ".join(notes), stacklevel=1
        )
    assert clean or not claims, f"no launch of {stem} was checked"


@pytest.mark.parametrize("stem", LABS)
def test_every_kernel_at_small_shapes(lab, quickest, stem):
    second_opinion(lab(stem), stem, quickest(stem)[:CHECKS])


@pytest.mark.deep
@pytest.mark.parametrize("stem", LABS)
def test_every_kernel_in_every_claim(lab, quickest, stem):
    second_opinion(lab(stem), stem, quickest(stem))


def test_the_matmul_that_masks_only_k_is_caught_in_every_configuration(lab, tmp_path):
    """As many a matmul on the web: M and N are masked where C is stored, and nowhere else. Its results are right."""
    right = (ROOT / "labs" / "triton_matmul.py").read_text(encoding="utf-8")
    wrong = right.replace("mask_m[:, None] & mask_k[None, :]", "mask_k[None, :]")
    wrong = wrong.replace("mask_k[:, None] & mask_n[None, :]", "mask_k[:, None]")
    path = tmp_path / "triton_matmul.py"
    path.write_text(wrong, encoding="utf-8")
    lines = [number for number, text in enumerate(wrong.split("\n"), 1) if "tl.load(" in text]
    launches = [one for one in sanitize(path, ["ragged_fp32.max_rel_err"]) if "kernel" in one]
    assert len(launches) == len(lab("triton_matmul").CONFIGS)
    alarms = [{alarm.split(":")[0] for alarm in one["outside"]} for one in launches]
    assert all(alarms), "in each configuration"
    assert set().union(*alarms) == {f"load a_ptr line {lines[0]}", f"load b_ptr line {lines[1]}"}
    here = lab("triton_matmul")
    assert (
        instrument.judge_claim(here, instrument.claim_named(here, "ragged_fp32.max_rel_err"))[
            "verdict"
        ]
        == "ok"
    )
    assert (
        "reads outside of its tensors"
        in judge(changed(path, wrong), "ragged_fp32.max_rel_err").fault
    )


def test_the_right_matmul_raises_no_alarm_there():
    launches = [
        one
        for one in sanitize(ROOT / "labs/triton_matmul.py", ["ragged_fp32.max_rel_err"])
        if "kernel" in one
    ]
    assert launches and not any(one["outside"] or one["not"] for one in launches)
