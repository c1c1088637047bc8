"""Whether a commit may be put before the reviewers of the gated job: it must be, now, the head of the change it is said to be.

Runs from the main branch, before the review and once more after it, so that a push in between takes the approval away.
Nothing of the change is executed. Only the standard library: `python3 .github/admission.py NUMBER SHA`.
"""

from __future__ import annotations

import re
import sys

from changes import LISTED, Ask, ask_github, changed_files, printable, runs


class Refused(ValueError):
    """Why the commit is not put before anyone."""


def admit(number: str, sha: str, ask: Ask) -> list[str]:
    """What reviewers should know before they agree: the change, and the files in it that run or decide what runs.

    `ask(path)` is the answer of the interface of this repository, as data. `number` 0 is the main branch itself.
    """
    if not re.fullmatch(r"[0-9]{1,9}", number):
        raise Refused(
            f"the number of the pull request is {number!r}: write its digits, or 0 for the main branch"
        )
    if not re.fullmatch(r"[0-9a-f]{40}", sha):
        raise Refused(
            f"the commit is {sha!r}: write all of its 40 hex digits, since a short one can be made to match"
        )
    if int(number) == 0:
        head = ask("commits/main")["sha"]
        if head != sha:
            raise Refused(f"main is at {head}, not at {sha}: start again with its head")
        return [f"main at {sha}"]
    change = ask(f"pulls/{int(number)}")
    if change["state"] != "open":
        raise Refused(f"pull request {number} is {change['state']}: only an open one is measured")
    if change["head"]["sha"] != sha:
        raise Refused(
            f"pull request {number} is at {change['head']['sha']}, not at {sha}: look at what is new, then start again"
        )
    if change["changed_files"] > LISTED:
        raise Refused(
            f"pull request {number} changes {change['changed_files']} files, more than can be listed: split it"
        )
    files = ask(f"pulls/{int(number)}/files")
    if len(files) != change["changed_files"]:
        raise Refused(
            f"{len(files)} of {change['changed_files']} changed files are listed: start again, and split the change if it persists"
        )
    names = changed_files(files)
    said = [f"pull request {int(number)} at {sha}: {len(files)} files"]
    return said + [f"runs, or decides what runs: {printable(name)}" for name in names if runs(name)]


def main(arguments: list[str], ask: Ask = ask_github) -> int:
    try:
        for line in admit(*arguments, ask):
            print(line)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
