"""`proof new`: a valid start of a lab, a lesson, an exercise, a term or a decision, in both languages, its open places marked TODO(new)."""

from __future__ import annotations

import ast
import builtins
import difflib
import json
import keyword
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from string import Template

import click

from proof.book.lab import short_name
from proof.book.model import LANGS, Book, Lab, Lang
from proof.checks.files import RESERVED
from proof.checks.glossary import fold, labels
from proof.cli.project import open_book
from proof.text.parity import digest, sidecar, written

CONFIRMATION = "tests/proof/checks/test_decisions.py"
KINDS = ("lab", "lesson", "exercise", "term", "adr")
MENUS: dict[Lang, tuple[str, str]] = {
    "zh": ("mkdocs.yml", "- 新课：{title}: lessons/{name}.md # TODO(new): 中文标题"),
    "en": ("mkdocs.en.yml", "- {title}: lessons/{name}.md"),
}
CURRICULUM = "docs/curriculum.yml"  # each lesson has a statement there
STATEMENT = """\
      - en: "TODO(new): what {title} teaches, in one sentence; as many statements as it has"
        zh: "TODO(new): {title} 这一课教的一件事，一句话；有几件写几条"
        page: "lessons/{name}.md#summary"
"""
LESSON: dict[Lang, dict[str, str]] = {  # what stands in a lesson around what it quotes of a lab
    "zh": {
        "no lab": "TODO(new): 还没有叫 {stem} 的 lab；先写 lab，再在这里分段引用它，逐行说明。",
        "line": "TODO(new): 为什么要这一行，少了它会坏什么。",
        "look": "TODO(new): 跑的时候看什么。",
        "pit": "TODO(new): 怎样掉进这个坑，会看到什么。",
    },
    "en": {
        "no lab": "TODO(new): there is no lab called {stem} yet; write it, then quote it here by section, line by line.",
        "line": "TODO(new): why this line, and what breaks without it.",
        "look": "TODO(new): what to look for while it runs.",
        "pit": "TODO(new): how one falls into this, and what one then sees.",
    },
}


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("name", nargs=-1, required=True)
@click.pass_obj
def command(today: date, kind: str, name: tuple[str, ...]) -> None:
    """Start a lab, a lesson, an exercise, a term or a decision in both languages; `check` says what is then left to write.

    NAME is the English name of a term, the English title of a decision, and small letters, digits and _ for the rest:
    `proof new term bank conflict`, `proof new adr "Kernels name their fill values"`, `proof new lab layer_norm`.
    """
    book = open_book(today)
    try:
        made = start(book, kind, " ".join(name))
        write(book.root, made)
    except Refused as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"not written: {error}") from None
    for verb, paths in (("wrote", made.files), ("changed", made.edits)):
        for path in paths:
            click.echo(f"{verb:8} {path}")
    click.echo(
        "What is left to write is marked TODO(new); `proof check` names the lines, and a release wants none."
    )
    for note in made.notes:
        click.echo(f"note     {note}", err=True)


class Refused(ValueError):
    """Nothing is written: why, and what to do instead."""


@dataclass
class Start:
    """What a command is about to write, by path below the root, and what to say about it."""

    files: dict[str, str] = field(default_factory=dict)  # new ones
    edits: dict[str, str] = field(default_factory=dict)  # whole new texts of files that are there
    notes: list[str] = field(default_factory=list)


def start(book: Book, kind: str, name: str) -> Start:
    """The start of what is to be called `name`. Raises Refused for a name that cannot be, or that is taken."""
    starts = {
        "lab": _lab,
        "lesson": _lesson,
        "exercise": _exercise,
        "term": _term,
        "adr": _decision,
    }
    made = starts[kind](book, name.strip())
    for path in made.files:
        if (book.root / path).exists():
            raise Refused(f"{path} is there already: change that one, or choose another name")
        if RESERVED.fullmatch(Path(path).name):
            raise Refused(f"{path} cannot be checked out on Windows: choose another name")
    return made


def write(root: Path, made: Start) -> None:
    """Write all of it. Raises FileExistsError for a new file that is there already, before anything is written."""
    for name in made.files:
        if (root / name).exists():
            raise FileExistsError(f"{name} is there already")
    for name, text in {**made.files, **made.edits}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))


# The kinds


def _term(book: Book, title: str) -> Start:
    name = _slug(title, "the term's English name; the Chinese one goes into the file")
    names = {
        fold(label): term
        for term in book.terms.values()
        for lang in LANGS
        for label in labels(term, lang)
    }
    if taken := names.get(fold(title)):
        raise Refused(f"{title!r} is a name of glossary/{taken.path.name} already: change that one")
    for term in book.terms.values():
        for entry in term.forbidden:
            if fold(entry.term) == fold(title):
                raise Refused(
                    f"the glossary says {entry.use} instead of {title!r}: see glossary/{term.path.name}"
                )
    known = {
        label: f"{term.en.preferred} (glossary/{term.path.name})" for label, term in names.items()
    }
    values = {"name": name, "title": _escaped(title)}
    return Start({f"glossary/{name}.yml": _filled("term.yml", values)}, notes=_near(title, known))


def _decision(book: Book, title: str) -> Start:
    slug = _slug(title, "the title in English; the Chinese one goes into its own file")
    known = {decision.slug[5:]: f"adr/{decision.slug}" for decision in book.decisions.values()}
    if slug in known:
        raise Refused(
            f"{known[slug]} has this title already: change that one, or say in the title what is new"
        )
    number, note = _next_number(book.root)
    values = {
        "number": f"{number:04}",
        "title": _escaped(title),
        "today": str(book.today),
        "confirmation": CONFIRMATION,
    }
    files = {
        f"adr/{number:04}-{slug}.{lang}.md": _filled(f"adr.{lang}.md", values) for lang in LANGS
    }
    return Start(files, notes=[note, *_near(slug, known)])


def _lab(book: Book, name: str) -> Start:
    name = _snake(short_name(name))
    stem = f"triton_{name}"
    values = {"name": name, "stem": stem, "title": _title(name)}
    lesson = _filled("lab.py", values)
    if name in _meant(_filled("lab.py", values | {"name": "_"}), book.companions):
        raise Refused(
            f"a launcher called {name} would hide what a lab or Python calls so: take a longer name"
        )
    files = {
        f"labs/{stem}.py": lesson,
        f"labs/{stem}.zh.yml": _filled("labwords.yml", values),
        f"tests/labs/test_{name}.py": _filled("test_lab.py", values),
    }
    known = {short_name(stem): stem for stem in book.labs}
    return Start(
        files,
        notes=[
            *_near(name, known),
            f"next: make it yours until proof run {stem} is right; then proof new lesson {name} quotes it as it stands",
        ],
    )


def _lesson(book: Book, name: str) -> Start:
    name = _snake(short_name(name))
    known = {
        Path(page.name).stem: page.name for page in book.pages if page.name.startswith("lessons/")
    }
    lab, texts, menus = book.labs.get(f"triton_{name}"), {}, {}
    title = _title(name)
    values = {"title": title, "anchor": name.replace("_", "-")}
    for lang in LANGS:
        texts[lang] = _filled(f"lesson.{lang}.md", values | _quotes(lab, lang, name))
        menu, entry = MENUS[lang]
        menus[menu] = _with_entry(book.root / menu, entry.format(title=title, name=name))
    if (curriculum := book.root / CURRICULUM).is_file():
        menus[CURRICULUM] = _with_statement(curriculum, title, name, lab)
    files = {f"docs/{lang}/lessons/{name}.md": text for lang, text in texts.items()}
    synced = sidecar({lang: digest(text) for lang, text in texts.items()}, book.today)
    files[f"docs/parity/lessons/{name}.yml"] = written(synced)
    notes = [
        *_near(name, known),
        f"when both halves are written: proof parity sync lessons/{name}.md",
    ]
    if not lab:
        notes.append(
            f"there is no lab triton_{name}; a lesson that is made after its lab quotes it from the start"
        )
    return Start(files, menus, notes)


def _exercise(book: Book, name: str) -> Start:
    name = _snake(name)
    lessons = [page.name for page in book.pages if page.name.startswith("lessons/")]
    if not lessons:
        raise Refused("an exercise belongs to a lesson, and there is none: proof new lesson first")
    taken = [int(each[:2]) for each in book.exercises]
    number = max(taken, default=0) + 1
    if number > 99:
        raise Refused("all numbers up to 99 are taken")
    place = f"labs/exercises/{number:02}_{name}"
    values = {"name": name, "title": _title(name), "lesson": Path(lessons[0]).stem}
    files = {
        f"{place}.py": _filled("exercise.py", values),
        f"{place}/cases.py": _filled("exercise_cases.py", values),
        f"{place}/exercise.yml": _filled("exercise.yml", values),
        f"{place}/solution.py": _filled("exercise_solution.py", values),
    }
    known = {each[3:]: f"labs/exercises/{each}" for each in book.exercises}
    test = f"next: write it, then .venv/bin/python -m pytest tests/exercises -k {number:02}_{name}"
    return Start(files, notes=[*_near(name, known), test])


def _quotes(lab: Lab | None, lang: Lang, name: str) -> dict[str, str]:
    """The parts of a lesson that quote its lab: the kernel with a note, the claims, the card, the seeded bugs."""
    words = LESSON[lang]
    if not lab or "kernel" not in lab.sections:
        no_lab = words["no lab"].format(stem=f"triton_{name}")
        return {"lab": no_lab, "run": words["look"], "pitfalls": words["pit"]}
    claims = ", ".join(f'"{claim.id}"' for claim in lab.claims.values() if claim.kind != "bug")
    code = f'```python\n--8<-- "labs/{lab.stem}.py:kernel"\n```'
    notes = [
        f'{{{{ notes("{lab.stem}:kernel") }}}}\n\n- `{line}`: {words["line"]}'
        for line in _telling(lab)
    ]
    pitfalls = [
        f'### {bug} {{ #pit-{bug.replace("_", "-")} }}\n\n{words["pit"]}\n\n{{{{ bug_diff("{name}.{bug}") }}}}'
        for bug in lab.bugs
    ]
    return {
        "lab": "\n\n".join([code, *notes, f"{{{{ claims({claims}) }}}}"]),
        "run": f'{{{{ lab_card("{lab.stem}") }}}}\n\n{words["look"]}',
        "pitfalls": "\n\n".join(pitfalls) or words["pit"],
    }


def _telling(lab: Lab) -> list[str]:
    """The last line of the kernel that a note can name, if there is one: it occurs once there."""
    text = lab.sections["kernel"][1]
    lines = [line.partition("  #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and "`" not in line and text.count(line) == 1][-1:]


def _with_entry(path: Path, entry: str) -> str:
    """The configuration with one more line below the last lesson of its menu."""
    text = _whole(path)
    lessons = list(re.finditer(r"^( *)- .*: lessons/\w+\.md\b[^\r\n]*(\r?\n)", text, re.M))
    if not lessons:
        raise Refused(
            f"the menu in {path.name} has no lesson to put the new one below: write {entry} there first"
        )
    last = lessons[-1]
    return text[: last.end()] + last[1] + entry + last[2] + text[last.end() :]


def _with_statement(path: Path, title: str, name: str, lab: Lab | None) -> str:
    """The curriculum with one more statement below its last one, proved by the lab's first claim."""
    text = _whole(path)
    proof = f"        proof: [{next(iter(lab.claims))}]\n" if lab and lab.claims else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    return text.rstrip() + (f"\n{STATEMENT.format(title=title, name=name)}{proof}").replace(
        "\n", newline
    )


def _whole(path: Path) -> str:
    """The text of a file that a lesson needs its line in, as it ends its lines."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(
            f"{path.name} cannot be read, and a lesson needs its line there: {error}"
        ) from None


# Names


def _slug(title: str, wanted: str) -> str:
    """Small letters, digits and - from an English title of one line."""
    if not re.fullmatch(r"[ -~]*[A-Za-z][ -~]*", title):
        raise Refused(f"{title!r} gives no file name: write {wanted}")
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _snake(name: str) -> str:
    """The name, if it is one for a Python file that every line holds: small letters, digits and _, at most 40."""
    if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) and len(name) <= 40:
        return name
    other = re.sub(r"[^a-z0-9]+", "_", name.lower()).lstrip("_0123456789")[:40].rstrip("_")
    what = f"{name!r} is no name here: small letters, digits and _, at most 40"
    raise Refused(f"{what}. Try {other}" if other else what)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _escaped(text: str) -> str:
    """The text as it stands between the quotes of a YAML string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _near(name: str, known: Mapping[str, str]) -> list[str]:
    """A sentence for each thing that is called nearly the same: another case, a plural, a hyphen, a slip."""
    close = difflib.get_close_matches(name.casefold(), known, n=3, cutoff=0.8)
    same = [other for other in known if _bare(other) == _bare(name)]
    similar = dict.fromkeys(known[other] for other in [*same, *close])
    return [f"there is {one} already: is this another thing?" for one in similar]


def _bare(name: str) -> str:
    return "".join(word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", name.casefold()))


def _meant(lesson: str, companions: Mapping[str, str]) -> set[str]:
    """Every name that means something in Python, in this lab, or at the top of a companion."""
    names = {*keyword.kwlist, *dir(builtins), *(Path(name).stem for name in companions)}
    statements = [node for text in companions.values() for node in ast.parse(text).body]
    plain = [node for node in statements if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in [
        *statements,
        *(child for tree in (ast.parse(lesson), *plain) for child in ast.walk(tree)),
    ]:
        match node:
            case (
                ast.Name(id=name)
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name.partition(".")[0])
    return names


# Numbers of decisions


def _next_number(root: Path) -> tuple[int, str]:
    """The number after the last one here and on every branch of this clone, and what was not looked at."""
    taken = {number: "" for number in _numbers(path.name for path in (root / "adr").glob("*.md"))}
    refs = _git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes")
    for ref in refs or ():
        for number in _numbers(
            Path(line).name for line in _git(root, "ls-tree", "--name-only", ref, "adr/") or ()
        ):
            taken.setdefault(number, ref)
    last = max(taken, default=0)
    number = f"{last + 1:04}"
    if last >= 9999:
        raise Refused("all numbers up to 9999 are taken")
    if refs is None:
        return (
            last + 1,
            f"{number} is free in this folder; git could not be asked, so no branch was looked at",
        )
    why = f" ({last:04} is taken on {taken[last]})" if taken.get(last) else ""
    unseen = "branches that were not fetched, other people's clones, work that is not committed"
    note = f"{number} is free here and on every branch of this clone, {len(refs)} in all{why}. Not seen: {unseen}"
    return last + 1, note


def _numbers(names: Iterable[str]) -> Iterator[int]:
    for name in names:
        match = re.match(r"(\d{4})-.*\.md", name)
        if match:
            yield int(match[1])


def _git(root: Path, *arguments: str) -> list[str] | None:
    """The lines that git prints; None when there is no git, or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", root, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def _filled(template: str, values: Mapping[str, str]) -> str:
    return Template(
        (Path(__file__).with_name("templates") / f"{template}.txt").read_text(encoding="utf-8")
    ).substitute(values)
