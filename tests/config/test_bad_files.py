"""Bad configuration files: each gives the errors it says it gives, at their lines, and no others.

Every file in bad/ has its expectations in it, as comments at its end, or, if it is JSON, in a
file beside it:

    # expect LINE: part of the message | part of the suggestion
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from berthing.config.findings import Finding
from berthing.config.load import load

BAD = Path(__file__).parent / "bad"
FILES = sorted(path for path in BAD.iterdir() if path.suffix != ".expected")

_EXPECTATION = re.compile(
    r"(?:# expect )?(?P<line>\d+): (?P<message>.*?)(?: \| (?P<suggestion>.*))?"
)


def expectations(path: Path) -> list[re.Match[str]]:
    if path.suffix == ".json":
        lines = path.with_name(f"{path.name}.expected").read_text().splitlines()
    else:
        lines = [line for line in path.read_text().splitlines() if line.startswith("# expect ")]
    matches = [_EXPECTATION.fullmatch(line) for line in lines]
    assert all(matches)
    return [match for match in matches if match]


def as_expected(finding: Finding, expected: re.Match[str]) -> bool:
    return (
        finding.line == int(expected["line"])
        and expected["message"] in finding.message
        and (expected["suggestion"] or "") in finding.suggestion
    )


def test_there_are_many() -> None:
    assert len(FILES) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_errors_are_the_expected_ones(path: Path) -> None:
    expected = expectations(path)
    loaded = load(path)
    errors = [finding for finding in loaded.findings if finding.is_error]
    assert expected
    assert not loaded.ok
    assert len(errors) == len(expected)
    for finding, expectation in zip(errors, expected, strict=True):
        assert as_expected(finding, expectation), (finding, expectation.string)
