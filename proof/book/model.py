"""What the rooms hold, as plain data. Nothing here reads a file; loaders fill these, checks and rendering read them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from proof.problem import Problem

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, ...] = ("zh", "en")
Kind = Literal["error", "ratio", "count", "codegen", "break", "source"]
State = Literal["valid", "aged", "pending", "stale-source", "stale-env", "stale-code", "contradicted"]


@dataclass(frozen=True)
class Claim:
    """One row of a lab's CLAIMS or BREAKS, or one cited source: what is said, and who can judge it."""

    id: str  # softmax.ragged_fp32.max_abs_err, softmax.no_mask.break, source.vllm-fused-moe-kernel
    kind: Kind
    lab: str  # stem, triton_softmax; "" for a source
    bound: float | int | str
    judges: Literal["any", "gpu", "compile"]
    gib: int
    why: str  # the reason for the bound; for a break, what one sees
    arguments: str = ""  # as written in the table
    claim: str = ""  # of a break: the claim that must fail
    fails: Kind | Literal[""] = ""  # of a break: the kind of that claim


@dataclass(frozen=True)
class Break:
    """One row of BREAKS: `old` occurs exactly once in the section and becomes `new`."""

    name: str
    section: str
    old: str
    new: str
    claim: str  # full id
    how: str
    seen: str


@dataclass(frozen=True)
class Lab:
    """One lab, read without importing it."""

    stem: str  # triton_softmax
    path: Path
    source: str
    sha256: str  # of the lesson part, see load.lesson_hash
    requires: dict[str, str]  # PEP 723: torch -> ">=2.11,<2.15"
    title: str  # first line of the docstring
    card: dict[str, str]  # Learn, Run, Memory, Card, Minutes
    claims: dict[str, Claim]  # errors, ratios, counts and breaks, by id, in order
    breaks: dict[str, Break]  # by name
    sections: dict[str, tuple[int, str]]  # name -> first line number, text
    switches: dict[str, str] = field(default_factory=dict)  # what os.environ.setdefault sets at the top level


@dataclass(frozen=True)
class LabWords:
    """What pages say of a lab in one language: English stands in the lab itself, Chinese in docs/zh/labs/<stem>.yml."""

    path: Path
    title: str  # its short name, for menus and headings
    sentence: str
    learn: str
    memory: str
    card: str
    why: dict[str, str]  # case.metric -> the reason for the bound
    breaks: dict[str, str]  # name -> what one sees


@dataclass(frozen=True)
class Record:
    """One filed run: `data` is the JSON, validated against proof/book/record.schema.json."""

    path: Path
    data: dict
    intact: bool  # the content still has the hash in the file's name

    @property
    def lab(self) -> str:
        return self.data["lab"]

    @property
    def device(self) -> dict:
        return self.data["device"]

    @property
    def is_gpu(self) -> bool:
        return self.device["kind"] in ("cuda", "hip")

    @property
    def device_class(self) -> str:
        """The folder that the record lies in: nvidia-h200, interpreter, compiler."""
        name = self.device["name"] if self.is_gpu else self.device["kind"]
        return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

    @property
    def triton_minor(self) -> str:
        return ".".join(self.data["environment"]["triton"].split(".")[:2])

    @property
    def utc(self) -> datetime:
        return datetime.fromisoformat(self.data["utc"])


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of a lab for every target, filed by `proof compile`; see proof/book/compiled.schema.json."""

    path: Path
    data: dict
    texts: dict[str, str]  # file name -> assembly that pages show


@dataclass(frozen=True)
class Standing:
    """What is known of one claim on one kind of device, today."""

    claim: Claim
    state: State
    row: dict | None = None  # the claim's row of the record; None when pending
    record: Record | None = None
    note: str = ""  # why the state is not valid


@dataclass(frozen=True)
class Text:
    """What a term says in one language."""

    preferred: str
    short: str
    body: str
    alt: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    id: str
    path: Path
    topic: str
    zh: Text
    en: Text
    translate: Literal["yes", "no", "both-on-first-use"]
    scope: Literal["any", "nvidia", "amd"]
    forbidden: tuple[dict, ...] = ()  # {lang, term, use}
    see_also: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """One ADR in one language."""

    id: str  # "0004"
    lang: Lang
    path: Path
    slug: str  # 0004-verified-against-sources
    title: str
    status: str
    date: date
    supersedes: tuple[str, ...]
    superseded_by: str | None
    body: str  # Markdown below the front matter


@dataclass(frozen=True)
class Source:
    """A cited range of someone's repository at a tag, or a document."""

    id: str
    path: Path
    url: str
    shows: dict[Lang, str]
    repository: str = ""
    tag: str = ""
    file: str = ""
    lines: tuple[int, int] | None = None
    sha256: str = ""  # of the cited lines
    accessed: date | None = None


@dataclass(frozen=True)
class Page:
    """One Markdown page of one language."""

    lang: Lang
    name: str  # lessons/first_kernel.md, the same in both languages
    path: Path
    text: str  # as written, LF, no BOM


@dataclass
class Book:
    """Everything that the rooms hold, read once."""

    root: Path
    today: date
    labs: dict[str, Lab] = field(default_factory=dict)
    words: dict[str, LabWords] = field(default_factory=dict)  # the Chinese ones, by the stem of the lab
    records: list[Record] = field(default_factory=list)
    compiled: dict[str, Compiled] = field(default_factory=dict)  # by the stem of the lab
    versions: dict = field(default_factory=dict)  # labs/versions.json, see proof/book/versions.schema.json
    terms: dict[str, Term] = field(default_factory=dict)
    decisions: dict[tuple[str, Lang], Decision] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)  # what could not be read
    # What was worked out of the book once, since pages ask for it many times: by state.py and by ledger.py.
    judged: dict[str, list[Standing]] = field(default_factory=dict, init=False, repr=False, compare=False)
    named: dict[str, list[Page]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def claims(self) -> dict[str, Claim]:
        return {claim.id: claim for lab in self.labs.values() for claim in lab.claims.values()}
