from __future__ import annotations

from datetime import UTC, datetime

import pytest

from berthing.api.decode import decode_object, encode
from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.node_selector import NodeSelectorRequirement
from berthing.api.pod import ContainerPort, Pod, PodCondition, TopologySpreadConstraint
from berthing.api.pod_info import PodInfo
from berthing.api.taints import Taint, Toleration
from berthing.api.volumes import Volume
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_container,
    make_node,
    make_node_term,
    make_owner,
    make_pod,
    make_selector,
    make_spread_constraint,
    make_taint,
    make_toleration,
    tolerate,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class TestPods:
    def test_the_plainest_pod_waits_and_asks_for_nothing(self) -> None:
        pod = make_pod()
        assert (pod.key, pod.status.phase, pod.spec.node_name) == ("default/pod", "Pending", "")
        assert len(pod.spec.containers) == 1
        assert pod.spec.affinity is None
        assert PodInfo.of(pod).requests == {}

    def test_a_pod_with_a_node_runs(self) -> None:
        assert make_pod(node_name="n1").status.phase == "Running"
        assert make_pod(node_name="n1", phase="Succeeded").is_terminal

    def test_equal_calls_make_equal_pods(self) -> None:
        assert make_pod("a", cpu="1") == make_pod("a", cpu="1")
        assert make_pod("a") != make_pod("b")

    def test_pods_of_one_name_in_two_namespaces_are_two(self) -> None:
        assert make_pod(namespace="a").metadata.uid != make_pod(namespace="b").metadata.uid
        assert make_pod(uid="x").metadata.uid == "x"

    def test_its_one_container(self) -> None:
        pod = make_pod(
            cpu="500m",
            memory="1Gi",
            requests={"example.com/gpu": "1"},
            image="web",
            host_ports=[80],
        )
        (container,) = pod.spec.containers
        assert container.image == "web"
        assert PodInfo.of(pod).requests == {
            "cpu": 500,
            "memory": 1 << 30,
            "example.com/gpu": 1,
        }
        assert [port.host_port for port in container.ports] == [80]

    def test_its_containers(self) -> None:
        pod = make_pod(containers=[make_container("a", cpu="1"), make_container("b", cpu="2")])
        assert [container.name for container in pod.spec.containers] == ["a", "b"]

    def test_either_one_container_or_several(self) -> None:
        with pytest.raises(ValueError, match="need either containers or"):
            make_pod(cpu="1", containers=[make_container()])

    def test_rules_of_attraction(self) -> None:
        near, node = make_affinity_term({"app": "a"}), make_node_term({"zone": "a"})
        affinity = make_pod(
            pod_affinity=[near],
            preferred_pod_affinity=[(3, near)],
            pod_anti_affinity=[near],
            preferred_pod_anti_affinity=[(4, near)],
            node_affinity=[node],
            preferred_node_affinity=[(5, node)],
        ).spec.affinity
        assert affinity is not None
        assert affinity.pod_affinity is not None
        assert affinity.pod_anti_affinity is not None
        assert affinity.node_affinity is not None
        assert affinity.node_affinity.required is not None
        assert affinity.pod_affinity.required == affinity.pod_anti_affinity.required == (near,)
        assert affinity.pod_affinity.preferred[0].weight == 3
        assert affinity.pod_anti_affinity.preferred[0].weight == 4
        assert affinity.node_affinity.required.node_selector_terms == (node,)
        assert affinity.node_affinity.preferred[0].weight == 5

    def test_all_the_rest(self) -> None:
        condition = PodCondition(type="PodScheduled", status="False")
        pod = make_pod(
            "web",
            labels={"app": "web"},
            annotations={"note": "x"},
            owner=make_owner("web-rs"),
            created=NOW,
            deleted=NOW,
            overhead={"cpu": "10m"},
            pod_level_requests={"cpu": "2"},
            node_selector={"disk": "ssd"},
            spread=[make_spread_constraint({"app": "web"})],
            tolerations=[make_toleration()],
            claims=["data"],
            volumes=[Volume(name="v")],
            scheduler_name="other",
            priority=7,
            preemption_policy="Never",
            scheduling_gates=["wait"],
            pod_group="gang",
            conditions=[condition],
            nominated_node_name="n2",
            start_time=NOW,
        )
        spec = pod.spec
        assert pod.metadata.labels == {"app": "web"}
        assert pod.metadata.annotations == {"note": "x"}
        assert pod.metadata.controller is not None
        assert pod.metadata.creation_timestamp == pod.metadata.deletion_timestamp == NOW
        assert str(spec.overhead["cpu"]) == "10m"
        assert spec.resources is not None
        assert str(spec.resources.requests["cpu"]) == "2"
        assert spec.node_selector == {"disk": "ssd"}
        assert len(spec.topology_spread_constraints) == len(spec.tolerations) == 1
        assert [volume.name for volume in spec.volumes] == ["data", "v"]
        assert spec.volumes[0].persistent_volume_claim is not None
        assert (spec.scheduler_name, spec.priority, spec.preemption_policy) == ("other", 7, "Never")
        assert [gate.name for gate in spec.scheduling_gates] == ["wait"]
        assert pod.pod_group_name == "gang"
        assert pod.condition("PodScheduled") == condition
        assert (pod.status.nominated_node_name, pod.status.start_time) == ("n2", NOW)

    def test_pods_are_such_as_api_servers_send(self) -> None:
        pod = make_pod(cpu="1", labels={"a": "b"}, node_selector={"c": "d"}, claims=["data"])
        again = decode_object(encode(pod))
        assert isinstance(again, Pod)
        assert again == pod


class TestContainers:
    def test_it_asks_for_nothing_by_default(self) -> None:
        assert make_container().resources.requests == {}
        assert not make_container().restarts_always

    def test_a_sidecar(self) -> None:
        assert make_container(restart_policy="Always").restarts_always

    def test_ports_by_number_or_in_full(self) -> None:
        port = ContainerPort(container_port=53, host_port=53, protocol="UDP")
        container = make_container(host_ports=[80, port])
        assert container.ports == (
            ContainerPort(container_port=80, host_port=80, protocol="TCP"),
            port,
        )

    def test_a_quantity_that_is_none_is_told(self) -> None:
        with pytest.raises(ValueError, match="quantities must match"):
            make_container(cpu="lots")


class TestNodes:
    def test_the_plainest_node_is_ready_and_has_room(self) -> None:
        node = make_node()
        assert node.name == "node"
        assert node.metadata.labels == {HOSTNAME: "node"}
        assert {name: str(amount) for name, amount in node.status.allocatable.items()} == {
            "cpu": "4",
            "memory": "16Gi",
            "pods": "110",
        }
        assert [(each.type, each.status) for each in node.status.conditions] == [("Ready", "True")]
        assert not node.spec.unschedulable

    def test_a_node_with_everything(self) -> None:
        taint = make_taint("gpu")
        node = make_node(
            "n1",
            cpu="8",
            memory="1Gi",
            pods="5",
            resources={"example.com/gpu": "2"},
            labels={"disk": "ssd"},
            zone="a",
            annotations={"note": "x"},
            taints=[taint],
            cordoned=True,
            ready=False,
            images={"web:v1": 100},
            declared_features=["F"],
        )
        assert node.metadata.labels == {HOSTNAME: "n1", ZONE: "a", "disk": "ssd"}
        assert node.metadata.annotations == {"note": "x"}
        assert node.spec.taints == (taint,)
        assert node.spec.unschedulable
        assert node.status.conditions[0].status == "False"
        assert node.status.images[0].names == ("web:v1",)
        assert node.status.images[0].size_bytes == 100
        assert node.status.declared_features == ("F",)
        assert str(node.status.allocatable["example.com/gpu"]) == "2"
        assert decode_object(encode(node)) == node

    def test_labels_have_the_last_word(self) -> None:
        assert make_node("n1", labels={HOSTNAME: "other"}).metadata.labels == {HOSTNAME: "other"}


class TestTaints:
    def test_a_toleration_for_just_one_taint(self) -> None:
        taint = make_taint("gpu", "a100", effect="NoExecute")
        assert taint == Taint("gpu", "a100", "NoExecute")
        assert tolerate(taint).tolerates(taint)
        assert not tolerate(taint).tolerates(make_taint("gpu", "h100", effect="NoExecute"))

    @pytest.mark.parametrize(
        ("toleration", "operator"),
        [
            pytest.param(make_toleration("gpu"), "Exists", id="a key"),
            pytest.param(make_toleration("gpu", value="x"), "Equal", id="a key and a value"),
            pytest.param(make_toleration("n", operator="Gt", value="5"), "Gt", id="as told"),
        ],
    )
    def test_the_operator_follows_the_value(self, toleration: Toleration, operator: str) -> None:
        assert toleration.operator == operator

    def test_by_default_everything_is_tolerated(self) -> None:
        assert make_toleration().tolerates(make_taint("any", "thing"))


class TestTerms:
    def test_selectors(self) -> None:
        assert make_selector({"a": "b", "c": ("d", "e")}, absent=["f"]) == LabelSelector(
            match_labels={"a": "b"},
            match_expressions=(
                LabelSelectorRequirement("c", "In", ("d", "e")),
                LabelSelectorRequirement("f", "DoesNotExist"),
            ),
        )

    def test_affinity_terms_mean_the_same_node_by_default(self) -> None:
        term = make_affinity_term({"app": "web"})
        assert term.topology_key == HOSTNAME
        assert term.label_selector == LabelSelector(match_labels={"app": "web"})
        assert (term.namespaces, term.namespace_selector) == ((), None)

    def test_affinity_terms_in_full(self) -> None:
        selector = make_selector({}, absent=["x"])
        term = make_affinity_term(
            selector, topology_key=ZONE, namespaces=["a"], namespace_labels={"team": "b"}
        )
        assert term.label_selector is selector
        assert term.namespace_selector == make_selector({"team": "b"})
        assert (term.topology_key, term.namespaces) == (ZONE, ("a",))

    def test_node_terms(self) -> None:
        above = NodeSelectorRequirement("cores", "Gt", ("8",))
        term = make_node_term({"zone": "a", "disk": ["ssd", "nvme"]}, expressions=[above])
        assert [(each.key, each.operator, each.values) for each in term.match_expressions] == [
            ("zone", "In", ("a",)),
            ("disk", "In", ("ssd", "nvme")),
            ("cores", "Gt", ("8",)),
        ]
        assert term.match_fields == ()
        by_name = make_node_term(node_name="n1")
        assert by_name.match_fields == (NodeSelectorRequirement("metadata.name", "In", ("n1",)),)

    def test_spread_constraints_spread_over_zones_by_default(self) -> None:
        assert make_spread_constraint({"app": "web"}) == TopologySpreadConstraint(
            max_skew=1,
            topology_key=ZONE,
            when_unsatisfiable="DoNotSchedule",
            label_selector=make_selector({"app": "web"}),
        )

    def test_spread_constraints_in_full(self) -> None:
        constraint = make_spread_constraint(
            {},
            topology_key=HOSTNAME,
            max_skew=2,
            when_unsatisfiable="ScheduleAnyway",
            min_domains=3,
            node_affinity_policy="Ignore",
            node_taints_policy="Honor",
            match_label_keys=["hash"],
        )
        assert (constraint.max_skew, constraint.min_domains) == (2, 3)
        assert constraint.match_label_keys == ("hash",)
        assert (constraint.node_affinity_policy, constraint.node_taints_policy) == (
            "Ignore",
            "Honor",
        )
