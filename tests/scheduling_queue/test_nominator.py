"""Nominations: in memory, by status, and never for a pod that needs no room."""

from __future__ import annotations

from berthing.api.pod_info import PodInfo
from berthing.queue.nominator import Nominator
from scheduling_queue.queues import pod


def by_node(nominator: Nominator) -> dict[str, list[str]]:
    return {node: [each.pod.name for each in pods] for node, pods in nominator.by_node.items()}


def nominator_of(*pods: PodInfo) -> Nominator:
    return Nominator({each.uid for each in pods})


def test_a_pod_is_nominated_by_what_it_is_told_or_by_its_status() -> None:
    told, by_status, neither = pod("told"), pod("b", nominated_node_name="n"), pod("neither")
    nominator = nominator_of(told, by_status, neither)
    nominator.add(told, "n")
    nominator.add(by_status)
    nominator.add(neither)
    assert by_node(nominator) == {"n": ["told", "b"]}


def test_a_new_nomination_takes_the_place_of_the_old_one() -> None:
    nominator = nominator_of(a := pod())
    nominator.add(a, "n")
    nominator.add(a, "m")
    assert by_node(nominator) == {"m": ["a"]}


def test_a_nomination_that_is_taken_back_leaves_nothing_to_look_through() -> None:
    nominator = nominator_of(a := pod(nominated_node_name="n"))
    nominator.add(a)
    nominator.add(a, "")
    assert not nominator.by_node
    assert nominator.node_of(a.uid) == ""


def test_a_pod_that_is_gone_or_bound_is_not_nominated() -> None:
    nominator = nominator_of()
    nominator.add(pod(), "n")
    assert not nominator.by_node


def test_an_update_that_says_nothing_keeps_what_is_known_here_alone() -> None:
    nominator = nominator_of(a := pod())
    nominator.add(a, "n")
    newer = pod(labels={"new": "yes"})
    nominator.update(a.pod, newer)
    assert nominator.by_node["n"] == [newer]


def test_an_update_of_the_status_has_the_last_word() -> None:
    nominated, cleared = pod(nominated_node_name="n"), pod()
    nominator = nominator_of(nominated)
    nominator.add(nominated, "m")
    nominator.update(nominated.pod, cleared)
    assert not nominator.by_node
    nominator.update(cleared.pod, nominated)
    assert by_node(nominator) == {"n": ["a"]}


def test_deleting_what_is_not_there_is_nothing() -> None:
    nominator = nominator_of(a := pod())
    nominator.delete(a.uid)
    nominator.add(a, "n")
    nominator.delete(a.uid)
    assert not nominator.by_node
