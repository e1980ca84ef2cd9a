from __future__ import annotations

from collections.abc import Mapping

import pytest

from berthing.api.labels import SelectorError
from berthing.api.node import Node
from berthing.api.node_selector import NodeSelectorRequirement, NodeSelectorTerm
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.args import AddedAffinity, NodeAffinityArgs, PreferredNodes, RequiredNodes
from berthing.framework import CycleState, PreFilterResult, QueueingHint, Status
from berthing.plugins.node_affinity import NodeAffinity
from berthing.testing import make_node, make_node_term, make_pod
from plugins.harness import cluster_of, fake_handle, filter_all, score_all

NOT_THE_PODS = Status.unresolvable("node(s) didn't match Pod's node affinity/selector")
NOT_ENFORCED = Status.unresolvable("node(s) didn't match scheduler-enforced node affinity")


def plugin(*required: NodeSelectorTerm, preferred: Mapping[str, int] | None = None) -> NodeAffinity:
    """The plugin of a profile that adds affinity: for terms, and for values of `disk` by weight."""
    wishes = tuple(
        PreferredNodes(weight=weight, preference=make_node_term({"disk": disk}))
        for disk, weight in (preferred or {}).items()
    )
    added = AddedAffinity(
        required_during_scheduling_ignored_during_execution=(
            RequiredNodes(node_selector_terms=required) if required else None
        ),
        preferred_during_scheduling_ignored_during_execution=wishes,
    )
    return NodeAffinity(NodeAffinityArgs(added_affinity=added), fake_handle())


PLAIN = NodeAffinity(NodeAffinityArgs(), fake_handle())


def condition(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def labelled(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return make_node_term(expressions=[condition(key, operator, *values)])


def named(operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=(condition("metadata.name", operator, *values),))


NODES = [
    make_node("a", labels={"disk": "ssd", "cores": "8"}),
    make_node("b", labels={"disk": "hdd", "cores": "32"}),
    make_node("c", labels={"cores": "many"}),
]


@pytest.mark.parametrize(
    ("pod", "fits"),
    [
        pytest.param(make_pod(), "abc", id="nothing is asked for"),
        pytest.param(make_pod(node_selector={"disk": "ssd"}), "a", id="a selector"),
        pytest.param(make_pod(node_selector={"disk": "tape"}), "", id="a value nobody has"),
        pytest.param(make_pod(node_selector={"color": "red"}), "", id="a label nobody has"),
        pytest.param(
            make_pod(node_selector={"disk": "ssd", "cores": "32"}), "", id="both labels at once"
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "In", "ssd", "hdd", "tape")]),
            "ab",
            id="one of several values",
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "NotIn", "ssd")]),
            "bc",
            id="not a value, which holds without the label too",
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "NotIn", "ssd", "hdd")]),
            "c",
            id="none of several values",
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "Exists")]), "ab", id="any value will do"
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "DoesNotExist")]),
            "c",
            id="the label is absent",
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("cores", "Gt", "8")]),
            "b",
            id="a greater number, and a word is none",
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("cores", "Lt", "32")]), "a", id="a smaller number"
        ),
        pytest.param(make_pod(node_affinity=[named("In", "b")]), "b", id="a node by its name"),
        pytest.param(
            make_pod(node_affinity=[named("NotIn", "b")]), "ac", id="any node but one by name"
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    NodeSelectorTerm(match_fields=(condition("metadata.uid", "In", "x"),))
                ]
            ),
            "",
            id="a field that nobody knows is empty",
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    NodeSelectorTerm(match_fields=(condition("metadata.uid", "NotIn", "x"),))
                ]
            ),
            "abc",
            id="an empty field has no value",
        ),
        pytest.param(
            make_pod(
                node_affinity=[labelled("disk", "In", "ssd"), labelled("cores", "In", "many")]
            ),
            "ac",
            id="one of two terms",
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    make_node_term(
                        expressions=[condition("disk", "Exists"), condition("cores", "Gt", "9")]
                    )
                ]
            ),
            "b",
            id="all conditions of a term",
        ),
        pytest.param(
            make_pod(node_affinity=[make_node_term({"disk": "ssd"}, node_name="b")]),
            "",
            id="labels and name of a term",
        ),
        pytest.param(
            make_pod(node_selector={"disk": "ssd"}, node_affinity=[labelled("cores", "Exists")]),
            "a",
            id="selector and affinity",
        ),
        pytest.param(
            make_pod(node_affinity=[NodeSelectorTerm()]), "", id="an empty term matches nothing"
        ),
        pytest.param(
            make_pod(node_affinity=[labelled("disk", "Near", "ssd"), labelled("disk", "Exists")]),
            "ab",
            id="a term with a mistake matches nothing",
        ),
    ],
)
def test_filter(pod: Pod, fits: str) -> None:
    expected = {node.name: None if node.name in fits else NOT_THE_PODS for node in NODES}
    assert filter_all(PLAIN, pod, cluster_of(NODES)) == expected


def test_the_profiles_affinity_speaks_first() -> None:
    wants_hdd = make_pod(node_selector={"disk": "hdd"})
    assert filter_all(plugin(labelled("disk", "Exists")), wants_hdd, cluster_of(NODES)) == {
        "a": NOT_THE_PODS,
        "b": None,
        "c": NOT_ENFORCED,
    }


def test_the_profiles_affinity_holds_for_pods_that_ask_for_nothing() -> None:
    verdicts = filter_all(plugin(labelled("disk", "Exists")), make_pod(), cluster_of(NODES))
    assert verdicts == {"a": None, "b": None, "c": NOT_ENFORCED}


def test_labels_that_come_and_go_are_seen() -> None:
    cluster, pod = cluster_of([make_node()]), make_pod(node_selector={"disk": "ssd"})
    assert filter_all(PLAIN, pod, cluster) == {"node": NOT_THE_PODS}
    cluster.set_node(make_node(labels={"disk": "ssd"}))
    assert filter_all(PLAIN, pod, cluster) == {"node": None}
    cluster.set_node(make_node(labels={"disk": "hdd"}))
    assert filter_all(PLAIN, pod, cluster) == {"node": NOT_THE_PODS}


def only(*names: str) -> PreFilterResult:
    return PreFilterResult(frozenset(names))


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(), Status.skip(), id="nothing is asked for"),
        pytest.param(
            make_pod(preferred_node_affinity=[(1, labelled("disk", "Exists"))]),
            Status.skip(),
            id="nothing is required",
        ),
        pytest.param(make_pod(node_selector={"disk": "ssd"}), None, id="a selector"),
        pytest.param(make_pod(node_affinity=[labelled("disk", "Exists")]), None, id="labels only"),
        pytest.param(make_pod(node_affinity=[named("In", "b")]), only("b"), id="one name"),
        pytest.param(
            make_pod(node_affinity=[named("In", "b"), named("In", "nowhere")]),
            only("b", "nowhere"),
            id="a name in each term, whether there is such a node or not",
        ),
        pytest.param(
            make_pod(node_affinity=[named("In", "b"), labelled("disk", "Exists")]),
            None,
            id="a term without a name",
        ),
        pytest.param(
            make_pod(node_affinity=[named("NotIn", "b")]), None, id="a name that is not wanted"
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    NodeSelectorTerm(
                        match_fields=(
                            condition("metadata.name", "In", "a"),
                            condition("metadata.name", "In", "b"),
                        )
                    )
                ]
            ),
            Status.unresolvable("pod affinity terms conflict"),
            id="two names at once",
        ),
        pytest.param(
            make_pod(
                node_affinity=[
                    named("In", "a"),
                    NodeSelectorTerm(
                        match_fields=(
                            condition("metadata.name", "In", "a"),
                            condition("metadata.name", "In", "b"),
                        )
                    ),
                ]
            ),
            only("a"),
            id="two names at once in one term of two",
        ),
    ],
)
def test_pre_filter(pod: Pod, expected: PreFilterResult | Status | None) -> None:
    rows = cluster_of(NODES).rows()
    assert PLAIN.pre_filter(CycleState(), PodInfo.of(pod), rows) == expected


def test_pre_filter_does_not_skip_if_the_profile_asks_for_something() -> None:
    rows = cluster_of(NODES).rows()
    profile = plugin(named("In", "a"))
    assert profile.pre_filter(CycleState(), PodInfo.of(make_pod()), rows) is None


@pytest.mark.parametrize(
    ("preferred", "expected"),
    [
        pytest.param(
            [(10, labelled("disk", "In", "ssd"))], {"a": 100, "b": 0, "c": 0}, id="one term"
        ),
        pytest.param(
            [(10, labelled("disk", "Exists")), (20, labelled("disk", "In", "hdd"))],
            {"a": 33, "b": 100, "c": 0},
            id="weights add up",
        ),
        pytest.param(
            [(10, labelled("disk", "In", "tape"))], {"a": 0, "b": 0, "c": 0}, id="nobody has it"
        ),
        pytest.param(
            [(5, named("In", "c")), (10, named("NotIn", "c"))],
            {"a": 100, "b": 100, "c": 50},
            id="names count as well",
        ),
        pytest.param([(10, NodeSelectorTerm())], {"a": 0, "b": 0, "c": 0}, id="an empty term"),
        pytest.param([], None, id="it sits out without any"),
    ],
)
def test_score(
    preferred: list[tuple[int, NodeSelectorTerm]], expected: dict[str, int] | None
) -> None:
    pod = make_pod(preferred_node_affinity=preferred)
    assert score_all(PLAIN, pod, cluster_of(NODES)) == expected


def test_what_the_profile_prefers_is_added() -> None:
    pod = make_pod(preferred_node_affinity=[(10, labelled("disk", "In", "ssd"))])
    profile = plugin(preferred={"hdd": 40})
    assert score_all(profile, pod, cluster_of(NODES)) == {"a": 25, "b": 100, "c": 0}
    assert score_all(profile, make_pod(), cluster_of(NODES)) == {"a": 0, "b": 100, "c": 0}


def test_only_nodes_that_passed_are_compared() -> None:
    pod = make_pod(
        preferred_node_affinity=[(10, named("In", "a")), (40, labelled("disk", "In", "hdd"))]
    )
    assert score_all(PLAIN, pod, cluster_of(NODES), feasible=["a", "c"]) == {"a": 100, "c": 0}


def test_a_mistake_in_what_a_pod_prefers_ends_the_attempt() -> None:
    pod = make_pod(preferred_node_affinity=[(1, labelled("disk", "Near", "ssd"))])
    with pytest.raises(SelectorError, match='Unsupported value: "Near"'):
        score_all(PLAIN, pod, cluster_of(NODES))


def test_a_mistake_in_the_profiles_affinity_is_refused_at_the_start() -> None:
    with pytest.raises(SelectorError, match="parsing addedAffinity"):
        plugin(labelled("disk", "Near", "ssd"))


WANTS_SSD = PodInfo.of(make_pod(node_selector={"disk": "ssd"}))
WITH_SSD = make_node(labels={"disk": "ssd"})
WITH_SSD_IN_A = make_node(labels={"disk": "ssd", "pool": "a"})
IN_A = make_node(labels={"pool": "a"})


@pytest.mark.parametrize(
    ("profile", "old", "new", "expected"),
    [
        pytest.param(PLAIN, None, WITH_SSD, QueueingHint.QUEUE, id="a new node that matches"),
        pytest.param(PLAIN, None, IN_A, QueueingHint.SKIP, id="a new node that does not match"),
        pytest.param(PLAIN, IN_A, WITH_SSD_IN_A, QueueingHint.QUEUE, id="a node begins to match"),
        pytest.param(PLAIN, WITH_SSD_IN_A, IN_A, QueueingHint.SKIP, id="a node ceases to match"),
        pytest.param(PLAIN, WITH_SSD, WITH_SSD_IN_A, QueueingHint.SKIP, id="it matched before"),
        pytest.param(
            plugin(labelled("pool", "In", "a")),
            None,
            WITH_SSD,
            QueueingHint.SKIP,
            id="a new node that the profile does not want",
        ),
        pytest.param(
            plugin(labelled("pool", "In", "a")),
            IN_A,
            WITH_SSD_IN_A,
            QueueingHint.QUEUE,
            id="a node that the profile wants begins to match",
        ),
        pytest.param(
            plugin(labelled("pool", "In", "a")),
            WITH_SSD,
            WITH_SSD_IN_A,
            QueueingHint.QUEUE,
            id="a node that matches begins to be what the profile wants",
        ),
    ],
)
def test_hint(profile: NodeAffinity, old: Node | None, new: Node, expected: QueueingHint) -> None:
    assert profile.after_node_change(WANTS_SSD, old, new) is expected


def test_a_term_with_a_mistake_breaks_the_hint_unless_another_matches() -> None:
    pod = PodInfo.of(
        make_pod(node_affinity=[labelled("cores", "Gt", "many"), labelled("disk", "In", "ssd")])
    )
    ssd, hdd = make_node(labels={"disk": "ssd"}), make_node(labels={"disk": "hdd"})
    assert PLAIN.after_node_change(pod, None, ssd) is QueueingHint.QUEUE
    assert PLAIN.after_node_change(pod, ssd, ssd) is QueueingHint.SKIP
    for old, new in ((None, hdd), (hdd, ssd)):
        with pytest.raises(SelectorError):
            PLAIN.after_node_change(pod, old, new)
