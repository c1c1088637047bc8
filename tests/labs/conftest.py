"""Labs as modules, interpreted: one copy of each for the whole run."""

import functools
import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton
sys.path.insert(0, str(ROOT / "labs"))  # where a lab finds its companions

from doubting import dirtied, ordered  # noqa: E402
from running import LABS, copied, run  # noqa: E402


def pytest_collection_modifyitems(items):
    """One process runs all tests of a lab that share its runs."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if parameters.get("stem") in LABS:
            item.add_marker(pytest.mark.xdist_group(parameters["stem"]))


@functools.cache
def load(stem: str):
    spec = importlib.util.spec_from_file_location(stem, ROOT / "labs" / f"{stem}.py")
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def lab():
    """lab("triton_softmax") is that lab, loaded from its file."""
    return load


@pytest.fixture(autouse=True)
def same_random_numbers_every_time():
    import torch

    torch.manual_seed(0)


@pytest.fixture(params=["reversed", "shuffled"])
def other_order(request):
    """From here on the interpreter runs the programs of a launch in this order; the list holds the order it took."""
    with ordered(request.param) as ran:
        yield ran


@pytest.fixture
def dirty():
    """Fresh memory is full of NaN, in integers of their largest value, as if someone had used it before."""
    with dirtied():
        yield


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """alone("triton_matmul") is what that lab did with --json, once, in a folder with its companions and nothing else.

    `left` is what lay in the folder afterwards and not before.
    """

    @functools.cache
    def once(stem):
        path = copied(stem, tmp_path_factory.mktemp(stem))
        before = set(path.parent.iterdir())
        done = run(path, "--json")
        done.left = set(path.parent.iterdir()) - before
        return done

    return once
