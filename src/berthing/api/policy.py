"""Disruption budgets: how many pods of an application may be down at once.

Upstream: api/policy/v1/types.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from berthing.api.frozen import FrozenDict
from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, Int32, Int64, Time, Value

_NO_PODS: Final[FrozenDict[str, Time | None]] = FrozenDict()


class PodDisruptionBudgetSpec(Value, frozen=True, kw_only=True):
    """The pods that are meant, and how many of them must stay, as a number or a percentage."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    # None selects nothing, an empty selector every pod of the namespace.
    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Value, frozen=True, kw_only=True):
    """How many pods may go now, and which ones have been told to."""

    observed_generation: Int64 = 0
    disrupted_pods: Mapping[str, Time | None] = _NO_PODS
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0


class PodDisruptionBudget(ApiObject, frozen=True, kw_only=True):
    """Preemption honours these as long as there is another way."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
