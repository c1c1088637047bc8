"""A book made by hand: one lab, two terms, two decisions, one source; records are added by the tests that want them."""

from __future__ import annotations

import textwrap
from datetime import date
from pathlib import Path

from proof.book.lab import read_lab
from proof.book.model import Book, Claim, Decision, Lab, LabWords, Page, Record, Source, Term, Text

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
COMPANIONS = {
    name: (REPOSITORY / "labs" / name).read_text(encoding="utf-8")
    for name in ("judge.py", "claims.py")
}

ERROR = "scale.ragged.max_abs_err"
LARGE = "scale.large.max_abs_err"
RATIO = "scale.large.vs_copy"
CODEGEN = "scale.vector.wide_loads"
BUG = "scale.no_mask.bug"

DEVICES = {
    "h200": {
        "kind": "cuda",
        "name": "NVIDIA H200",
        "capability": "9.0",
        "sms": 132,
        "memory_mib": 143_000,
        "driver": "570.0",
        "runtime": "12.8",
    },
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
    found, problems = read_lab(
        ROOT / "labs/triton_scale.py", source, "labs/triton_scale.py", COMPANIONS
    )
    assert not problems, problems
    return found


def record(
    of: Lab,
    device: str = "h200",
    *,
    utc: str = "2026-11-20T08:00:00+00:00",
    intact: bool = True,
    rows: dict[str, dict] | None = None,
    **changes,
) -> Record:
    """A whole run of the lab; `changes` go into rows: ragged={"value": 1.0, …} changes the rows scale.ragged.…

    `rows` does the same by full ids.
    """
    known = ROWS if device != "interpreter" else INTERPRETER
    made_rows = []
    for claim in of.claims.values():
        row = _unjudged(claim)
        row |= (
            {"verdict": "ok", **known[claim.id]}
            if claim.id in known
            else {"note": "needs a GPU to judge"}
        )
        for case, change in changes.items():
            row |= change if claim.id.split(".")[1] == case else {}
        made_rows.append(row | (rows or {}).get(claim.id, {}))
    environment = {
        "os": "Linux",
        "machine": "x86_64",
        "python": "3.12.1",
        "torch": "2.11.0",
        "triton": "3.6.0",
    }
    data = {
        "schema": 2,
        "lab": of.stem,
        "lab_sha256": of.sha256,
        "judge_sha256": of.judge_sha256,
        "device": DEVICES[device],
        "environment": environment | {"numpy": "2.3.5", "switches": dict(of.switches)},
        "utc": utc,
        "command": "python triton_scale.py --json",
        "commit": None,
        "claims": made_rows,
        "kernels": [],
    }
    folder = {"h200": "nvidia-h200"}.get(device, device)
    path = (
        ROOT / f"labs/records/{folder}/{of.stem}/{utc[:10].replace('-', '')}-t3.6.0-0123abcd.json"
    )
    made = Record.model_validate(data).at(path)
    return made if intact else made.edited()


def changed(record: Record, **changes) -> Record:
    """The record with other fields: device={"name": "AMD Instinct MI300X"} changes that one of the device."""
    data = record.model_dump(exclude_unset=True)
    for name, change in changes.items():
        data[name] = data[name] | change if isinstance(change, dict) else change
    made = Record.model_validate(data).at(record.path)
    return made if record.intact else made.edited()


def _unjudged(claim: Claim) -> dict:
    """A row of the record where the claim was not judged."""
    row = {
        "id": claim.id,
        "kind": claim.kind,
        "bound": claim.bound,
        "why": claim.why,
        "verdict": "-",
    }
    if claim.kind == "bug":
        return row | {"claim": claim.claim, "value": "-"}
    return row | {"arguments": {}, "judges": claim.judges}


def term(id: str, zh: str, en: str, *, topic: str = "memory", **more) -> Term:
    fields = {"translate": "yes", "scope": "any"}
    fields["zh"] = Text(
        preferred=zh,
        short=f"{zh}的简短说法",
        body=f"{zh}的正文。",
        alt=tuple(more.pop("zh_alt", ())),
    )
    fields["en"] = Text(
        preferred=en,
        short=f"What {en} is",
        body=f"The body of {en}.",
        alt=tuple(more.pop("en_alt", ())),
    )
    return Term.model_validate({"id": id, "topic": topic} | fields | more).at(
        ROOT / f"glossary/{id}.yml"
    )


def decision(id: str, lang: str, **more) -> Decision:
    fields = {"id": id, "title": f"Title {id}", "status": "accepted", "date": date(2026, 1, 2)}
    body = more.pop("body", "## Context { #context }\n\nText.\n")
    return Decision.model_validate(fields | more).at(ROOT / f"adr/{id}-words.{lang}.md").above(body)


KERNEL = Source(
    id="vllm-kernel",
    url="https://github.com/vllm-project/vllm",
    shows={"zh": "融合 MoE 的 kernel", "en": "the fused MoE kernel"},
    accessed=date(2026, 11, 1),
    repository="https://github.com/vllm-project/vllm",
    tag="v0.26.0",
    file="vllm/moe/fused_moe.py",
    lines=(12, 40),
    sha256="0" * 64,
).at(ROOT / "docs/sources/vllm-kernel.yml")
CARD = Source(
    id="rtx-4090",
    url="https://example.com/4090",
    shows={"zh": "4090 规格页", "en": "the 4090 data sheet"},
    accessed=date(2026, 11, 1),
).at(ROOT / "docs/sources/rtx-4090.yml")


WORDS = LabWords(
    title="缩放",
    sentence="一次乘法要花多少。",
    learn="一次 load、一次 store，和中间的一切",
    memory="1 GiB 显存",
    gpu="任何 GPU",
    why={
        "ragged.max_abs_err": "舍入一次 | 大小为 2**3",
        "large.max_abs_err": "64 位偏移",
        "large.vs_copy": "访存受限",
        "vector.wide_loads": "每个 lane 16 字节",
    },
    bugs={"no_mask": "末尾被改写"},
).at(ROOT / "labs/triton_scale.zh.yml")


def page(text: str, lang: str = "en", name: str = "lessons/one.md") -> Page:
    return Page(lang, name, ROOT / "docs" / lang / name, text)


def book(
    *records: Record, source: str = LAB, today: date = TODAY, pages: list[Page] | None = None
) -> Book:
    """The book with these records; without any, every claim is pending."""
    made = Book(
        ROOT, today, labs={"triton_scale": lab(source)}, records=list(records), pages=pages or []
    )
    made.words = {"triton_scale": WORDS}
    made.terms = {
        t.id: t
        for t in (term("mask", "掩码", "mask"), term("coalescing", "合并访存", "coalescing"))
    }
    made.sources = {KERNEL.id: KERNEL, CARD.id: CARD}
    made.decisions = {
        (id, lang): decision(id, lang) for id in ("0002", "0004") for lang in ("zh", "en")
    }
    return made


def measured() -> Book:
    """The book with a whole run on an H200 and one in the interpreter."""
    return book(record(lab()), record(lab(), "interpreter"))
