"""proof/cli: what each command prints and how it exits, seen as its user sees it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from tiny_project import ROOT, Tiny

from proof.cli import main
from proof.problem import Problem
from proof.runs import gate, run
from proof.runs.file import pack

INTERPRETED = {"kind": "interpreter"}


@pytest.fixture
def ran(tiny, monkeypatch):
    """Lets `proof run` and `proof record` get what a lab would print, without the run."""

    def let(status=0, **changes):
        monkeypatch.setattr(
            run, "run_lab", lambda lab: run.Run(lab, status, tiny.printed(**changes))
        )

    return let


def records(tiny: Tiny) -> list[str]:
    return sorted(
        path.relative_to(tiny.root).as_posix() for path in tiny.root.glob("labs/records/**/*.*")
    )


# proof run


def test_run_ends_with_a_table(tiny, ran):
    ran(**INTERPRETED)
    result = tiny.proof("run", "tiny")
    assert result.exit_code == 0
    assert result.stderr == "[1/1] triton_tiny\n"
    assert "triton_tiny  Triton interpreter   3       0          1" in result.stdout
    assert "3 of 4 rows judged" in result.stdout


def test_run_files_nothing(tiny, ran):
    before = records(tiny)
    ran()
    assert tiny.proof("run").exit_code == 0
    assert records(tiny) == before


def test_run_fails_with_what_failed(tiny, ran):
    ran(rows={tiny.count: {"value": 5, "verdict": "error"}})
    result = tiny.proof("run")
    assert result.exit_code == 1
    assert tiny.count in result.stdout


def test_run_of_an_unknown_lab_names_the_nearest(tiny):
    result = tiny.proof("run", "triton_tinny")
    assert result.exit_code == 2
    assert "there is no lab triton_tinny. Nearest: triton_tiny" in result.stderr


def test_run_of_a_lab_that_cannot_run_exits_2(tiny, monkeypatch):
    monkeypatch.setattr(run, "run_lab", lambda lab: run.Run(lab, 2, b""))
    result = tiny.proof("run")
    assert result.exit_code == 2
    assert "triton_tiny ended with status 2 and printed no record" in result.stderr


def test_run_without_torch_says_how_to_get_it(tiny, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = tiny.proof("run")
    assert (
        result.exit_code,
        "this Python has no torch, which labs need: make setup" in result.stderr,
    ) == (2, True)


def test_c003_the_gate_fails_without_a_gpu(tiny, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = tiny.proof("run", "--gate")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: no GPU was found, and the gate judges what nothing else can\n",
    )
    assert not (tiny.root / "gate.tar").exists()


def test_the_gate_takes_no_names(tiny):
    result = tiny.proof("run", "--gate", "tiny")
    assert (result.exit_code, "the gate runs every lab" in result.stderr) == (2, True)


def test_verify_belongs_to_the_gate(tiny):
    assert tiny.proof("run", "--verify", "gate.tar").exit_code == 2


@pytest.mark.parametrize("status", [0, 1])
def test_c003_the_gate_runs_the_gpu_tests_and_judges_their_bundle(
    tiny, monkeypatch, tmp_path, status
):
    def run(root, bundle, gpus):
        pack({"triton_tiny.json": tiny.printed()}, bundle)
        assert gpus == 2
        return status

    monkeypatch.setattr(gate, "devices", lambda: 2)
    monkeypatch.setattr(gate, "run", run)
    result = tiny.proof("run", "--gate", "--bundle", tmp_path / "out.tar")
    assert (result.exit_code, result.stdout) == (
        status,
        "1 labs on NVIDIA H200: 4 of 4 rows judged\n",
    )
    again = tiny.proof("run", "--gate", "--verify", tmp_path / "out.tar")
    assert (again.exit_code, again.stdout) == (0, result.stdout)


def test_a_bundle_that_is_not_there(tiny):
    result = tiny.proof("run", "--gate", "--verify", "nothing.tar")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: nothing.tar cannot be read: No such file or directory\n",
    )


# proof record


def test_record_runs_a_lab_and_files_what_it_measured(tiny):
    """The one test that really runs the lab."""
    tiny.today = datetime.now(UTC).date()
    result = tiny.proof("record", "tiny")
    assert result.exit_code == 0, result.output
    filed = next(name for name in records(tiny) if "/interpreter/" in name)
    assert f"filed  {filed}" in result.stdout
    book = tiny.book()
    assert book.problems == []
    rows = {row.id: row.verdict for row in next(r for r in book.records if not r.is_gpu).claims}
    assert rows == {tiny.error: "ok", tiny.count: "ok", tiny.ratio: "-", tiny.bug: "ok"}


def test_record_files_a_miss_and_fails(tiny, ran):
    ran(
        utc="2026-11-21T00:00:00+00:00",
        status=1,
        rows={tiny.count: {"value": 5, "verdict": "error"}},
    )
    result = tiny.proof("record")
    assert result.exit_code == 1
    assert len(records(tiny)) == 2
    assert f"fails  {tiny.count}: filed as the miss it is" in result.stderr


def test_record_from_a_file(tiny):
    tiny.write("box.json", tiny.printed(utc="2026-11-21T00:00:00+00:00"))
    result = tiny.proof("record", "--from", "box.json")
    assert result.exit_code == 0
    assert result.stdout == f"filed  {records(tiny)[-1]}\n"


def test_record_from_the_same_file_again_files_nothing(tiny):
    tiny.write("box.json", tiny.printed(utc="2026-11-21T00:00:00+00:00"))
    tiny.proof("record", "--from", "box.json")
    before = records(tiny)
    result = tiny.proof("record", "--from", "box.json")
    assert (result.exit_code, result.stdout) == (0, f"already filed  {before[-1]}\n")
    assert records(tiny) == before


def test_record_from_several_files_and_an_archive(tiny):
    for day in (21, 22, 23):
        tiny.write(f"{day}.json", tiny.printed(utc=f"2026-11-{day}T00:00:00+00:00"))
    with tarfile.open(tiny.root / "runs.tar.gz", "w:gz") as archive:
        archive.add(tiny.root / "22.json", "22.json")
        archive.add(tiny.root / "23.json", "23.json")
    result = tiny.proof("record", "--from", "21.json", "--from", "runs.tar.gz")
    assert (result.exit_code, result.stdout.count("filed  ")) == (0, 3)


def test_record_from_a_broken_file_names_it_and_files_the_others(tiny):
    tiny.write("a.json", b'{"source": \n}')
    tiny.write("b.json", tiny.printed(utc="2026-11-21T00:00:00+00:00"))
    result = tiny.proof("record", "--from", "a.json", "--from", "b.json")
    assert result.exit_code == 1
    assert "error  a.json:2: is not JSON" in result.stderr
    assert result.stdout.startswith("filed  ")


def test_record_from_an_older_lab_says_that_it_is_stale(tiny):
    tiny.write("box.json", tiny.printed(utc="2026-11-21T00:00:00+00:00"))
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    result = tiny.proof("record", "--from", "box.json")
    assert result.exit_code == 0
    assert "will count as stale-source" in result.stderr


def test_record_from_no_file_names_the_nearest(tiny):
    tiny.write("box.json", b"{}")
    result = tiny.proof("record", "--from", "bx.json")
    assert (result.exit_code, "there is no file bx.json. Nearest: box.json" in result.stderr) == (
        2,
        True,
    )


def test_record_wants_labs_or_files(tiny):
    assert tiny.proof("record", "tiny", "--from", "box.json").exit_code == 2


def test_record_prune_runs_nothing(tiny):
    for day in (1, 2, 3):
        tiny.record(utc=f"2026-11-0{day}T00:00:00+00:00")
    result = tiny.proof("record", "--prune")
    assert result.exit_code == 0
    assert result.stdout.startswith("deleted  labs/records/nvidia-h200/triton_tiny/20261101-")
    assert len(records(tiny)) == 3


# proof check


def test_check_of_a_valid_tree(tiny):
    result = tiny.proof("check")
    tally = "0 numbers marked as given by others · 0 exceptions from parity\n"
    assert (result.exit_code, result.output) == (0, f"everything agrees\n{tally}")


def test_check_names_file_line_what_and_how_to_mend(tiny):
    tiny.edit(tiny.term, "topic: memory", "topic: memery")
    result = tiny.proof("check")
    assert result.exit_code == 1
    assert "error  glossary/mask.yml:2: topic: 'memery' is not one of" in result.stderr
    assert "Allowed: model, memory," in result.stderr


def test_check_json_is_a_list_of_findings(tiny):
    tiny.edit(tiny.term, "topic: memory", "topic: memery")
    result = tiny.proof("check", "--json")
    assert result.exit_code == 1
    first = json.loads(result.stdout)[0]
    assert (first["file"], first["line"], first["warning"]) == ("glossary/mask.yml", 2, False)


def test_check_passes_with_warnings(tiny, monkeypatch):
    monkeypatch.setattr(
        "proof.checks.rules.check",
        lambda book, release=False: [Problem("a.md", 3, "it is old", "Look", True)],
    )
    result = tiny.proof("check")
    assert (result.exit_code, result.stderr) == (0, "watch  a.md:3: it is old. Look\n")
    assert result.stdout.startswith("0 to fix, 1 to watch\n")


@pytest.mark.parametrize(("release", "code"), [([], 0), (["--release"], 1)])
def test_check_release_is_red_for_a_pending_claim(tiny, release, code):
    tiny.remove("labs/records")
    assert tiny.proof("check", *release).exit_code == code


# proof status


def test_status_json_has_every_claim(tiny):
    tiny.record(kind="interpreter")
    rows = {row["id"]: row for row in json.loads(tiny.proof("status", "--json").stdout)}
    assert rows[tiny.error] == {
        "id": tiny.error,
        "kind": "error",
        "state": "valid",
        "value": 2.0**-25,
        "bound": 2.0**-24,
        "device": "NVIDIA H200",
        "age_days": 9,
        "pages": ["docs/zh/index.md", "docs/en/index.md"],
        "note": "",
        "interpreter": {"state": "valid", "value": 2.0**-25},
    }
    assert list(rows) == [tiny.error, tiny.count, tiny.ratio, tiny.bug, "source.triton-load"]
    assert rows[tiny.ratio]["interpreter"] is None


def test_status_json_shows_no_figure_of_a_stale_claim(tiny):
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    row = json.loads(tiny.proof("status", "--json").stdout)[0]
    assert (row["state"], row["value"]) == ("stale-source", None)


def test_status_is_a_table_with_the_count_of_each_state(tiny):
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    result = tiny.proof("status")
    assert result.exit_code == 0
    assert "tiny.ragged_fp32.max_abs_err  stale-source" in result.stdout
    assert result.stdout.endswith("1 valid · 4 stale-source\n")


def test_status_says_what_it_could_not_read(tiny):
    tiny.write(tiny.gpu, b"{")
    result = tiny.proof("status")
    assert result.exit_code == 1
    assert f"error  {tiny.gpu.relative_to(tiny.root)}:1: is not JSON" in result.stderr


# proof fix, site, serve


@pytest.mark.parametrize(
    ("problems", "code"), [([], 0), ([Problem("a.md", 3, "is gone", "Write it")], 1)]
)
def test_site_fails_with_what_is_wrong(tiny, monkeypatch, problems, code):
    monkeypatch.setattr("proof.site.build.build", lambda root: problems)
    result = tiny.proof("site")
    assert result.exit_code == code
    assert result.stderr == "".join(f"error  {problem}\n" for problem in problems)


def test_serve_passes_root_host_and_port(tiny, monkeypatch):
    seen = []
    monkeypatch.setattr("proof.site.build.serve", lambda *arguments: seen.append(arguments))
    assert tiny.proof("serve", "--port", "8123").exit_code == 0
    assert seen == [(tiny.root, "127.0.0.1", 8123)]


# Where


def test_a_folder_inside_the_project_will_do(tiny, monkeypatch):
    monkeypatch.chdir(tiny.root / "docs" / "zh")
    result = CliRunner().invoke(main, ["--today", "2026-11-29", "status", "--json"])
    assert (result.exit_code, len(json.loads(result.stdout))) == (0, 5)


def test_elsewhere_is_said_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["status"])
    assert result.exit_code == 2
    assert f"no folder at or above {tmp_path} holds labs/ and pyproject.toml" in result.stderr


def test_help_needs_no_torch_and_no_mkdocs():
    code = "import sys; from proof.cli import main; main(['--help'], standalone_mode=False); "
    code += "print(sorted({'torch', 'triton', 'mkdocs'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
