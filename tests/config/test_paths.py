"""Paths as upstream writes them, and where they lead in a file."""

from __future__ import annotations

import pytest

from berthing.config.findings import Path
from berthing.config.paths import as_written, parse_path

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ()),
        ("parallelism", ("parallelism",)),
        ("profiles[0].plugins.score", ("profiles", 0, "plugins", "score")),
        ("a[0][1]", ("a", 0, 1)),
        ("values[0][example.com/k]", ("values", 0, "example.com/k")),
        ("labels[]", ("labels", "")),
    ],
)
def test_parsing(text: str, path: Path) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize(
    ("path", "tree", "written"),
    [
        pytest.param(("parallelism",), {}, ("parallelism",), id="most are the same"),
        pytest.param((), {}, (), id="nowhere"),
        pytest.param(
            ("queueSort", "Enabled"), {}, ("queueSort", "enabled"), id="a name from Go's code"
        ),
        pytest.param(
            (PREFERRED, 0, "matchFields", 1),
            {},
            (PREFERRED, 0, "preference", "matchFields", 1),
            id="left out",
        ),
        pytest.param((PREFERRED, 0, "weight"), {}, (PREFERRED, 0, "weight"), id="not left out"),
        pytest.param(
            ("leaderElection", "leaseDuration"),
            {"leaderElection": {"renewDeadline": "20s"}},
            ("leaderElection", "renewDeadline"),
            id="not written, so where it shows",
        ),
        pytest.param(
            ("leaderElection", "leaseDuration"),
            {"leaderElection": {"leaseDuration": "1s"}},
            ("leaderElection", "leaseDuration"),
            id="written",
        ),
        pytest.param(
            ("a", 1, "defaultingType"),
            {"a": [{"defaultingType": "System"}]},
            ("a", 1, "defaultConstraints"),
            id="beyond the end of a list",
        ),
    ],
)
def test_where_to_look(path: Path, tree: object, written: Path) -> None:
    assert as_written(path, tree) == written
