"""No code of a fork reaches a machine or a secret of ours, and no action can change under us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from proof.book.model import Book
from proof.problem import Problem
from proof.text.documents import place, text_of

Fault = tuple[str, str, str]  # the text that shows the line, what, fix

HOSTED = re.compile(r"(ubuntu|windows|macos)-[\w.]+")
FOREIGN = re.compile(
    r"\$\{\{[^}]*github\.(?:head_ref|event\.(?:pull_request|issue|comment|review|head_commit))[^}]*\}\}"
)
HEAD = re.compile(r"github\.(?:head_ref|event\.pull_request\.head|event\.workflow_run\.head)")


def faults(book: Book) -> Iterable[Problem]:
    """A workflow has a trigger, a permission, an action or a runner that a stranger could turn against us."""
    folder = book.root / ".github" / "workflows"
    for path in sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")]):
        text = text_of(path)
        try:
            data = YAML(typ="safe", pure=True).load(text)
        except YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else 1
            yield Problem(place(book, path), line, f"this is not YAML: {str(error).splitlines()[0]}", "Fix it")
            continue
        if not isinstance(data, dict):
            yield Problem(place(book, path), 1, "this workflow holds nothing", "Write it, or remove the file")
            continue
        for needle, what, fix in _faults(data):
            yield Problem(place(book, path), _line(text, needle), what, fix)


def _line(text: str, needle: str) -> int:
    """The first line that is not a comment and holds the needle."""
    for number, line in enumerate(text.split("\n"), 1):
        if needle in line and not line.lstrip().startswith("#"):
            return number
    return 1


def _faults(data: dict[str, Any]) -> Iterator[Fault]:
    on = data.get("on") or {}
    triggers = {on} if isinstance(on, str) else set(on)
    for trigger in triggers & {"pull_request_target", "issue_comment", "workflow_run"}:
        yield trigger, f"{trigger} runs with our rights on a stranger's word", "Use pull_request, or workflow_dispatch"
    permissions = data.get("permissions")
    if permissions is None:
        yield "on:", "there are no top-level permissions", "Write permissions: {}, or contents: read, at the top"
    yield from _writes(permissions, "the whole workflow")
    for name, job in (data.get("jobs") or {}).items():
        yield from _job(name, job or {}, triggers)


def _writes(permissions: Any, of: str) -> Iterator[Fault]:
    if permissions == "write-all" or (isinstance(permissions, dict) and "write" in permissions.values()):
        granted = (
            permissions if isinstance(permissions, str) else next(k for k, v in permissions.items() if v == "write")
        )
        yield (
            f"{granted}",
            f"{of} may write ({granted})",
            "Give the one job that needs it the permission, outside pull_request",
        )


def _job(name: str, job: dict[str, Any], triggers: set[str]) -> Iterator[Fault]:
    strangers = "pull_request" in triggers
    runner, whole = job.get("runs-on"), str(job)
    if strangers:
        yield from _writes(job.get("permissions"), f"job {name}")
        if secret := re.search(r"secrets\.(?!GITHUB_TOKEN\b)\w+", whole):
            yield secret[0], f"job {name} of a pull request uses {secret[0]}", "Move it to a job that a person starts"
        if job.get("secrets") == "inherit":
            yield "secrets: inherit", f"job {name} of a pull request inherits all secrets", "Take that line out"
    if _own(runner, job):
        if strangers:
            fix = "Use a hosted runner here; GPU jobs start by workflow_dispatch behind an environment"
            yield "runs-on", f"job {name} of a pull request runs on our own machine ({runner})", fix
        elif "environment" not in job:
            fix = "Add environment: with required reviewers, so that a person agrees to each run"
            yield f"{name}:", f"job {name} runs on our own machine with no environment", fix
    steps = job.get("steps") or []
    for action in [job.get("uses"), *(step.get("uses") for step in steps)]:
        if action and not action.startswith("./") and not re.search(r"@[0-9a-f]{40}$|@sha256:[0-9a-f]{64}$", action):
            yield (
                action,
                f"{action} is not pinned",
                "Name the commit, owner/action@<40 hex digits>, and its tag in a comment",
            )
    for step in steps:
        if found := FOREIGN.search(str(step.get("run", ""))):
            fix = "Pass it through env: and quote the variable"
            yield found[0], f"job {name} puts {found[0]} into a script, where it can be any command", fix
        checkout = str((step.get("with") or {}).get("ref", ""))
        if "checkout" in str(step.get("uses", "")) and HEAD.search(checkout) and triggers - {"pull_request"}:
            yield checkout, f"job {name} checks out a stranger's commit with our rights", "Check out the default ref"


def _own(runner: Any, job: dict[str, Any]) -> bool:
    """Whether the job may run on a machine of ours: any label that is no hosted image, also by way of a matrix."""
    if isinstance(runner, dict):
        return True
    labels = [runner] if isinstance(runner, str) else list(runner or [])
    if any("${{" in label for label in labels):
        matrix = (job.get("strategy") or {}).get("matrix")
        asked = re.fullmatch(r"\$\{\{\s*matrix\.(\w+)\s*\}\}", labels[0].strip()) if len(labels) == 1 else None
        values = matrix.get(asked[1]) if asked and isinstance(matrix, dict) else None
        if not isinstance(values, list):
            return True
        labels = [str(value) for value in values]
    return any(not HOSTED.fullmatch(label) for label in labels)
