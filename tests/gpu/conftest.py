"""The rules of the gated job, `pytest -m gpu`: it has run every lab, and skipped nothing, or it is red.

With `-n 4` each of four processes gets a GPU of its own, and labs are spread over them.
"""

import os
from pathlib import Path

import pytest

LABS = sorted(path.stem for path in (Path(__file__).parents[2] / "labs").glob("triton_*.py"))
FLOOR = int(os.environ.get("PROOF_GPU_FLOOR", max(4, len(LABS))))  # labs that must have run
JUDGED = pytest.StashKey[dict[str, int]]()
VISIBLE = "CUDA_VISIBLE_DEVICES"
EVERY = os.environ.get(VISIBLE)  # what this process was given, before it takes its share


def asked_for(config: pytest.Config) -> bool:
    return "gpu" in config.option.markexpr and "not gpu" not in config.option.markexpr


def pytest_configure(config):
    config.stash[JUDGED] = {}
    if hasattr(config, "workerinput") and asked_for(config):
        take_one_gpu(int(config.workerinput["workerid"].removeprefix("gw")))


def take_one_gpu(worker: int) -> None:
    """The labs of this process see one GPU only: of those it was given, the one with the number of the process."""
    import torch

    given = EVERY.split(",") if EVERY else [str(i) for i in range(torch.cuda.device_count())]
    os.environ[VISIBLE] = given[worker % len(given)] if given else ""


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[JUDGED] |= (
        node.workeroutput.get("judged", {}) if hasattr(node, "workeroutput") else {}
    )


def pytest_collection_modifyitems(config, items):
    if not asked_for(config):
        left_out = [item for item in items if item.get_closest_marker("gpu")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def every_gpu() -> dict[str, str]:
    """The environment of a process that sees all GPUs that this job was given."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in (VISIBLE, "TRITON_INTERPRET")
    }
    return env | ({VISIBLE: EVERY} if EVERY is not None else {})


@pytest.fixture
def judged(request) -> dict[str, int]:
    """Lab -> claims and bugs judged on the GPU, for the count at the end."""
    return request.config.stash[JUDGED]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workerinput"):
        config.workeroutput["judged"] = config.stash[JUDGED]
        return
    if not asked_for(config) or config.option.collectonly:
        return
    reporter, done = config.pluginmanager.get_plugin("terminalreporter"), config.stash[JUDGED]
    count = {kind: len(reporter.stats.get(kind, [])) for kind in ("passed", "skipped", "xfailed")}
    reporter.write_line(
        f"\ngated job: {len(done)} labs, {sum(done.values())} claims and bugs judged, floor {FLOOR} labs"
    )
    left_out = count["skipped"] + count["xfailed"]
    if left_out:
        reporter.write_line(f"{left_out} skipped, and here that is a failure", red=True)
    if not count["passed"] or left_out or len(done) < FLOOR:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
