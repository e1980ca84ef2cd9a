"""On a machine without Go the suite says what is missing; where it must run, that is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from berthing.api.frozen import EMPTY

ROOT = Path(__file__).parents[2]
MISSING = "found no Go toolchain on the PATH, which builds the servers to test with"
MUSTS = ("CI", "BERTHING_E2E_REQUIRED")


def test_it_is_skipped(tmp_path: Path) -> None:
    done = run_without_go(tmp_path)
    assert done.returncode == 0
    assert MISSING in done.stdout
    assert "skipped" in done.stdout
    assert "passed" not in done.stdout


@pytest.mark.parametrize("must", [{"CI": "true"}, {"BERTHING_E2E_REQUIRED": "1"}], ids=MUSTS)
def test_it_fails_where_it_must_run(tmp_path: Path, must: Mapping[str, str]) -> None:
    done = run_without_go(tmp_path, must)
    assert done.returncode == 1
    assert f"NoGoError: {MISSING}" in done.stdout
    assert "skipped" not in done.stdout
    assert "passed" not in done.stdout


def run_without_go(
    empty: Path, must: Mapping[str, str] = EMPTY
) -> subprocess.CompletedProcess[str]:
    """Run what needs servers, with nothing on the PATH."""
    environment = {name: value for name, value in os.environ.items() if name not in MUSTS}
    tests = [f"tests/e2e/test_{name}.py" for name in ("gates", "profiles")]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        check=False,
        cwd=ROOT,
        env={**environment, **must, "PATH": str(empty)},
        capture_output=True,
        text=True,
    )
