"""What the rooms hold, as typed data. These models are the schemas: what they do not know is an
error.

`proof.book.data` reads a file into one of them, `proof.book.load` reads all files into a `Book`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    PrivateAttr,
    Strict,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from proof.problem import Problem

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, ...] = ("zh", "en")
Kind = Literal["error", "ratio", "count", "codegen", "bug", "source"]
Judges = Literal["any", "gpu", "compile"]
Verdict = Literal["ok", "-", "error", "loose", "nonfinite", "guard", "fault", "raised"]
State = Literal[
    "valid", "aged", "pending", "stale-source", "stale-env", "stale-code", "contradicted"
]
TargetName = Literal[
    "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950", "gfx1100"
]
Scalar: TypeAlias = bool | int | float | str
Step: TypeAlias = str | int


# What all models share


class Lines(Protocol):
    """The lines of a file by place: `lines.key("zh", "alt", 1)` is where the second other name is
    written.
    """

    def key(self, *place: Step) -> int:
        """The line of this place; of the nearest one around it where the file does not have it."""

    def text(self, *place: Step) -> int:
        """The line in which the text of this place begins: for `body: |` the line below."""


class Model(BaseModel):
    """Part of a file. Nothing of it changes, and no field is taken that it does not declare."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        serialize_by_alias=True,
        validate_by_name=True,
    )


class Filed(Model):
    """A whole file, which remembers where it was read and on which line everything is."""

    _path: Path = PrivateAttr(default_factory=Path)
    _lines: Lines | None = PrivateAttr(default=None)

    def at(self, path: Path, lines: Lines | None = None) -> Self:
        """The same, read from this file."""
        self._path, self._lines = path, lines
        return self

    @property
    def path(self) -> Path:
        return self._path

    def line(self, *place: Step) -> int:
        """The line of a place, such as `term.line("see_also", 0)`; 1 where it was not read from a
        file.
        """
        return self._lines.key(*place) if self._lines else 1

    def text_line(self, *place: Step) -> int:
        """The line in which the text of a place begins."""
        return self._lines.text(*place) if self._lines else 1


T = TypeVar("T")


def _unlike(allowed: str) -> PydanticCustomError:
    return PydanticCustomError("unlike", "is not {allowed}", {"allowed": allowed})


def _day(written: Any) -> date:
    if isinstance(written, date):
        return written
    if isinstance(written, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", written):
        try:
            return date.fromisoformat(written)
        except ValueError:
            pass
    raise _unlike("a day")


UTC = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"


def _moment(written: Any) -> datetime:
    if isinstance(written, datetime):
        return written
    if isinstance(written, str) and re.fullmatch(UTC, written):
        try:
            return datetime.fromisoformat(written)
        except ValueError:
            pass
    raise _unlike("a moment in UTC")


def _line_number(written: Any) -> int:
    if isinstance(written, int):
        return written
    if isinstance(written, str) and re.fullmatch(r"[1-9]\d{0,6}", written):
        return int(written)
    raise _unlike("the number of a line")


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    twice = [value for value in values if values.count(value) > 1]
    if twice:
        raise PydanticCustomError("twice", "names {value} twice", {"value": repr(twice[0])})
    return values


Many = Annotated[tuple[T, ...], Strict(False)]  # a list in YAML and JSON
Names = Annotated[tuple[str, ...], Strict(False), AfterValidator(_distinct)]
Day = Annotated[
    date,
    BeforeValidator(_day),
    Field(description="a day as year-month-day"),
    WithJsonSchema({"type": "string", "format": "date", "description": "a day as year-month-day"}),
]
Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    PlainSerializer(datetime.isoformat, when_used="json"),
    Field(description="as 2026-11-29T16:00:00+00:00"),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{UTC}$", "description": "as 2026-11-29T16:00:00+00:00"}
    ),
]
Line = Annotated[str, Field(pattern=r"^[^\n]+$", description="text on one line")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="64 hexadecimal digits")]
Stem = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]{0,60}$",
        description="the name of a lab's file, such as triton_softmax",
    ),
]
Version = Annotated[
    str,
    Field(pattern=r"^\d+(\.\d+)+[A-Za-z0-9.+_-]{0,60}$", description="a version, such as 3.7.1"),
]
Plain = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9 .,:;()/_+@-]{0,79}$",
        description="plain words of at most 80 characters",
    ),
]
FourDigits = Annotated[str, Field(pattern=r"^\d{4}$", description="four digits")]
LineNumber = Annotated[int, BeforeValidator(_line_number)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Positive = Annotated[int, Field(ge=1, lt=2**63)]
Amount = Annotated[float, Field(gt=0)]
Figure = Annotated[float, Field(ge=0)]


# Labs, read from Python


@dataclass(frozen=True)
class Argument:
    """One argument of a claim's measure, as the lab writes it and as a value.

    `n=98_432` is Argument("98_432", 98432), `dtype=torch.float16` is Argument("torch.float16",
    None).
    """

    written: str
    value: Scalar | None

    @property
    def shown(self) -> str:
        """As pages show it: float16, 98_432."""
        return self.written.replace("torch.", "")

    @property
    def text(self) -> str:
        """The value as a label: 98432, float16."""
        return self.written.removeprefix("torch.") if self.value is None else str(self.value)

    @property
    def number(self) -> float | None:
        """The value where it is a number."""
        if isinstance(self.value, bool | str) or self.value is None:
            return None
        return float(self.value)


@dataclass(frozen=True)
class Claim:
    """One row of a lab's CLAIMS or BUGS, or one cited source: what holds, and who can judge it."""

    id: str  # softmax.ragged_fp32.max_abs_err, softmax.no_mask.bug, source.vllm-fused-moe-kernel
    kind: Kind
    lab: str  # triton_softmax; "" for a source
    bound: float | int | str
    judges: Judges
    gib: int
    why: str  # the reason for the bound; for a bug, what one sees
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    claim: str = ""  # of a bug: the claim that must fail
    fails: Kind | Literal[""] = ""  # of a bug: the kind of that claim
    predicted: float | None = None  # of a ratio: what a model says, within the fraction `tolerance`
    tolerance: float = 0.0
    line: int = 1  # in the lab


@dataclass(frozen=True)
class Bug:
    """One seeded bug: `old` occurs exactly once in the section and becomes `new`."""

    name: str
    section: str
    old: str
    new: str
    claim: str  # full id
    how: str
    shows: str  # what a reader sees
    line: int = 1  # in the lab


class Section(NamedTuple):
    """The text between a pair of section markers."""

    line: int  # of the first line
    text: str


@dataclass(frozen=True, eq=False)
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
    sections: dict[str, Section]  # by name
    switches: Mapping[str, str] = field(default_factory=dict)  # what a run sets
    lines: Mapping[str, int] = field(
        default_factory=dict
    )  # of the docstring, each of its keys, the header, the tables
    companions: Mapping[str, str] = field(
        default_factory=dict
    )  # name -> text, each below those that it imports

    @property
    def name(self) -> str:
        """How claims call it: softmax for triton_softmax."""
        return self.stem.removeprefix("triton_")


class LabWords(Filed):
    """What pages say of a lab in one language: English is the lab's own, Chinese lies beside it.

    title: 三分之一
    sentence: 每个元素除以三。
    why:
      ragged.programs: 三个整块，一个凑不满的块
    """

    title: Line
    sentence: Line
    learn: Line
    memory: Line
    gpu: Line
    why: Annotated[
        dict[str, Line], Field(description="a mapping of case.metric to the reason for its bound")
    ]
    bugs: Annotated[
        dict[str, Line],
        Field(default_factory=dict, description="a mapping of each bug's name to what one sees"),
    ]
    comments: Annotated[
        dict[str, Line],
        Field(
            default_factory=dict,
            description="a mapping of each comment in a section that pages show to its translation",
        ),
    ]
    docstrings: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            description="a mapping of each docstring there, or its first line, to its translation",
        ),
    ]

    @property
    def lab(self) -> str:
        """The stem of the lab that they are about."""
        return self.path.name.split(".")[0]


# Records


class Device(Model):
    """Where a lab ran."""

    kind: Annotated[
        Literal["cuda", "hip", "interpreter", "compiler"],
        Field(description="cuda, hip, interpreter or compiler"),
    ]
    name: Plain
    capability: Plain = ""
    sms: Positive = 0
    memory_mib: Positive = 0
    driver: Plain = ""
    runtime: Plain = ""

    @model_validator(mode="after")
    def _gpu_is_described(self) -> Self:
        if self.is_gpu:
            _need(self, ("capability", "sms", "memory_mib", "driver", "runtime"), "of a GPU")
        return self

    @property
    def is_gpu(self) -> bool:
        return self.kind in ("cuda", "hip")


class Environment(Model):
    """What a lab ran with."""

    os: Plain
    machine: Plain
    python: Version
    torch: Version
    triton: Version
    numpy: Version
    switches: Annotated[
        dict[
            Annotated[str, Field(pattern=r"^TRITON_[A-Z0-9_]+$")],
            Annotated[str, Field(max_length=200)],
        ],
        Field(description="the TRITON_ variables that were set"),
    ]


class Clock(Model):
    """What the driver reports of a GPU at one moment; null for what it does not report."""

    sm_mhz: Figure | None
    mem_mhz: Figure | None
    power_limit_w: Figure | None
    throttle: Annotated[
        str,
        Field(
            max_length=80, description="the driver's mask of reasons, such as 0x0000000000000000"
        ),
    ]


class Clocks(Model):
    """The clocks before the first claim and after the last one."""

    before: Clock | None
    after: Clock | None


class Timing(Model):
    """How long something took, over all repeats; `work` is what one repeat did, in `unit`."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    p10_ms: Amount
    median_ms: Amount
    p90_ms: Amount
    p99_ms: Amount | None = None  # where the tail matters
    repeats: Positive
    work: Amount
    unit: Annotated[str, Field(min_length=1, max_length=20)]

    @property
    def rate(self) -> float:
        """Work a second."""
        return self.work / self.median_ms * 1e3


class Series(Model):
    """Numbers in their order, all of one unit, for a chart."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    unit: Annotated[str, Field(min_length=1, max_length=20)]
    values: Annotated[Many[Figure], Field(min_length=2, max_length=10_000)]


class Span(Model):
    """What ran when, in milliseconds from one start, for a timeline."""

    lane: Annotated[str, Field(min_length=1, max_length=10)]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    start_ms: Figure
    ms: Figure


def _need(model: Model, names: tuple[str, ...], when: str) -> None:
    missing = [name for name in names if name not in model.model_fields_set]
    if missing:
        raise PydanticCustomError(
            "needed",
            "{names} {is_are} missing, which {when} must be there",
            {
                "names": ", ".join(missing),
                "is_are": "is" if len(missing) == 1 else "are",
                "when": when,
            },
        )


class _Row(Model):
    """What every judged row of CLAIMS or BUGS holds."""

    id: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9_]+\.[a-z0-9_]+\.[a-z0-9_]+$",
            description="lab.case.metric or lab.name.bug",
        ),
    ]
    why: Annotated[str, Field(max_length=500, pattern=r"^[^\n]+$", description="one line")]
    verdict: Annotated[
        Verdict,
        Field(
            description="ok, - (not judged there), error, loose, nonfinite, guard, fault or raised"
        ),
    ]
    note: Annotated[str, Field(max_length=1000)] = ""
    peak_mib: Count = 0

    @property
    def figures(self) -> dict[str, Scalar | None]:
        """The figures that the row holds, None for one that is not finite: {"value": 4.7e-07,
        "nonfinite": 0, …}.
        """
        names = (
            "value",
            "figure",
            "max_abs_err",
            "max_rel_err",
            "scale",
            "nonfinite",
            "low",
            "high",
        )
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class JudgedRow(_Row):
    """A row of CLAIMS."""

    arguments: dict[str, Annotated[str, Field(max_length=500)]]
    judges: Annotated[Judges, Field(description="any, gpu or compile")]
    timings: Annotated[Many[Timing], Field(max_length=20)] = ()
    series: Annotated[Many[Series], Field(min_length=1, max_length=10)] = ()
    spans: Annotated[Many[Span], Field(min_length=1, max_length=200)] = ()


class ErrorRow(JudgedRow):
    """How far a result is from its reference."""

    kind: Literal["error"]
    bound: float
    value: float | None = None  # None in a record where it is not finite
    max_abs_err: Figure | None = None
    max_rel_err: Figure | None = None
    nonfinite: Count = 0
    scale: Figure | None = None

    @model_validator(mode="after")
    def _judged_with_figures(self) -> Self:
        if self.verdict in ("ok", "error", "loose", "nonfinite"):
            _need(
                self,
                ("value", "max_abs_err", "max_rel_err", "nonfinite", "scale"),
                "of an error that was judged",
            )
        return self


class RatioRow(JudgedRow):
    """How many times as fast as something else, or as a model says."""

    kind: Literal["ratio"]
    bound: float
    value: float | None = None
    low: Figure | None = None
    high: Figure | None = None
    predicted: Amount | None = None
    tolerance: Amount | None = None

    @model_validator(mode="after")
    def _judged_with_figures(self) -> Self:
        if self.verdict in ("ok", "error"):
            _need(self, ("value", "low", "high", "timings"), "of a ratio that was judged")
        return self


class _Exact(JudgedRow):
    bound: Scalar
    value: Scalar | None = None

    @model_validator(mode="after")
    def _judged_with_value(self) -> Self:
        if self.verdict in ("ok", "error"):
            _need(self, ("value",), "of a claim that was judged")
        return self


class CountRow(_Exact):
    """How often something happens, or what it comes to, exactly."""

    kind: Literal["count"]


class CodegenRow(_Exact):
    """What the compiler made of a kernel."""

    kind: Literal["codegen"]


class BugRow(_Row):
    """How a seeded bug was caught."""

    kind: Literal["bug"]
    bound: str
    claim: Annotated[str, Field(description="the claim that must then fail")]
    value: Annotated[str, Field(description="how it failed; - where it was not judged")]
    figure: Annotated[
        Scalar | None, Field(description="the value of that claim with the bug in it")
    ] = None


Row: TypeAlias = Annotated[
    ErrorRow | RatioRow | CountRow | CodegenRow | BugRow, Field(discriminator="kind")
]


class Kernel(Model):
    """One kernel that a run launched, and what the compiler made of it."""

    kernel: Annotated[str, Field(pattern=r"^\w+$")]
    signature: dict[str, str]
    constants: dict[str, str]
    aligned: Many[str]
    num_warps: Positive
    num_stages: Count
    shared_bytes: Count
    registers: Count | None
    spills: Count | None
    code_sha256: Sha256
    options: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Scalar | None],
        Field(description="what else the launch asked for, such as maxnreg"),
    ] = {}


class Record(Filed):
    """One filed run of one lab, labs/records/<device>/<lab>/<day>-t<triton>-<sha8>.json.

    It is what a lab prints with --json, without its source and companions, with the hashes of the
    code and the commit. Units are in the names of the fields.
    """

    version: Annotated[Literal[2], Field(alias="schema")]
    lab: Stem
    lab_sha256: Sha256
    judge_sha256: Sha256
    device: Device
    environment: Environment
    clocks: Clocks | None = None
    utc: Moment
    command: Annotated[str, Field(max_length=300)]
    commit: (
        Annotated[str, Field(pattern=r"^[0-9a-f]{40}$", description="40 hexadecimal digits")] | None
    )
    claims: Annotated[
        Many[Row], Field(min_length=1, max_length=1000, description="at least one row")
    ]
    kernels: Annotated[Many[Kernel], Field(max_length=1000)]
    _intact: bool = PrivateAttr(default=True)

    def edited(self) -> Self:
        """The same, from a file whose content has not the hash that is in its name."""
        self._intact = False
        return self

    @property
    def intact(self) -> bool:
        """Whether the content still has the hash that is in the file's name."""
        return self._intact

    @cached_property
    def rows(self) -> dict[str, Row]:
        """The rows by their ids."""
        return {row.id: row for row in self.claims}

    @property
    def is_gpu(self) -> bool:
        return self.device.is_gpu

    @cached_property
    def device_class(self) -> str:
        """The folder that the record lies in: nvidia-h200, interpreter, compiler."""
        name = self.device.name if self.is_gpu else self.device.kind
        return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")

    def outdated(self, lab: Lab) -> str:
        """What has changed since this run, in a sentence; empty when lab and judge are as they
        were.
        """
        if self.lab_sha256 != lab.sha256:
            return "the lab has changed since this run"
        if self.judge_sha256 != lab.judge_sha256:
            return "the judge has changed since this run"
        return ""

    @property
    def triton_minor(self) -> str:
        return ".".join(self.environment.triton.split(".")[:2])

    @property
    def written(self) -> str:
        """The text of its file."""
        data = self.model_dump(mode="json", exclude_unset=True)
        return (
            json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )


# What the compiler made of a lab


class Stumble(Model):
    """A claim whose measure did not run to its end without a GPU: how, why, for which targets."""

    claim: str
    how: Literal["refused", "other process", "cut short"]
    why: str
    targets: Annotated[Many[TargetName], Field(min_length=1)]


class Made(Model):
    """One launch compiled for one target."""

    state: Literal["fits", "too large"]
    shared_bytes: Count
    registers: Annotated[Count, Field(description="a lane's; on AMD its VGPRs")]
    agprs: Count = 0
    sgprs: Count = 0
    spill_bytes: Count = 0
    spilled_registers: Count = 0
    stack_bytes: Count
    code: dict[str, Count | dict[str, Count]]  # {"load": {"16": 4}, "ex2": 2}
    sha256: Sha256

    def counts(self, kind: str) -> dict[str, int]:
        """How often each instruction of a kind is there: {"16": 4} for load; none without any."""
        counts = self.code.get(kind, {})
        return counts if isinstance(counts, dict) else {"": counts}

    @property
    def spills(self) -> bool:
        return bool(self.spill_bytes or self.spilled_registers)


class NotMade(Model):
    """One launch that is not compiled for one target."""

    state: Literal["not offered here", "failed"]
    why: Annotated[str, Field(min_length=1)]


Cell: TypeAlias = Annotated[Made | NotMade, Field(discriminator="state")]


class Launch(Model):
    """How a claim launches a kernel, and what becomes of it on each target."""

    kernel: Annotated[str, Field(min_length=1)]
    signature: dict[str, JsonValue]
    constants: dict[str, JsonValue]
    aligned: Annotated[Many[str], Field(description="arguments that divide by 16")]
    options: dict[str, Scalar]
    below_2gb: Annotated[
        Many[str], Field(description="pointers into less than 2 GiB, which AMD's back end asks")
    ] = ()
    claims: Many[str]
    targets: Annotated[
        dict[TargetName, Count],
        Field(description="where it is launched so, and its place among the launches there"),
    ]
    cells: dict[TargetName, Cell]


class Compiled(Filed):
    """What the compiler makes of a lab for every target, labs/compiled/<lab>.json, as `proof
    compile` files it.
    """

    version: Annotated[Literal[1], Field(alias="schema")]
    lab: Stem
    lab_sha256: Sha256
    triton: Annotated[str, Field(min_length=1)]
    kernels: Annotated[
        dict[str, Sha256],
        Field(description="each kernel with what it, all that it calls and its constants are"),
    ]
    stumbles: Many[Stumble]
    texts: Annotated[dict[str, Sha256], Field(description="the files of assembly beside this one")]
    launches: Many[Launch]
    _assembly: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def assembly(self) -> dict[str, str]:
        """The texts that are there, by the names of their files."""
        return self._assembly

    def beside(self, assembly: dict[str, str]) -> Self:
        """The same, with these texts beside it."""
        self._assembly = assembly
        return self


# What `make test-versions` found

Sentences = Annotated[
    Many[Annotated[str, Field(min_length=1, max_length=400)]],
    Field(description="sentences of at most 400 characters"),
]


class VersionRun(Model):
    """One lab in one Triton."""

    lab: Stem
    lab_sha256: Sha256
    triton: Version
    torch: Version
    numpy: Version
    python: Version
    day: Day
    ok: Count
    left: Count
    failed: Sentences
    refused: Annotated[
        str, Field(max_length=400, description="why the lab did not run, or nothing")
    ]
    kernels: Count
    uncompiled: Sentences


class VersionCode(Model):
    """One record whose kernels were compiled again."""

    record: Annotated[
        str,
        Field(
            pattern=r"^labs/records/[a-z0-9-]+/[a-z0-9_]+/[A-Za-z0-9.+-]+\.json$",
            description="a path below labs/records",
        ),
    ]
    lab: Stem
    lab_sha256: Sha256
    triton: Version
    same: Count
    differ: Sentences
    unknown: Sentences


class Versions(Filed):
    """labs/versions.json: what `make test-versions` found with the oldest and the newest Triton."""

    version: Annotated[Literal[1], Field(alias="schema")]
    runs: Annotated[Many[VersionRun], Field(max_length=1000)]
    code: Annotated[Many[VersionCode], Field(max_length=1000)]


# What people write in YAML


class Text(Model):
    """What a term says in one language."""

    preferred: Annotated[Line, Field(description="the name of the term, one line")]
    alt: Annotated[Names, Field(description="a list of other names")] = ()
    short: Annotated[Line, Field(max_length=140, description="one line of at most 140 characters")]
    body: Annotated[str, Field(description="Markdown"), AfterValidator(str.strip)]


class Forbidden(Model):
    """A word that pages do not use, and what they write instead."""

    lang: Lang | None = None  # both languages without one
    term: str
    use: Annotated[str, Field(description="what to write instead")]


TermId = Annotated[
    str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="small letters, digits and - only")
]


class Term(Filed):
    """One term of the glossary, glossary/<id>.yml."""

    id: TermId
    topic: Literal[
        "model", "memory", "device", "compiler", "numerics", "kernels", "measuring", "serving"
    ]
    zh: Text
    en: Text
    translate: Literal["yes", "no", "both-on-first-use"]
    scope: Literal["any", "nvidia", "amd"] = "any"
    forbidden: Annotated[
        Many[Forbidden],
        Field(description="a list of lang (zh or en), term, use (what to write instead)"),
    ] = ()
    see_also: Annotated[Many[TermId], Field(description="a list of ids of terms")] = ()
    sources: Annotated[
        Many[str], Field(description="a list of addresses, or of ids in docs/sources")
    ] = ()

    def of(self, lang: Lang) -> Text:
        return self.zh if lang == "zh" else self.en


class Bilingual(Model):
    """One sentence in both languages."""

    zh: str
    en: str

    def of(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en


class Change(Model):
    """A piece of the solution, and what a wrong answer has in its place."""

    old: str
    new: str = ""


class WrongAnswer(Model):
    """A typical wrong answer to an exercise: what differs from the solution, how it shows, and what
    its author is told.
    """

    change: Annotated[
        Many[Change], Field(min_length=1, description="a list of old (in the solution) and new")
    ]
    found: Annotated[Line, Field(description="what the judge finds, as in exercise.py")]
    zh: Line
    en: Line
    triton: Annotated[
        Literal["passes"] | None,
        Field(description="passes, where Triton alone cannot see the mistake"),
    ] = None
    because: Annotated[Line, Field(description="why Triton alone cannot see it")] = ""

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if "triton" in self.model_fields_set:
            _need(self, ("because",), "beside triton")
        return self


class Exercise(Filed):
    """An exercise: labs/exercises/NN_name/exercise.yml, and the Python beside it."""

    title: Annotated[Bilingual, Field(description="zh and en")]
    lesson: Annotated[Line, Field(description="the name of a lesson, such as vector_add")]
    level: Annotated[Literal["1", "2", "3", "4"], Field(description="1 (easy) to 4 (hard)")]
    kind: Annotated[
        Literal["fill", "write", "bug", "speed"],
        Field(description="fill (a line or two), write (a kernel), bug (find it) or speed"),
    ]
    statement: Annotated[Bilingual, Field(description="zh and en")]
    hints: Annotated[
        Many[Bilingual], Field(min_length=3, description="a list of at least three, each zh and en")
    ]
    explanation: Annotated[Bilingual, Field(description="zh and en")]
    comments: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            description="a mapping of each comment of the two files to its Chinese translation",
        ),
    ]
    docstrings: Annotated[
        dict[str, str],
        Field(
            default_factory=dict,
            description="a mapping of each docstring there, or its first line, to its translation",
        ),
    ]
    wrong: Annotated[
        dict[str, WrongAnswer],
        Field(min_length=3, description="a mapping of at least three names to wrong answers"),
    ]
    _handed_out: str = PrivateAttr(default="")
    _solution: str = PrivateAttr(default="")

    def beside(self, handed_out: str, solution: str) -> Self:
        """The same, beside the file that readers edit and the one that solves it."""
        self._handed_out, self._solution = handed_out, solution
        return self

    @property
    def name(self) -> str:
        """06_relu_bias"""
        return self.path.parent.name

    @property
    def handed_out(self) -> str:
        """The text of labs/exercises/06_relu_bias.py."""
        return self._handed_out

    @property
    def solution(self) -> str:
        """The text of solution.py."""
        return self._solution


class Source(Filed):
    """A cited range of someone's repository at a tag, or a document, docs/sources/<id>.yml."""

    id: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$",
            description="small letters, digits, . and - only",
        ),
    ]
    url: Annotated[str, Field(pattern=r'^https://[^\s<>"]+$', description="an https address")]
    shows: Annotated[Bilingual, Field(description="zh and en, one sentence each")]
    accessed: Annotated[Day, Field(description="the day on which it was read, as year-month-day")]
    repository: Annotated[str, Field(description="the address of the repository")] = ""
    tag: str = ""
    file: Annotated[str, Field(description="the path inside the repository")] = ""
    lines: Annotated[
        tuple[LineNumber, LineNumber] | None, Strict(False), Field(description="[first, last]")
    ] = None
    sha256: (
        Annotated[Sha256, Field(description="of the cited lines, 64 hexadecimal digits")]
        | Literal[""]
    ) = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name, needs in (
            ("repository", ("tag", "file")),
            ("tag", ("repository",)),
            ("file", ("repository",)),
            ("lines", ("file", "sha256")),
            ("sha256", ("lines",)),
        ):
            if name in self.model_fields_set:
                _need(self, needs, f"beside {name}")
        return self


class Decision(Filed):
    """One ADR in one language, adr/NNNN-words.<lang>.md: its front matter and its body."""

    id: Annotated[FourDigits, Field(description="four digits, as in the name of the file")]
    title: Line
    status: Annotated[
        Literal["proposed", "accepted", "rejected", "deprecated", "superseded"],
        Field(description="whether it holds"),
    ]
    date: Day
    supersedes: Annotated[
        Many[FourDigits],
        AfterValidator(_distinct),
        Field(description="a list of numbers of decisions"),
    ] = ()
    superseded_by: Annotated[
        FourDigits | None, Field(description="the number of a decision, or null")
    ] = None
    _body: str = PrivateAttr(default="")
    _body_line: int = PrivateAttr(default=1)

    def above(self, body: str, line: int = 1) -> Self:
        """The same, above this Markdown, which begins in this line."""
        self._body, self._body_line = body, line
        return self

    @property
    def body(self) -> str:
        return self._body

    @property
    def body_line(self) -> int:
        return self._body_line

    @property
    def slug(self) -> str:
        """0004-verified-against-sources"""
        return self.path.name.split(".")[0]

    @property
    def lang(self) -> Lang:
        return "zh" if self.path.name.endswith(".zh.md") else "en"


class Sidecar(Filed):
    """What is remembered of a pair of pages, docs/parity/<page>.yml: the hashes of the halves that
    agree, since when.
    """

    zh_sha256: Sha256
    en_sha256: Sha256
    synced_on: Day
    reason: Annotated[str, Field(description="why one half could change alone")] = ""

    def sha256(self, lang: Lang) -> str:
        return self.zh_sha256 if lang == "zh" else self.en_sha256


class KernelText(Model):
    """A kind of kernel in one language."""

    name: Annotated[str, Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


class KernelType(Model):
    """A kind of kernel that Triton is made for, with its lab, there or to come."""

    lab: Annotated[
        str,
        Field(pattern=r"^triton_[a-z0-9_]+$", description="the stem of a lab, there or to come"),
    ]
    en: KernelText
    zh: KernelText

    def of(self, lang: Lang) -> KernelText:
        return self.zh if lang == "zh" else self.en


class KernelTypes(Filed):
    """docs/kernel_types.yml."""

    types: Annotated[Many[KernelType], Field(min_length=1)]


# What is worked out of them


@dataclass(frozen=True)
class Standing:
    """What is known of one claim on one kind of device, today."""

    claim: Claim
    state: State
    row: Row | None = None  # the claim's row of the record; None when pending
    record: Record | None = None
    note: str = ""  # why the state is not valid


@dataclass(frozen=True)
class Page:
    """One Markdown page of one language."""

    lang: Lang
    name: str  # lessons/vector_add.md, the same in both languages
    path: Path
    text: str  # as written, LF, no BOM


@dataclass(eq=False)
class Book:
    """Everything that the rooms hold, read once."""

    root: Path
    today: date
    labs: dict[str, Lab] = field(default_factory=dict)
    companions: dict[str, str] = field(default_factory=dict)  # the other .py of labs/, name -> text
    words: dict[str, LabWords] = field(
        default_factory=dict
    )  # the Chinese ones, by the stem of the lab
    records: list[Record] = field(default_factory=list)
    compiled: dict[str, Compiled] = field(default_factory=dict)  # by the stem of the lab
    versions: Versions | None = None
    pinned_triton: str = ""  # of pyproject.toml; empty where it pins none
    terms: dict[str, Term] = field(default_factory=dict)
    decisions: dict[tuple[str, Lang], Decision] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    exercises: dict[str, Exercise] = field(default_factory=dict)  # by name, in their order
    pages: list[Page] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)  # what could not be read

    @property
    def claims(self) -> dict[str, Claim]:
        return {claim.id: claim for lab in self.labs.values() for claim in lab.claims.values()}
