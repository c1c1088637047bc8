"""Whether a run is one whose bundle may be filed: gpu.yml's, started on main, of that commit, and a success.

Runs before anything of the bundle is fetched. Only the standard library: `python3 .github/measured.py RUN SHA`.
"""

from __future__ import annotations

import re
import sys

from changes import Ask, ask_github

WORKFLOW = ".github/workflows/gpu.yml"


class Refused(ValueError):
    """Why nothing of the run is filed."""


def check(run: str, sha: str, ask: Ask) -> str:
    """The run, in one line. Raises Refused for a run that is not what the bundle has to come from."""
    if not re.fullmatch(r"[0-9]{1,15}", run):
        raise Refused(f"the run is {run!r}: write the digits at the end of its address")
    if not re.fullmatch(r"[0-9a-f]{40}", sha):
        raise Refused(f"the commit is {sha!r}: write all of its 40 hex digits")
    found = ask(f"actions/runs/{run}")
    path = found["path"].partition("@")[0]
    if path != WORKFLOW:
        raise Refused(f"run {run} is of {path}: only {WORKFLOW} measures")
    if found["event"] != "workflow_dispatch" or found["head_branch"] != "main":
        raise Refused(
            f"run {run} was started by {found['event']} on {found['head_branch']}: gpu.yml is started by hand on main"
        )
    if found["head_repository"]["full_name"] != found["repository"]["full_name"]:
        raise Refused(
            f"run {run} is of {found['head_repository']['full_name']}, another repository"
        )
    if found["status"] != "completed" or found["conclusion"] != "success":
        ended = found["conclusion"] or found["status"]
        raise Refused(f"run {run} is {ended}: only a run that ended in success is filed")
    if not re.fullmatch(rf"labs of [0-9]+ at {sha}", found["display_title"]):
        raise Refused(f"run {run} is called {found['display_title']!r}: it did not measure {sha}")
    bundles = [
        artifact
        for artifact in ask(f"actions/runs/{run}/artifacts")["artifacts"]
        if artifact["name"] == f"gpu-{sha}" and not artifact["expired"]
    ]
    if len(bundles) != 1:
        raise Refused(f"run {run} holds {len(bundles)} bundles of {sha}: one is filed")
    return f"run {run} of {WORKFLOW} on main measured {sha}"


def main(arguments: list[str], ask: Ask = ask_github) -> int:
    try:
        print(check(*arguments, ask))
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
