"""Whatever happened to a cluster, in whatever order: its columns say what its objects say.

Two judges look after each step.  `audit.check` builds the cluster anew; `Model` keeps nodes and
pods in plain dicts and counts them one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.labels import EVERYTHING, Selector, from_labels
from berthing.api.meta import ObjectMeta
from berthing.api.node import Node
from berthing.api.pod import (
    ContainerStatus,
    Pod,
    PodAffinityTerm,
    PodStatus,
    ResourceRequirements,
)
from berthing.api.pod_info import HostPort, PodInfo
from berthing.api.pod_requests import whole_amounts
from berthing.api.resource_list import ResourceList
from berthing.cluster import carried_terms, counters, node_table
from berthing.cluster.audit import check, facts
from berthing.cluster.cluster import Cluster, pod_class
from berthing.cluster.counters import CounterKey, PodSelector
from berthing.testing import HOSTNAME, ZONE, make_affinity_term, make_node, make_pod, make_taint

# Few, so that what happens mostly happens to what is there.
NODES = [f"node-{number}" for number in range(5)]
UIDS = [f"uid-{number}" for number in range(5)]
NAMESPACES = ["red", "blue"]
APPS: list[Mapping[str, str]] = [{}, {"app": "web"}, {"app": "db"}]
TEAMS: list[Mapping[str, str]] = [{}, {"team": "a"}, {"team": "b"}]
LABELS = [HOSTNAME, ZONE, "disk"]
DELETED = datetime(2024, 1, 1, tzinfo=UTC)


# What can happen.

node_names = st.sampled_from(NODES)
uids = st.sampled_from(UIDS)

nodes = st.builds(
    make_node,
    node_names,
    cpu=st.sampled_from(["1", "1500m", "4"]),
    resources=st.sampled_from([{}, {"example.com/gpu": "2"}]),
    zone=st.sampled_from(["", "a", "b"]),
    labels=st.sampled_from([{}, {"disk": "ssd"}, {"disk": ""}]),
    taints=st.sampled_from([[], [make_taint("a")], [make_taint("b"), make_taint("a")]]),
    cordoned=st.booleans(),
    images=st.dictionaries(
        st.sampled_from(["x:1", "y:1", "z:1"]), st.sampled_from([10, 20, 30]), max_size=3
    ),
    declared_features=st.sampled_from([[], ["FeatureA"], ["FeatureA", "FeatureB"]]),
)

affinity_terms: st.SearchStrategy[list[PodAffinityTerm]] = st.lists(
    st.builds(
        make_affinity_term,
        st.sampled_from([{"app": "web"}, {"app": "db"}, {}]),
        topology_key=st.sampled_from(LABELS),
        namespaces=st.sampled_from([(), ("red",)]),
        namespace_labels=st.sampled_from([None, {}, {"team": "a"}]),
    ),
    max_size=2,
)


@st.composite
def pods(draw: st.DrawFn, *, node_name: st.SearchStrategy[str] = node_names) -> PodInfo:
    """A pod of one of a few uids, anything else about which may differ from its last version."""
    uid = draw(uids)
    pod = make_pod(
        uid,
        uid=uid,
        namespace=draw(st.sampled_from(NAMESPACES)),
        labels=draw(st.sampled_from(APPS)),
        cpu=draw(st.sampled_from(["", "100m", "2"])),
        # The most that there is: sums go beyond their ends, and come back.
        memory=draw(st.sampled_from(["", "1Gi", "8Ei"])),
        requests=draw(st.sampled_from([{}, {"example.com/gpu": "1"}, {"example.com/rare": "1"}])),
        host_ports=draw(st.sampled_from([[], [80], [80, 443]])),
        node_name=draw(node_name),
        deleted=draw(st.sampled_from([None, DELETED])),
        pod_affinity=draw(affinity_terms),
        pod_anti_affinity=draw(affinity_terms),
        preferred_pod_affinity=[(7, term) for term in draw(affinity_terms)],
    )
    return PodInfo.of(pod)


def carrier() -> PodInfo:
    """A pod with a term that means other pods depending on the labels of namespaces."""
    term = make_affinity_term({}, topology_key=ZONE, namespace_labels={"team": "a"})
    return PodInfo.of(make_pod(UIDS[0], uid=UIDS[0], node_name=NODES[0], pod_anti_affinity=[term]))


def without_node() -> st.SearchStrategy[PodInfo]:
    return pods(node_name=st.just(""))


selectors: st.SearchStrategy[Selector] = st.sampled_from(
    [EVERYTHING, from_labels({"app": "web"}), from_labels({"app": "db"})]
)
TEAM_A = CounterKey((PodSelector(EVERYTHING, namespace_selector=from_labels({"team": "a"})),))
pod_selectors = st.builds(
    PodSelector,
    selectors,
    st.sampled_from([frozenset(), frozenset({"red"}), frozenset(NAMESPACES)]),
    st.sampled_from([None, EVERYTHING, from_labels({"team": "a"})]),
)
counter_keys = st.builds(
    CounterKey, st.lists(pod_selectors, min_size=1, max_size=2).map(tuple), st.booleans()
)


# What must be so.


class Model:
    """A cluster in plain dicts, asked by going through all of it."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, tuple[PodInfo, str]] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.image_sizes: dict[str, int] = {}
        self.image_nodes: dict[str, set[str]] = {}

    def place(self, info: PodInfo, node_name: str) -> None:
        known = self.pods.get(info.uid)
        if known is not None and known[1] != node_name:
            del self.pods[info.uid]
        self.pods[info.uid] = info, node_name

    def on(self, node_name: str) -> list[PodInfo]:
        return [info for info, name in self.pods.values() if name == node_name]

    def set_node(self, node: Node) -> None:
        self.drop_images(node.name)
        self.nodes[node.name] = node
        for image in node.status.images:
            for name in image.names:
                self.image_sizes.setdefault(name, image.size_bytes)
                self.image_nodes.setdefault(name, set()).add(node.name)

    def remove_node(self, name: str) -> None:
        self.drop_images(name)
        self.nodes.pop(name, None)

    def drop_images(self, node_name: str) -> None:
        for name in [name for name, on in self.image_nodes.items() if node_name in on]:
            self.image_nodes[name].discard(node_name)
            if not self.image_nodes[name]:
                del self.image_nodes[name], self.image_sizes[name]

    def requested(self, node_name: str) -> Mapping[str, int]:
        total: Counter[str] = Counter()
        for info in self.on(node_name):
            total.update(info.requests)
        return {name: as_int64(amount) for name, amount in total.items() if as_int64(amount)}

    def non_zero_requested(self, node_name: str) -> list[int]:
        spent = [info.spent for info in self.on(node_name)]
        cpu = sum(each.non_zero_cpu_millis for each in spent)
        memory = sum(each.non_zero_memory_bytes for each in spent)
        return [as_int64(cpu), as_int64(memory)]

    def ports(self, node_name: str) -> frozenset[HostPort]:
        return frozenset(port for info in self.on(node_name) for port in info.host_ports)

    def counted(self, key: CounterKey, node_name: str) -> int:
        return sum(self.counts(key, info) for info in self.on(node_name))

    def counts(self, key: CounterKey, info: PodInfo) -> bool:
        terminating = info.pod.metadata.deletion_timestamp is not None
        return (key.counts_terminating or not terminating) and all(
            self.selects(selector, info) for selector in key.selectors
        )

    def selects(self, selector: PodSelector, info: PodInfo) -> bool:
        by_labels = selector.namespace_selector
        labels = self.namespaces.get(info.namespace, {})
        named = info.namespace in selector.namespaces
        selected = by_labels is not None and by_labels.matches(labels)
        return (named or selected) and selector.selector.matches(info.labels)

    def per_value(self, key: CounterKey, label: str) -> Mapping[str, int]:
        """How many pods on the nodes of each value; values without any are left out."""
        total: Counter[str] = Counter()
        for name, node in self.nodes.items():
            if label in node.metadata.labels:
                total[node.metadata.labels[label]] += self.counted(key, name)
        return {value: count for value, count in total.items() if count}


def on_node(pod: Pod, name: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=name))


def as_int64(total: int) -> int:
    return (total + 2**63) % 2**64 - 2**63


class AnyHistory(RuleBasedStateMachine):
    """Does things to a cluster and to a model of it."""

    def __init__(self) -> None:
        super().__init__()
        # Little room, so that it runs out often.
        self.patches = [
            mock.patch.object(node_table, "_FIRST_CAPACITY", 2),
            mock.patch.object(counters, "_MOST_COUNTERS", 4),
            mock.patch.object(carried_terms, "_MOST_REMEMBERED", 3),
        ]
        for patch in self.patches:
            patch.start()
        self.cluster = Cluster()
        self.model = Model()
        self.note()

    def teardown(self) -> None:
        for patch in self.patches:
            patch.stop()

    @initialize(
        there=st.lists(nodes, min_size=1, max_size=4),
        running=st.lists(pods(), min_size=1, max_size=4),
        keys=st.lists(counter_keys, min_size=1, max_size=3),
    )
    def begin(self, there: list[Node], running: list[PodInfo], keys: list[CounterKey]) -> None:
        for node in there:
            self.set_node(node)
        for info in (carrier(), *running):
            self.set_pod(info)
            self.ask_for_terms(info, ZONE)
        for key in (TEAM_A, *keys):
            for label in LABELS:
                self.ask_for_counter(key, label)

    # Nodes.

    @rule(node=nodes)
    def set_node(self, node: Node) -> None:
        self.model.set_node(node)
        row = self.cluster.set_node(node)
        assert self.cluster.nodes.row(node.name) == row

    @rule(name=node_names)
    def set_node_again(self, name: str) -> None:
        """As heartbeats do."""
        if name in self.model.nodes:
            self.set_node(self.model.nodes[name])

    @rule(name=node_names)
    def remove_node(self, name: str) -> None:
        self.model.remove_node(name)
        self.cluster.remove_node(name)

    @rule(replaced=st.lists(nodes, min_size=1, max_size=4))
    def replace_nodes(self, replaced: list[Node]) -> None:
        """As a rolling upgrade does: the new machines bear the old names."""
        for node in replaced:
            self.remove_node(node.name)
        for node in replaced:
            self.set_node(node)

    # Pods.

    @rule(info=pods())
    def set_pod(self, info: PodInfo) -> None:
        self.model.place(info, info.pod.spec.node_name)
        self.cluster.set_pod(info)
        assert not self.cluster.is_assumed(info.uid)

    @rule(info=without_node())
    def change_pod(self, info: PodInfo) -> None:
        """As a resize, new labels or a deletion do; an assumed pod is confirmed."""
        known = self.model.pods.get(info.uid)
        if known is not None:
            self.set_pod(PodInfo.of(on_node(info.pod, known[1])))

    @rule(uid=uids)
    def end_pod(self, uid: str) -> None:
        """All else stays as it was."""
        if uid in self.model.pods:
            info, node_name = self.model.pods[uid]
            ending = replace(info.pod.metadata, deletion_timestamp=DELETED)
            self.set_pod(PodInfo.of(replace(on_node(info.pod, node_name), metadata=ending)))

    @rule(uid=uids, cpu=st.sampled_from(["1", "3"]))
    def resize_pod(self, uid: str, cpu: str) -> None:
        """The kubelet says what the pod has; all else stays as it was."""
        if uid in self.model.pods:
            info, node_name = self.model.pods[uid]
            has = ResourceRequirements(requests=ResourceList.of({"cpu": cpu}))
            status = PodStatus(container_statuses=(ContainerStatus(name="main", resources=has),))
            self.set_pod(PodInfo.of(replace(on_node(info.pod, node_name), status=status)))

    @rule(uid=uids)
    def set_pod_again(self, uid: str) -> None:
        """As resyncs do: the same content, decoded anew."""
        info, node_name = self.model.pods.get(uid, (None, ""))
        if info is not None and info.pod.spec.node_name == node_name:
            self.set_pod(PodInfo.of(info.pod))

    @rule(info=without_node(), node_name=node_names)
    def assume(self, info: PodInfo, node_name: str) -> None:
        if info.uid not in self.model.pods:
            self.model.place(info, node_name)
            self.cluster.assume(info, node_name)
            assert self.cluster.is_assumed(info.uid)

    @rule(uid=uids)
    def forget(self, uid: str) -> None:
        if self.cluster.is_assumed(uid):
            del self.model.pods[uid]
        self.cluster.forget(uid)

    @rule(uid=uids)
    def remove_pod(self, uid: str) -> None:
        self.model.pods.pop(uid, None)
        self.cluster.remove_pod(uid)

    @rule(infos=st.lists(without_node(), max_size=3), node_name=node_names)
    def look_at_what_if(self, infos: list[PodInfo], node_name: str) -> None:
        before = dict(facts(self.cluster))
        with self.cluster.with_pods(infos, node_name):
            assert check(self.cluster) == []
        assert dict(facts(self.cluster)) == before

    # Namespaces.

    @rule(name=st.sampled_from(NAMESPACES), labels=st.sampled_from(TEAMS))
    def set_namespace(self, name: str, labels: Mapping[str, str]) -> None:
        self.model.namespaces[name] = labels
        self.cluster.set_namespace(Namespace(metadata=ObjectMeta(name=name, labels=labels)))

    @rule(name=st.sampled_from(NAMESPACES))
    def remove_namespace(self, name: str) -> None:
        self.model.namespaces.pop(name, None)
        self.cluster.remove_namespace(name)

    # Questions: from then on the answer is kept up to date.

    @rule(key=counter_keys, label=st.sampled_from(LABELS))
    def ask_for_counter(self, key: CounterKey, label: str) -> None:
        self.cluster.counters.counter(key).sums(label)

    @rule(info=without_node(), label=st.sampled_from(LABELS))
    def ask_for_terms(self, info: PodInfo, label: str) -> None:
        for carriers in self.cluster.terms.speaking_of(pod_class(info)).values():
            carriers.sums(label)

    @rule(resource=st.sampled_from(["example.com/gpu", "example.com/unheard-of"]))
    def ask_for_resource(self, resource: str) -> None:
        self.cluster.nodes.requested_of(resource)

    # What must be so, whatever happened.

    @invariant()
    def audit_finds_nothing(self) -> None:
        assert check(self.cluster) == []

    @invariant()
    def namespaces_are_known(self) -> None:
        assert self.cluster.namespaces() == self.model.namespaces

    @invariant()
    def nodes_are_told_apart(self) -> None:
        table = self.cluster.nodes
        assert len(table) == len(self.model.nodes)
        # Freed rows are used again.
        assert table.n_rows <= len(NODES)
        assert {name for name in self.cluster.rows().names if name} == self.model.nodes.keys()
        for name, node in self.model.nodes.items():
            row = self.cluster.row(name)
            assert row is not None
            assert row.name == name
            assert row.node is node
            assert row.allocatable == whole_amounts(node.status.allocatable)
            assert table.unschedulable[row.row] == node.spec.unschedulable

    @invariant()
    def pods_are_counted(self) -> None:
        for name in self.model.nodes:
            row = self.cluster.row(name)
            assert row is not None
            assert list(row.pods) == self.model.on(name)
            assert self.cluster.nodes.pod_counts[row.row] == len(row.pods)
            assert row.requested == self.model.requested(name)
            assert list(row.non_zero_requested.values()) == self.model.non_zero_requested(name)
            assert row.used_ports == self.model.ports(name)

    @invariant()
    def counters_count(self) -> None:
        for key, counter in self.cluster.counters.all().items():
            for name in self.model.nodes:
                row = self.cluster.nodes.row(name)
                assert counter.counts[row] == self.model.counted(key, name)
            for label in counter.summed_over:
                sums = counter.sums(label)
                values = sums.label.values.values
                found = {
                    value: int(total)
                    for value, total in zip(values, sums.per_value, strict=True)
                    if value is not None and total
                }
                assert found == self.model.per_value(key, label)
                assert counter.has_any_with(label) == bool(found)

    @invariant()
    def images_have_the_size_that_was_told_first(self) -> None:
        images = self.cluster.images.all()
        assert {name: image.size_bytes for name, image in images.items()} == self.model.image_sizes
        for name, image in images.items():
            on = {self.cluster.nodes.names[row] for row in np.flatnonzero(image.on)}
            assert on == self.model.image_nodes[name]

    @invariant()
    def nothing_that_is_gone_grows_along(self) -> None:
        cluster = self.cluster
        living = [
            *cluster.counters.all().values(),
            *cluster.terms.all().values(),
            *(holders for _, holders in cluster.ports.all()),
            *cluster.images.all().values(),
        ]
        assert {id(each) for each in cluster.nodes._growing} == {id(each) for each in living}

    @invariant()
    def changes_are_logged(self) -> None:
        """And what was handed out has not changed."""
        table = self.cluster.nodes
        objects, used = self.noted_rows
        logged_nodes = table.node_changes.since(self.noted_node_changes)
        logged_usage = table.usage_changes.since(self.noted_usage_changes)
        assert logged_nodes is not None
        assert logged_usage is not None
        for row, (node, usage) in enumerate(zip(*self.rows(), strict=True)):
            assert row in logged_nodes or (row < len(objects) and node is objects[row])
            assert row in logged_usage or usage == (used[row] if row < len(used) else NO_USAGE)
        names, alive = self.noted_arrays
        assert [bool(name) for name in names] == alive.tolist()
        self.note()

    def note(self) -> None:
        table = self.cluster.nodes
        self.noted_rows = self.rows()
        self.noted_node_changes = table.node_changes.now
        self.noted_usage_changes = table.usage_changes.now
        self.noted_arrays = table.names_now(), table.alive_now()

    def rows(self) -> tuple[list[Node | None], list[Usage]]:
        table = self.cluster.nodes
        usage = [
            (
                int(table.pod_counts[row]),
                as_dict(table.resources.values, table.requested[:, row].tolist()),
                self.cluster.ports.held_on(row),
            )
            for row in range(table.n_rows)
        ]
        return list(table.objects), usage


Usage = tuple[int, Mapping[str, int], frozenset[HostPort]]
NO_USAGE: Usage = (0, {}, frozenset())


def as_dict(names: Iterable[str], amounts: Iterable[int]) -> Mapping[str, int]:
    return {name: amount for name, amount in zip(names, amounts, strict=True) if amount}


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=150, stateful_step_count=30)
