"""The table of labs and versions of Triton, as pages show it."""

from __future__ import annotations

from proof.book.model import Book, Lab, Lang
from proof.evidence import order
from proof.evidence import versions as filed
from proof.pages.format import code, link, md, table
from proof.pages.words import word


def table_of(book: Book, lang: Lang, up: str) -> str:
    """A row for each lab, a column for each Triton of versions.TRITONS."""
    heads = [md(word(lang, "lab")), *(f"Triton {triton}" for triton in filed.TRITONS)]
    rows = [
        [
            link(f"{up}labs/{lab.stem}/", code(lab.stem)),
            *(_cell(book, lab, triton, lang) for triton in filed.TRITONS),
        ]
        for lab in order.labs(book)
    ]
    return table(heads, rows)


def _cell(book: Book, lab: Lab, triton: str, lang: Lang) -> str:
    run = filed.run_of(book, lab.stem, triton)
    if run is None:
        return md(word(lang, "not run there"))
    if run.lab_sha256 != lab.sha256:
        return f'<span class="state stale-source">{md(word(lang, "stale-source"))}</span>'
    if run.refused:
        return f"{md(word(lang, 'refused there'))}<br>{code(run.refused)}"
    counts = [
        ("n hold", run.ok),
        ("n failed there", len(run.failed)),
        ("n left", run.left),
        ("n kernels", run.kernels),
    ]
    said = [md(word(lang, key, n=n)) for key, n in counts if n or key == "n hold"]
    where = md(
        word(lang, "run on day", day=run.day, torch=run.torch, numpy=run.numpy, python=run.python)
    )
    wrong = [code(one) for one in (*run.failed, *run.uncompiled)]
    return "<br>".join([" · ".join(said), *wrong, f"<small>{where}</small>"])
