"""Metrics are kube-scheduler's, as v1.36.4 showed them while it scheduled.

The file beside this one has what stood at its /metrics.  A family shows nothing before it has
series, so families whose occasion did not come up are missing there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from berthing.scheduler.metrics import Metrics, attempts_label
from berthing.serving.exposition import Exposition
from berthing.telemetry.instruments import Counter, Histogram

RECORDED: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("kube_scheduler_metrics.json").read_text()
)
# What nobody waited for in the recording; its facts are from upstream's source.
PERMIT_WAIT = "scheduler_permit_wait_duration_seconds"


def touched() -> Metrics:
    """Metrics with a series in each family."""
    metrics = Metrics()
    for family in metrics.families():
        values = ["x"] * len(family.label_names)
        match family:
            case Histogram():
                family.observe(1, *values)
            case Counter():
                family.inc(*values)
    return metrics


def facts(family: Metric) -> dict[str, Any]:
    bounds = [sample.labels["le"] for sample in family.samples if "le" in sample.labels]
    return {
        "type": family.type,
        "stability": family.documentation.partition("]")[0].removeprefix("["),
        "labels": sorted(set(family.samples[0].labels) - {"le"}),
        **({"bounds": " ".join(bounds)} if bounds else {}),
    }


def shown() -> dict[str, dict[str, Any]]:
    text = Exposition(touched().families()).text().decode()
    return {
        f"{family.name}_total" if family.type == "counter" else family.name: facts(family)
        for family in text_string_to_metric_families(text)
        if family.name.startswith("scheduler_")
    }


def test_every_family_is_upstreams() -> None:
    ours = shown()
    assert set(ours) - set(RECORDED) == {PERMIT_WAIT}
    assert {name: ours[name] for name in set(ours) & set(RECORDED)} == {
        name: RECORDED[name] for name in set(ours) & set(RECORDED)
    }


def test_what_upstream_shows_beyond_is_of_features_that_are_not_here() -> None:
    assert set(RECORDED) - set(shown()) == {
        "scheduler_batch_attempts_total",
        "scheduler_batch_cache_flushed_total",
        "scheduler_get_node_hint_duration_seconds",
        "scheduler_store_schedule_results_duration_seconds",
    }


def test_a_wait_for_permission_is_told_by_its_result() -> None:
    family = shown()[PERMIT_WAIT]
    assert (family["stability"], family["labels"]) == ("BETA", ["result"])
    assert family["bounds"] == RECORDED["scheduler_scheduling_attempt_duration_seconds"]["bounds"]


def test_attributes_are_named_as_the_families() -> None:
    metrics = Metrics()
    names = {f"scheduler_{name}" for name in vars(metrics)}
    assert names == {family.name for family in metrics.families()}


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (99, "15+")])
def test_many_attempts_share_a_label(attempts: int, label: str) -> None:
    assert attempts_label(attempts) == label
