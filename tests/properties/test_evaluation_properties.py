"""Decisions that build on remembered answers are those of an engine that remembers nothing.

One engine lives through all that happens; whenever a pod is decided about, another one is made of
the objects that are there by then, and asked the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from msgspec.structs import replace

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.features import FeatureGates
from berthing.config.load import Loaded, default
from berthing.explain.answers import answers
from berthing.scheduler.offline import Offline
from berthing.scheduler.registry import Registry, discover
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_node,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_taint,
    tolerate,
)

# So many that a few that changed are asked about alone.
NODES = [f"node-{number:02}" for number in range(24)]
UIDS = [f"uid-{number}" for number in range(30)]
GPU = make_taint("gpu")
SLOW = make_taint("slow", effect="PreferNoSchedule")
WEB, DB = {"app": "web"}, {"app": "db"}
NEAR_WEB = make_affinity_term(WEB, topology_key=ZONE)

# Kinds of pods: what is remembered is remembered per kind.
KINDS: Sequence[Callable[[str], Pod]] = (
    lambda uid: make_pod(uid, uid=uid, cpu="500m", memory="1Gi"),
    lambda uid: make_pod(uid, uid=uid, labels=WEB, cpu="1", image="x:1"),
    lambda uid: make_pod(uid, uid=uid, labels=DB, cpu="3", tolerations=[tolerate(GPU)]),
    lambda uid: make_pod(uid, uid=uid, cpu="100m", host_ports=[80]),
    lambda uid: make_pod(uid, uid=uid, node_selector={ZONE: "a"}, requests={"gpu.io/x": "1"}),
    lambda uid: make_pod(
        uid,
        uid=uid,
        node_affinity=[make_node_term({ZONE: ("a", "b")}), make_node_term({"disk": "ssd"})],
        preferred_node_affinity=[(5, make_node_term({"disk": "ssd"}))],
    ),
    lambda uid: make_pod(uid, uid=uid, node_affinity=[make_node_term(node_name="node-03")]),
    lambda uid: make_pod(uid, uid=uid, labels=WEB, spread=[make_spread_constraint(WEB)]),
    lambda uid: make_pod(
        uid,
        uid=uid,
        labels=DB,
        spread=[
            make_spread_constraint(DB, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway")
        ],
    ),
    lambda uid: make_pod(uid, uid=uid, pod_affinity=[NEAR_WEB]),
    lambda uid: make_pod(uid, uid=uid, labels=DB, pod_anti_affinity=[make_affinity_term(DB)]),
    lambda uid: make_pod(uid, uid=uid, preferred_pod_affinity=[(3, NEAR_WEB)]),
)

nodes = st.builds(
    make_node,
    st.sampled_from(NODES),
    cpu=st.sampled_from(["2", "4"]),
    pods=st.sampled_from(["3", "110"]),
    resources=st.sampled_from([{}, {"gpu.io/x": "2"}]),
    zone=st.sampled_from(["", "a", "b"]),
    labels=st.sampled_from([{}, {"disk": "ssd"}]),
    taints=st.sampled_from([[], [GPU], [SLOW]]),
    cordoned=st.booleans(),
    images=st.sampled_from([{}, {"x:1": 500_000_000}]),
)
kinds = st.sampled_from(KINDS)
uids = st.sampled_from(UIDS)


@lru_cache(maxsize=1)
def installation() -> tuple[Loaded, Registry]:
    return default(), discover([])


def engine() -> Offline:
    loaded, registry = installation()
    return Offline(loaded.profiles, registry=registry, gates=FeatureGates())


class Memory(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.engine = engine()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodInfo] = {}
        self.assumed: dict[str, str] = {}
        self.nominated: list[Pod] = []

    @initialize(
        cordoned=st.sets(st.sampled_from(NODES)),
        nominated=st.lists(st.tuples(kinds, st.sampled_from(NODES)), max_size=2),
    )
    def begin(self, cordoned: set[str], nominated: list[tuple[Callable[[str], Pod], str]]) -> None:
        for number, name in enumerate(NODES):
            self.set_node(
                make_node(
                    name,
                    zone="ab"[number % 2],
                    cordoned=name in cordoned,
                    pods="4",
                    images={"x:1": 500_000_000} if number % 3 else {},
                )
            )
        for number, (kind, name) in enumerate(nominated):
            pod = kind(f"nominated-{number}")
            status = replace(pod.status, nominated_node_name=name)
            self.nominated.append(replace(pod, status=status))
            self.engine.add(self.nominated[-1])

    @rule(node=nodes)
    def set_node(self, node: Node) -> None:
        self.nodes[node.name] = node
        self.engine.add(node)

    @rule(name=st.sampled_from(NODES))
    def remove_node(self, name: str) -> None:
        self.nodes.pop(name, None)
        self.engine.cluster.remove_node(name)

    @rule(kind=kinds, uid=uids, name=st.sampled_from(NODES))
    def set_pod(self, kind: Callable[[str], Pod], uid: str, name: str) -> None:
        pod = kind(uid)
        info = PodInfo.of(replace(pod, spec=replace(pod.spec, node_name=name)))
        self.pods[uid] = info
        self.assumed.pop(uid, None)
        self.engine.cluster.set_pod(info)

    @rule(uid=uids)
    def remove_pod(self, uid: str) -> None:
        self.pods.pop(uid, None)
        self.assumed.pop(uid, None)
        self.engine.cluster.remove_pod(uid)

    @rule(kind=kinds, count=st.integers(1, 4))
    def place_where_decided(self, kind: Callable[[str], Pod], count: int) -> None:
        for uid in UIDS[:count]:
            self.remove_pod(uid)
            chosen = self.decide(kind, uid)
            if chosen:
                self.pods[uid] = PodInfo.of(kind(uid))
                self.engine.cluster.assume(self.pods[uid], chosen)
                self.assumed[uid] = chosen

    @rule()
    def ask(self) -> None:
        fresh = self.fresh_engine()
        for kind in KINDS:
            self.decide(kind, "asking", fresh)

    def decide(self, kind: Callable[[str], Pod], uid: str, fresh: Offline | None = None) -> str:
        info = PodInfo.of(kind(uid))
        decision = self.engine.decide(info, rank_all=True)
        expected = (fresh or self.fresh_engine()).decide(info, rank_all=True)
        assert decision.error is None
        assert answers(decision) == answers(expected)
        best = decision.best()
        assert decision.chosen in best if best else not decision.chosen
        return decision.chosen

    def fresh_engine(self) -> Offline:
        fresh = engine()
        for obj in (*self.nodes.values(), *self.nominated):
            fresh.add(obj)
        for uid, info in self.pods.items():
            if uid in self.assumed:
                fresh.cluster.assume(info, self.assumed[uid])
            else:
                fresh.cluster.set_pod(info)
        return fresh


TestMemory = Memory.TestCase
TestMemory.settings = settings(max_examples=40, stateful_step_count=30)
