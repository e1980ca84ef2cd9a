"""What a plugin answers: fits, does not fit, or broke.

An expected "no" is a value: return `Status.unschedulable("...")` or `Status.unresolvable("...")`.
Something unexpected is an exception: raise it.  The runtime turns what was raised into a status
with code Error that carries the plugin's name, and fails that attempt only.

Upstream: staging kube-scheduler/framework/interface.go (v1.36.4).
Differs:  None stands for success wherever a plugin may return a status.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import msgspec


class Code(IntEnum):
    """What kind of answer a status is; the numbers and the texts are upstream's."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    def __str__(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))


class Status(msgspec.Struct, frozen=True):
    """A plugin's answer: a code and, for a "no", the reasons that users read in events."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: BaseException | None = None

    @classmethod
    def unschedulable(cls, *reasons: str) -> Status:
        """The pod does not fit, and removing other pods might help."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> Status:
        """The pod does not fit, and removing other pods will not help."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def pending(cls, *reasons: str) -> Status:
        """The pod waits for something outside; once its hint says Queue, it skips the backoff."""
        return cls(Code.PENDING, reasons)

    @classmethod
    def skip(cls) -> Status:
        """The plugin has nothing to say here: PreFilter, PreScore, PreBindPreFlight and Bind."""
        return _SKIP

    @classmethod
    def from_error(cls, error: BaseException, *, plugin: str = "") -> Status:
        """What the runtime makes of an exception that a plugin raised."""
        return cls(Code.ERROR, (), plugin, error)

    def by(self, plugin: str) -> Status:
        """The same status, stamped with the plugin that gave it."""
        return msgspec.structs.replace(self, plugin=plugin)

    @property
    def is_success(self) -> bool:
        """True if the plugin had nothing against it."""
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        """True if the plugin sat out."""
        return self.code is Code.SKIP

    @property
    def is_wait(self) -> bool:
        """True if a Permit plugin wants the pod to wait."""
        return self.code is Code.WAIT

    @property
    def is_error(self) -> bool:
        """True if something broke, as opposed to the pod not fitting."""
        return self.code is Code.ERROR

    @property
    def is_rejected(self) -> bool:
        """True for the expected kinds of "no"."""
        return self.code in _REJECTIONS

    @property
    def message(self) -> str:
        """What went wrong and the reasons, as events and conditions show them."""
        texts = self.reasons if self.error is None else (error_text(self.error), *self.reasons)
        return ", ".join(texts)

    def __str__(self) -> str:
        return self.message


SUCCESS = Status()
# The commonest answer of all.
_SKIP = Status(Code.SKIP)

_REJECTIONS = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


def error_text(error: BaseException) -> str:
    """The exception's own words, or its type where it has none."""
    return str(error) or type(error).__name__


def fit_error(node_count: int, reasons: Mapping[str, int]) -> str:
    """Upstream's summary: how many nodes there are, and how many were turned down for what."""
    head = f"0/{node_count} nodes are available:"
    # Sorted as texts, so that 10 comes before 2.
    text = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"{head} {text}." if text else head
