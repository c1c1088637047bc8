"""Everything that turns the book into page text, under one name: what the hooks and the checks call."""

from proof.devices import devices_page
from proof.expand import expand
from proof.labpage import lab_head, lab_tail
from proof.ledger import term_uses, uses
from proof.macros import Call, PageError, blank_quoted, calls
from proof.pages import decision_index, decision_page, glossary_page, status_page

__all__ = [
    "Call",
    "PageError",
    "blank_quoted",
    "calls",
    "decision_index",
    "decision_page",
    "devices_page",
    "expand",
    "glossary_page",
    "lab_head",
    "lab_tail",
    "status_page",
    "term_uses",
    "uses",
]
