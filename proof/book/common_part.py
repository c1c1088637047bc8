"""`make fix` for labs: the common part, copied from proof/common.py into every lab, and nothing else touched."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from proof.book import text

MARKER = "# %% The common part"


@cache
def master() -> str:
    """The common part: proof/common.py from its marker line to its end."""
    text = (
        Path(__file__)
        .parents[1]
        .joinpath("common.py")
        .read_text(encoding="utf-8")
        .replace("\r\n", "\n")
    )
    return text[_marker(text) :].rstrip("\n") + "\n"


def _marker(text: str) -> int:
    """Where the marker line begins; -1 when there is none."""
    return 0 if text.startswith(MARKER) else ("\n" + text).find("\n" + MARKER)


def repaired(source: str) -> str | None:
    """The lab's source with the master's common part below two blank lines; None when it has no marker line.

    The lesson part keeps every byte up to its last line that is not blank; lines end as the lesson's do.
    """
    newline = "\r\n" if "\r\n" in source else "\n"
    position = _marker(source)
    if position < 0:
        return None
    lesson = source[:position].splitlines(keepends=True)
    while lesson and not lesson[-1].strip():
        lesson.pop()
    blank = newline * 2 if lesson else ""
    return "".join(lesson) + blank + master().replace("\n", newline)


def fix(root: Path, write: bool = True) -> list[str]:
    """Rewrite the common part of every lab below `root` that has another one; with write=False only say which.

    Returns a sentence for each lab that was, or would be, rewritten, or that has no marker line to begin at.
    """
    sentences = []
    for path in sorted((root / "labs").glob("*.py")):
        name, old = path.relative_to(root).as_posix(), path.read_bytes()
        try:
            new = repaired(old.decode("utf-8"))
        except UnicodeDecodeError:
            sentences.append(f"{name}: is not UTF-8, left as it is")
            continue
        if new is None:
            sentences.append(f"{name}: has no line that begins with “{MARKER}”, left as it is")
        elif new.encode("utf-8") != old:
            if write:
                text.write(path, new.encode("utf-8"))
            sentences.append(f"{name}: common part {'rewritten' if write else 'differs'}")
    return sentences
