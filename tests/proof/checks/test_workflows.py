"""No code of a fork reaches a machine or a secret of ours."""

import pytest
from planted import found

from proof.checks import workflows

PATH = ".github/workflows/ci.yml"
SHA = "0123456789abcdef0123456789abcdef01234567"
CI = f"""\
name: CI
on:
  pull_request:
  push: {{ branches: [main] }}
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@{SHA} # v7.0.0
        with: {{ persist-credentials: false }}
      - uses: ./.github/actions/own
      - run: make test
"""
GPU = f"""\
name: GPU
on: workflow_dispatch
permissions: {{}}
jobs:
  run:
    runs-on: [self-hosted, gpu]
    environment: gpu
    steps:
      - uses: actions/checkout@{SHA}
      - run: python -m pytest -m gpu
        env: {{ TOKEN: "${{{{ secrets.TOKEN }}}}" }}
"""


def told(tiny, text: str) -> list[str]:
    tiny.write(PATH, text)
    return [line.removeprefix(f"{PATH}:") for line in found(tiny, workflows.faults)]


@pytest.mark.parametrize("text", [CI, GPU])
def test_C022_a_careful_workflow_passes(tiny, text):
    assert told(tiny, text) == []


def test_C022_no_workflows_is_no_crash(tiny):
    assert found(tiny, workflows.faults) == []


@pytest.mark.parametrize("trigger", ["pull_request_target", "issue_comment", "workflow_run"])
@pytest.mark.parametrize("form", ["{}", "  {}:\n", "[push, {}]"])
def test_C022_a_trigger_with_our_rights_is_found(tiny, trigger, form):
    on = "\n" + form.format(trigger) if form.startswith(" ") else " " + form.format(trigger) + "\n"
    text = CI.replace("on:\n  pull_request:\n  push: { branches: [main] }\n", f"on:{on}")
    (line,) = told(tiny, text)
    assert f"{trigger} runs with our rights on a stranger's word" in line


def test_C022_a_comment_about_a_trigger_is_none(tiny):
    assert told(tiny, "# never pull_request_target\n" + CI) == []


def test_C022_missing_permissions_are_found(tiny):
    assert told(tiny, CI.replace("permissions:\n  contents: read\n", "")) == ["2: there are no top-level permissions"]


@pytest.mark.parametrize("granted", ["write-all", "{ contents: write }", "{ contents: read, pages: write }"])
def test_C022_permission_to_write_is_found(tiny, granted):
    (line,) = told(tiny, CI.replace("permissions:\n  contents: read\n", f"permissions: {granted}\n"))
    assert "the whole workflow may write" in line


def test_C022_permission_to_write_in_a_job_of_a_pull_request_is_found(tiny):
    (line,) = told(tiny, CI.replace("    steps:", "    permissions: { issues: write }\n    steps:"))
    assert "job test may write" in line


def test_C022_a_publishing_job_may_write(tiny):
    text = CI.replace("  pull_request:\n", "").replace("    steps:", "    permissions: { pages: write }\n    steps:")
    assert told(tiny, text) == []


@pytest.mark.parametrize("version", ["v7", "main", SHA[:7], "v7.0.0"])
def test_C022_an_action_that_can_change_is_found(tiny, version):
    text = CI.replace(f"checkout@{SHA} # v7.0.0", f"checkout@{version}")
    assert told(tiny, text) == [f"11: actions/checkout@{version} is not pinned"]


def test_C022_a_reusable_workflow_that_can_change_is_found(tiny):
    text = CI + "  other:\n    uses: a/b/.github/workflows/c.yml@main\n"
    assert told(tiny, text) == ["16: a/b/.github/workflows/c.yml@main is not pinned"]


@pytest.mark.parametrize(
    "runner", ["self-hosted", "[self-hosted, gpu]", "{ group: gpus }", "h200", "${{ inputs.runner }}"]
)
def test_C022_a_machine_of_ours_for_a_pull_request_is_found(tiny, runner):
    (line,) = told(tiny, CI.replace("ubuntu-24.04", runner))
    assert "of a pull request runs on our own machine" in line


def test_C022_a_machine_of_ours_by_way_of_a_matrix_is_found(tiny):
    matrix = "    strategy: { matrix: { os: [ubuntu-24.04, self-hosted] } }\n    steps:"
    (line,) = told(tiny, CI.replace("ubuntu-24.04", "${{ matrix.os }}").replace("    steps:", matrix))
    assert "runs on our own machine" in line


def test_C022_a_matrix_of_hosted_machines_passes(tiny):
    matrix = "    strategy: { matrix: { os: [ubuntu-24.04, macos-15] } }\n    steps:"
    assert told(tiny, CI.replace("ubuntu-24.04", "${{ matrix.os }}").replace("    steps:", matrix)) == []


def test_C022_a_label_does_not_make_it_safe(tiny):
    text = CI.replace("  pull_request:\n", "  pull_request: { types: [labeled] }\n").replace(
        "ubuntu-24.04", "self-hosted"
    )
    assert len(told(tiny, text)) == 1


def test_C022_our_own_machine_without_an_environment_is_found(tiny):
    (line,) = told(tiny, GPU.replace("    environment: gpu\n", ""))
    assert line == "5: job run runs on our own machine with no environment"


def test_C022_a_secret_in_a_pull_request_is_found(tiny):
    (line,) = told(tiny, CI + '        env: { KEY: "${{ secrets.KEY }}" }\n')
    assert "job test of a pull request uses secrets.KEY" in line


def test_C022_a_pull_request_s_text_in_a_script_is_found(tiny):
    (line,) = told(tiny, CI.replace("make test", "echo ${{ github.event.pull_request.title }}"))
    assert "where it can be any command" in line


def test_C022_a_stranger_s_commit_checked_out_with_our_rights_is_found(tiny):
    text = GPU.replace(
        f"checkout@{SHA}", f"checkout@{SHA}\n        with: {{ ref: '${{{{ github.event.pull_request.head.sha }}}}' }}"
    )
    (line,) = told(tiny, text)
    assert "checks out a stranger's commit" in line


@pytest.mark.parametrize("text", ["on: [\n", "", "- a\n"])
def test_C022_a_workflow_that_cannot_be_read_is_found(tiny, text):
    assert len(told(tiny, text)) == 1
