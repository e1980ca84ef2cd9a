"""What stands at /metrics: the scheduler's families, and what this process takes.

The text is prometheus-client's; names, labels and buckets are kube-scheduler's to the letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from berthing.telemetry.instruments import Counter, Gauge, Histogram

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Exposition:
    """The text of /metrics for one process."""

    def __init__(self, families: Iterable[Counter | Gauge | Histogram]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Families(families))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def text(self) -> bytes:
        """Every family that has series, in Prometheus' text format."""
        return generate_latest(self._registry)


class _Families(Collector):
    """Our families as prometheus-client wants to be told of them."""

    def __init__(self, families: Iterable[Counter | Gauge | Histogram]) -> None:
        self._families = sorted(families, key=lambda family: family.name)

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            metric = _described(family)
            # Upstream shows no family that has no series.
            if metric.samples:
                yield metric


def _described(family: Counter | Gauge | Histogram) -> Metric:
    help_text = f"[{family.stability}] {family.help_text}"
    labels = family.label_names
    match family:
        case Histogram():
            return _histogram(family, HistogramMetricFamily(family.name, help_text, labels=labels))
        case Gauge():
            return _numbers(family, GaugeMetricFamily(family.name, help_text, labels=labels))
        case Counter():
            return _numbers(family, CounterMetricFamily(family.name, help_text, labels=labels))


def _numbers(family: Counter, metric: CounterMetricFamily | GaugeMetricFamily) -> Metric:
    for labels, child in family.series():
        metric.add_metric(labels, child.value)
    return metric


def _histogram(family: Histogram, metric: HistogramMetricFamily) -> Metric:
    bounds = [*map(_bound, family.buckets), "+Inf"]
    for labels, child in family.series():
        buckets = list(zip(bounds, accumulate(child.counts), strict=True))
        metric.add_metric(labels, buckets=buckets, sum_value=child.total)
    return metric


def _bound(bound: float) -> str:
    """A bucket's `le` as Go writes it: `1`, where Python and its client would write `1.0`.

    It is a label value, so `1.0` would make another series of it.
    """
    return repr(bound).removesuffix(".0")
