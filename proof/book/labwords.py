"""What pages say of a lab, in the language of the page. English is the lab's own; Chinese is written beside the pages."""

from __future__ import annotations

from dataclasses import replace

from proof.book.model import Book, Claim, Lab, LabWords, Lang


def english(lab: Lab) -> LabWords:
    """The lab's own words: its docstring, cut at the first colon into name and sentence, its card and its two tables."""
    title, _, sentence = lab.title.partition(":")
    sentence = sentence.strip()
    card = {key.lower(): lab.card.get(key, "") for key in ("Learn", "Memory", "GPU")}
    why = {short(claim): claim.why for claim in lab.claims.values() if claim.kind != "bug"}
    bugs = {name: bug.seen for name, bug in lab.bugs.items()}
    return LabWords(lab.path, title.strip(), sentence[:1].upper() + sentence[1:], **card, why=why, bugs=bugs)


def words(book: Book, lab: Lab, lang: Lang) -> LabWords:
    """The words for a page of that language. English fills what a Chinese file lacks, and the checks name it."""
    own = english(lab)
    if lang == "en" or lab.stem not in book.words:
        return own
    there = book.words[lab.stem]
    return replace(there, why=own.why | there.why, bugs=own.bugs | there.bugs)


def texts(told: LabWords) -> dict[tuple[str, ...], str]:
    """Every text of them by its place: ("title",), …, ("why", case.metric), …, ("bugs", name), …"""
    lines = {(name,): getattr(told, name) for name in ("title", "sentence", "learn", "memory", "gpu")}
    tables = {(name, key): text for name in ("why", "bugs") for key, text in getattr(told, name).items()}
    return lines | tables


def reason(book: Book, claim: Claim, lang: Lang) -> str:
    """The reason for a claim's bound; for a bug, what one sees."""
    told = words(book, book.labs[claim.lab], lang)
    return (told.bugs if claim.kind == "bug" else told.why)[short(claim)]


def short(claim: Claim) -> str:
    """The id without its lab, as the lab itself writes it: case.metric, or the name of a break."""
    return claim.id.partition(".")[2].removesuffix(".bug")
