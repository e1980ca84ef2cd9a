"""The scheduler's own metrics: kube-scheduler's names, labels and buckets.

A family is an attribute named as at /metrics without the `scheduler_` in front.  The numbers
mean what they mean upstream; where one loop in place of many goroutines makes a difference,
docs/guide/metrics.md says so.

Upstream: pkg/scheduler/metrics/metrics.go (v1.36.4).
Differs:  families of features that are not here are left out (docs/differences.md lists them), and
          HELP texts have our words behind upstream's stability.
"""

from __future__ import annotations

from berthing.telemetry.instruments import (
    Counter,
    Gauge,
    Histogram,
    Stability,
    exponential_buckets,
)

Family = Counter | Gauge | Histogram

_SECONDS = exponential_buckets(0.001, 2, 15)
_SHORT_SECONDS = exponential_buckets(0.0001, 2, 12)
# A plugin takes microseconds: finer steps tell more.
_PLUGIN_SECONDS = exponential_buckets(0.00001, 1.5, 20)

# From here on attempts share a label value.
_MANY_ATTEMPTS = 15


class Metrics:
    """Every family of one scheduler; `families()` is what /metrics shows."""

    def __init__(self) -> None:
        self.schedule_attempts_total = Counter(
            "scheduler_schedule_attempts_total",
            "Attempts to schedule a pod, by result: no node was found for an 'unschedulable' pod, and"
            " an 'error' is a failure inside the scheduler.",
            stability=Stability.STABLE,
            labels=("result", "profile"),
        )
        self.scheduling_attempt_duration_seconds = Histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Seconds from the start of an attempt to its end, binding included.",
            stability=Stability.STABLE,
            labels=("result", "profile"),
            buckets=_SECONDS,
        )
        self.scheduling_algorithm_duration_seconds = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Seconds spent on choosing a node.",
            stability=Stability.ALPHA,
            buckets=_SECONDS,
        )
        self.event_handling_duration_seconds = Histogram(
            "scheduler_event_handling_duration_seconds",
            "Seconds spent on taking in a change in the cluster, by event.",
            stability=Stability.ALPHA,
            labels=("event",),
            buckets=_SHORT_SECONDS,
        )
        self.preemption_victims = Histogram(
            "scheduler_preemption_victims",
            "Pods chosen to make room, per preemption.",
            stability=Stability.STABLE,
            buckets=exponential_buckets(1, 2, 7),
        )
        self.preemption_attempts_total = Counter(
            "scheduler_preemption_attempts_total",
            "Attempts to make room for a pod by preemption.",
            stability=Stability.STABLE,
        )
        self.pending_pods = Gauge(
            "scheduler_pending_pods",
            "Pods that wait, by queue: 'active' to be tried next, 'backoff' for their pause to be"
            " over, 'unschedulable' for a change that may help, 'gated' to be let go.",
            stability=Stability.STABLE,
            labels=("queue",),
        )
        self.pod_scheduling_sli_duration_seconds = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "Seconds from a pod's first entry into the queue to its binding, over all its attempts.",
            stability=Stability.BETA,
            labels=("attempts",),
            buckets=exponential_buckets(0.01, 2, 20),
        )
        self.pod_scheduling_attempts = Histogram(
            "scheduler_pod_scheduling_attempts",
            "Attempts that a pod took until it was scheduled.",
            stability=Stability.STABLE,
            buckets=exponential_buckets(1, 2, 5),
        )
        self.pod_scheduled_after_flush_total = Counter(
            "scheduler_pod_scheduled_after_flush_total",
            "Pods scheduled in an attempt that only a timeout had brought about. Many of them mean"
            " that plugins miss events.",
            stability=Stability.ALPHA,
        )
        self.framework_extension_point_duration_seconds = Histogram(
            "scheduler_framework_extension_point_duration_seconds",
            "Seconds spent on all plugins of an extension point.",
            stability=Stability.STABLE,
            labels=("extension_point", "status", "profile"),
            buckets=_SHORT_SECONDS,
        )
        self.plugin_execution_duration_seconds = Histogram(
            "scheduler_plugin_execution_duration_seconds",
            "Seconds spent on one plugin at an extension point, in a sample of the attempts.",
            stability=Stability.ALPHA,
            labels=("plugin", "extension_point", "status"),
            buckets=_PLUGIN_SECONDS,
        )
        self.queue_incoming_pods_total = Counter(
            "scheduler_queue_incoming_pods_total",
            "Pods that came into a queue, by queue and by the event that brought them.",
            stability=Stability.STABLE,
            labels=("queue", "event"),
        )
        self.goroutines = Gauge(
            "scheduler_goroutines",
            "Tasks under way, by the work they do.",
            stability=Stability.BETA,
            labels=("operation",),
        )
        self.permit_wait_duration_seconds = Histogram(
            "scheduler_permit_wait_duration_seconds",
            "Seconds that a pod waited to be permitted.",
            stability=Stability.BETA,
            labels=("result",),
            buckets=_SECONDS,
        )
        self.cache_size = Gauge(
            "scheduler_cache_size",
            "What the scheduler knows: nodes, pods, and pods assumed to be on a node.",
            stability=Stability.ALPHA,
            labels=("type",),
        )
        self.unschedulable_pods = Gauge(
            "scheduler_unschedulable_pods",
            "Unschedulable pods by the plugin that turned them down; a pod counts once for each such"
            " plugin, so a sum over plugins means nothing.",
            stability=Stability.BETA,
            labels=("plugin", "profile"),
        )
        self.plugin_evaluation_total = Counter(
            "scheduler_plugin_evaluation_total",
            "How often a plugin took part in an attempt, at PreFilter, Filter, PreScore and Score.",
            stability=Stability.BETA,
            labels=("plugin", "extension_point", "profile"),
        )
        self.queueing_hint_execution_duration_seconds = Histogram(
            "scheduler_queueing_hint_execution_duration_seconds",
            "Seconds spent on asking a plugin whether an event may help a pod.",
            stability=Stability.ALPHA,
            labels=("plugin", "event", "hint"),
            buckets=_PLUGIN_SECONDS,
        )
        self.inflight_events = Gauge(
            "scheduler_inflight_events",
            "Events that are kept for pods in the middle of an attempt.",
            stability=Stability.ALPHA,
            labels=("event",),
        )

    def families(self) -> list[Family]:
        """Every family, whether it has series yet or not."""
        return [value for value in vars(self).values() if isinstance(value, Family)]


def attempts_label(attempts: int) -> str:
    """How many attempts a pod took, as `pod_scheduling_sli_duration_seconds` is labelled."""
    return f"{_MANY_ATTEMPTS}+" if attempts >= _MANY_ATTEMPTS else str(attempts)
