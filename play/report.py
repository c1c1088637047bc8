"""What a run leaves behind: why it stopped, what programs did wrong, and the log of accesses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from play.memory import Finding, Log, Program
from play.messages import Message


@dataclass
class Report:
    """The outcome of one run."""

    problem: Message | None  # why it could not go on
    findings: list[Finding]
    failures: list[Message]  # assertions that did not hold, conditions that were undefined
    printed: str
    cut: bool  # whether more was printed than is kept
    result: Any  # what the called function returned
    launches: list[tuple[str, Program]]
    log: Log = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the run came to its end and no program did anything that it should not do."""
        return self.problem is None and not self.findings and not self.failures

    @property
    def messages(self) -> list[Message]:
        """Everything that went wrong, the reason for stopping first."""
        stopped = [self.problem] if self.problem else []
        return [*stopped, *(finding.message for finding in self.findings), *self.failures]

    def unwritten(self) -> list[Message]:
        """For each tensor that was written in part: what no program has written."""
        found = []
        for storage in self.log.storages:
            left = sorted(storage.unwritten)
            if left:
                place = storage.place(left[0])
                values = {"tensor": storage.name, "count": len(left), "place": place}
                found.append(Message("never_written", None, **values))
        return found

    def lines(self, lang: str) -> list[str]:
        """All messages, each with its line."""
        return [message.with_line(lang) for message in self.messages]
