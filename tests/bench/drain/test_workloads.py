"""What is placed: pods and nodes as an API server takes them."""

from __future__ import annotations

import pytest

from berthing.api.pod import Pod
from berthing.bench.drain.errors import DrainError
from berthing.bench.drain.workloads import (
    DRAIN_WORKLOADS,
    check_room,
    empty_nodes,
    running_pods,
    waiting_pods,
)
from berthing.testing import ZONE


def places(pods: list[Pod]) -> set[tuple[str, str, bool]]:
    return {(pod.namespace, pod.spec.scheduler_name, bool(pod.spec.node_name)) for pod in pods}


@pytest.mark.parametrize("name", [each.name for each in DRAIN_WORKLOADS])
def test_waiting_pods_are_for_the_scheduler_that_is_measured(name: str) -> None:
    pods = list(waiting_pods(name, 5))
    assert len({pod.name for pod in pods}) == 5
    assert places(pods) == {("drain-waiting", "drain", False)}


def test_running_pods_have_nodes() -> None:
    pods = list(running_pods(60, nodes=7))
    assert len({pod.name for pod in pods}) == 60
    assert places(pods) == {("drain-running", "default-scheduler", True)}


def test_an_api_server_gives_uids_itself_and_wants_images() -> None:
    pods = [*waiting_pods("plain", 3), *running_pods(3, nodes=3)]
    objects = [*pods, *empty_nodes(3)]
    assert {obj.metadata.uid for obj in objects} == {""}
    assert all(container.image for pod in pods for container in pod.spec.containers)


def test_near_by_zone() -> None:
    [pod] = waiting_pods("preferred-zone-affinity", 1)
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.pod_affinity is not None
    [term] = pod.spec.affinity.pod_affinity.preferred
    assert term.pod_affinity_term.topology_key == ZONE


def test_pods_that_keep_off_each_other_need_a_node_each() -> None:
    check_room("anti-affinity", 50, running=100, nodes=50)
    with pytest.raises(DrainError, match="give --pods 50 or less"):
        check_room("anti-affinity", 51, running=0, nodes=50)
