"""What the rooms hold, as plain data. Nothing here reads a file; loaders fill these, checks and rendering read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from proof.problem import Problem

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, ...] = ("zh", "en")
Kind = Literal["error", "ratio", "count", "codegen", "bug", "source"]
State = Literal["valid", "aged", "pending", "stale-source", "stale-env", "stale-code", "contradicted"]


@dataclass(frozen=True)
class Claim:
    """One row of a lab's CLAIMS or BUGS, or one cited source: what holds, and who can judge it."""

    id: str  # softmax.ragged_fp32.max_abs_err, softmax.no_mask.bug, source.vllm-fused-moe-kernel
    kind: Kind
    lab: str  # stem, triton_softmax; "" for a source
    bound: float | int | str
    judges: Literal["any", "gpu", "compile"]
    gib: int
    why: str  # the reason for the bound; for a bug, what one sees
    arguments: str = ""  # as written in the table
    claim: str = ""  # of a bug: the claim that must fail
    fails: Kind | Literal[""] = ""  # of a bug: the kind of that claim
    predicted: float | None = None  # of a ratio: what a model says, within the fraction `tolerance`
    tolerance: float = 0.0


@dataclass(frozen=True)
class Bug:
    """One row of BUGS: `old` occurs exactly once in the section and becomes `new`."""

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
    sha256: str  # of the lesson, see companions.lab_hash
    judge_sha256: str  # of its companions, see companions.judge_hash
    requires: dict[str, str]  # PEP 723: torch -> ">=2.11,<2.15"
    title: str  # first line of the docstring
    card: dict[str, str]  # Learn, Run, Memory, GPU, Minutes
    claims: dict[str, Claim]  # errors, ratios, counts and bugs, by id, in order
    bugs: dict[str, Bug]  # by name
    sections: dict[str, tuple[int, str]]  # name -> first line number, text
    switches: Mapping[str, str] = field(default_factory=dict)  # SWITCHES of judge.py: what a run sets
    companions: dict[str, str] = field(default_factory=dict)  # text by name, each below those that it imports


@dataclass(frozen=True)
class LabWords:
    """What pages say of a lab in one language: English stands in the lab itself, Chinese beside it in <stem>.zh.yml."""

    path: Path
    title: str  # its short name, for menus and headings
    sentence: str
    learn: str
    memory: str
    gpu: str
    why: dict[str, str]  # case.metric -> the reason for the bound
    bugs: dict[str, str] = field(default_factory=dict)  # name -> what one sees
    comments: dict[str, str] = field(default_factory=dict)  # a comment of a section that pages show -> in this language
    docstrings: dict[str, str] = field(default_factory=dict)  # the same of docstrings there

    @property
    def lab(self) -> str:
        """The stem of the lab that they are about."""
        return self.path.name.split(".")[0]


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

    def outdated(self, lab: Lab) -> str:
        """What has changed since this run, in a sentence; empty when lab and judge are as they were."""
        if self.data["lab_sha256"] != lab.sha256:
            return "the lab has changed since this run"
        if self.data["judge_sha256"] != lab.judge_sha256:
            return "the judge has changed since this run"
        return ""

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
    companions: dict[str, str] = field(default_factory=dict)  # the other Python files of labs/: judge.py -> text
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
