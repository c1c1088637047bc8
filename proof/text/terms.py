"""Glossary terms in the text of a page: found inside Chinese too, linked once, with a tooltip that
needs no script.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import jieba
from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from proof.book.model import Lang, Term
from proof.text.names import Names

# Text here is not prose, or already leads somewhere.
_NEVER = {
    "a",
    "button",
    "code",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "kbd",
    "pre",
    "samp",
    "script",
    "style",
    "summary",
    "th",
}
_NEVER |= {"svg", "math", "title"}
_NEVER_CLASSES = {"arguments", "arithmatex", "chart", "mermaid", "term-tip", "admonition-title"}
_HAN = re.compile(r"[\u3400-\u9fff]")


def link_terms(html: str, terms: Sequence[Term], lang: Lang, up: str) -> str:
    """Link the first mention of each term in the HTML of a page, with its short text as the
    tooltip.

    `up` leads to the language root. A link that a page's author wrote counts as the first mention
    if it comes first. Below the glossary's own heading of a term (class term-entry) that term is
    not linked.
    """
    soup = BeautifulSoup(html, "html.parser")
    by_id = {term.id: term for term in terms}
    finder = _finder(terms, lang)
    done: set[str] = set()
    entry = ""  # the term whose own entry in the glossary this is
    for node in list(soup.descendants):
        if isinstance(node, Tag):
            if "term-entry" in _classes(node):
                entry = str(node.get("id", ""))
            written = _written(node)
            if written in by_id and written not in done:
                done.add(written)
                node.replace_with(wrap := soup.new_tag("span", attrs={"class": "term-wrap"}))
                _with_tip(soup, wrap, node, by_id[written], lang)
            continue
        if type(node) is not NavigableString or not node.strip() or _is_quoted(node):
            continue
        pieces, position = [], 0
        for start, end, id in finder.matches(str(node)):
            if id in done or id == entry:
                continue
            done.add(id)
            link = soup.new_tag("a", attrs={"class": "term", "href": f"{up}glossary/#{id}"})
            link.string = node[start:end]
            wrap = soup.new_tag("span", attrs={"class": "term-wrap"})
            _with_tip(soup, wrap, link, by_id[id], lang)
            pieces += [NavigableString(node[position:start]), wrap]
            position = end
        if pieces:
            node.replace_with(*pieces, NavigableString(node[position:]))
    return str(soup) if done else html


def mentioned(text: str, terms: Sequence[Term], lang: Lang) -> set[str]:
    """The ids of the terms that a piece of prose names."""
    return {id for _, _, id in _finder(terms, lang).matches(text)}


def _written(tag: Tag) -> str:
    """The term id of a link that an author wrote, else nothing."""
    if tag.name != "a" or "term" not in _classes(tag) or tag.get("aria-describedby"):
        return ""
    if tag.find_parent(["h1", "h2", "h3", "h4", "h5", "h6"]):
        return ""
    return str(tag.get("href", "")).partition("glossary/#")[2]


def _with_tip(soup: BeautifulSoup, wrap: Tag, link: Tag, term: Term, lang: Lang) -> None:
    link["aria-describedby"] = f"tip-{term.id}"
    attrs = {
        "class": "term-tip",
        "role": "tooltip",
        "id": f"tip-{term.id}",
        "data-search-exclude": "",
    }
    tip = soup.new_tag("span", attrs=attrs)
    tip.string = (term.zh if lang == "zh" else term.en).short.replace("`", "").strip()
    wrap.extend([link, tip])


def _classes(tag: Tag) -> list[str]:
    names = tag.get("class")
    return names.split() if isinstance(names, str) else list(names or ())


def _is_quoted(node: NavigableString) -> bool:
    return any(
        parent.name in _NEVER or not _NEVER_CLASSES.isdisjoint(_classes(parent))
        for parent in node.parents
    )


class Finder:
    """Finds names in text: Latin ones between ASCII boundaries, Chinese ones as whole words."""

    def __init__(self, names: Sequence[tuple[str, str]]):
        self.ids: dict[str, str] = {}
        for name, id in names:
            self.ids.setdefault(_key(name), id)
        longest_first = sorted({name for name, _ in names}, key=lambda name: (-len(name), name))
        self.names = Names({name: _pattern(name) for name in longest_first})
        self.words = [name for name in longest_first if _HAN.search(name)]
        self._cutter: jieba.Tokenizer | None = None

    def matches(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and term id of each mention, the longest name first at each place."""
        edges: set[int] | None = None
        position = 0
        while match := self.names.search(text, position):
            start, end = match.span()
            if _HAN.search(match[0]):
                edges = self._edges(text) if edges is None else edges
                if start not in edges or end not in edges:  # a piece of another word
                    position = start + 1
                    continue
            position = end
            name = re.sub(r"\s+", " ", match[0])
            yield start, end, self.ids.get(name) or self.ids[name.lower()]

    def _edges(self, text: str) -> set[int]:
        """Where words begin and end, by a cutter of our own: terms added to jieba's shared one
        spoil the search index.
        """
        if self._cutter is None:
            jieba.setLogLevel(logging.WARNING)
            self._cutter = jieba.Tokenizer()
            for name in self.words:
                self._cutter.add_word(name)
        return {0} | {end for _, _, end in self._cutter.tokenize(text, HMM=False)}


@lru_cache(maxsize=4)
def _finder_of(names: tuple[tuple[str, str], ...]) -> Finder:
    return Finder(names)  # kept: its cutter takes a second to load


def _finder(terms: Sequence[Term], lang: Lang) -> Finder:
    """Chinese prose uses English names as well; English prose holds no Chinese ones."""
    texts = [(text, t.id) for t in terms for text in ((t.zh, t.en) if lang == "zh" else (t.en,))]
    return _finder_of(
        tuple((name, id) for text, id in texts for name in (text.preferred, *text.alt))
    )


def _plain(name: str) -> bool:
    """Whether letter case means nothing: mask, Shared memory; not SM, PTX, bf16x3."""
    return all(
        word[1:] == word[1:].lower() and (len(word) > 1 or word.islower()) for word in name.split()
    )


def _key(name: str) -> str:
    name = re.sub(r"\s+", " ", name)
    return name.lower() if _plain(name) else name


def _pattern(name: str) -> str:
    body = r"\s+".join(re.escape(part) for part in name.split())
    if _plain(name):
        body = f"(?i:{body})"
    before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", name) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]\Z", name) else ""
    return before + body + after
