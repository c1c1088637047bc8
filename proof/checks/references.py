"""Every id that a page cites exists; every quoted file and section exists; every macro can be rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches

from proof.book.data import read_yaml
from proof.book.lab import sections_of
from proof.book.model import Book, KernelTypes
from proof.pages import kernel_types
from proof.pages.macros import expand
from proof.problem import Fault, Problem, nearest
from proof.text.documents import Document, documents, files, text_of
from proof.text.macros import citations

START = re.compile(r"-{1,}8<-{1,}[ \t]+\[[ \t]*start[ \t]*:[ \t]*([\w-]+)[ \t]*\]")


def known(book: Book) -> dict[str, set[str]]:
    """What can be cited, by room."""
    return {
        "claim": set(book.claims) | {f"source.{source}" for source in book.sources},
        "bug": {f"{lab.name}.{bug}" for lab in book.labs.values() for bug in lab.bugs},
        "term": set(book.terms),
        "decision": {number for number, _ in book.decisions},
        "source": set(book.sources),
        "lab": set(book.labs),
        "section": {
            f"{stem}:{section}" for stem, lab in book.labs.items() for section in lab.sections
        }
        | {
            f"{name.removesuffix('.py')}:{section}"
            for name, text in book.companions.items()
            for section in sections_of(text)
        },
    }


def unknown(book: Book) -> Iterable[Problem]:
    """A macro cites an id that nothing has."""
    there = known(book)
    for document in documents(book):
        for call in document.calls:
            for room, name in citations(call.name, call.args, call.options):
                if name not in there[room]:
                    at = document.at(call.line)
                    yield Problem(
                        document.file,
                        at,
                        f"no {room} is called {name!r}",
                        nearest(name, there[room]),
                    )
    yield from _unknown_labs(book)


def _unknown_labs(book: Book) -> Iterable[Problem]:
    """A kind of kernel names a lab that is nearly one of those there are; one that is far from all is to come."""
    with suppress(Fault):  # a page that shows the table says why it cannot be read
        kinds = read_yaml(book.root / kernel_types.FILE, KernelTypes)
        for n, kind in enumerate(kinds.types):
            close = get_close_matches(kind.lab, book.labs, n=1, cutoff=0.9)
            if close and kind.lab not in book.labs:
                line = kinds.line("types", n, "lab")
                yield Problem(
                    kernel_types.FILE,
                    line,
                    f"no lab is called {kind.lab!r}",
                    f"Nearest: {close[0]}",
                )


def snippets(book: Book) -> Iterable[Problem]:
    """A page quotes a file or a section that is not there."""
    listed = files(book.root)
    for document in documents(book, ("page", "decision")):
        for snippet in document.markdown.snippets:
            path, _, section = snippet.target.partition(":")
            at = document.file, document.at(snippet.line)
            if re.match(r"https?$", path):
                yield Problem(
                    *at, "this snippet is fetched from another host", "Quote a file of this tree"
                )
            elif path not in listed:
                yield Problem(*at, f"the quoted file {path} does not exist", nearest(path, listed))
            elif section and not re.fullmatch(r"[\d:,-]+", section):
                sections = START.findall(text_of(book.root / path))
                if section not in sections:
                    yield Problem(
                        *at, f"{path} has no section {section}", nearest(section, sections)
                    )
            elif section:
                last = text_of(book.root / path).count("\n")
                beyond = [
                    number for number in re.findall(r"\d+", section) if not 1 <= int(number) <= last
                ]
                if beyond:
                    fix = f"It has {last}; a section keeps its name when the file changes"
                    yield Problem(*at, f"{path} has no line {beyond[0]}", fix)


def expansion(book: Book) -> Iterable[Problem]:
    """A page's macros cannot be rendered: a note's fragment is gone, an argument is wrong, a name is unknown."""
    told = {(problem.file, problem.line) for problem in unknown(book)}
    for document in documents(book):
        if (problem := _expand(book, document)) and (problem.file, problem.line) not in told:
            yield problem


def _expand(book: Book, document: Document) -> Problem | None:
    try:
        expand(document.page.text, document.page, book, "../" * document.name.count("/"))
    except Fault as error:
        return Problem(document.file, document.at(error.line), error.what, error.fix)
    return None
