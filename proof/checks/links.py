"""Every link inside the site points to something that is there, by its exact name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from proof.book.archive import DOWNLOAD, has_exercises
from proof.book.model import LANGS, Book, Lang
from proof.pages.generated import generated
from proof.pages.lab import lab_head, lab_tail
from proof.problem import Fault, Problem, nearest
from proof.text.documents import Document, documents, files
from proof.text.markdown import Link, read


def targets(book: Book, lang: Lang) -> dict[str, set[str] | None]:
    """What a page of this language can link to, by the path below its root: its anchors; None for what has none."""
    found: dict[str, set[str] | None] = {
        page.name: read(page.text).ids for page in book.pages if page.lang == lang
    }
    found |= {name: _generated_ids(text) for name, text in generated(book, lang).items()}
    for stem, lab in book.labs.items():
        text = lab_head(book, lab, lang, "../../") + lab_tail(book, lab, lang, "../../")
        found[f"labs/{stem}.ipynb"] = {*lab.claims} | _generated_ids(text)
        found |= dict.fromkeys((f"downloads/{stem}.py", f"downloads/{stem}.ipynb"))
    if has_exercises(book.root):
        found[DOWNLOAD] = None
    for name in files(book.root):
        for folder, start in (
            (f"docs/{lang}/", ""),
            ("docs/assets/", "assets/"),
            ("labs/records/", "records/"),
        ):
            if name.startswith(folder) and not name.endswith(".md"):
                found.setdefault(start + name.removeprefix(folder), None)
    return found


def _generated_ids(text: str) -> set[str]:
    """The anchors of a generated page, whose long tables hold none but those of claims."""
    return set(read("\n".join(line for line in text.split("\n") if not line.startswith("|"))).ids)


def dead(book: Book) -> Iterable[Problem]:
    """A link or an image leads nowhere, or only on some disks, or past the checks of the site generator."""
    try:
        known = {lang: targets(book, lang) for lang in LANGS}
    except Fault as error:  # a generated page cannot be made, so nobody knows what it offers
        yield error.problem
        return
    for document in documents(book):
        yield from _undefined(document)
        for link in document.markdown.links:
            if fault := _fault(document, link, known[document.lang]):
                yield Problem(document.file, document.at(link.line), *fault)


def _undefined(document: Document) -> Iterable[Problem]:
    """A link names its target by reference, [text][name], and nothing defines that name; an index, a[i][j], is none."""
    defined = document.markdown.definitions
    for number, line in document.markdown.lines():
        for text, label in re.findall(
            r"(?<![\w\])])\[([^\[\]]+)\]\[([^^\[\]][^\[\]]*|)\]", line, re.ASCII
        ):
            if (name := label or text).casefold() not in defined:
                fix = (
                    f"Write the address in the link, [{text}](…); what is no link is code, `[…][…]`"
                )
                yield Problem(
                    document.file, document.at(number), f"no address is defined for [{name}]", fix
                )


def _fault(
    document: Document, link: Link, known: dict[str, set[str] | None]
) -> tuple[str, str] | None:
    written = link.target
    if re.match(r"(?i)(https?:|mailto:)", written):
        return (
            (f"{written} is loaded from another host", "Put a copy into docs/assets")
            if link.image
            else None
        )
    if not written or "{{" in written:
        return (
            None if written else ("this link has no target", "Name the page, such as ../trust.md")
        )
    if re.match(r"(?i)[a-z][a-z0-9+.-]*:|//", written):
        return (
            f"{written} is not an address that a page may open",
            "Use https:, mailto: or a relative path",
        )
    if written.startswith("/"):
        return (
            f"{written} is absolute: it breaks where the site lies below a path",
            "Write it relative, such as ../trust.md",
        )
    parts = urlsplit(written)
    path = unquote(parts.path)
    name = (
        posixpath.normpath(posixpath.join(posixpath.dirname(document.name), path))
        if path
        else document.name
    )
    if name not in known:
        same = next((other for other in known if other.casefold() == name.casefold()), None)
        if same:
            return (
                f"{written} has the wrong case: the file is {same}",
                "Write it as the listing shows it",
            )
        if not posixpath.splitext(path.rstrip("/"))[1] or path.endswith("/"):
            return (
                f"{written} names no file",
                "Write the page's file, ending in .md, so that the link can be checked",
            )
        return f"{written} leads to {name}, which does not exist", nearest(name, known)
    if path.endswith(".html"):
        return f"{written} links to a built page", "Write the page's file, ending in .md"
    anchor, anchors = unquote(parts.fragment), known[name]
    if anchor and anchors is not None and anchor not in anchors:
        return f"{name} has no anchor #{anchor}", nearest(anchor, anchors)
    return None
