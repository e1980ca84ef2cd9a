"""Affinity to pods of other namespaces, which are chosen by their labels."""

from __future__ import annotations

from berthing.api.pod import Pod
from berthing.testing import make_affinity_term, make_node, make_pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_settled

DATABASE = {"app": "db"}
# Names of their own: nobody takes namespaces away.
TEST, PRODUCTION = "affinity-test", "affinity-prod"


def test_a_pod_waits_for_one_in_a_namespace_with_the_label(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("one"), make_node("two"))
    control_plane.add_namespace(TEST, env="test")
    berthing = start_berthing()
    # One of them comes while the scheduler runs.
    control_plane.add_namespace(PRODUCTION, env="prod")
    term = make_affinity_term(DATABASE, namespace_labels={"env": "prod"})
    control_plane.client.create(make_pod("web", image="app", pod_affinity=[term]))
    berthing.wait_metric("scheduler_unschedulable_pods", 1, plugin="InterPodAffinity")
    control_plane.client.create(database(TEST, "one"))
    berthing.wait_metric("scheduler_cache_size", 1, type="pods")
    control_plane.client.create(database(PRODUCTION, "two"))
    control_plane.client.wait_for(Pod, lambda pods: pods["default/web"].spec.node_name == "two")
    check_settled(berthing, pods=3)
    # The first database did not wake it.
    assert berthing.metric("scheduler_pod_scheduling_attempts_sum") == 2


def database(namespace: str, node_name: str) -> Pod:
    return make_pod("db", namespace=namespace, labels=DATABASE, node_name=node_name, image="app")
