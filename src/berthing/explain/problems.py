"""What is wrong with what somebody gave us to explain: a line for each thing, all at once."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(Exception):
    """Nothing can be decided from this input; `problems` has a line for each reason."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def refuse(problems: Iterable[str]) -> None:
    """Raise InputError if there are any problems."""
    found = tuple(problems)
    if found:
        raise InputError(*found)
