""".github/hand_over.py: what a container left is handed on as a plain file of bounded size, or not at all."""

from __future__ import annotations

import os

import pytest
from hand_over import Refused, hand_over, main


def test_a_plain_file_is_made_anew(tmp_path):
    (tmp_path / "left").write_bytes(b"bundle")
    assert hand_over(tmp_path / "left", tmp_path / "new" / "gate.tar") == 6
    made = tmp_path / "new" / "gate.tar"
    assert made.read_bytes() == b"bundle" and not os.path.samefile(made, tmp_path / "left")


def planted(tmp_path, kind: str):
    """What a hostile program might leave under the name of its bundle."""
    left, secret = tmp_path / "left", tmp_path / "secret"
    secret.write_bytes(b"of the host")
    if kind == "link":
        left.symlink_to(secret)
    elif kind == "second name":
        os.link(secret, left)
    elif kind == "link to a device":
        left.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(left)
    elif kind == "folder":
        left.mkdir()
    elif kind == "too large":
        left.write_bytes(b"12345678901")
    elif kind == "sparse":
        left.touch()
        os.truncate(left, 1 << 40)
    return left


@pytest.mark.parametrize(
    "kind",
    [
        "link",
        "second name",
        "link to a device",
        "pipe",
        "folder",
        "too large",
        "sparse",
        "nothing",
    ],
)
def test_c022_anything_else_is_refused_and_nothing_is_made(tmp_path, kind):
    with pytest.raises(Refused):
        hand_over(planted(tmp_path, kind), tmp_path / "gate.tar", largest=10)
    assert not (tmp_path / "gate.tar").exists()


def test_a_file_that_lies_there_already_is_not_taken_for_the_bundle(tmp_path):
    (tmp_path / "left").write_bytes(b"bundle")
    (tmp_path / "gate.tar").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="is there already"):
        hand_over(tmp_path / "left", tmp_path / "gate.tar")
    assert not (tmp_path / "elsewhere").exists()


def test_the_command_says_why_and_fails(tmp_path, capsys):
    assert main([str(tmp_path / "left"), str(tmp_path / "gate.tar")]) == 1
    assert capsys.readouterr().err.startswith("error: ")
