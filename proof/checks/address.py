"""Before a release: SITE_URL says where the site is published, since every page names its own address."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from urllib.parse import urlsplit

from proof.book.model import Book
from proof.problem import Problem

FIX = "Set SITE_URL to the public address of the root, https://…, as a variable of the repository"


def unpublished(_: Book) -> Iterable[Problem]:
    """Only before a release: SITE_URL is missing, or is an address that no reader can open."""
    if what := fault(os.environ.get("SITE_URL", "")):
        yield Problem("mkdocs.yml", 1, what, FIX)


def fault(address: str) -> str:
    """What is wrong with the address of a published site; empty where nothing is."""
    if not address:
        return "SITE_URL is not set, so pages would name a local address as theirs"
    try:
        url = urlsplit(address)
        host = url.hostname or ""
    except ValueError as error:
        return f"SITE_URL is {address!r}: {error}"
    if url.scheme != "https" or not host or url.query or url.fragment:
        return f"SITE_URL is {address!r}, which is no https address of a folder"
    if not _is_public(host):
        return f"SITE_URL is {address!r}, which only this machine or this network can open"
    return ""


def _is_public(host: str) -> bool:
    """Whether a host can be reached from anywhere, as far as its name tells."""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        local = ("localhost", "local", "internal", "invalid", "test", "lan")
        return "." in host.strip(".") and host.strip(".").rpartition(".")[2] not in local
