"""Files that people name, opened without waiting for anybody.

Regular files are opened, and so are terminals and pipes that somebody writes to: `/dev/stdin`,
`<(helm template ...)`.  Refused is what would never begin or never end: a pipe that nobody
writes to, a device.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file for reading; OSError says why it cannot be, ValueError that none has that name."""
    raw = _Raw(path, opener=_without_waiting)
    stream: io.BufferedReader = io.BufferedReader(raw)
    try:
        _check(raw, stream)
        os.set_blocking(raw.fileno(), True)
    except OSError:
        stream.close()
        raise
    return stream


class _Raw(io.FileIO):
    """A file that knows whether its last read came to the end, or just to nothing yet."""

    is_at_end = False

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = super().readinto(buffer)
        self.is_at_end = count == 0
        return count


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _check(raw: _Raw, stream: io.BufferedReader) -> None:
    mode = os.fstat(raw.fileno()).st_mode
    if stat.S_ISFIFO(mode):
        # What is looked at stays in the stream for whoever reads.
        stream.peek(1)
        if raw.is_at_end:
            raise OSError(errno.ENXIO, "it is a pipe that nobody writes to")
    elif not stat.S_ISREG(mode) and not raw.isatty():
        raise OSError(errno.ENXIO, "it is a device")
