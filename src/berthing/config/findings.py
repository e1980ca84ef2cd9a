"""What is wrong, or odd, in a configuration: every finding at once, each with its place.

Readers and validators share one `Findings`.  They name places by path, as
`findings.error("must be positive", "profiles", 0, "percentageOfNodesToScore")`; the document
that was read turns paths into lines and columns when the findings are told to a person.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

Step = str | int
Path = tuple[Step, ...]


class Severity(StrEnum):
    """Whether a finding stops the configuration from being used."""

    ERROR = "error"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True):
    """One mistake or oddity: where it is, what is wrong, and what was probably meant.

    `line` and `column` count from 1; 0 where the place has none (a missing file, say).
    A `suggestion` is a whole sentence part that stands alone: "did you mean NodeResourcesFit?".
    """

    message: str
    path: Path = ()
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    line: int = 0
    column: int = 0

    @property
    def is_error(self) -> bool:
        """True if the configuration cannot be used because of this."""
        return self.severity is Severity.ERROR


class Findings:
    """Collects findings in the order they are made; `under` gives a view of one subtree."""

    def __init__(self, *, prefix: Path = (), into: list[Finding] | None = None) -> None:
        self._prefix = prefix
        self._findings: list[Finding] = [] if into is None else into

    def under(self, *path: Step) -> Findings:
        """The same collection, with paths that start at `path`."""
        return Findings(prefix=self._prefix + path, into=self._findings)

    def error(
        self, message: str, *path: Step, suggestion: str = "", line: int = 0, column: int = 0
    ) -> None:
        """Add a mistake at `path`; pass `line` only where the path does not lead there."""
        self.add(Finding(message, self._prefix + path, suggestion, Severity.ERROR, line, column))

    def warning(
        self, message: str, *path: Step, suggestion: str = "", line: int = 0, column: int = 0
    ) -> None:
        """Add what is accepted, though it is hardly what was meant."""
        self.add(Finding(message, self._prefix + path, suggestion, Severity.WARNING, line, column))

    def add(self, finding: Finding) -> None:
        """Add a finding whose path is already complete."""
        self._findings.append(finding)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __len__(self) -> int:
        return len(self._findings)

    @property
    def errors(self) -> list[Finding]:
        """Only what stops the configuration from being used."""
        return [finding for finding in self._findings if finding.is_error]

    @property
    def warnings(self) -> list[Finding]:
        """Only what is accepted but odd."""
        return [finding for finding in self._findings if not finding.is_error]


_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def format_path(path: Path) -> str:
    """Write a path as upstream does: profiles[0].plugins.score; odd keys in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt name, or nothing where no known name is near."""
    names = list(known)
    by_folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wrong.casefold(), by_folded, n=1, cutoff=0.6)
    return f"did you mean {by_folded[near[0]]}?" if near else ""
