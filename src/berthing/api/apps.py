"""Replica sets and stateful sets: their selectors say which pods are spread together.

Upstream: api/apps/v1/types.go (v1.36.4).
"""

from __future__ import annotations

from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, Int32, Value


class ReplicaSetSpec(Value, frozen=True, kw_only=True):
    """How many pods are wanted, and which ones count."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class ReplicaSet(ApiObject, frozen=True, kw_only=True):
    """Keeps a number of pods that are all alike."""

    spec: ReplicaSetSpec = ReplicaSetSpec()


class StatefulSetSpec(Value, frozen=True, kw_only=True):
    """How many pods are wanted, and which ones count."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class StatefulSet(ApiObject, frozen=True, kw_only=True):
    """Keeps a number of pods with names and storage of their own."""

    spec: StatefulSetSpec = StatefulSetSpec()
