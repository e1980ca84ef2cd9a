"""What happened in a run, line by line: the last lines for people, a digest of all to compare runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

# So much is shown of a run that failed.
_LAST_LINES: Final = 60


class Trace:
    """Takes down what happens; `show` is told each line at once."""

    def __init__(self, time: Callable[[], float], show: Callable[[str], None] | None) -> None:
        self._time = time
        self._show = show
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._hash = sha256()
        self.length = 0

    def tell(self, what: str) -> None:
        """Something happened."""
        line = f"{self._time():10.3f}  {what}"
        self.length += 1
        self._hash.update(line.encode())
        self._last.append(line)
        if self._show is not None:
            self._show(line)

    @property
    def last(self) -> Iterable[str]:
        """The last things that happened."""
        return self._last

    @property
    def digest(self) -> str:
        """The same for two runs in which the same happened at the same times."""
        return self._hash.hexdigest()
