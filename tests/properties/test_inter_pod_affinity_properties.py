"""InterPodAffinity against a plain loop over nodes and running pods, on any cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from berthing.api.core import Namespace
from berthing.api.frozen import FrozenDict
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import PodAffinityTerm
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import AffinityTerm
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import InterPodAffinityArgs
from berthing.framework import CycleState, Status
from berthing.plugins.inter_pod_affinity import (
    AFFINITY_REASON,
    ANTI_AFFINITY_REASON,
    EXISTING_ANTI_AFFINITY_REASON,
    InterPodAffinity,
)
from berthing.testing import HOSTNAME, ZONE, make_affinity_term, make_node, make_pod
from plugins.harness import fake_handle

NODE_NAMES = ("n1", "n2", "n3")
NAMESPACES = ("default", "other")

# A world: nodes and namespaces by name, running pods by uid.


class World(NamedTuple):
    nodes: dict[str, Node]
    pods: dict[str, PodInfo]
    namespaces: dict[str, Mapping[str, str]]

    def running(self) -> Iterator[tuple[PodInfo, Mapping[str, str]]]:
        """Each pod whose node is there, with the labels of that node."""
        for pod in self.pods.values():
            node = self.nodes.get(pod.pod.spec.node_name)
            if node is not None:
                yield pod, node.metadata.labels

    def namespace_labels(self, pod: PodInfo) -> Mapping[str, str]:
        return self.namespaces.get(pod.namespace, {})

    def cluster(self) -> Cluster:
        cluster = Cluster()
        everything: Iterable[Change] = (
            *self.nodes.items(),
            *self.namespaces.items(),
            *self.pods.items(),
        )
        for change in everything:
            apply(change, cluster)
        return cluster


# A node, a pod or a namespace's labels by its name, or by its name alone: it is gone.
Change = tuple[str, "Node | PodInfo | Mapping[str, str] | None"]


def apply(change: Change, cluster: Cluster) -> None:
    name, after = change
    match after:
        case Node():
            cluster.set_node(after)
        case PodInfo():
            cluster.set_pod(after)
        case None if name in NODE_NAMES:
            cluster.remove_node(name)
        case None if name in NAMESPACES:
            cluster.remove_namespace(name)
        case None:
            cluster.remove_pod(name)
        case _:
            metadata = ObjectMeta(name=name, labels=FrozenDict(after))
            cluster.set_namespace(Namespace(metadata=metadata))


def apply_plainly(change: Change, world: World) -> None:
    name, after = change
    match after:
        case Node():
            world.nodes[name] = after
        case PodInfo():
            world.pods[name] = after
        case None:
            for each in (world.nodes, world.namespaces, world.pods):
                each.pop(name, None)
        case _:
            world.namespaces[name] = after


# What upstream decides, for reading.


def matches(term: AffinityTerm, other: PodInfo, world: World) -> bool:
    """Whether a term of the pod to be placed means a running one."""
    return any(
        term.matches(other.namespace, other.labels, namespace_labels)
        for namespace_labels in (world.namespace_labels(other), {})
    )


def matches_all(pod: PodInfo, other: PodInfo, world: World) -> bool:
    return all(matches(term, other, world) for term in pod.terms.required)


def speaks_of(term: AffinityTerm, pod: PodInfo, world: World) -> bool:
    """Whether a term of a running pod means the one to be placed."""
    return term.matches(pod.namespace, pod.labels, world.namespace_labels(pod))


def are_together(key: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return key in one and key in other and one[key] == other[key]


def has_company(pod: PodInfo, here: Mapping[str, str], world: World) -> bool:
    keys = [term.topology_key for term in pod.terms.required]
    company = [labels for other, labels in world.running() if matches_all(pod, other, world)]
    if not all(key in here for key in keys):
        return False
    if all(any(are_together(key, here, there) for there in company) for key in keys):
        return True
    is_first = not any(key in there for key in keys for there in company)
    return is_first and matches_all(pod, pod, world)


def has_foes(pod: PodInfo, here: Mapping[str, str], world: World) -> bool:
    return any(
        matches(term, other, world) and are_together(term.topology_key, here, there)
        for other, there in world.running()
        for term in pod.terms.required_anti
    )


def is_unwelcome(pod: PodInfo, here: Mapping[str, str], world: World) -> bool:
    return any(
        speaks_of(term, pod, world) and are_together(term.topology_key, here, there)
        for other, there in world.running()
        for term in other.terms.required_anti
    )


def expected_verdict(pod: PodInfo, node: Node, world: World) -> Status | None:
    here = node.metadata.labels
    if not has_company(pod, here, world):
        return Status.unresolvable(AFFINITY_REASON)
    if has_foes(pod, here, world):
        return Status.unschedulable(ANTI_AFFINITY_REASON)
    if is_unwelcome(pod, here, world):
        return Status.unschedulable(EXISTING_ANTI_AFFINITY_REASON)
    return None


def contributions(
    pod: PodInfo, world: World, args: InterPodAffinityArgs
) -> Iterator[tuple[int, str, Mapping[str, str]]]:
    """A weight, the key of the domain where it counts, and the labels of a node in it."""
    for other, there in world.running():
        own = [(each.weight, each.term) for each in pod.terms.preferred]
        own += [(-each.weight, each.term) for each in pod.terms.preferred_anti]
        theirs = [(each.weight, each.term) for each in other.terms.preferred]
        theirs += [(-each.weight, each.term) for each in other.terms.preferred_anti]
        if args.hard_pod_affinity_weight > 0:
            theirs += [(args.hard_pod_affinity_weight, term) for term in other.terms.required]
        wanted = [(weight, term) for weight, term in own if matches(term, other, world)]
        wanted += [(weight, term) for weight, term in theirs if speaks_of(term, pod, world)]
        for weight, term in wanted:
            if term.topology_key in there:
                yield weight, term.topology_key, there


def expected_scores(
    pod: PodInfo, world: World, args: InterPodAffinityArgs
) -> Mapping[str, int] | None:
    has_wishes = bool(pod.terms.preferred or pod.terms.preferred_anti)
    if args.ignore_preferred_terms_of_existing_pods and not has_wishes:
        return None
    counted = list(contributions(pod, world, args))
    if not counted:
        return None
    raw = {
        name: sum(
            weight
            for weight, key, there in counted
            if are_together(key, node.metadata.labels, there)
        )
        for name, node in world.nodes.items()
    }
    lowest, highest = min(raw.values(), default=0), max(raw.values(), default=0)
    if lowest == highest:
        return dict.fromkeys(raw, 0)
    return {
        name: int(100.0 * ((score - lowest) / (highest - lowest))) for name, score in raw.items()
    }


# What the plugin decides.


def verdicts(
    plugin: InterPodAffinity, pod: PodInfo, rows: Rows
) -> Mapping[str, Status | None] | None:
    """What each node is told; None if the plugin sits out."""
    state = CycleState()
    if plugin.pre_filter(state, pod, rows) is not None:
        return None
    told = plugin.filter_nodes(state, pod, rows)
    return {name: told[index] for index, name in enumerate(rows.names) if name}


def scores(plugin: InterPodAffinity, pod: PodInfo, rows: Rows) -> Mapping[str, int] | None:
    """What each node scores; None if the plugin sits out."""
    state = CycleState()
    if plugin.pre_score(state, pod, rows) is not None:
        return None
    scaled = plugin.normalize_score(state, pod, plugin.score_nodes(state, pod, rows))
    return {name: int(score) for name, score in zip(rows.names, scaled, strict=True)}


def live_rows(cluster: Cluster) -> Rows:
    return Rows(cluster, np.flatnonzero(cluster.rows().alive))


# Strategies.


def selecting(key: str, operator: str, *values: str) -> LabelSelector:
    requirement = LabelSelectorRequirement(key, operator, values or None)
    return LabelSelector(match_expressions=(requirement,))


ALL = LabelSelector()
IN_PROD, NOT_IN_PROD = selecting("env", "In", "prod"), selecting("env", "NotIn", "prod")

label_values = st.sampled_from(({}, {"app": "web"}, {"app": "db"}, {"app": "db", "tier": "fast"}))
namespace_labels = st.sampled_from(({}, {"env": "prod"}, {"env": "test"}))
terms = st.builds(
    make_affinity_term,
    st.sampled_from(
        (
            ALL,
            selecting("app", "In", "db"),
            selecting("app", "NotIn", "db"),
            selecting("tier", "Exists"),
        )
    ),
    topology_key=st.sampled_from((ZONE, HOSTNAME, "rack")),
    namespaces=st.sampled_from(((), ("other",))),
    namespace_labels=st.sampled_from((None, None, ALL, IN_PROD, NOT_IN_PROD)),
)
# Terms of the four kinds; their weights matter to preferred ones.
KINDS = ("needs", "bars", "likes", "dislikes")
wishes = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 100), terms), max_size=4)


@st.composite
def pods(draw: st.DrawFn, names: st.SearchStrategy[str], *, runs: bool = True) -> PodInfo:
    name = draw(names)
    of_kind: dict[str, list[tuple[int, PodAffinityTerm]]] = {kind: [] for kind in KINDS}
    for kind, weight, term in draw(wishes):
        of_kind[kind].append((weight, term))
    pod = make_pod(
        name,
        uid=name,
        namespace=draw(st.sampled_from(NAMESPACES)),
        labels=draw(label_values),
        pod_affinity=[term for _, term in of_kind["needs"]],
        pod_anti_affinity=[term for _, term in of_kind["bars"]],
        preferred_pod_affinity=of_kind["likes"],
        preferred_pod_anti_affinity=of_kind["dislikes"],
        node_name=draw(st.sampled_from(NODE_NAMES)) if runs else "",
    )
    return PodInfo.of(pod)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    name = draw(st.sampled_from(NODE_NAMES))
    rack = draw(st.sampled_from(({}, {"rack": "1"}, {"rack": "2"})))
    return make_node(name, zone=draw(st.sampled_from(("", "a", "b"))), labels=rack)


pod_names = st.sampled_from(("p1", "p2", "p3", "p4"))


def named(node: Node) -> tuple[str, Node]:
    return node.name, node


def named_pod(pod: PodInfo) -> tuple[str, PodInfo]:
    return pod.uid, pod


@st.composite
def worlds(draw: st.DrawFn) -> World:
    return World(
        dict(map(named, draw(st.lists(nodes(), min_size=2, max_size=4)))),
        dict(map(named_pod, draw(st.lists(pods(pod_names), min_size=3, max_size=5)))),
        {name: draw(namespace_labels) for name in NAMESPACES},
    )


incoming = pods(st.just("incoming"), runs=False)
all_args = st.builds(
    InterPodAffinityArgs,
    hard_pod_affinity_weight=st.sampled_from((0, 1, 70)),
    ignore_preferred_terms_of_existing_pods=st.booleans(),
)

changes: st.SearchStrategy[Change] = st.one_of(
    nodes().map(named),
    pods(pod_names).map(named_pod),
    st.tuples(st.sampled_from(NAMESPACES), namespace_labels | st.none()),
    st.tuples(pod_names | st.sampled_from(NODE_NAMES), st.none()),
)


# What must hold.


# Some bugs show only where terms, namespaces and domains meet that seldom do.
thorough = settings(max_examples=250)


@thorough
@given(worlds(), incoming)
def test_verdicts_are_those_of_a_plain_loop(world: World, pod: PodInfo) -> None:
    plugin = InterPodAffinity(InterPodAffinityArgs(), fake_handle())
    told = verdicts(plugin, pod, live_rows(world.cluster()))
    expected = {name: expected_verdict(pod, node, world) for name, node in world.nodes.items()}
    if told is None:
        assert not pod.terms.required
        assert not pod.terms.required_anti
        assert not any(expected.values())
    else:
        assert told == expected


@given(worlds(), incoming)
def test_sits_out_only_where_nothing_required_concerns_the_pod(world: World, pod: PodInfo) -> None:
    plugin = InterPodAffinity(InterPodAffinityArgs(), fake_handle())
    sits_out = verdicts(plugin, pod, live_rows(world.cluster())) is None
    concerned = any(is_unwelcome(pod, node.metadata.labels, world) for node in world.nodes.values())
    assert sits_out is not bool(pod.terms.required or pod.terms.required_anti or concerned)


@given(worlds(), incoming, all_args)
def test_scores_are_those_of_a_plain_loop(
    world: World, pod: PodInfo, args: InterPodAffinityArgs
) -> None:
    plugin = InterPodAffinity(args, fake_handle())
    assert scores(plugin, pod, live_rows(world.cluster())) == expected_scores(pod, world, args)


@given(worlds(), incoming)
def test_one_row_at_a_time_equals_all_rows(world: World, pod: PodInfo) -> None:
    plugin = InterPodAffinity(InterPodAffinityArgs(), fake_handle())
    cluster = world.cluster()
    rows, state = cluster.rows(), CycleState()
    each_row = [Rows(cluster, np.array([row], np.intp)) for row in range(len(rows))]
    if plugin.pre_filter(state, pod, rows) is None:
        singly = [plugin.filter_nodes(state, pod, row)[0] for row in each_row]
        together = plugin.filter_nodes(state, pod, rows)
        assert singly == [together[index] for index in range(len(rows))]
    if plugin.pre_score(state, pod, rows) is None:
        one_by_one = [int(plugin.score_nodes(state, pod, row)[0]) for row in each_row]
        assert one_by_one == plugin.score_nodes(state, pod, rows).tolist()


@thorough
@given(worlds(), st.lists(changes, min_size=1, max_size=6), incoming)
def test_a_cluster_that_changed_equals_one_made_anew(
    world: World, history: Iterable[Change], pod: PodInfo
) -> None:
    plugin = InterPodAffinity(InterPodAffinityArgs(), fake_handle())
    cluster = world.cluster()
    for change in history:
        # Asking in between makes what is counted for the pod before it changes.
        verdicts(plugin, pod, live_rows(cluster))
        scores(plugin, pod, live_rows(cluster))
        apply(change, cluster)
        apply_plainly(change, world)
    rows, anew = live_rows(cluster), live_rows(world.cluster())
    assert verdicts(plugin, pod, rows) == verdicts(plugin, pod, anew)
    assert scores(plugin, pod, rows) == scores(plugin, pod, anew)


@given(worlds(), pods(st.just("guest")), incoming)
def test_a_what_if_leaves_no_trace(world: World, guest: PodInfo, pod: PodInfo) -> None:
    plugin = InterPodAffinity(InterPodAffinityArgs(), fake_handle())
    cluster = world.cluster()
    node_name = guest.pod.spec.node_name
    before = verdicts(plugin, pod, live_rows(cluster)), scores(plugin, pod, live_rows(cluster))
    with cluster.with_pods([guest], node_name):
        with_guest = verdicts(plugin, pod, live_rows(cluster))
    after = verdicts(plugin, pod, live_rows(cluster)), scores(plugin, pod, live_rows(cluster))
    assert after == before
    apply_plainly((guest.uid, guest), world)
    assert with_guest == verdicts(plugin, pod, live_rows(world.cluster()))
