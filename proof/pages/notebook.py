"""A lab as a notebook whose outputs come from its records, and the notebook's HTML without its 600 KB of style."""

from __future__ import annotations

import re
from functools import cache

import jupytext
import nbformat
from bs4 import BeautifulSoup, Comment, Tag
from nbformat.v4 import new_markdown_cell, new_output

from proof.book.model import Book, Lab, Lang, Record
from proof.book.translation import download, shown
from proof.evidence import state
from proof.evidence.state import current, records_of
from proof.evidence.verdict import line

NOT_SHOWN = re.compile(
    r"^[ \t]*# (?:--8<-- \[(?:start|end):[^\]]*\]|fmt: o(?:n|ff))[ \t]*\n?", re.M
)


def recorded_page(book: Book, lab: Lab, lang: Lang) -> str:
    """The lesson as a notebook for the lab's page."""
    return _recorded(book, lab, shown(book, lab, lang))


def recorded_notebook(book: Book, lab: Lab, lang: Lang) -> str:
    """The bundle as a notebook, which runs from top to bottom: the last cell judges the lab."""
    return _recorded(book, lab, download(book, lab, lang))


def _recorded(book: Book, lab: Lab, source: str) -> str:
    """The JSON of a text of the lab as a notebook. Nothing is executed.

    Under the last cell stand the tables that the newest GPU record and the newest interpreter record hold, or a
    sentence where there is no record of this very code.
    """
    notebook = jupytext.reads(_folded(source), fmt="py:percent")
    cells = []
    for cell in notebook.cells:
        if title := cell.metadata.pop("title", ""):
            cells.append(new_markdown_cell(_titled(title)))
        cells.append(cell)
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    for number, cell in enumerate(code_cells, 1):
        cell.execution_count = number
    code_cells[-1].outputs = [
        new_output("stream", name="stdout", text=text) for text in run_texts(book, lab)
    ]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # else random, and every build would differ
    notebook.cells = cells
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"},
            "language_info": {
                "name": "python",
                "file_extension": ".py",
                "mimetype": "text/x-python",
            },
        }
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return nbformat.writes(notebook) + "\n"


def _folded(source: str) -> str:
    """The text without section markers; what a run prints is a cell."""
    main = '\nif __name__ == "__main__":'
    return NOT_SHOWN.sub("", source.replace(main, f"\n# %% What a run prints.{main}"))


def _titled(title: str) -> str:
    """The line after %% as a heading and a sentence: The launcher: checks what … → ### The launcher, Checks what …"""
    head, _, rest = title.partition(":")
    rest = re.sub(r"([*_\[<\\])", r"\\\1", rest.strip())
    return f"### {head.strip()}" + (f"\n\n{rest[:1].upper()}{rest[1:]}" if rest else "")


def run_texts(book: Book, lab: Lab) -> list[str]:
    """What the newest runs on a GPU and in the interpreter printed, rebuilt from their records."""
    records = records_of(book, lab)
    texts = []
    for place, found in (
        ("on a GPU", [r for r in records if r.is_gpu]),
        ("in the interpreter", [r for r in records if r.device.kind == "interpreter"]),
    ):
        if not found:
            texts.append(f"No run {place} is on record yet.\n")
        elif reason := _unusable(book, lab, found[0]):
            texts.append(f"The newest run {place} is not shown: {reason}.\n")
        else:
            texts.append(_printed(lab, found[0]))
    return texts


def _unusable(book: Book, lab: Lab, record: Record) -> str:
    """Why a record's numbers are not for readers; empty if they are."""
    if not record.intact:
        return "the record was edited after it was filed"
    if not current(lab, record):
        return "the lab has changed since, and it is to be measured again"
    here = [s for id in lab.claims for s in state.standings(book, id) if s.record is record]
    if any(s.state in ("stale-env", "stale-code") for s in here):
        return next(s.note for s in here if s.state in ("stale-env", "stale-code"))
    return ""


def _printed(lab: Lab, record: Record) -> str:
    """The lines that the lab prints, the verdicts computed anew."""
    environment = record.environment
    lines = [f"{record.device.name} · torch {environment.torch} · triton {environment.triton}"]
    for row in record.claims:
        claim = lab.claims.get(row.id)
        data = row.model_dump(mode="json", exclude_unset=True)
        data |= {"verdict": state.verdict(claim, row)} if claim else {}
        lines.append(line(data))
    return "\n".join(lines) + "\n"


# HTML

_CHROME = (
    "style, script, clipboard-copy, .clipboard-copy-txt, .jp-InputPrompt, .jp-OutputPrompt, .jp-Collapser, "
    ".jp-OutputArea-prompt, a.anchor-link"
)
_UNCOLORED = re.compile(
    r'<span class="[nwpo]">([^<]*)</span>'
)  # names, blanks, marks: half of a page, and no color
_PLAIN = ("text/plain", "application/vnd.jupyter.stdout", "application/vnd.jupyter.stderr")


@cache  # both languages show the same run
def slim(html: str) -> str:
    """A notebook's HTML as the theme writes pages: headings, text, code blocks, outputs as text, and nothing around them."""
    soup = BeautifulSoup(_UNCOLORED.sub(r"\1", html), "html.parser")
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for chrome in soup.select(_CHROME):
        chrome.decompose()
    for block in soup.select("div.highlight-ipynb"):
        _as_code(soup, block, "language-python highlight")
    for output in soup.select(".jp-OutputArea-output[data-mime-type]"):
        if output["data-mime-type"] in _PLAIN:
            _as_code(soup, output, "language-text highlight output")
    for box in soup.find_all("div"):
        if any(
            re.match(r"jp-|jupyter-|CodeMirror|zeroclipboard", name)
            for name in box.get("class", [])
        ):
            box.unwrap()
    soup.smooth()
    for blank in soup.find_all(string=lambda text: not text.strip()):
        if not blank.find_parent("pre"):
            blank.replace_with("\n")
    return str(soup).strip() + "\n"


def _as_code(soup: BeautifulSoup, block: Tag, classes: str) -> None:
    """Turn <div><pre>…</pre></div> into the theme's <div class=…><pre><code>…</code></pre></div>."""
    pre = block.find("pre")
    if pre is None:
        return
    code = soup.new_tag("code")
    code.extend(list(pre.contents))
    code.smooth()
    wrap = soup.new_tag("div", attrs={"class": classes})
    wrap.append(bare := soup.new_tag("pre"))
    bare.append(code)
    block.replace_with(wrap)
