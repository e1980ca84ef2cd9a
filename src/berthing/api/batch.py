"""Jobs: pods that run to their end.  No scheduler reads them; the embedded control plane runs them.

Upstream: api/batch/v1/types.go (v1.36.4).
"""

from __future__ import annotations

from berthing.api.meta import ApiObject, Int32, Value


class JobSpec(Value, frozen=True, kw_only=True):
    """How many pods are to succeed, how many at a time, and how many may fail."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    backoff_limit: Int32 | None = None


class JobStatus(Value, frozen=True, kw_only=True):
    """How far a job has come."""

    succeeded: Int32 = 0
    failed: Int32 = 0


class Job(ApiObject, frozen=True, kw_only=True):
    """Has pods run until so many of them have succeeded."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
