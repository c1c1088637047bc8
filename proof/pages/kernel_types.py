"""The table of what Triton is made for, from docs/kernel_types.yml: each kind with its lab, or the name of the one to come."""

from __future__ import annotations

from proof.book.data import read_yaml
from proof.book.labwords import words
from proof.book.model import Book, KernelTypes, Lang
from proof.pages.render import render
from proof.problem import Fault

FILE = "docs/kernel_types.yml"


def kernel_types_table(book: Book, lang: Lang, up: str) -> str:
    """Kind, why, lab. Raises Fault where the file cannot be read or does not fit."""
    try:
        kinds = read_yaml(book.root / FILE, KernelTypes).types
    except Fault as fault:
        raise Fault.of(fault.problems(FILE)) from None
    titles = {lab.stem: words(book, lab, lang).title for lab in book.labs.values()}
    return render("kernel_types", lang, up, kinds=kinds, titles=titles)
