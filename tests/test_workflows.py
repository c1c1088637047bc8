"""What runs in CI, and that none of it can be green for nothing."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from changes import runs

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.y*ml"))
RUN = ROOT / ".ci" / "run"
RESULTS = ("success", "failure", "cancelled", "skipped")


class Loader(yaml.SafeLoader):
    """YAML 1.2 as GitHub reads it: only true and false are booleans, so that `on` stays a key."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load(path: Path) -> dict:
    return yaml.load(path.read_text(encoding="utf-8"), Loader)


@pytest.fixture
def ci() -> dict:
    return load(FOLDER / "ci.yml")


@pytest.fixture
def gpu() -> dict:
    return load(FOLDER / "gpu.yml")


# C022: no code of a fork reaches a machine or a secret of ours. zizmor, below, holds most of it; this is what it leaves.


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_a_job_on_our_own_machine_waits_for_a_person(path):
    own = [
        job
        for job in load(path)["jobs"].values()
        if not re.fullmatch(r"ubuntu-[\d.]+", str(job["runs-on"]))
    ]
    assert all("environment" in job for job in own)


WRITES = {  # every job that may do more than read, what it may, and no job of a pull request is among them
    ("gpu.yml", "verdict"): {"statuses"},
    ("gpu.yml", "again"): {"actions"},
    ("records.yml", "file"): {"contents"},
    ("pages.yml", "deploy"): {"pages", "id-token"},
    ("freshness.yml", "look"): {"issues"},
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_a_job_reads_and_writes_only_what_it_is_for_and_ends(path):
    workflow = load(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert {key for key, what in job["permissions"].items() if what == "write"} == WRITES.get(
            (path.name, name), set()
        )
        assert job["timeout-minutes"] <= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_checkouts_leave_no_token_behind(path):
    steps = [step for job in load(path)["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c004_a_failure_in_front_of_a_pipe_counts(path):
    assert load(path)["defaults"] == {"run": {"shell": "bash"}}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c022_pins_name_their_version(path):
    lines = [
        line.strip()
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?uses:", line)
    ]
    for line in lines:
        assert re.fullmatch(r"- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_c022_the_gpu_job_waits_for_a_person_who_agrees_to_one_commit(gpu):
    assert set(gpu["on"]) == {"workflow_dispatch"}
    inputs = gpu["on"]["workflow_dispatch"]["inputs"]
    assert {name: asked["required"] for name, asked in inputs.items()} == {"pr": True, "sha": True}
    assert gpu["jobs"]["labs"]["environment"] == "gpu" and gpu["jobs"]["labs"]["needs"] == [
        "admission"
    ]
    assert "secrets." not in (FOLDER / "gpu.yml").read_text(encoding="utf-8")


def test_c022_a_push_after_the_agreement_takes_it_away(gpu):
    """The commit is compared with the head of the change before the review, and again before anything of it is fetched."""
    asks = [
        [
            step.get("run", "").startswith('python3 .github/admission.py "$PR" "$SHA"')
            for step in gpu["jobs"][job]["steps"]
        ]
        for job in ("admission", "labs")
    ]
    fetched = [
        (step.get("with") or {}).get("path") == "change" for step in gpu["jobs"]["labs"]["steps"]
    ]
    assert sum(asks[0]) == sum(asks[1]) == 1 and asks[1].index(True) < fetched.index(True)


def test_c022_the_change_is_run_in_the_container_only(gpu):
    scripts = [
        step["run"] for job in gpu["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert [
        script for script in scripts if "change" in script.split() or "cd change" in script
    ] == [
        'bash .github/contain "$IMAGE" change bundle',
        "make .venv/site\ncd change\n"
        '../.venv/bin/proof run --gate --verify ../bundle/gate.tar | tee -a "$GITHUB_STEP_SUMMARY"\n',
    ]


DOCKER = """#!/bin/bash
echo "$@"
[ "$1" = run ] || exit 0
previous=
for word in "$@"; do
  if [ "$previous" = --volume ] && [ "${word##*:}" = /out ]; then out=${word%%:*}; fi
  previous=$word
done
"""


def contain(tmp_path: Path, image: str, leaves: str) -> subprocess.CompletedProcess[str]:
    """The script with a docker of ours, whose container does `leaves` in the folder $out that is mounted."""
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER + leaves)
    docker.chmod(0o755)
    env = {"PATH": f"{docker.parent}:{os.environ['PATH']}"}
    command = ["bash", ROOT / ".github" / "contain", image, "change", "bundle"]
    return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)


IMAGE = f"ghcr.io/someone/labs@sha256:{'0' * 64}"


def test_c022_the_container_has_no_network_and_no_secret(tmp_path):
    done = contain(tmp_path, IMAGE, "echo bundle >$out/gate.tar")
    assert done.returncode == 0, done.stderr
    for option in (
        "--network none",
        "--cap-drop ALL",
        "--read-only",
        f"{tmp_path}/change:/change:ro",
    ):
        assert option in done.stdout
    assert "--env" not in done.stdout and "-e " not in done.stdout.split("python")[0]


def test_c022_the_bundle_is_made_anew_outside_of_the_folder_that_was_mounted(tmp_path):
    done = contain(tmp_path, IMAGE, "echo $out >$out/gate.tar")
    made = tmp_path / "bundle" / "gate.tar"
    mounted = Path(made.read_text().strip())
    assert done.returncode == 0 and mounted != made.parent and not mounted.exists()


@pytest.mark.parametrize(
    "leaves",
    [
        "ln -s /etc/passwd $out/gate.tar",
        "mkfifo $out/gate.tar",
        "mkdir $out/gate.tar",
        "truncate -s 70000000 $out/gate.tar",
        "true",
    ],
)
def test_c022_no_link_pipe_folder_or_endless_file_is_handed_on(tmp_path, leaves):
    done = contain(tmp_path, IMAGE, leaves)
    assert done.returncode == 1 and "error: " in done.stderr
    assert not (tmp_path / "bundle" / "gate.tar").exists()


def test_a_failing_run_is_handed_on_and_stays_a_failure(tmp_path):
    done = contain(tmp_path, IMAGE, "echo bundle >$out/gate.tar; exit 3")
    assert done.returncode == 3 and (tmp_path / "bundle" / "gate.tar").exists()


def test_a_container_that_does_not_end_is_killed():
    script = (ROOT / ".github" / "contain").read_text()
    assert re.search(
        r"^timeout --kill-after=\d+ \d+ docker run --rm --name \"\$name\" ", script, re.M
    )
    assert 'docker rm --force "$name"' in script.split("docker run")[1]


@pytest.mark.parametrize(
    "image", ["", "labs", "labs:latest", "labs@sha256:123", f"a b@sha256:{'0' * 64}"]
)
def test_c022_an_image_that_is_not_named_by_its_digest_is_refused(tmp_path, image):
    done = contain(tmp_path, image, "")
    assert done.returncode == 1 and "GPU_IMAGE" in done.stderr and not done.stdout


# C004: one check that is red unless everything was a success


def verdict(ci: dict, results: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The first script of the verdict, run as the runner does, with the results of the jobs it needs."""
    _, step, _ = ci["jobs"]["verdict"]["steps"]
    assert step["env"] == {"RESULTS": "${{ join(needs.*.result, ' ') }}"}
    env = os.environ | {"RESULTS": results, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["ci.yml", "gpu.yml"])
def test_c004_both_verdicts_ask_the_same_script_for_all_their_needs(name):
    job = load(FOLDER / name)["jobs"]["verdict"]
    (step,) = [step for step in job["steps"] if "all-succeeded" in step.get("run", "")]
    assert step["env"] == {"RESULTS": "${{ join(needs.*.result, ' ') }}"} and "if" not in step
    assert step["run"].strip().startswith('bash .github/all-succeeded "$RESULTS"')
    assert (
        set(job["needs"]) == set(load(FOLDER / name)["jobs"]) - {"verdict", "again"}
        and job["if"] == "always()"
    )


def test_c004_the_status_on_the_commit_is_the_verdicts(gpu):
    """The last step runs whatever happened, and says success only when every step before it was one."""
    last = gpu["jobs"]["verdict"]["steps"][-1]
    assert last["if"] == "always() && needs.admission.result == 'success'"  # of no other commit
    assert last["env"]["STATE"] == "${{ job.status }}"
    for state, said in (
        ("success", "success"),
        ("failure", "failure"),
        ("cancelled", "failure"),
        ("", "failure"),
    ):
        script = 'gh() { printf "%s\\n" "$@"; }\n' + last["run"]
        env = os.environ | {"STATE": state, "SHA": "a" * 40, "RUN": "run"}
        done = subprocess.run(
            ["bash", "-e", "-c", script], env=env, capture_output=True, text=True, check=True
        )
        assert (
            f"state={said}" in done.stdout.split()
            and f"repos/{{owner}}/{{repo}}/statuses/{'a' * 40}" in done.stdout
        )


def test_c004_the_verdict_always_runs_and_needs_every_other_job(ci):
    job = ci["jobs"]["verdict"]
    assert job["if"] == "always()"
    assert set(job["needs"]) == set(ci["jobs"]) - {"verdict"}


@pytest.mark.parametrize("result", RESULTS)
def test_c004_the_verdict_on_one_job(ci, tmp_path, result):
    assert (verdict(ci, result, tmp_path).returncode == 0) == (result == "success")


@pytest.mark.parametrize("results", list(itertools.product(RESULTS, repeat=2)), ids=" ".join)
def test_c004_the_verdict_on_two_jobs(ci, tmp_path, results):
    assert (verdict(ci, " ".join(results), tmp_path).returncode == 0) == (
        set(results) == {"success"}
    )


@pytest.mark.parametrize("results", ["", " ", "successful", "Success"])
def test_c004_no_result_is_no_success(ci, tmp_path, results):
    assert verdict(ci, results, tmp_path).returncode != 0


def test_c004_the_verdict_asks_whether_a_gpu_has_to_agree(ci):
    step = ci["jobs"]["verdict"]["steps"][-1]
    assert step["run"] == 'python3 .github/verified.py 2>&1 | tee -a "$GITHUB_STEP_SUMMARY"'
    assert "if" not in step
    assert ci["jobs"]["verdict"]["permissions"].keys() == {"contents", "pull-requests", "statuses"}


def test_c004_after_a_success_on_a_gpu_the_check_is_asked_again(gpu):
    job = gpu["jobs"]["again"]
    assert job["needs"] == ["verdict"] and "if" not in job  # so it runs after a success only
    assert "gh run rerun --failed" in job["steps"][-1]["run"]


MAIN = "github.ref == 'refs/heads/main'"


@pytest.mark.parametrize(
    ("name", "job"), [("gpu.yml", "admission"), ("records.yml", "file"), ("pages.yml", "build")]
)
def test_c022_what_writes_begins_on_main_only(name, job):
    assert load(FOLDER / name)["jobs"][job]["if"] == MAIN


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_c004_nothing_is_forgiven_or_left_out(path):
    text = path.read_text(encoding="utf-8")
    for word in ("continue-on-error", "|| true", "paths:", "paths-ignore:", "branches-ignore:"):
        assert word not in text
    conditions = [
        part["if"]
        for job in load(path)["jobs"].values()
        for part in (job, *job["steps"])
        if "if" in part
    ]
    admitted = "always() && needs.admission.result == 'success'"
    assert set(conditions) <= {"always()", admitted, MAIN}


def test_c004_every_change_is_checked(ci):
    assert set(ci["on"]) == {"pull_request", "push", "merge_group"}
    assert ci["on"]["push"] == {"branches": ["main"]} and ci["on"]["pull_request"] is None
    assert [step["run"] for step in ci["jobs"]["test"]["steps"] if "run" in step] == [
        "bash .ci/run"
    ]


# C003: the gated job


def test_c003_the_gated_job_runs_the_gate_and_its_verdict_reads_the_bundle(gpu):
    assert (
        'main(["run", "--gate", "--bundle", "/out/gate.tar"])'
        in (ROOT / ".github" / "contain").read_text()
    )
    (upload,) = [
        step for step in gpu["jobs"]["labs"]["steps"] if "upload-artifact" in step.get("uses", "")
    ]
    assert upload["if"] == "always()" and upload["with"]["path"] == "bundle/gate.tar"
    assert upload["with"]["if-no-files-found"] == "error"


# What is published, and what is filed


def test_only_main_is_published_and_only_when_every_claim_has_its_run():
    pages = load(FOLDER / "pages.yml")
    assert pages["on"]["push"] == {"branches": ["main"]} and pages["jobs"]["deploy"]["needs"] == [
        "build"
    ]
    runs = [step["run"] for step in pages["jobs"]["build"]["steps"] if "run" in step]
    assert runs == ["make site", ".venv/bin/proof check --release"]
    assert pages["jobs"]["build"]["env"] == {"SITE_URL": "${{ vars.SITE_URL }}"}  # for both
    assert not any("checkout" in step.get("uses", "") for step in pages["jobs"]["deploy"]["steps"])


def test_records_are_those_of_a_run_on_main_and_are_judged_before_they_are_filed():
    (job,) = load(FOLDER / "records.yml")["jobs"].values()
    steps = "\n".join(step.get("run", step.get("uses", "")) for step in job["steps"])
    order = [
        '.github/measured.py "$RUN" "$SHA"',
        "actions/download-artifact",
        "--gate --verify",
        "proof record --from",
        "git push",
    ]
    assert [steps.index(part) for part in order] == sorted(steps.index(part) for part in order)
    assert steps.split("git push")[1].splitlines()[0].endswith('"records-$RUN"')


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_workflow_opens_a_pull_request_since_ci_would_not_start_on_it(path):
    text = path.read_text(encoding="utf-8")
    assert "gh pr create" not in text and "/pulls" not in text


def test_records_say_where_a_person_opens_the_pull_request():
    (job,) = load(FOLDER / "records.yml")["jobs"].values()
    assert "Open the pull request: $REPOSITORY/compare/main..." in job["steps"][-1]["run"]


REPORT = """
gh() { echo "gh $*" >>"$LOG"; case "$1 $2" in "issue list") echo "$OPEN";; esac; }
export -f gh
mkdir -p .venv/bin && printf '#!/bin/sh\necho told; exit %s\n' "$STATUS" >.venv/bin/proof && chmod +x .venv/bin/proof
bash "$SCRIPT"
"""


@pytest.mark.parametrize(
    ("status", "opened", "does"),
    [(0, "", ""), (0, "5", "issue close 5"), (1, "5", "issue edit 5"), (1, "", "issue create")],
)
def test_one_issue_holds_what_has_grown_old(tmp_path, status, opened, does):
    env = {
        "LOG": str(tmp_path / "log"),
        "OPEN": opened,
        "STATUS": str(status),
        "SCRIPT": str(ROOT / ".github" / "report"),
    }
    subprocess.run(["bash", "-ec", REPORT], cwd=tmp_path, env=os.environ | env, check=True)
    log = [
        line
        for line in (tmp_path / "log").read_text().splitlines()
        if not line.startswith("gh issue list")
    ]
    assert any(line.startswith(f"gh {does}") for line in log) if does else log == []


def test_a_report_that_broke_is_no_report(tmp_path):
    env = {
        "LOG": str(tmp_path / "log"),
        "OPEN": "",
        "STATUS": "2",
        "SCRIPT": str(ROOT / ".github" / "report"),
    }
    done = subprocess.run(["bash", "-ec", REPORT], cwd=tmp_path, env=os.environ | env)
    assert done.returncode == 2 and not (tmp_path / "log").exists()


# The rest of .github


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name
)
def test_every_form_speaks_both_languages(path):
    form = load(path)
    if path.name == "config.yml":
        return
    labels = [
        form["name"],
        form["description"],
        *(part["attributes"]["label"] for part in form["body"]),
    ]
    for label in (form["name"], form["description"]):
        assert re.search(r"[\u4e00-\u9fff]", label) and re.search(r"[A-Za-z]{3}", label), label
    assert len(labels) == len(set(labels)) and any(
        (part.get("validations") or {}).get("required") for part in form["body"]
    )


def test_the_forms_are_a_wrong_number_a_failing_lab_a_term_and_a_decision():
    names = {path.stem for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}
    assert names == {"wrong_number", "lab_failure", "term", "decision", "config"}


OWNED = [
    line.split()[0]
    for line in (ROOT / ".github" / "CODEOWNERS").read_text().splitlines()
    if line and not line.startswith("#")
]


def owns(pattern: str, name: str) -> bool:
    """Whether a pattern of CODEOWNERS that begins at the root holds that path."""
    if pattern.endswith("/"):
        return name.startswith(pattern[1:])
    middle = re.escape(pattern[1:]).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.fullmatch(middle, name) is not None


def tracked() -> list[str]:
    command = ["git", "ls-files"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")[:-1]


def test_what_has_an_owner_exists():
    names = tracked()
    assert [p for p in OWNED if not any(owns(p, name) for name in names)] == []


def test_what_runs_or_decides_what_runs_has_an_owner():
    orphans = [n for n in tracked() if runs(n) and not any(owns(p, n) for p in OWNED)]
    assert orphans == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/conftest.py",
        "labs/judge.py",
        "labs/exercises/01_scale.py",
        "labs/compiled/triton_softmax.json",
        "labs/versions.json",
        "labs/records/nvidia-h200/x/y.json",
    ],
)
def test_what_counts_as_measured_has_an_owner(name):
    assert any(owns(pattern, name) for pattern in OWNED)


def test_zizmor_finds_nothing():
    zizmor = Path(sys.executable).with_name("zizmor")
    command = [
        zizmor,
        "--persona",
        "auditor",
        "--offline",
        "--no-progress",
        "--format",
        "plain",
        ROOT / ".github",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("trigger", ["pull_request_target", "issue_comment", "workflow_run"])
def test_zizmor_finds_a_trigger_with_our_rights(tmp_path, trigger):
    text = (FOLDER / "ci.yml").read_text().replace("pull_request:", f"{trigger}:")
    (tmp_path / "planted.yml").write_text(text)
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", tmp_path / "planted.yml"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "dangerous-triggers" in done.stdout


# .ci/run


def run(tmp_path: Path, make: str) -> subprocess.CompletedProcess[str]:
    """.ci/run in a folder of its own, with this for `make` and something for a browser."""
    for folder in (tmp_path / "clone" / ".ci", tmp_path / "bin"):
        folder.mkdir(parents=True)
    script = Path(shutil.copy(RUN, tmp_path / "clone" / ".ci" / "run"))
    for name, text in (
        ("make", make),
        ("chromium", "exit 0"),
        ("apt-get", "echo apt-get was called; exit 1"),
    ):
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
    done = run(
        tmp_path,
        f"[ $1 = test ] || exit 9; echo first; echo '{line}'; echo afterwards; exit {status}",
    )
    assert done.stdout.splitlines()[-1] == line and done.returncode == status
    assert "apt-get was called" not in done.stdout


@pytest.mark.parametrize(
    "make", ["true", "echo '===== no tests ran in 0.01s ====='", "echo '3 deselected in 0.01s'"]
)
def test_ci_run_that_tested_nothing_is_red(tmp_path, make):
    done = run(tmp_path, make)
    assert done.returncode == 1 and "no test ran" in done.stderr


def test_ci_run_where_make_fails_before_the_tests_is_red(tmp_path):
    assert run(tmp_path, "echo 'a check failed'; exit 2").returncode == 2


@pytest.mark.parametrize("path", [RUN, *FILES], ids=lambda path: path.name)
def test_ci_knows_no_machine_and_no_host(path):
    text = path.read_text(encoding="utf-8").removeprefix("#!/usr/bin/env bash")
    text = re.sub(
        r"\}\}?/(actions/runs|statuses)/", "", text
    )  # addresses below the repository's own
    assert not re.search(r"https?://|(?<![\w.])/(?!dev/null)[a-z]+/", text)
