"""The table of what Triton is made for, from docs/kernel_types.yml: each kind with its lab, or the name of the one to come."""

from __future__ import annotations

from proof.book.labwords import words
from proof.book.load import check_schema, parse_yaml, read_text
from proof.book.model import Book, Lang
from proof.pages.format import code, link, md, table
from proof.pages.words import word
from proof.problem import Fault

FILE = "docs/kernel_types.yml"


def table_of(book: Book, lang: Lang, up: str) -> str:
    """Kind, why, lab. Raises Fault where the file cannot be read or does not fit its schema."""
    try:
        text = read_text(book.root / FILE)
        data = parse_yaml(text)
        check_schema("kernel_types", data, text)
    except OSError:
        raise Fault(
            "there is no such file", "Write it: the table of kinds of kernels is made from it", file=FILE
        ) from None
    except Fault as error:
        raise Fault(error.what, error.fix, line=error.line, file=FILE) from None
    rows = []
    for kind in data["types"]:
        lab, said = book.labs.get(kind["lab"]), kind[lang]
        if lab:
            where = link(f"{up}labs/{lab.stem}/", md(words(book, lab, lang).title))
        else:
            where = f"{md(word(lang, 'lab to come'))} {code(kind['lab'])}"
        rows.append([f"**{md(said['name'])}**", md(said["why"]), where])
    return table([word(lang, key) for key in ("kernel type", "why triton", "lab")], rows)
