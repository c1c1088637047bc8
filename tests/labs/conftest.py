"""Labs as modules, interpreted: one copy of each for the whole run."""

import functools
import importlib.util
import os
import random
import sys
from pathlib import Path

import pytest

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton
ROOT = Path(__file__).parents[2]


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
def other_order(request, monkeypatch):
    """From here on the interpreter runs the programs of a launch in this order; the list holds the order it took."""
    from triton.runtime.interpreter import interpreter_builder as builder

    ran, step, start = [], builder.set_grid_idx, builder.set_grid_dim
    turns = {}

    def set_grid_dim(*dims):
        start(*dims)
        places = [(x, y, z) for x in range(dims[0]) for y in range(dims[1]) for z in range(dims[2])]
        order = places[::-1] if request.param == "reversed" else random.Random(0).sample(places, len(places))
        turns.update(zip(places, order, strict=True))

    def set_grid_idx(*place):
        ran.append(turns[place])
        step(*turns[place])

    monkeypatch.setattr(builder, "set_grid_dim", set_grid_dim)
    monkeypatch.setattr(builder, "set_grid_idx", set_grid_idx)
    return ran


@pytest.fixture
def dirty(monkeypatch):
    """Fresh memory is full of NaN, in integers of their largest value, as if someone had used it before."""
    import torch

    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)
