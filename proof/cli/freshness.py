"""`proof freshness`: what has grown old: records and readings past their age, a Triton that no lab declares, cited sources that changed.

The only part of `proof` that asks the network, and only when its command is run: once a week, or by hand.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import click
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from proof.book.model import Book, Source
from proof.cli.project import open_book
from proof.evidence import order, state

SOON = 30  # days before an age counts at which it is named
PACKAGES = ("triton", "torch")
READ = 4 << 20  # bytes of a page that are looked at
Get = Callable[[str], bytes]

TITLES = {
    "age": "Measured or read too long ago · 测量或查阅已久",
    "versions": "Newer than what labs declare · 比 lab 声明的范围更新",
    "sources": "Cited, and no longer as cited · 引用的内容已变或打不开",
    "unknown": "Could not be looked at · 没能查看",
}


@click.command()
@click.pass_obj
def command(today: date) -> None:
    """Ask the network what has come out, and whether what is cited still says so; 1 when there is something to say."""
    text = report(open_book(today), newest, get)
    click.echo(text or "nothing is old")
    raise SystemExit(1 if text else 0)


def report(book: Book, newest: Callable[[str], str], get: Get) -> str:
    """The report as Markdown; empty when there is nothing to say. `newest` gives a package's newest version, `get` a page.

    What fails to answer is told as not looked at, never left out.
    """
    parts = {name: [] for name in TITLES}
    parts["age"] = list(_ages(book))
    for package in PACKAGES:
        try:
            parts["versions"] += _versions(book, package, newest(package))
        except (OSError, ValueError) as error:
            parts["unknown"].append(f"{package}: {error}")
    with ThreadPoolExecutor(8) as pool:
        for source, (kind, what) in zip(
            book.sources.values(),
            pool.map(lambda s: _source(s, get), book.sources.values()),
            strict=True,
        ):
            if kind:
                parts[kind].append(f"[{source.id}]({source.url}): {what}")
    sections = [
        f"## {TITLES[name]}\n\n" + "".join(f"- {line}\n" for line in lines)
        for name, lines in parts.items()
        if lines
    ]
    return "\n".join(sections)


def _ages(book: Book) -> Iterator[str]:
    """Claims and readings that are aged, or will be within SOON days, one line for each run or source."""
    runs: dict[str, int] = {}
    for claim_id in order.claims(book):
        standing = state.standing(book, claim_id)
        if standing.record and standing.state in state.PASSING:
            age = (book.today - standing.record.utc.date()).days
            runs[standing.record.path.relative_to(book.root).as_posix()] = age
    for path, age in runs.items():
        if age > state.AGED_AFTER_DAYS - SOON:
            yield f"{path}: {age} days; it counts as aged after {state.AGED_AFTER_DAYS}"
    for source in book.sources.values():
        age = (book.today - source.accessed).days if source.accessed else 0
        if not source.tag and age > state.AGED_AFTER_DAYS - SOON:
            yield f"docs/sources/{source.id}.yml: read {age} days ago; it counts as aged after {state.AGED_AFTER_DAYS}"


def _versions(book: Book, package: str, newest: str) -> Iterator[str]:
    ranges = sorted(
        {lab.requires[package] for lab in book.labs.values() if package in lab.requires}
    )
    for declared in ranges:
        if not SpecifierSet(declared).contains(newest):
            stems = ", ".join(
                stem for stem, lab in book.labs.items() if lab.requires.get(package) == declared
            )
            yield f"{package} {newest}: {stems} declare {declared}"


def _source(source: Source, get: Get) -> tuple[str, str]:
    """Kind and text of what is to be said of a cited source; two empty texts when it is as it was."""
    url = source.url.split("#")[0]
    try:
        page = get(url.replace("/blob/", "/raw/") if source.sha256 else url)
    except urllib.error.HTTPError as error:
        return ("sources" if error.code in (404, 410) else "unknown"), f"answers {error.code}"
    except (OSError, ValueError) as error:
        return "unknown", str(error)
    if source.sha256 and source.lines:
        first, last = source.lines
        lines = page.decode("utf-8", "replace").splitlines()[first - 1 : last]
        if hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest() != source.sha256:
            return (
                "sources",
                f"lines {first} to {last} at {source.tag} are not the ones that were cited",
            )
    return "", ""


def newest(package: str) -> str:
    """The newest final version that pip can see. Raises OSError when it sees none."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "index",
        "versions",
        "--disable-pip-version-check",
        package,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    line = re.search(r"^Available versions: (.+)$", done.stdout, re.M)
    if not line:
        raise OSError("pip names no version")
    versions = [Version(version) for version in line[1].split(", ")]
    return str(max(version for version in versions if not version.is_prerelease))


def get(url: str) -> bytes:
    """The first READ bytes behind an address. Raises OSError, of which HTTPError is one."""
    request = urllib.request.Request(
        url, headers={"User-Agent": "Mozilla/5.0 (checks that what it cites is still there)"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read(READ)
