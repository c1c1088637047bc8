"""Whether a change may be merged as far as a GPU is concerned, decided by the paths that it touches.

`python3 .github/verified.py` reads the event that started the workflow. A change that a GPU has to judge needs the
status `gpu-labs` on its head, which gpu.yml writes. A maintainer may write that status by hand: then its description
says why, and is shown. Any other change passes, and the words say that nothing of it was verified on a GPU.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from changes import LISTED, ON_GPU, Ask, ask_github, changed_files, printable

CONTEXT = "gpu-labs"
WORKFLOWS = (
    "github-actions[bot]"  # who writes what gpu.yml found; no other workflow may write a status
)
SHOWN = 5  # paths that a message names


class Unverified(ValueError):
    """Why the change has to wait for a run on a GPU."""


def verify(event_name: str, event: dict[str, Any], ask: Ask) -> str:
    """What was verified on a GPU, in one sentence. Raises Unverified where a run is needed and is no success."""
    if event_name == "push":
        return "Not verified on GPU here: the records say what was, and when."
    if event_name == "pull_request":
        number = int(event["pull_request"]["number"])
    elif event_name == "merge_group":
        number = queued(event["merge_group"]["head_ref"])
    else:
        raise Unverified(f"Not verified on GPU: an event {event_name!r} names no change to judge")
    change, files = ask(f"pulls/{number}"), ask(f"pulls/{number}/files")
    if change["changed_files"] > LISTED or len(files) != change["changed_files"]:
        judged = [f"{change['changed_files']} files, of which {len(files)} are listed,"]
    else:
        judged = [name for name in changed_files(files) if ON_GPU.fullmatch(name)]
    if not judged:
        return f"Not verified on GPU: none of the {len(files)} changed files is judged there."
    # What is being tested is the commit of the event, even where the change has moved on since.
    tested = event["pull_request"] if event_name == "pull_request" else change
    sha = tested["head"]["sha"]
    status = newest(ask(f"commits/{sha}/statuses"))
    if status["state"] == "success" and status["creator"]["login"] == WORKFLOWS:
        return f"Verified on GPU: {CONTEXT} on {sha} is a success: {status['description']}"
    if status["state"] == "success" and status["description"]:
        return f"Not verified on GPU, and allowed by {status['creator']['login']}: {status['description']}"
    names = ", ".join(printable(name) for name in judged[:SHOWN])
    more = f" and {len(judged) - SHOWN} more" if len(judged) > SHOWN else ""
    raise Unverified(
        f"Not verified on GPU: {names}{more} changed, and {CONTEXT} on {sha} is {status['state']}. A maintainer starts "
        f"gpu.yml with pr {number} and that commit; this job runs again when it has passed"
    )


def queued(ref: str) -> int:
    """The number of the pull request that the merge queue names in its branch."""
    found = re.fullmatch(r"refs/heads/gh-readonly-queue/main/pr-([0-9]+)-[0-9a-f]{40}", ref)
    if not found:
        raise Unverified(f"Not verified on GPU: the merge queue's branch {ref!r} names no change")
    return int(found[1])


def newest(statuses: list[dict[str, Any]]) -> dict[str, Any]:
    """The status of our context that counts: the interface lists the newest first."""
    ours = [status for status in statuses if status["context"] == CONTEXT]
    return ours[0] if ours else {"state": "missing"}


def main(ask: Ask = ask_github) -> int:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    try:
        print(verify(os.environ["GITHUB_EVENT_NAME"], event, ask))
    except Unverified as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
