"""The table of what Triton is made for, from docs/kernel_types.yml: each kind with its lab, or the name of the one to come."""

from __future__ import annotations

from proof.book.data import read_yaml
from proof.book.labwords import words
from proof.book.model import Book, KernelTypes, Lang
from proof.pages.format import code, link, md, table
from proof.pages.words import word
from proof.problem import Fault

FILE = "docs/kernel_types.yml"


def table_of(book: Book, lang: Lang, up: str) -> str:
    """Kind, why, lab. Raises Fault where the file cannot be read or does not fit."""
    try:
        kinds = read_yaml(book.root / FILE, KernelTypes).types
    except Fault as fault:
        raise Fault.of(fault.problems(FILE)) from None
    rows = []
    for kind in kinds:
        lab, text = book.labs.get(kind.lab), kind.of(lang)
        if lab:
            where = link(f"{up}labs/{lab.stem}/", md(words(book, lab, lang).title))
        else:
            where = f"{md(word(lang, 'lab to come'))} {code(kind.lab)}"
        rows.append([f"**{md(text.name)}**", md(text.why), where])
    return table([word(lang, key) for key in ("kernel type", "why triton", "lab")], rows)
