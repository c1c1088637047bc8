"""What only a GPU can judge: every claim and every seeded bug of every lab, and tensors on the wrong device.

PROOF_GPU_OUT names the folder that gets the --json of each lab, for `proof record --from`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).parents[2]
LABS = sorted(path.stem for path in (ROOT / "labs").glob("triton_*.py"))


@pytest.fixture(scope="session")
def gpu():
    """The environment of a process that compiles and runs on the GPU. There must be one."""
    import torch

    if not torch.cuda.is_available():
        pytest.fail(
            "no GPU was found: this job judges what nothing else can, so it does not pass without one"
        )
    return {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}


@pytest.fixture(scope="session")
def out(tmp_path_factory):
    folder = Path(os.environ.get("PROOF_GPU_OUT") or tmp_path_factory.mktemp("records"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("stem", LABS)
def test_every_claim_and_every_bug_is_judged_and_holds(gpu, out, book, judged, stem):
    path = ROOT / "labs" / f"{stem}.py"
    with open(out / f"{stem}.json", "w") as file:
        status = subprocess.run([sys.executable, path, "--json"], env=gpu, stdout=file).returncode
    text = (out / f"{stem}.json").read_text()
    assert text, f"{stem} ended with status {status} and printed nothing"
    record = json.loads(text)
    verdicts = {row["id"]: row["verdict"] for row in record["claims"]}
    assert record["device"]["kind"] in ("cuda", "hip")
    assert list(verdicts) == list(book.labs[stem].claims), "fewer claims ran than the lab has"
    judged[stem] = sum(verdict != "-" for verdict in verdicts.values())
    assert {claim: verdict for claim, verdict in verdicts.items() if verdict != "ok"} == {}
    assert status == 0


def say(gpu, code):
    """What the code prints, run beside the labs."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "labs", env=gpu, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


MIXED = """
import torch, {stem} as lab
there, here = torch.ones(4, 4, device="cuda"), torch.ones(4, 4)
for arguments in {cases}:
    try:
        lab.{op}(*arguments)
        print("was taken:", [t.device for t in arguments])
    except ValueError as error:
        print(error)
"""
TWO = "(here, here), (there, here), (there, there, here)"


@pytest.mark.parametrize(
    ("stem", "op", "cases", "named"),
    [
        ("triton_vector_add", "add", TWO, ["x", "y", "out"]),
        ("triton_matmul", "matmul", TWO, ["a", "b", "out"]),
        ("triton_softmax", "softmax", "(here,), (there, here)", ["x", "out"]),
    ],
    ids=["add", "matmul", "softmax"],
)
def test_c048_a_tensor_off_the_gpu_is_named(gpu, stem, op, cases, named):
    lines = say(gpu, MIXED.format(stem=stem, op=op, cases=cases))
    assert [line.partition("; this run needs ")[0] for line in lines] == [
        f"{name} is on cpu" for name in named
    ]


EVERY = """
import torch, triton_vector_add, triton_matmul, triton_softmax
for i in range(torch.cuda.device_count()):
    x = torch.ones(64, 64, device=f"cuda:{i}")
    before = torch.cuda.memory_allocated(0)
    results = triton_vector_add.add(x, x), triton_matmul.matmul(x, x), triton_softmax.softmax(x)
    print(i == 0 or torch.cuda.memory_allocated(0) == before, torch.cuda.current_device())
    for got, value in zip(results, (2, 64, 1 / 64)):
        torch.testing.assert_close(got, torch.full_like(x, value))
"""


def test_c048_every_device_is_right_while_the_first_is_current(gpu, every_gpu):
    assert set(say(every_gpu, EVERY)) == {"True 0"}
