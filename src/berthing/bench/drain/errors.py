"""What ends a measurement before it has shown anything."""

from __future__ import annotations


class DrainError(Exception):
    """The measurement cannot begin or go on; says why, and what to do about it."""
