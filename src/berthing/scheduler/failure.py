"""Why an attempt came to nothing: what users are told, and where the pod goes from there.

Upstream: FitError in framework/types.go, handleSchedulingFailure in schedule_one.go (v1.36.4).
"""

from __future__ import annotations

from collections import Counter

import msgspec

from berthing.framework import Code, Status
from berthing.framework.status import fit_error
from berthing.scheduler.decision import Decision

# What PodScheduled=False gives as its reason.
UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt's end.

    unschedulable, pending  the plugins whose events wake the pod; none of both means that
                            something broke, and the pod is simply tried again
    nominated_node_name     where preemption makes room; "" takes a nomination back, None leaves it
    """

    code: Code
    message: str
    unschedulable: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()
    nominated_node_name: str | None = ""

    @property
    def is_rejection(self) -> bool:
        """True for an expected "no", false if something broke."""
        return Status(self.code).is_rejected

    @property
    def reason(self) -> str:
        """The reason in the pod's PodScheduled condition."""
        return UNSCHEDULABLE if self.is_rejection else SCHEDULER_ERROR


# Upstream counts it as a "no" that no plugin said, so that the pod is tried again after a while.
NO_NODES = Failure(
    code=Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message="no nodes available to schedule pods"
)


def broken(status: Status) -> Failure:
    """Something went wrong that is nobody's "no"; a binding that was turned down, too."""
    return Failure(code=status.code, message=status.message)


def no_fit(
    decision: Decision, post_filter_message: str = "", nominated_node_name: str | None = ""
) -> Failure:
    """No node passed, and this is what PostFilter plugins made of it."""
    message = decision.message
    if post_filter_message:
        message = f"{message} {post_filter_message}"
    return Failure(
        code=Code.UNSCHEDULABLE,
        message=message,
        unschedulable=decision.unschedulable_plugins(),
        pending=decision.pending_plugins(),
        nominated_node_name=nominated_node_name,
    )


def turned_back(status: Status) -> Failure:
    """A plugin objected to the chosen node: in Reserve, in Permit, or while the pod waited."""
    if not status.is_rejected:
        return broken(status)
    by = frozenset({status.plugin} - {""})
    is_pending = status.code is Code.PENDING
    return Failure(
        code=status.code,
        message=fit_error(1, Counter(status.reasons)),
        unschedulable=frozenset() if is_pending else by,
        pending=by if is_pending else frozenset(),
    )
