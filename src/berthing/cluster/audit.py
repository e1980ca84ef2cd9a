"""Compares a cluster with the same cluster built anew.

What `Cluster` knows is brought up to date change by change: a mistake, once made, would stay.  Here
its nodes, pods, namespaces and objects are put into a fresh one, which is asked for all that the
first was asked for.  Both are then described in plain words, by the names of nodes rather than by
rows, and where the descriptions differ there is a mistake:

    Cluster --- nodes, pods, namespaces, objects ---> Cluster
       |                                                |
       v                                                v
    Description ------------- differences ------------- Description

It looks at all there is, so it is for tests, and for operators who ask for it.

Not compared: the size of an image, which is the word of the node that came first and may be gone;
the logs of changes, which tell what happened and not what is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from berthing.api.core import Namespace
from berthing.api.meta import ObjectMeta
from berthing.api.resource_list import CPU, MEMORY
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import PodClass, RowCounter
from berthing.framework.columns import BoolColumn, CodeColumn, Int64Column

# What is said of what.  Of two equal subjects the second would hide the first, so each is named in
# full.
Fact = tuple[str, object]


def check(cluster: Cluster) -> list[str]:
    """A sentence for everything that is not as it would be in the same cluster built anew."""
    ours, anew = dict(facts(cluster)), dict(facts(rebuilt(cluster)))
    return [
        f"{subject}: {_told(ours.get(subject))} here, {_told(anew.get(subject))} if built anew"
        for subject in dict.fromkeys((*ours, *anew))
        if ours.get(subject) != anew.get(subject)
    ]


def _told(value: object) -> str:
    return "nothing" if value is None else repr(value)


# Building anew.


def rebuilt(cluster: Cluster) -> Cluster:
    """A cluster with the same content that has been asked the same questions."""
    anew = Cluster()
    for node in cluster.nodes.objects:
        if node is not None:
            anew.set_node(node)
    for name, labels in cluster.namespaces().items():
        anew.set_namespace(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
    for info, node_name, assumed in cluster.placed():
        if assumed:
            anew.assume(info, node_name)
        else:
            anew.set_pod(info)
    for kind in cluster.objects.kinds():
        for obj in cluster.objects.list(kind):
            anew.objects.set(obj)
    _ask_the_same(cluster, anew)
    return anew


def _ask_the_same(asked: Cluster, anew: Cluster) -> None:
    for key in asked.nodes.label_keys():
        anew.nodes.labels(key)
    for pods, counter in asked.counters.all().items():
        _sum_the_same(counter, anew.counters.counter(pods))
    for term, carriers in asked.terms.all().items():
        same_carriers = anew.terms.all().get(term)
        if same_carriers is not None:
            _sum_the_same(carriers, same_carriers)
    for pod in asked.terms.remembered():
        anew.terms.speaking_of(pod)


def _sum_the_same(asked: RowCounter, anew: RowCounter) -> None:
    for key in asked.summed_over:
        anew.sums(key)


# Describing.


def facts(cluster: Cluster) -> Iterator[Fact]:
    """All that a cluster knows, but for zeros."""
    yield from _pods(cluster)
    yield from _nodes(cluster)
    yield from _resources(cluster)
    yield from _labels(cluster)
    yield from _counters(cluster)
    yield from _classes(cluster)
    yield from _terms(cluster)
    yield from _ports(cluster)
    yield from _images(cluster)
    yield from _objects(cluster)


def _pods(cluster: Cluster) -> Iterator[Fact]:
    for info, node_name, assumed in cluster.placed():
        yield f"pod {info.uid}", (info.key, node_name, "assumed" if assumed else "known")
    for row in range(cluster.nodes.capacity):
        pods = cluster.pods_on(row)
        if pods:
            yield (
                f"pods on {_place(cluster, row)}",
                [info.uid if cluster.pod(info.uid) is info else "outdated" for info in pods],
            )


def _nodes(cluster: Cluster) -> Iterator[Fact]:
    nodes = cluster.nodes
    yield "number of nodes", len(nodes)
    for row, (name, node) in enumerate(zip(nodes.names, nodes.objects, strict=True)):
        if node is not None:
            yield f"row of node {node.name}", "its own" if nodes.row(name) == row else "another"
    yield from _column(cluster, "life", nodes.alive)
    yield from _column(cluster, "cordon", nodes.unschedulable)
    yield from _column(cluster, "number of pods", nodes.pod_counts)
    yield from _coded(cluster, "taints", nodes.taint_codes, nodes.taint_lists.values)
    yield from _coded(cluster, "features", nodes.feature_codes, nodes.feature_sets.values)


def _resources(cluster: Cluster) -> Iterator[Fact]:
    nodes = cluster.nodes
    for index, resource in enumerate(nodes.resources.values):
        yield from _column(cluster, f"allocatable {resource}", nodes.allocatable[index])
        yield from _column(cluster, f"requested {resource}", nodes.requested[index])
    for resource in (CPU, MEMORY):
        column = nodes.non_zero_requested_of(resource)
        yield from _column(cluster, f"non-zero requested {resource}", column)


def _labels(cluster: Cluster) -> Iterator[Fact]:
    for key in cluster.nodes.label_keys():
        label = cluster.nodes.labels(key)
        yield from _coded(cluster, f"label {key}", label.codes, label.values.values)
        for value, count in zip(label.values.values, label.node_counts, strict=True):
            if value is not None and count:
                yield f"number of nodes with label {key}={value}", count


def _counters(cluster: Cluster) -> Iterator[Fact]:
    for pods, counter in cluster.counters.all().items():
        yield from _counted(cluster, f"count of {pods}", counter)


def _classes(cluster: Cluster) -> Iterator[Fact]:
    key_of = {id(counter): repr(pods) for pods, counter in cluster.counters.all().items()}
    for pod, per_row, counters in cluster.counters.classes():
        kind = _kind(pod)
        for row, count in per_row.items():
            yield f"number of {kind} on {_place(cluster, row)}", count
        counted_by = sorted(key_of.get(id(counter), "one that was dropped") for counter in counters)
        yield f"counters of {kind}", counted_by


def _terms(cluster: Cluster) -> Iterator[Fact]:
    carried = cluster.terms.all()
    for term, carriers in carried.items():
        yield from _counted(cluster, f"carriers of {term}", carriers)
    for pod, terms in cluster.terms.remembered().items():
        current = (
            repr(term) if carriers is carried.get(term) else "one that was dropped"
            for term, carriers in terms.items()
        )
        yield f"terms that speak of {_kind(pod)}", sorted(current)


def _ports(cluster: Cluster) -> Iterator[Fact]:
    for port, holders in cluster.ports.all():
        yield from _counted(cluster, f"holders of {port}", holders)


def _images(cluster: Cluster) -> Iterator[Fact]:
    for name, image in cluster.images.all().items():
        yield f"number of nodes with image {name}", image.node_count
        yield from _column(cluster, f"presence of image {name}", image.on)


def _objects(cluster: Cluster) -> Iterator[Fact]:
    objects = cluster.objects
    for kind in objects.kinds():
        for obj in objects.list(kind):
            found = objects.get(kind, obj.name, obj.namespace)
            yield f"{kind.__name__} {obj.key}", "found" if found is obj else "not found"


def _counted(cluster: Cluster, subject: str, counter: RowCounter) -> Iterator[Fact]:
    yield f"{subject}, on all nodes", counter.total
    yield from _column(cluster, subject, counter.counts)
    for key in counter.summed_over:
        sums = counter.sums(key)
        is_current = sums.label is cluster.nodes.labels(key) and sums in sums.label.sums
        yield f"{subject}, sums over {key}", "current" if is_current else "left behind"
        values = sums.label.values.values
        for code in np.flatnonzero(sums.totals).tolist():
            value = repr(values[code]) if code < len(values) else f"beyond all values, at {code}"
            yield f"{subject}, where {key} is {value}", int(sums.totals[code])


def _coded(
    cluster: Cluster, subject: str, codes: CodeColumn, values: Iterable[object]
) -> Iterator[Fact]:
    known = list(values)
    for place, code in _column(cluster, subject, codes):
        yield place, known[code] if isinstance(code, int) and code < len(known) else "unknown"


def _column(
    cluster: Cluster, subject: str, column: Int64Column | BoolColumn | CodeColumn
) -> Iterator[Fact]:
    if len(column) != cluster.nodes.capacity:
        yield f"room for {subject}", len(column)
    for row in np.flatnonzero(column).tolist():
        yield f"{subject} of {_place(cluster, row)}", column[row].item()


def _place(cluster: Cluster, row: int) -> str:
    nodes = cluster.nodes
    if row < nodes.n_rows and nodes.alive[row]:
        return f"node {nodes.names[row]}"
    return f"row {row}, which has no node"


def _kind(pod: PodClass) -> str:
    ending = ", terminating" if pod.is_terminating else ""
    return f"pods {dict(sorted(pod.labels.items()))} in {pod.namespace!r}{ending}"
