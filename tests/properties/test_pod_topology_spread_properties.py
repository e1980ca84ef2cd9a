"""PodTopologySpread computes with columns what plain loops over nodes and pods say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import floor, log

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from berthing.api.core import Service, ServiceSpec
from berthing.api.frozen import FrozenDict
from berthing.api.labels import LabelSelector
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node import Node, NodeSpec
from berthing.api.pod import Pod, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import SpreadConstraint
from berthing.api.taints import HARD_EFFECTS, untolerated
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import PodTopologySpreadArgs
from berthing.framework import CycleState
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.plugins.topology_spread_defaults import DefaultConstraints, deduced_selector
from berthing.plugins.topology_spread_filtering import REASON_MISSING_LABEL, REASON_SKEW
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_pod,
    make_selector,
    make_spread_constraint,
    make_taint,
    make_toleration,
)
from plugins.harness import cluster_of, fake_handle

WEB = {"app": "web"}
NODE_NAMES = tuple(f"n{number}" for number in range(6))
KEYS = (ZONE, HOSTNAME, "rack")
SYSTEM = PodTopologySpreadArgs()

# What clusters are made of.

labels_of_nodes = st.fixed_dictionaries(
    {},
    optional={
        ZONE: st.sampled_from(("a", "b", "c", "")),
        "rack": st.sampled_from(("1", "2")),
        "disk": st.sampled_from(("ssd", "hdd")),
    },
)
labels_of_pods = st.sampled_from(({}, WEB, {"app": "db"}, {**WEB, "version": "2"}))
policies = st.sampled_from(("", "Honor", "Ignore"))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    labels = draw(labels_of_nodes)
    if draw(st.integers(0, 9)):
        labels[HOSTNAME] = name
    taints = (make_taint("gpu"),) if draw(st.booleans()) else ()
    return Node(
        metadata=ObjectMeta(name=name, labels=FrozenDict(labels)), spec=NodeSpec(taints=taints)
    )


@st.composite
def running_pods(draw: st.DrawFn, name: str) -> Pod:
    return make_pod(
        name,
        labels=draw(labels_of_pods),
        namespace=draw(st.sampled_from(("default", "default", "elsewhere"))),
        node_name=draw(st.sampled_from(NODE_NAMES)),
        deleted=datetime(2030, 1, 1, tzinfo=UTC) if not draw(st.integers(0, 5)) else None,
    )


@st.composite
def constraints(draw: st.DrawFn, when_unsatisfiable: str) -> TopologySpreadConstraint:
    selectors = (make_selector(WEB), make_selector(WEB), LabelSelector())
    return make_spread_constraint(
        draw(st.sampled_from(selectors)),
        topology_key=draw(st.sampled_from(KEYS)),
        max_skew=draw(st.integers(1, 3)),
        when_unsatisfiable=when_unsatisfiable,
        min_domains=draw(st.none() | st.integers(1, 4)),
        node_affinity_policy=draw(policies),
        node_taints_policy=draw(policies),
        match_label_keys=draw(st.sampled_from(((), ("version",)))),
    )


@st.composite
def pods_to_place(draw: st.DrawFn, when_unsatisfiable: str, *, least: int = 1) -> Pod:
    each = constraints(when_unsatisfiable)
    return make_pod(
        labels=draw(labels_of_pods),
        spread=draw(st.lists(each, min_size=least, max_size=3)),
        node_selector=draw(st.sampled_from(({}, {}, {"disk": "ssd"}))),
        tolerations=[make_toleration("gpu")] if draw(st.booleans()) else [],
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    objects: list[ApiObject] = [draw(nodes(name)) for name in NODE_NAMES]
    objects += [draw(running_pods(f"p{number}")) for number in range(draw(st.integers(0, 14)))]
    meta = ObjectMeta(name="web", namespace="default")
    objects.append(Service(metadata=meta, spec=ServiceSpec(selector=FrozenDict(WEB))))
    cluster = cluster_of(objects)
    for name in draw(st.sets(st.sampled_from(NODE_NAMES), max_size=3)):
        cluster.remove_node(name)
        if draw(st.booleans()):
            cluster.set_node(draw(nodes(name)))
    return cluster


def live(cluster: Cluster) -> Iterator[tuple[int, Node]]:
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            yield row, node


# The same, written for reading.


def takes_part(constraint: SpreadConstraint, pod: PodInfo, node: Node) -> bool:
    required = pod.shape.required_node_affinity
    if constraint.honors_node_affinity and not required.matches(node.name, node.metadata.labels):
        return False
    unbearable = untolerated(node.spec.taints, pod.tolerations, HARD_EFFECTS)
    return not (constraint.honors_node_taints and any(True for _ in unbearable))


def has_all(node: Node, group: Sequence[SpreadConstraint]) -> bool:
    return all(each.topology_key in node.metadata.labels for each in group)


def matching(cluster: Cluster, row: int, constraint: SpreadConstraint, namespace: str) -> int:
    if constraint.selector.is_everything:
        return 0
    return sum(
        other.namespace == namespace
        and other.pod.metadata.deletion_timestamp is None
        and constraint.selector.matches(other.labels)
        for other in cluster.pods_on(row)
    )


Change = tuple[PodInfo, int]


def plain_verdict(cluster: Cluster, pod: PodInfo, row: int, changes: Sequence[Change]) -> str:
    """What one node is told; each change is a pod more or less on that node."""
    group = pod.spread.hard
    node = cluster.nodes.objects[row]
    assert node is not None
    for constraint in group:
        value = node.metadata.labels.get(constraint.topology_key)
        if value is None:
            return REASON_MISSING_LABEL
        totals: Counter[str] = Counter()
        for each_row, each in live(cluster):
            if has_all(each, group) and takes_part(constraint, pod, each):
                own = each.metadata.labels[constraint.topology_key]
                totals[own] += matching(cluster, each_row, constraint, pod.namespace)
                if each_row == row:
                    for other, amount in changes:
                        if other.namespace == pod.namespace and constraint.selector.matches(
                            other.labels
                        ):
                            totals[own] += amount
        lowest = min(totals.values(), default=0)
        if len(totals) < constraint.min_domains:
            lowest = 0
        itself = constraint.selector.matches(pod.labels)
        if totals[value] + itself - lowest > constraint.max_skew:
            return REASON_SKEW
    return ""


def plain_scores(
    cluster: Cluster, pod: PodInfo, group: Sequence[SpreadConstraint], feasible: Sequence[int]
) -> list[int]:
    needs_all = bool(pod.pod.spec.topology_spread_constraints)
    by_row = dict(live(cluster))
    left_out = {row for row in feasible if needs_all and not has_all(by_row[row], group)}
    scored = [row for row in feasible if row not in left_out]

    def value(row: int, key: str) -> str:
        return by_row[row].metadata.labels.get(key, "")

    raw = dict.fromkeys(scored, 0.0)
    for constraint in group:
        key = constraint.topology_key
        per_host = key == HOSTNAME
        domains = len(scored) if per_host else len({value(row, key) for row in scored})
        totals: Counter[str] = Counter()
        for row, node in by_row.items():
            if (not needs_all or has_all(node, group)) and takes_part(constraint, pod, node):
                totals[value(row, key)] += matching(cluster, row, constraint, pod.namespace)
        for row in scored:
            if key in by_row[row].metadata.labels:
                count = totals[value(row, key)]
                if per_host:
                    count = matching(cluster, row, constraint, pod.namespace)
                raw[row] += count * log(domains + 2) + (constraint.max_skew - 1)
    whole = {row: floor(x) + (x - floor(x) >= 0.5) for row, x in raw.items()}
    if not whole:
        return [0] * len(feasible)
    lowest, highest = min(whole.values()), max(whole.values())
    normal = {
        row: 100 * (highest + lowest - x) // highest if highest else 100 for row, x in whole.items()
    }
    return [normal.get(row, 0) for row in feasible]


# Both agree.


def plugin(args: PodTopologySpreadArgs = SYSTEM) -> PodTopologySpread:
    return PodTopologySpread(args, fake_handle())


def told(by: PodTopologySpread, state: CycleState, pod: PodInfo, rows: Rows) -> list[str]:
    verdicts = by.filter_nodes(state, pod, rows)
    statuses = (verdicts[row] for row in range(len(rows)))
    return ["" if status is None else status.message for status in statuses]


@given(clusters(), pods_to_place("DoNotSchedule"), st.data())
def test_filter(cluster: Cluster, pod: Pod, data: st.DataObject) -> None:
    info, by, state = PodInfo.of(pod), plugin(), CycleState()
    by.pre_filter(state, info, cluster.rows())
    changes: dict[int, list[Change]] = {}
    for row, node in live(cluster):
        (node_info,) = Rows(cluster, np.array([row], np.intp))
        for number in range(data.draw(st.integers(0, 2))):
            other = PodInfo.of(data.draw(running_pods(f"other-{node.name}-{number}")))
            amount = data.draw(st.sampled_from((1, -1)))
            changes.setdefault(row, []).append((other, amount))
            shift = by.add_pod if amount > 0 else by.remove_pod
            shift(state, info, other, node_info)
    everywhere = told(by, state, info, cluster.rows())
    for row, _ in live(cluster):
        assert everywhere[row] == plain_verdict(cluster, info, row, changes.get(row, ()))
        alone = Rows(cluster, np.array([row], np.intp))
        assert told(by, state, info, alone) == [everywhere[row]]


@given(clusters(), st.data())
def test_score(cluster: Cluster, data: st.DataObject) -> None:
    pod = PodInfo.of(data.draw(pods_to_place("ScheduleAnyway", least=0)))
    rows = [row for row, _ in live(cluster)]
    feasible = data.draw(st.lists(st.sampled_from(rows), unique=True)) if rows else []
    by, state = plugin(), CycleState()
    group = pod.spread.soft
    if not group:
        defaults = DefaultConstraints(SYSTEM)
        group = defaults.soft(deduced_selector(pod.facts, cluster.objects))
    some = Rows(cluster, np.array(feasible, np.intp))
    answer = by.pre_score(state, pod, some)
    assert (answer is not None) == (not group or not rows)
    if answer is None:
        raw = by.score_nodes(state, pod, some)
        for place, row in enumerate(feasible):
            alone = by.score_nodes(state, pod, Rows(cluster, np.array([row], np.intp)))
            assert alone.tolist() == [raw[place]]
        scores = by.normalize_score(state, pod, raw).tolist()
        assert scores == plain_scores(cluster, pod, group, feasible)


@given(clusters(), pods_to_place("DoNotSchedule"), st.data())
def test_one_plugin_through_changes_answers_as_a_new_one(
    cluster: Cluster, pod: Pod, data: st.DataObject
) -> None:
    info, old = PodInfo.of(pod), plugin()

    def answer(by: PodTopologySpread) -> Mapping[int, str]:
        state = CycleState()
        by.pre_filter(state, info, cluster.rows())
        texts = told(by, state, info, cluster.rows())
        return {row: texts[row] for row, _ in live(cluster)}

    for number in range(4):
        match data.draw(st.sampled_from(("node", "node goes", "pod", "pod goes"))):
            case "node":
                cluster.set_node(data.draw(nodes(data.draw(st.sampled_from(NODE_NAMES)))))
            case "node goes":
                cluster.remove_node(data.draw(st.sampled_from(NODE_NAMES)))
            case "pod":
                cluster.set_pod(PodInfo.of(data.draw(running_pods(f"later-{number}"))))
            case "pod goes":
                cluster.remove_pod(f"uid-of-default/p{data.draw(st.integers(0, 14))}")
        assert answer(old) == answer(plugin())
