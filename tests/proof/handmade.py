"""A book made by hand: one lab, two terms, two decisions, one source; records are added by the tests that want them."""

from __future__ import annotations

import textwrap
from datetime import date
from pathlib import Path

from proof.book.lab import read_lab
from proof.book.model import Book, Decision, Lab, LabWords, Page, Record, Source, Term, Text

ROOT = Path("/book")
REPOSITORY = Path(__file__).parents[2]
TODAY = date(2026, 11, 29)

LAB = textwrap.dedent('''\
    # /// script
    # requires-python = ">=3.11"
    # dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
    # ///
    """Scale: what one multiplication costs.

    Learn:   a load, a store and what lies between
    Run:     python triton_scale.py
    Memory:  1 GiB
    GPU:     any
    Minutes: 2
    """

    # --8<-- [start:companions]
    from judge import Bug, Claim, main
    # --8<-- [end:companions]

    # %% The kernel: what one program does, and a * b.
    # --8<-- [start:kernel]
    @triton.jit
    def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, 2 * x, mask=mask)
    # --8<-- [end:kernel]

    # %% The claims.
    # fmt: off
    CLAIMS = [
        Claim("ragged.max_abs_err", error, dict(n=1000), bound=2**-21, why="one rounding | of 2**3"),
        Claim("large.max_abs_err", error, dict(n=2**31), bound=2**-21, judges="gpu", gib=9, why="64-bit offsets"),
        Claim("large.vs_copy", speed, dict(n=2**28), kind="ratio", bound=0.9, judges="gpu", gib=1, why="memory-bound"),
        Claim("vector.wide_loads", loads, kind="codegen", bound=4, judges="compile", why="16 bytes a lane"),
    ]
    BUGS = [
        Bug("no_mask", section="kernel", old="offs < n", new="offs >= 0", caught_by="ragged.max_abs_err", how="guard", shows="the tail is overwritten"),
    ]
    # fmt: on


    if __name__ == "__main__":
        main(sys.modules[__name__])
    ''')
COMPANIONS = {name: (REPOSITORY / "labs" / name).read_text(encoding="utf-8") for name in ("judge.py", "claims.py")}

ERROR = "scale.ragged.max_abs_err"
LARGE = "scale.large.max_abs_err"
RATIO = "scale.large.vs_copy"
CODEGEN = "scale.vector.wide_loads"
BUG = "scale.no_mask.bug"

DEVICES = {
    "h200": {"kind": "cuda", "name": "NVIDIA H200", "capability": "9.0"},
    "interpreter": {"kind": "interpreter", "name": "Triton interpreter"},
}
ROWS = {
    ERROR: {"value": 1.4901161e-08, "max_abs_err": 1.4901161e-08, "max_rel_err": 0.00123456, "nonfinite": 0, "scale": 4.5},
    LARGE: {"value": 0.0, "max_abs_err": 0.0, "max_rel_err": 0.0, "nonfinite": 0, "scale": 4.5, "peak_mib": 8210},
    RATIO: {
        "value": 1.0341,
        "low": 1.0201,
        "high": 1.0451,
        "peak_mib": 512,
        "timings": [
            {"name": "scale", "p10_ms": 0.71, "median_ms": 0.72345, "p90_ms": 0.74, "repeats": 500, "work": 3_221_225_472, "unit": "B"},
            {"name": "copy", "p10_ms": 0.5, "median_ms": 0.51, "p90_ms": 0.52, "repeats": 500, "work": 2_147_483_648, "unit": "B"},
        ],
    },
    CODEGEN: {"value": 4},
    BUG: {"value": "guard"},
}  # fmt: skip
INTERPRETER = {
    ERROR: ROWS[ERROR] | {"value": 2.5e-08, "max_abs_err": 2.5e-08},
    CODEGEN: {"value": 4},
    BUG: {"value": "guard"},
}


def lab(source: str = LAB) -> Lab:
    found, problems = read_lab(ROOT / "labs/triton_scale.py", source, "labs/triton_scale.py", COMPANIONS)
    assert not problems, problems
    return found


def record(
    of: Lab, device: str = "h200", *, utc: str = "2026-11-20T08:00:00+00:00", intact: bool = True, **changes
) -> Record:
    """A whole run of the lab; `changes` go into rows: ragged={"value": 1.0, …} changes the row scale.ragged.…"""
    known = ROWS if device != "interpreter" else INTERPRETER
    rows = []
    for claim in of.claims.values():
        row = {
            "id": claim.id,
            "kind": claim.kind,
            "arguments": {},
            "bound": claim.bound,
            "judges": claim.judges,
            "why": claim.why,
        }
        row |= {"claim": claim.claim} if claim.kind == "bug" else {}
        row |= (
            {"verdict": "ok", **known[claim.id]}
            if claim.id in known
            else {"verdict": "-", "note": "needs a GPU to judge"}
        )
        for case, change in changes.items():
            row |= change if claim.id.split(".")[1] == case else {}
        rows.append(row)
    environment = {
        "os": "Linux",
        "machine": "x86_64",
        "python": "3.12.1",
        "torch": "2.11.0",
        "triton": "3.6.0",
        "numpy": "2.3.5",
    }
    data = {
        "schema": 2,
        "lab": of.stem,
        "device": DEVICES[device],
        "environment": environment | {"switches": dict(of.switches)},
    }
    data |= {
        "utc": utc,
        "command": "python triton_scale.py --json",
        "claims": rows,
        "kernels": [],
        "lab_sha256": of.sha256,
        "judge_sha256": of.judge_sha256,
    }
    folder = {"h200": "nvidia-h200"}.get(device, device)
    path = ROOT / f"labs/records/{folder}/{of.stem}/{utc[:10].replace('-', '')}-t3.6.0-0123abcd.json"
    return Record(path, data, intact)


def term(id: str, zh: str, en: str, *, topic: str = "memory", **more) -> Term:
    texts = {
        "zh": Text(zh, f"{zh}的简短说法", f"{zh}的正文。", tuple(more.pop("zh_alt", ()))),
        "en": Text(en, f"What {en} is", f"The body of {en}.", tuple(more.pop("en_alt", ()))),
    }
    fields = {"translate": "yes", "scope": "any"} | more
    return Term(id, ROOT / f"glossary/{id}.yml", topic, texts["zh"], texts["en"], **fields)


def decision(id: str, lang: str, **more) -> Decision:
    fields = {
        "title": f"Title {id}",
        "status": "accepted",
        "date": date(2026, 1, 2),
        "supersedes": (),
        "superseded_by": None,
    }
    fields |= {"body": "## Context { #context }\n\nText.\n"} | more
    return Decision(id, lang, ROOT / f"adr/{id}-words.{lang}.md", f"{id}-words", **fields)


KERNEL = Source(
    "vllm-kernel",
    ROOT / "docs/sources/vllm-kernel.yml",
    "https://github.com/vllm-project/vllm",
    {"zh": "融合 MoE 的 kernel", "en": "the fused MoE kernel"},
    "https://github.com/vllm-project/vllm",
    "v0.26.0",
    "vllm/moe/fused_moe.py",
    (12, 40),
    "0" * 64,
)
CARD = Source(
    "rtx-4090",
    ROOT / "docs/sources/rtx-4090.yml",
    "https://example.com/4090",
    {"zh": "4090 规格页", "en": "the 4090 data sheet"},
)


WORDS = LabWords(
    ROOT / "labs/triton_scale.zh.yml",
    "缩放",
    "一次乘法要花多少。",
    "一次 load、一次 store，和中间的一切",
    "1 GiB 显存",
    "任何 GPU",
    {
        "ragged.max_abs_err": "舍入一次 | 大小为 2**3",
        "large.max_abs_err": "64 位偏移",
        "large.vs_copy": "访存受限",
        "vector.wide_loads": "每个 lane 16 字节",
    },
    {"no_mask": "末尾被改写"},
)


def page(text: str, lang: str = "en", name: str = "lessons/one.md") -> Page:
    return Page(lang, name, ROOT / "docs" / lang / name, text)


def book(*records: Record, source: str = LAB, today: date = TODAY, pages: list[Page] | None = None) -> Book:
    """The book with these records; without any, every claim is pending."""
    made = Book(ROOT, today, labs={"triton_scale": lab(source)}, records=list(records), pages=pages or [])
    made.words = {"triton_scale": WORDS}
    made.terms = {t.id: t for t in (term("mask", "掩码", "mask"), term("coalescing", "合并访存", "coalescing"))}
    made.sources = {KERNEL.id: KERNEL, CARD.id: CARD}
    made.decisions = {(id, lang): decision(id, lang) for id in ("0002", "0004") for lang in ("zh", "en")}
    return made


def measured() -> Book:
    """The book with a whole run on an H200 and one in the interpreter."""
    return book(record(lab()), record(lab(), "interpreter"))
