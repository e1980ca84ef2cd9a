"""Waiting for what no watch tells."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_PAUSE_SECONDS: Final = 0.1


def wait_until(
    holds: Callable[[], bool],
    *,
    timeout: float = 30.0,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Ask again and again until it holds; `meanwhile` may raise where waiting has become vain."""
    deadline = time.monotonic() + timeout
    while not holds():
        meanwhile()
        assert time.monotonic() < deadline, f"waited {timeout:.0f} s in vain"
        time.sleep(_PAUSE_SECONDS)
