"""A decision as plain values, in the shape in which upstream's decisions were recorded.

`berthing explain -o json` prints it, `berthing verify` compares it.
"""

from __future__ import annotations

from berthing.framework import Status
from berthing.scheduler.decision import Decision

FIELDS = (
    "preFilter",
    "preFilterNodes",
    "filter",
    "feasible",
    "scores",
    "total",
    "best",
    "nominatedNode",
    "message",
    "error",
)


def answers(decision: Decision) -> dict[str, object]:
    """A decision in the shape of a recorded one, as far as both go."""
    if decision.error is not None:
        return dict.fromkeys(FIELDS) | {"error": decision.error.message}
    scores, total = _scores(decision)
    feasible = sorted(decision.node_names[row] for row in map(int, decision.feasible))
    narrowing = decision.narrowing
    return {
        "preFilter": _status(decision.pre_filter),
        "preFilterNodes": sorted(narrowing.node_names) if narrowing else None,
        "filter": {name: _status(status) for name, status in decision.statuses()},
        "feasible": feasible,
        "scores": scores,
        "total": total,
        "best": decision.best() if feasible else None,
        "nominatedNode": {
            "node": decision.nominated_node,
            "feasible": decision.nominated_passed,
        }
        if decision.nominated_node
        else None,
        "message": None if feasible or decision.nominated_passed else decision.message,
        "error": None,
    }


def _status(status: Status | None) -> dict[str, object] | None:
    if status is None:
        return None
    return {
        "plugin": status.plugin,
        "code": str(status.code),
        "reasons": sorted(status.reasons),
    }


def _scores(decision: Decision) -> tuple[dict[str, dict[str, int]] | None, dict[str, int] | None]:
    if decision.total is None:
        return None, None
    names = [decision.node_names[row] for row in map(int, decision.feasible)]
    scores: dict[str, dict[str, int]] = {name: {} for name in names}
    for each in decision.scores:
        for name, score in zip(names, each.weighted, strict=True):
            scores[name][each.plugin] = int(score)
    return scores, {name: int(sum_) for name, sum_ in zip(names, decision.total, strict=True)}
