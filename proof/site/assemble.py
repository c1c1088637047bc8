"""What a build adds to the written pages, as pure functions: generated pages, places in the menu, fixed scripts."""

from __future__ import annotations

import html
import re
from pathlib import Path

from proof.book import labwords
from proof.book.model import Book, Lang
from proof.evidence import order
from proof.pages.exercises import in_order
from proof.pages.generated import decisions
from proof.problem import Problem


def up(url: str) -> str:
    """The relative way from a page's address to the root of its language: "lessons/x/" -> "../../"."""
    return "../" * url.count("/") or "./"


def menu(nav: list, book: Book, lang: Lang) -> list:
    """The nav of mkdocs.yml with `labs/*`, `exercises/*` and `adr/*` replaced by what there is."""
    rooms = {
        "labs/*": [
            {labwords.words(book, lab, lang).title: f"labs/{lab.stem}.ipynb"}
            for lab in order.labs(book)
        ],
        "exercises/*": [
            {f"{each.name[:2]} {each.title.of(lang)}": f"exercises/{each.name}.md"}
            for each in in_order(book)
        ],
        "adr/*": [{f"{d.id} {d.title}": f"adr/{d.slug}.md"} for d in decisions(book, lang)],
    }
    filled: list = []
    for entry in nav:
        if isinstance(entry, dict):
            filled.append(
                {k: menu(v, book, lang) if isinstance(v, list) else v for k, v in entry.items()}
            )
        else:
            filled.extend(rooms.get(entry, [entry]))
    return filled


def diagram(source: str, language: str, css_class: str, options: dict, md, **more) -> str:
    """A Mermaid fence, in a box in which it can scroll. The theme draws it; without scripts its text is shown."""
    return f'<div class="diagram" data-search-exclude="diagram"><pre class="mermaid"><code>{html.escape(source, quote=False)}</code></pre></div>'


def unindexed(page: str) -> str:
    """The HTML of a page with its formulas kept out of the search index, whose results would show their source."""
    return page.replace('class="arithmatex"', 'class="arithmatex" data-search-exclude="formula"')


def formulas(title: str) -> str:
    """The title of a section with its formulas marked, so that they are drawn in the table of contents too."""
    return re.sub(
        r"\\\(.*?\\\)", lambda match: f'<span class="arithmatex">{match[0]}</span>', title
    )


def _replace_once(text: str, old: str, new: str, what: str) -> str:
    if text.count(old) != 1:
        raise ValueError(
            f"The theme has changed: it holds {what} {text.count(old)} times. Fix proof/site/assemble.py"
        )
    return text.replace(old, new)


def own_mermaid(bundle: str) -> str:
    """The theme's script, which would fetch Mermaid from another host, with the address of our copy."""
    old = '"https://unpkg.com/mermaid@11/dist/mermaid.min.js"'
    new = 'new URL("assets/vendor/mermaid.min.js",`${__md_scope}`.replace(/\\/?$/,"/")).href'
    return _replace_once(bundle, old, new, "the address of Mermaid")


def own_search(worker: str) -> str:
    """The theme's search, which looks for words that begin with what was typed, now also without a plural's s."""
    old = r"/(^[+-]|[~^]\d+$)/.test(r)?r:`${r}*`"
    new = r"/(^[+-]|[~^]\d+$)/.test(r)?r:`${r.replace(/([a-z]{3})s$/i,'$1')}*`"
    return _replace_once(worker, old, new, "the wildcard of a search")


def complaint(message: str, root: Path, lang: Lang) -> Problem:
    """A warning of the engine with the file and line that it is about, as far as they can be found."""
    names = re.findall(r"'([^']+)'", message)
    listed = re.search(r"^\s+- (\S+\.\w+)$", message, re.M)
    page = (
        listed[1]
        if listed
        else next((name for name in names if re.search(r"\.(md|ipynb)$", name)), "")
    )
    file, line = f"mkdocs{'' if lang == 'zh' else '.en'}.yml", 1
    for candidate in _sources(page, root, lang) if page else []:
        text = candidate.read_text(encoding="utf-8-sig")
        file = candidate.relative_to(root).as_posix()
        marks = [name for name in names if name != page]
        found = [
            n
            for n, content in enumerate(text.splitlines(), 1)
            if any(mark in content for mark in marks)
        ]
        if found:
            line = found[0]
            break
    what = " ".join(message.split()).rstrip(".").replace("Doc file ", "")
    return Problem(file, line, what, "Fix it there, or bring back what it points to")


def _sources(page: str, root: Path, lang: Lang) -> list[Path]:
    """The files that a page is made from, the likeliest first."""
    written = root / "docs" / lang / page
    if written.is_file():
        return [written]
    room, _, name = page.partition("/")
    pattern = {
        "adr": f"{Path(name).stem}.{lang}.md",
        "glossary": "*.yml",
        "labs": f"{Path(name).stem}.py",
    }.get(room)
    return sorted((root / room).glob(pattern)) if pattern else []
