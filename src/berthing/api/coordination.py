"""Leases, by which replicas agree on a leader.

Upstream: api/coordination/v1/types.go (v1.36.4).
"""

from __future__ import annotations

from berthing.api.meta import ApiObject, Int32, MicroTime, Value


class LeaseSpec(Value, frozen=True, kw_only=True):
    """Who holds the lease, since when, and for how long."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: MicroTime | None = None
    renew_time: MicroTime | None = None
    lease_transitions: Int32 | None = None
    strategy: str | None = None
    preferred_holder: str | None = None


class Lease(ApiObject, frozen=True, kw_only=True):
    """A right that one holder at a time has, as long as it renews it."""

    spec: LeaseSpec = LeaseSpec()
