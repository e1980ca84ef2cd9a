"""Paths as upstream writes them, which are not always those of the file.

Upstream: apimachinery/pkg/util/validation/field/path.go.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from berthing.config.findings import Path, Step

# ".name" or "name", or anything in brackets.
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")


def parse_path(text: str) -> Path:
    """The steps of profiles[0].plugins.score; a key in brackets is a step like any other."""
    return tuple(_step(match) for match in _STEP.finditer(text))


def _step(match: re.Match[str]) -> Step:
    name, bracketed = match.groups()
    if name is not None:
        return str(name)
    return int(bracketed) if bracketed.isdecimal() else str(bracketed)


# Where a mistake shows if the field it is about is not written.
_SIBLINGS = {
    "podMaxBackoffSeconds": "podInitialBackoffSeconds",
    "leaseDuration": "renewDeadline",
    "defaultingType": "defaultConstraints",
}
_PARTS_OF_A_TERM = ("matchExpressions", "matchFields")
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def as_written(path: Path, tree: object) -> Path:
    """Where in the tree of a file to look for what upstream means by `path`."""
    steps: list[Step] = []
    for step in path:
        if step == "Enabled":
            steps.append("enabled")
        elif step in _PARTS_OF_A_TERM and len(steps) > 1 and steps[-2] == _PREFERRED:
            # Upstream goes from the list straight into the term.
            steps += ["preference", step]
        else:
            steps.append(step)
    sibling = _SIBLINGS.get(str(steps[-1])) if steps else None
    if sibling is not None and not _is_there(tree, steps):
        steps[-1] = sibling
    return tuple(steps)


def _is_there(tree: object, steps: Sequence[Step]) -> bool:
    for step in steps:
        match tree, step:
            case dict(), _ if step in tree:
                tree = tree[step]
            case list(), int() if step < len(tree):
                tree = tree[step]
            case _:
                return False
    return True
