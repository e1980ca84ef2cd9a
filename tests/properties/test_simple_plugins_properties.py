"""Plugins that judge a node by itself: columns say the same as a loop over nodes and their objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berthing.api.labels import SelectorError
from berthing.api.node import Node
from berthing.api.node_selector import NodeSelectorRequirement, NodeSelectorTerm
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.taints import HARD_EFFECTS, TaintEffect
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.config.args import AddedAffinity, NodeAffinityArgs, PreferredNodes, RequiredNodes
from berthing.framework import CycleState, FilterPlugin, ScoreExtensions, ScorePlugin
from berthing.plugins.image_locality import ImageLocality
from berthing.plugins.node_affinity import NodeAffinity
from berthing.plugins.node_declared_features import (
    GATE,
    RESTART_ALL_CONTAINERS,
    USER_NAMESPACES_HOST_NETWORK,
    NodeDeclaredFeatures,
    required_features,
)
from berthing.plugins.node_name import NodeName
from berthing.plugins.node_ports import NodePorts
from berthing.plugins.node_unschedulable import CORDON, NodeUnschedulable
from berthing.plugins.normalize import normalized
from berthing.plugins.taint_toleration import TaintToleration
from berthing.testing import make_container, make_node, make_pod, make_taint, make_toleration
from plugins.harness import cluster_of, fake_handle

EXAMPLES = settings(max_examples=60)

MIB = 1024 * 1024
NAMES = ("n0", "n1", "n2", "n3", "n4", "n5")
IMAGES = ("a:1", "b:1", "c:1")

taints = st.builds(
    make_taint,
    st.sampled_from(("gpu", "old", CORDON.key)),
    st.sampled_from(("", "x")),
    effect=st.sampled_from(tuple(TaintEffect)),
)
tolerations = st.builds(
    make_toleration,
    st.sampled_from(("", "gpu", "old", CORDON.key)),
    operator=st.sampled_from(("Equal", "Exists")),
    value=st.sampled_from(("", "x")),
    effect=st.sampled_from(("", *TaintEffect)),
)
labels = st.dictionaries(st.sampled_from(("disk", "cores")), st.sampled_from(("ssd", "8", "32")))
sizes = st.integers(0, 3000).map(lambda mebibytes: mebibytes * MIB)


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return [
        make_node(
            name,
            labels=draw(labels),
            taints=draw(st.lists(taints, max_size=3)),
            cordoned=draw(st.booleans()),
            images=draw(st.dictionaries(st.sampled_from(IMAGES), sizes)),
            declared_features=draw(
                st.sets(st.sampled_from((RESTART_ALL_CONTAINERS, USER_NAMESPACES_HOST_NETWORK)))
            ),
        )
        for name in names
    ]


conditions = st.one_of(
    st.builds(
        NodeSelectorRequirement,
        st.sampled_from(("disk", "cores", "color")),
        st.sampled_from(("In", "NotIn")),
        st.lists(st.sampled_from(("ssd", "8", "32", "tape")), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        NodeSelectorRequirement,
        st.sampled_from(("disk", "cores", "color")),
        st.sampled_from(("Exists", "DoesNotExist", "Near")),
    ),
    st.builds(
        NodeSelectorRequirement,
        st.sampled_from(("disk", "cores")),
        st.sampled_from(("Gt", "Lt")),
        st.sampled_from((("8",), ("16",), ("word",))),
    ),
)
field_conditions = st.builds(
    NodeSelectorRequirement,
    st.sampled_from(("metadata.name", "metadata.name", "metadata.uid")),
    st.sampled_from(("In", "NotIn")),
    st.sampled_from((*NAMES, "")).map(lambda name: (name,)),
)
terms = st.builds(
    NodeSelectorTerm,
    st.lists(conditions, max_size=2).map(tuple),
    st.lists(field_conditions, max_size=2).map(tuple),
)
sound_terms = terms.filter(
    lambda term: all(
        each.operator != "Near" and each.values != ("word",) for each in term.match_expressions
    )
)
weighted = st.lists(st.tuples(st.integers(1, 100), sound_terms), max_size=3)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    containers = [
        make_container(
            image=draw(st.sampled_from((*IMAGES, "a", "nowhere:1"))),
            host_ports=draw(st.lists(st.integers(80, 82), max_size=2)),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    return make_pod(
        containers=containers,
        node_name=draw(st.sampled_from(("", *NAMES))),
        node_selector=draw(labels),
        node_affinity=draw(st.lists(terms, max_size=3)),
        preferred_node_affinity=draw(weighted),
        tolerations=draw(st.lists(tolerations, max_size=3)),
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Nodes and pods that hold ports; some nodes are gone, and left their rows empty."""
    cluster = cluster_of(draw(nodes()))
    for number, (name, port) in enumerate(
        draw(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(80, 82)), max_size=5))
    ):
        pod = make_pod(f"running-{number}", node_name=name, host_ports=[port])
        cluster.set_pod(PodInfo.of(pod))
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        cluster.remove_node(name)
    return cluster


@st.composite
def affinity_args(draw: st.DrawFn) -> NodeAffinityArgs:
    required = draw(st.none() | st.lists(sound_terms, max_size=2).map(tuple))
    return NodeAffinityArgs(
        added_affinity=AddedAffinity(
            required_during_scheduling_ignored_during_execution=(
                None if required is None else RequiredNodes(node_selector_terms=required)
            ),
            preferred_during_scheduling_ignored_during_execution=tuple(
                PreferredNodes(weight=weight, preference=term) for weight, term in draw(weighted)
            ),
        )
    )


HANDLE = fake_handle(gates=[GATE])
PLUGINS = [
    NodeUnschedulable(None, HANDLE),
    NodeName(None, HANDLE),
    TaintToleration(None, HANDLE),
    NodeAffinity(NodeAffinityArgs(), HANDLE),
    NodePorts(None, HANDLE),
    ImageLocality(None, HANDLE),
    NodeDeclaredFeatures(None, HANDLE),
]
FILTERS = [each for each in PLUGINS if isinstance(each, FilterPlugin)]
SCORERS = [each for each in PLUGINS if isinstance(each, ScorePlugin)]


def single_rows(cluster: Cluster) -> list[Rows]:
    return [Rows(cluster, np.array([row], np.intp)) for row in range(cluster.nodes.n_rows)]


@pytest.mark.parametrize("plugin", FILTERS, ids=lambda plugin: plugin.name)
@given(clusters(), pods())
@EXAMPLES
def test_filter_says_of_one_row_what_it_says_of_all(
    plugin: FilterPlugin, cluster: Cluster, pod: Pod
) -> None:
    info, state = PodInfo.of(pod), CycleState()
    together = plugin.filter_nodes(state, info, cluster.rows())
    for row, alone in enumerate(single_rows(cluster)):
        assert plugin.filter_nodes(state, info, alone)[0] == together[row]


@pytest.mark.parametrize("plugin", SCORERS, ids=lambda plugin: plugin.name)
@given(clusters(), pods())
@EXAMPLES
def test_score_says_of_one_row_what_it_says_of_all(
    plugin: ScorePlugin, cluster: Cluster, pod: Pod
) -> None:
    info, state = PodInfo.of(pod), CycleState()
    together = plugin.score_nodes(state, info, cluster.rows())
    alone = [int(plugin.score_nodes(state, info, rows)[0]) for rows in single_rows(cluster)]
    assert alone == together.tolist()


# What a person would say of one node, from its object.


def is_closed(info: PodInfo, node: Node) -> bool:
    return node.spec.unschedulable and not any(
        toleration.tolerates(CORDON) for toleration in info.pod.spec.tolerations
    )


def is_another(info: PodInfo, node: Node) -> bool:
    return info.pod.spec.node_name not in ("", node.name)


def has_untolerated_taint(info: PodInfo, node: Node) -> bool:
    return any(
        taint.effect in HARD_EFFECTS
        and not any(toleration.tolerates(taint) for toleration in info.pod.spec.tolerations)
        for taint in node.spec.taints
    )


def is_unwanted(info: PodInfo, node: Node) -> bool:
    return not info.shape.required_node_affinity.matches(node.name, node.metadata.labels)


def lacks_features(info: PodInfo, node: Node) -> bool:
    return any(
        feature not in node.status.declared_features for feature in required_features(info.facts)
    )


REJECTED_BY = [
    (NodeUnschedulable(None, HANDLE), is_closed),
    (NodeName(None, HANDLE), is_another),
    (TaintToleration(None, HANDLE), has_untolerated_taint),
    (NodeAffinity(NodeAffinityArgs(), HANDLE), is_unwanted),
    (NodeDeclaredFeatures(None, HANDLE), lacks_features),
]


@pytest.mark.parametrize(
    ("plugin", "rejected"), REJECTED_BY, ids=lambda item: getattr(item, "name", "")
)
@given(clusters(), pods())
@EXAMPLES
def test_filter_is_a_loop_over_nodes(
    plugin: FilterPlugin,
    rejected: Callable[[PodInfo, Node], bool],
    cluster: Cluster,
    pod: Pod,
) -> None:
    info = PodInfo.of(pod)
    verdicts = plugin.filter_nodes(CycleState(), info, cluster.rows())
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            assert (verdicts[row] is not None) == rejected(info, node)


@given(clusters(), pods())
@EXAMPLES
def test_node_ports_is_a_loop_over_running_pods(cluster: Cluster, pod: Pod) -> None:
    info = PodInfo.of(pod)
    verdicts = NodePorts(None, HANDLE).filter_nodes(CycleState(), info, cluster.rows())
    for row in range(cluster.nodes.n_rows):
        taken = any(
            held.conflicts_with(wanted)
            for running in cluster.pods_on(row)
            for held in running.host_ports
            for wanted in info.host_ports
        )
        assert (verdicts[row] is not None) == taken


@given(clusters(), pods(), affinity_args())
@EXAMPLES
def test_node_affinity_with_the_profiles_own(
    cluster: Cluster, pod: Pod, args: NodeAffinityArgs
) -> None:
    plugin, info = NodeAffinity(args, HANDLE), PodInfo.of(pod)
    verdicts = plugin.filter_nodes(CycleState(), info, cluster.rows())
    alone = [plugin.filter_nodes(CycleState(), info, rows)[0] for rows in single_rows(cluster)]
    assert [verdicts[row] for row in range(len(verdicts))] == alone
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            # The hint about a new node asks the same of its object, but gives a pod with a
            # mistake the benefit of the doubt where only the mistaken term could have matched.
            try:
                would_fit = plugin.after_node_change(info, None, node) == "Queue"
            except SelectorError:
                terms = info.shape.required_node_affinity.terms
                assert terms is not None
                assert terms.errors
                would_fit = False
            assert (verdicts[row] is None) == would_fit


@given(clusters(), pods(), affinity_args())
@EXAMPLES
def test_node_affinity_scores_are_sums_of_weights(
    cluster: Cluster, pod: Pod, args: NodeAffinityArgs
) -> None:
    info = PodInfo.of(pod)
    scores = NodeAffinity(args, HANDLE).score_nodes(CycleState(), info, cluster.rows())
    added = args.added_affinity or AddedAffinity()
    both = make_pod(
        preferred_node_affinity=[
            *((each.weight, each.preference) for each in pod_preferences(pod)),
            *(
                (each.weight, each.preference)
                for each in added.preferred_during_scheduling_ignored_during_execution
            ),
        ]
    )
    preferred = PodInfo.of(both).shape.preferred_node_terms
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            assert scores[row] == preferred.score(node.name, node.metadata.labels)


def pod_preferences(pod: Pod) -> Sequence[PreferredNodes]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return [
        PreferredNodes(weight=each.weight, preference=each.preference)
        for each in (affinity.preferred if affinity else ())
    ]


@given(clusters(), pods())
@EXAMPLES
def test_taint_scores_count_taints(cluster: Cluster, pod: Pod) -> None:
    info = PodInfo.of(pod)
    scores = TaintToleration(None, HANDLE).score_nodes(CycleState(), info, cluster.rows())
    for row, node in enumerate(cluster.nodes.objects):
        if node is not None:
            assert scores[row] == sum(
                taint.effect == TaintEffect.PREFER_NO_SCHEDULE
                and not any(toleration.tolerates(taint) for toleration in pod.spec.tolerations)
                for taint in node.spec.taints
            )


@given(clusters(), pods())
@EXAMPLES
def test_image_scores_add_up_images(cluster: Cluster, pod: Pod) -> None:
    info = PodInfo.of(pod)
    scores = ImageLocality(None, HANDLE).score_nodes(CycleState(), info, cluster.rows())
    living = [node for node in cluster.nodes.objects if node is not None]
    count = len(pod.spec.containers)

    def having(name: str) -> int:
        return sum(any(name in image.names for image in node.status.images) for node in living)

    for row, node in enumerate(cluster.nodes.objects):
        if node is None:
            continue
        total = 0
        for name in info.images:
            if any(name in image.names for image in node.status.images):
                known = cluster.images.find(name)
                assert known is not None
                assert known.node_count == having(name)
                total += int(known.size_bytes * (having(name) / len(living)))
        kept = min(max(total, 23 * MIB), 1000 * MIB * count)
        assert scores[row] == 100 * (kept - 23 * MIB) // (1000 * MIB * count - 23 * MIB)


@given(st.lists(st.integers(0, 10_000), max_size=20), st.booleans())
@EXAMPLES
def test_normalized_scores_are_shares_of_the_highest(raw: list[int], reverse: bool) -> None:
    column = np.array(raw, np.int64)
    highest = max(raw, default=0)
    shares = [100 * score // highest if highest else 0 for score in raw]
    expected = [100 - share for share in shares] if reverse else shares
    assert normalized(column, reverse=reverse).tolist() == expected
    assert column.tolist() == raw


@given(clusters(), pods())
@EXAMPLES
def test_scores_are_within_bounds_once_normalized(cluster: Cluster, pod: Pod) -> None:
    info, state = PodInfo.of(pod), CycleState()
    for plugin in SCORERS:
        scores = plugin.score_nodes(state, info, cluster.rows())
        if isinstance(plugin, ScoreExtensions):
            scores = plugin.normalize_score(state, info, scores)
        assert scores.dtype == np.int64
        assert all(0 <= score <= 100 for score in scores)
