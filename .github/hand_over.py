"""Hands on what a container left: a plain file of bounded size, made anew outside the folder that the container wrote.

What runs in the container may leave a link, a pipe, a device or a file without end under the name of its bundle. The
name is opened once, without following it, and what was opened is looked at before it is read.
Only the standard library: `python3 .github/hand_over.py LEFT MADE`.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

LARGEST = 64 << 20  # bytes; proof/runs/file.py reads no larger archive


class Refused(ValueError):
    """Why nothing is handed on."""


def hand_over(left: Path, made: Path, largest: int = LARGEST) -> int:
    """Copy the bytes of `left` into the new file `made`; how many. Raises Refused, and then `made` does not exist."""
    try:
        descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{left} cannot be opened as a plain file: {error.strerror}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(descriptor)
        raise Refused(f"{left} is not a plain file with one name")
    with open(descriptor, "rb") as stream:
        content = stream.read(largest + 1)
    if len(content) > largest:
        raise Refused(f"{left} is larger than {largest} bytes")
    made.parent.mkdir(parents=True, exist_ok=True)
    try:
        with made.open("xb") as stream:
            stream.write(content)
    except FileExistsError:
        raise Refused(f"{made} is there already: it would be taken for what was left") from None
    return len(content)


def main(arguments: list[str]) -> int:
    left, made = map(Path, arguments)
    try:
        print(f"{made}: {hand_over(left, made)} bytes")
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
