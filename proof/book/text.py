"""Reading a text file, and writing a file whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from proof.problem import Fault

SAVE = "Save the file as UTF-8"


def read(path: Path) -> str:
    """The text of a file: UTF-8, without BOM, lines ending in LF.

    Raises Fault unless it is UTF-8 and can be opened.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Fault("there is no such file", "Write it, or take out what asks for it") from None
    except OSError as error:
        raise Fault(f"cannot be opened: {error.strerror}", "See its permissions") from None
    return decode(content)


def decode(content: bytes) -> str:
    """UTF-8 bytes as text, without BOM, lines ending in LF. Raises Fault for any other encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise Fault("the file is UTF-16 or binary, not UTF-8", SAVE)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte, line = content[error.start], content.count(b"\n", 0, error.start) + 1
        what = (
            f"the file is not UTF-8 (byte 0x{byte:02x}); it may be GBK or another legacy encoding"
        )
        raise Fault(what, SAVE, line=line) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write(path: Path, content: bytes) -> None:
    """Write the file under a temporary name and rename it.

    An interruption leaves the old file, or none, and never half of a new one.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, path.stat().st_mode & 0o7777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
