"""The text of /metrics, read back as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from berthing.scheduler.metrics import Metrics
from berthing.serving.exposition import Exposition


def read_back(metrics: Metrics) -> dict[str, Metric]:
    text = Exposition(metrics.families()).text().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(family: Metric, name: str) -> dict[str, float]:
    return {
        ",".join(f"{key}={value}" for key, value in sample.labels.items()): sample.value
        for sample in family.samples
        if sample.name == name
    }


def described(families: Iterable[Metric]) -> set[str]:
    return {family.name for family in families if family.name.startswith("scheduler_")}


def test_families_without_series_are_not_shown() -> None:
    assert described(read_back(Metrics()).values()) == {
        "scheduler_pod_scheduled_after_flush",
        "scheduler_pod_scheduling_attempts",
        "scheduler_preemption_attempts",
        "scheduler_preemption_victims",
        "scheduler_scheduling_algorithm_duration_seconds",
    }


def test_a_counter() -> None:
    metrics = Metrics()
    metrics.schedule_attempts_total.inc("scheduled", "default-scheduler")
    family = read_back(metrics)["scheduler_schedule_attempts"]
    assert family.type == "counter"
    assert family.documentation.startswith("[STABLE] ")
    assert samples(family, "scheduler_schedule_attempts_total") == {
        "profile=default-scheduler,result=scheduled": 1
    }


def test_a_gauge_is_read_when_the_text_is_made() -> None:
    metrics = Metrics()
    metrics.pending_pods.read_from(lambda: {("active",): 3, ("gated",): 0})
    family = read_back(metrics)["scheduler_pending_pods"]
    assert family.type == "gauge"
    assert samples(family, "scheduler_pending_pods") == {"queue=active": 3, "queue=gated": 0}


def test_a_histogram_counts_upwards_with_bounds_as_go_writes_them() -> None:
    metrics = Metrics()
    for attempts in (1, 1, 3, 40):
        metrics.pod_scheduling_attempts.observe(attempts)
    family = read_back(metrics)["scheduler_pod_scheduling_attempts"]
    assert family.type == "histogram"
    assert samples(family, "scheduler_pod_scheduling_attempts_bucket") == {
        "le=1": 2,
        "le=2": 2,
        "le=4": 3,
        "le=8": 3,
        "le=16": 3,
        "le=+Inf": 4,
    }
    assert samples(family, "scheduler_pod_scheduling_attempts_sum") == {"": 45}
    assert samples(family, "scheduler_pod_scheduling_attempts_count") == {"": 4}


def test_label_values_are_escaped() -> None:
    metrics = Metrics()
    metrics.schedule_attempts_total.inc("error", 'a "quoted"\nprofile\\')
    family = read_back(metrics)["scheduler_schedule_attempts"]
    assert family.samples[0].labels["profile"] == 'a "quoted"\nprofile\\'


def test_the_process_tells_what_it_takes() -> None:
    families = read_back(Metrics())
    assert "process_cpu_seconds" in families
    assert "python_info" in families
