"""What the playground tells the reader: a key, a line and values, rendered in either language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LANGS = ("zh", "en")


@dataclass
class Message:
    """One sentence for the reader, in no language yet."""

    key: str
    line: int | None
    values: dict[str, Any] = field(default_factory=dict)

    def __init__(self, key: str, line: int | None = None, **values: Any) -> None:
        self.key = key
        self.line = line
        self.values = values

    def text(self, lang: str) -> str:
        """The sentence, without its line."""
        from play.texts import TEXTS

        values = {name: _plural(value) for name, value in self.values.items()}
        others = self.values.get("programs", 1) - 1  # of a finding: who else did the same
        more = TEXTS["more_programs"][lang].format(others=_Count(others)) if others else ""
        return TEXTS[self.key][lang].format(more=more, **values)

    def with_line(self, lang: str) -> str:
        """The sentence after the line that it is about."""
        if not self.line:
            return self.text(lang)
        if lang == "zh":
            return f"第 {self.line} 行：{self.text(lang)}"
        return f"line {self.line}: {self.text(lang)}"


class Refusal(Exception):
    """Raised where a run cannot go on. The evaluator adds the line if `line` is not given."""

    def __init__(self, key: str, line: int | None = None, **values: Any) -> None:
        super().__init__(key)
        self.message = Message(key, line, **values)


class _Count(int):
    """A number with thousands separators; `{count:s}` is the s of a plural."""

    def __format__(self, spec: str) -> str:
        if spec == "s":
            return "" if self == 1 else "s"
        return int.__format__(self, spec or ",")


def _plural(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return _Count(value)
    return value
