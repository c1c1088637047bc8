"""proof/checks/immutable.py: what was accepted on the base branch stays as it is."""

from __future__ import annotations

import subprocess

import pytest

from proof.checks import immutable
from proof.checks import rules as check

NUMBER = "0001"


@pytest.fixture
def repository(tiny, monkeypatch):
    """The tiny project as a repository whose main holds all of it, and a branch to change it on."""
    monkeypatch.delenv("PROOF_BASE", raising=False)
    immutable._base.cache_clear()

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", tiny.root, *who, *arguments], check=True, capture_output=True)

    git("init", "--initial-branch=main")
    git("add", ".")
    git("commit", "-m", "all of it")
    git("switch", "--create", "change")
    tiny.git = git
    return tiny


def found(project) -> list[str]:
    return [str(problem) for problem in immutable.accepted(project.book())]


def halves(project) -> list[str]:
    return [path.relative_to(project.root).as_posix() for path in sorted(project.root.glob(f"adr/{NUMBER}-*.md"))]


def test_an_untouched_decision_is_fine(repository):
    assert found(repository) == []


def test_the_text_of_an_accepted_decision_cannot_change(repository):
    name = halves(repository)[0]
    text = repository.read(name)
    repository.write(name, text.replace("## ", "Another reason.\n\n## ", 1))
    line = text.split("\n").index(next(line for line in text.split("\n") if line.startswith("## "))) + 1
    assert found(repository) == [
        f"{name}:{line}: the text of an accepted decision has changed. "
        "Put the text back, and write a decision that supersedes it"
    ]


def test_nor_after_it_was_committed(repository):
    name = halves(repository)[0]
    repository.write(name, repository.read(name) + "\nOne line more.\n")
    repository.git("commit", "-a", "-m", "quietly")
    assert len(found(repository)) == 1


@pytest.mark.parametrize("key", ["title", "date"])
def test_nor_its_title_or_its_day(repository, key):
    name = halves(repository)[0]
    lines = [f"{key}: 2020-01-01" if line.startswith(f"{key}:") else line for line in repository.read(name).split("\n")]
    repository.write(name, "\n".join(lines))
    assert any(f"{key} of an accepted decision was" in problem for problem in found(repository))


def test_it_cannot_go(repository):
    for name in halves(repository):
        repository.remove(name)
    assert len(found(repository)) == 2 and "a decision that was accepted is gone" in found(repository)[0]


def test_its_status_and_links_can_change(repository):
    for name in halves(repository):
        text = repository.read(name).replace("status: accepted", "status: superseded")
        repository.write(name, text.replace("superseded_by: null", 'superseded_by: "0002"'))
    assert found(repository) == []


def test_blank_lines_and_windows_line_ends_are_no_change(repository):
    name = halves(repository)[0]
    repository.write(name, repository.read(name).replace("\n## ", "\n\n## ").replace("\n", "\r\n").encode())
    assert found(repository) == []


def test_a_proposal_may_still_change(repository):
    repository.git("switch", "main")
    for name in halves(repository):
        repository.edit(name, "status: accepted", "status: proposed")
    repository.git("commit", "-a", "-m", "back to a proposal")
    repository.git("switch", "--create", "later")
    immutable._base.cache_clear()
    for name in halves(repository):
        repository.write(name, repository.read(name) + "\nOne line more.\n")
    assert found(repository) == []


def test_the_tally_says_with_what_it_was_compared(repository, tiny):
    assert "accepted decisions compared with" in check.tally(repository.book())


def test_without_git_the_tally_says_that_nothing_was_compared(tiny):
    immutable._base.cache_clear()
    assert found(tiny) == []
    assert "accepted decisions not compared: git knows no main" in check.tally(tiny.book())
