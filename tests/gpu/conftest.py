"""The rules of the gated job, `pytest -m gpu`: it has run enough, and skipped nothing, or it is red."""

import os

import pytest

FLOOR = int(os.environ.get("PROOF_GPU_FLOOR", "4"))  # labs that must have run; raise it with each new lab
JUDGED = pytest.StashKey[dict[str, int]]()


def asked_for(config: pytest.Config) -> bool:
    return "gpu" in config.option.markexpr and "not gpu" not in config.option.markexpr


def pytest_configure(config):
    config.stash[JUDGED] = {}


def pytest_collection_modifyitems(config, items):
    if not asked_for(config):
        left_out = [item for item in items if item.get_closest_marker("gpu")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def judged(request) -> dict[str, int]:
    """Lab -> claims and breaks judged on the GPU, for the count at the end."""
    return request.config.stash[JUDGED]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    config = session.config
    if not asked_for(config) or config.option.collectonly or hasattr(config, "workerinput"):
        return
    reporter, done = config.pluginmanager.get_plugin("terminalreporter"), config.stash[JUDGED]
    count = {kind: len(reporter.stats.get(kind, [])) for kind in ("passed", "skipped", "xfailed")}
    reporter.write_line(
        f"\ngated job: {len(done)} labs, {sum(done.values())} claims and breaks judged, floor {FLOOR} labs"
    )
    left_out = count["skipped"] + count["xfailed"]
    if left_out:
        reporter.write_line(f"{left_out} skipped, and here that is a failure", red=True)
    if not count["passed"] or left_out or len(done) < FLOOR:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
