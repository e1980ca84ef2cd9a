"""Log records as upstream makes them: a constant message, and values with names.

    log = logs.get("scheduler")

    log.info("Serving securely", address=address)
    log.v2("Successfully bound pod to node", pod=pod, node=node_name)
    log.error(error, "Error updating pod", pod=pod)

1. A record is written from a verbosity on: `info` always, `v2` with -v 2.  2 tells what was decided
   about a pod, 4 how that came about, 5 and more is for whoever looks for a mistake.
2. Values are turned to text only when a record is written: pass objects rather than texts.  Anything
   with metadata stands there as its namespace and name.
3. It is Python's own logging underneath: verbosity n is the level INFO - n, so that its DEBUG is 10.
   Where records go, and in what form, `serving/logs.py` decides; a library may log as it likes.
"""

from __future__ import annotations

import logging
from typing import Final

ROOT: Final = "berthing"

# The attribute of a record that holds its values: names of our choice might clash with others.
VALUES: Final = "named_values"


def get(name: str) -> Log:
    """The log of a part of Berthing."""
    return Log(logging.getLogger(f"{ROOT}.{name}"))


class Log:
    """Writes records of one part of Berthing."""

    __slots__ = ("_logger",)

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def is_on(self, verbosity: int) -> bool:
        """Whether records of this verbosity are written: ask before values that cost something."""
        return self._logger.isEnabledFor(level_of(verbosity))

    def info(self, message: str, /, **values: object) -> None:
        """Tell an operator what happened, always."""
        self._write(logging.INFO, message, values)

    def v2(self, message: str, /, **values: object) -> None:
        """Tell what was decided."""
        self._write(logging.INFO - 2, message, values)

    def v4(self, message: str, /, **values: object) -> None:
        """Tell how something was decided."""
        self._write(logging.INFO - 4, message, values)

    def v5(self, message: str, /, **values: object) -> None:
        """Tell what is of use in the search for a mistake."""
        self._write(logging.INFO - 5, message, values)

    def warning(self, message: str, /, **values: object) -> None:
        """Tell of something that somebody should look at, though all goes on."""
        self._write(logging.WARNING, message, values)

    def error(self, error: BaseException | None, message: str, /, **values: object) -> None:
        """Tell what failed, and with which error if there is one at hand."""
        if error is not None:
            values = {"err": error, **values}
        self._write(logging.ERROR, message, values)

    def _write(self, level: int, message: str, values: dict[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            # The place that a record names is that of our caller's caller.
            self._logger.log(level, message, extra={VALUES: values}, stacklevel=3)


def level_of(verbosity: int) -> int:
    """The level of Python's logging that a verbosity means; never so low that it means "unset"."""
    return max(logging.INFO - verbosity, 1)
