"""labs/versions.json: what is read from it, what is said against it, and that a planted difference of code is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import handmade
import pytest

from proof.book.data import Marks, fit
from proof.book.model import Versions
from proof.checks import versions as rules
from proof.evidence import state, versions
from proof.evidence.targets import SWITCHES
from proof.pages.versions import versions_table
from proof.problem import Fault

ROOT = Path(__file__).parents[3]
LAB = handmade.lab()
RECORD = handmade.record(LAB)
NAME = "labs/records/nvidia-h200/triton_scale/20261120-t3.6.0-0123abcd.json"


def run(triton="3.6.0", **changes):
    row = {
        "lab": "triton_scale",
        "lab_sha256": LAB.sha256,
        "triton": triton,
        "torch": "2.13.0",
        "numpy": "2.3.5",
        "python": "3.11.9",
    }
    row |= {
        "day": "2026-11-29",
        "ok": 3,
        "left": 2,
        "failed": [],
        "refused": "",
        "kernels": 1,
        "uncompiled": [],
    }
    return row | changes


def code(**changes):
    row = {"record": NAME, "lab": "triton_scale", "lab_sha256": LAB.sha256, "triton": "3.6.0"}
    return row | {"same": 4, "differ": [], "unknown": []} | changes


def book(*rows, compared=(), records=(RECORD,)):
    made = handmade.book(*records)
    made.versions = Versions.model_validate({"schema": 1, "runs": rows, "code": compared})
    return made


def said(made):
    return [what for _, what in versions.shortcomings(made)]


WHOLE = (run(), run("3.9.0"))


# The state


def test_other_code_makes_every_claim_of_the_record_stale():
    made = book(*WHOLE, compared=[code(differ=["scale_kernel BLOCK=1024"])])
    for claim_id in (handmade.ERROR, handmade.LARGE, handmade.RATIO, handmade.BUG):
        found = state.standing(made, claim_id)
        assert (found.state, found.note) == (
            "stale-code",
            "Triton 3.6.0 now makes other code of scale_kernel BLOCK=1024",
        )


def test_equal_code_leaves_it_valid():
    assert state.standing(book(*WHOLE, compared=[code()]), handmade.LARGE).state == "valid"


def test_the_interpreter_has_no_code():
    made = book(
        compared=[code(differ=["scale_kernel"])],
        records=(RECORD, handmade.record(LAB, "interpreter")),
    )
    assert state.interpreter(made, handmade.ERROR).state == "valid"


@pytest.mark.parametrize(
    "other", [{"record": NAME.replace("0123", "4567")}, {"lab_sha256": "0" * 64}]
)
def test_a_comparison_of_another_record_says_nothing(other):
    assert (
        state.standing(
            book(compared=[code(differ=["scale_kernel"], **other)]), handmade.LARGE
        ).state
        == "valid"
    )


# The checks


def test_a_whole_table_is_silent():
    assert said(book(*WHOLE, compared=[code()])) == []


def test_nothing_filed_is_no_fault_where_no_page_shows_it():
    assert said(handmade.book(RECORD)) == []


def shown(*records):
    return handmade.book(*records, pages=[handmade.page("{{ versions() }}\n")])


def test_nothing_filed_is_told_of_every_lab_and_record():
    assert said(shown(RECORD)) == [
        "triton_scale as it is has not been run with Triton 3.6.0 and 3.9.0",
        f"the code of {NAME} has not been compared with what Triton makes today",
    ]


def test_a_lab_that_changed_is_told():
    assert said(book(run(), run("3.9.0", lab_sha256="0" * 64), compared=[code()])) == [
        "triton_scale as it is has not been run with Triton 3.9.0"
    ]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            {"failed": ["scale.ragged.max_abs_err: error, 1 against 0"]},
            "scale.ragged.max_abs_err: error, 1 against 0",
        ),
        (
            {"uncompiled": ["scale_kernel for gfx942: too large"]},
            "scale_kernel for gfx942: too large",
        ),
        (
            {"refused": "the interpreter of Triton 3.6 fails with NumPy 2.4"},
            "the interpreter of Triton 3.6 fails with NumPy 2.4",
        ),
    ],
)
def test_what_fails_there_is_told(change, what):
    assert said(book(run(**change), run("3.9.0"), compared=[code()])) == [
        f"triton_scale with Triton 3.6.0: {what}"
    ]


def test_a_triton_that_the_lab_does_not_declare_is_no_fault():
    source = handmade.LAB.replace("triton>=3.6,<3.10", "triton>=3.6,<3.9")
    made = handmade.book(source=source)
    sha = made.labs["triton_scale"].sha256
    refused = run("3.9.0", lab_sha256=sha, refused="the lab declares triton >=3.6,<3.9")
    made.versions = book(run(lab_sha256=sha), refused).versions
    assert said(made) == []


def test_it_is_a_warning_until_a_release():
    made = shown()
    (early,), (late,) = list(rules.outdated(made)), list(rules.unreleasable(made))
    assert (early.warning, late.warning, early.file) == (True, False, "labs/triton_scale.py")
    assert "make test-versions" in early.fix


def test_records_of_other_labs_versions_and_makers_are_not_compared():
    other = handmade.changed(RECORD, environment={"triton": "3.7.1"})
    older = handmade.changed(RECORD, lab_sha256="0" * 64)
    amd = handmade.changed(RECORD, device={"kind": "hip", "name": "AMD Instinct MI300X"})
    assert versions.comparable(handmade.book(other, older, amd), LAB) == []
    assert versions.comparable(handmade.book(RECORD, other), LAB) == [RECORD]


# The file


def test_the_file_fits_its_schema_and_a_count_below_zero_does_not():
    fit(Versions, {"schema": 1, "runs": [run()], "code": [code()]}, Marks(""))
    with pytest.raises(Fault, match=r"runs\.0\.ok"):
        fit(Versions, {"schema": 1, "runs": [run(ok=-1)], "code": []}, Marks(""))


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("zh", ["3 条成立", "2 条留给 GPU", "尚未运行"]),
        ("en", ["3 hold", "2 left to a GPU", "not yet run"]),
    ],
)
def test_pages_show_a_row_for_each_lab(lang, words):
    shown = versions_table(book(run()), lang, "../")
    assert "| Triton 3.6.0 | Triton 3.9.0 |" in shown and 'href="../labs/triton_scale/"' in shown
    assert [word for word in words if word not in shown] == []


def test_pages_show_what_fails_and_hide_what_is_old():
    shown = versions_table(
        book(run(failed=["scale.x.y: error, 1"]), run("3.9.0", lab_sha256="0" * 64)), "en", ""
    )
    assert "1 fail" in shown and "scale.x.y: error, 1" in shown and "stale-source" in shown


# A lab in a Triton: here the one that is installed


def in_child(*arguments):
    env = os.environ | SWITCHES | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "proof.compiler.versions", *map(str, arguments)],
        env=env,
        capture_output=True,
    )
    return json.loads(done.stdout)


def kernel(**changes):
    names = {
        "x_ptr": "*fp32",
        "y_ptr": "*fp32",
        "out_ptr": "*fp32",
        "n_elements": "i32",
        "BLOCK_SIZE": "constexpr",
    }
    row = {
        "kernel": "add_kernel",
        "signature": dict(sorted(names.items())),
        "constants": {"BLOCK_SIZE": "1024"},
    }
    row |= {
        "aligned": ["x_ptr", "y_ptr", "out_ptr"],
        "num_warps": 4,
        "num_stages": 3,
        "shared_bytes": 0,
    }
    return row | {"registers": 12, "spills": 0, "code_sha256": "0" * 64} | changes


def test_a_planted_difference_of_code_is_found(tmp_path):
    lab, path = ROOT / "labs" / "triton_vector_add.py", tmp_path / "record.json"
    ask = (
        "from proof.compiler.child import *; known = kernels_of(load_lab({!r}, 'triton_vector_add')); row = Kernel(**{!r}); "
        "t, capped = code_text(known, row), code_text(known, row.model_copy(update={{'options': {{'maxnreg': 64}}}})); assert capped != t; "
        "other = re.sub(r'(?m)^.version .*$', '.version 9.0', t); assert other != t; "
        "print(*(hashlib.sha256(x.encode()).hexdigest() for x in (t, other, t.replace('ret;', 'ret ;'), capped)))"
    )
    env = os.environ | SWITCHES | {"PYTHONPATH": str(ROOT)}
    made = subprocess.run(
        [sys.executable, "-c", ask.format(str(lab), kernel())],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    right, other_assembler, other_code, capped = made.stdout.split()
    rows = [
        kernel(code_sha256=right),
        kernel(code_sha256=other_assembler),
        kernel(code_sha256=other_code),
    ]
    rows += [
        kernel(code_sha256=capped, options={"maxnreg": 64}),
        kernel(code_sha256=right, options={"maxnreg": 64}),
    ]
    rows += [kernel(kernel="gone_kernel"), kernel(num_warps=3)]
    path.write_text(handmade.changed(RECORD, kernels=rows).written)
    seen = in_child("--again", lab, path)
    assert (seen["same"], seen["differ"]) == (
        3,
        ["add_kernel BLOCK_SIZE=1024", "add_kernel BLOCK_SIZE=1024 maxnreg=64"],
    )
    assert [one.split(":")[0] for one in seen["unknown"]] == [
        "gone_kernel BLOCK_SIZE=1024",
        "add_kernel BLOCK_SIZE=1024",
    ]
