"""Every check of the demo fails when a placement is wrong, and says which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec.structs import replace as with_fields

from berthing.demo import checks
from berthing.demo.checks import Check
from berthing.demo.outcome import Outcome
from demo.outcomes import changed, first, moved, node_where, the_outcome

Judge = Callable[[Outcome], Check]
Tamper = Callable[[Outcome], Outcome]


def without_a_pod(outcome: Outcome) -> Outcome:
    lost = first(outcome, "web")
    return replace(outcome, pods=tuple(each for each in outcome.pods if each is not lost))


def bound_twice(outcome: Outcome) -> Outcome:
    seen = first(outcome, "api")
    return changed(outcome, seen, placements=[*seen.placements, *seen.placements])


def a_job_that_never_ended(outcome: Outcome) -> Outcome:
    seen = next(outcome.of("reports"))
    status = with_fields(seen.pod.status, phase="Running")
    return changed(outcome, seen, pod=with_fields(seen.pod, status=status))


def all_workers_on_one_node(outcome: Outcome) -> Outcome:
    name = first(outcome, "workers").node_name
    for seen in list(outcome.of("workers")):
        outcome = moved(outcome, seen, name) if seen.is_live else outcome
    return outcome


def too_full_for_a_moment(outcome: Outcome) -> Outcome:
    report = next(outcome.of("reports"))
    crawler = next(each for each in outcome.of("crawler") if each.node_name == report.node_name)
    return moved(outcome, report, report.node_name, at=crawler.placements[0].at)


def on_a_gpu_node(outcome: Outcome) -> Outcome:
    return moved(
        outcome,
        first(outcome, "web"),
        node_where(outcome, lambda node: "nvidia.com/gpu" in node.offers),
    )


def on_a_cordoned_node(outcome: Outcome) -> Outcome:
    cordoned = node_where(outcome, lambda seen: seen.node.spec.unschedulable)
    return moved(outcome, first(outcome, "web"), cordoned)


def on_a_node_that_was_cordoned_then(outcome: Outcome) -> Outcome:
    seen = next(outcome.of("payroll"))
    place = seen.placements[0]
    assert place.node is not None
    spec = with_fields(place.node.spec, unschedulable=True)
    then = replace(place, node=with_fields(place.node, spec=spec))
    return changed(outcome, seen, placements=[then])


def out_of_its_pool(outcome: Outcome) -> Outcome:
    name = first(outcome, "web").node_name
    return moved(outcome, next(outcome.of("crawler")), name)


def on_no_node(outcome: Outcome) -> Outcome:
    seen = first(outcome, "web")
    return changed(outcome, seen, placements=[replace(seen.placements[0], node=None)])


def too_many_in_one_zone(outcome: Outcome) -> Outcome:
    there = [each for each in outcome.of("web") if each.node_name.startswith("zone-a")]
    for seen in there[:2]:
        outcome = moved(outcome, seen, first(outcome, "workers").node_name)
    return outcome


def too_many_on_one_node(outcome: Outcome) -> Outcome:
    one, other = first(outcome, "payments"), first(outcome, "payments", -1)
    assert one.node_name != other.node_name
    for seen in [each for each in outcome.of("payments") if each.node_name == other.node_name]:
        outcome = moved(outcome, seen, one.node_name)
    return outcome


def rivals_together(outcome: Outcome) -> Outcome:
    return moved(outcome, first(outcome, "database"), first(outcome, "database", 1).node_name)


def alone(outcome: Outcome) -> Outcome:
    caches = {each.node_name for each in outcome.of("cache")}
    elsewhere = node_where(outcome, lambda seen: seen.node.name not in caches)
    return moved(outcome, first(outcome, "sessions"), elsewhere)


def behind_its_gate(outcome: Outcome) -> Outcome:
    seen = first(outcome, "season")
    place = replace(seen.placements[0], was_gated=True)
    return changed(outcome, seen, placements=[place])


def before_the_gate_opened(outcome: Outcome) -> Outcome:
    seen = first(outcome, "season")
    return moved(outcome, seen, seen.node_name, at=outcome.gate_opened_at - 0.001)


def the_less_important_first(outcome: Outcome) -> Outcome:
    report = next(outcome.of("reports"))
    last = max(each.placements[0].at for each in outcome.of("payroll"))
    return moved(outcome, report, report.node_name, at=last - 1e-9)


def before_there_was_room(outcome: Outcome) -> Outcome:
    report = next(outcome.of("reports"))
    return moved(outcome, report, report.node_name, at=report.created_at)


def not_replaced(outcome: Outcome) -> Outcome:
    assert outcome.death is not None
    seen = max(outcome.of("database"), key=lambda each: each.created_at)
    return changed(outcome, seen, placements=[])


def still_there(outcome: Outcome) -> Outcome:
    assert outcome.death is not None
    return changed(outcome, outcome.death.lost[0], over_at=None)


def no_death(outcome: Outcome) -> Outcome:
    return replace(outcome, death=None)


def placed_against_all_odds(outcome: Outcome) -> Outcome:
    trainer = next(outcome.of("trainer"))
    there = first(outcome, "inference").placements
    return changed(outcome, trainer, placements=there)


def told_wrongly(outcome: Outcome) -> Outcome:
    trainer = next(outcome.of("trainer"))
    (condition,) = trainer.pod.status.conditions
    wrong = with_fields(condition, message=condition.message.replace("1 Insuff", "2 Insuff"))
    status = with_fields(trainer.pod.status, conditions=(wrong,))
    return changed(outcome, trainer, pod=with_fields(trainer.pod, status=status))


def no_event(outcome: Outcome) -> Outcome:
    return replace(outcome, failures={})


def the_wrong_event(outcome: Outcome) -> Outcome:
    (event,) = (each for key, each in outcome.failures.items() if key == "default/trainer")
    wrong = with_fields(event, note="0/3 nodes are available: 3 Insufficient cpu.")
    return replace(outcome, failures={"default/trainer": wrong})


CASES: tuple[tuple[Judge, Tamper, str], ...] = (
    (checks.all_placed, without_a_pod, "web: 53 of 54"),
    (checks.all_placed, bound_twice, "was bound 2 times"),
    (checks.all_placed, a_job_that_never_ended, "reports: 7 of 8"),
    (checks.nodes_not_overfull, all_workers_on_one_node, ": cpu "),
    (checks.nodes_not_overfull, too_full_for_a_moment, ": cpu "),
    (checks.pods_allowed_on_nodes, on_a_gpu_node, "node(s) had untolerated taint(s)"),
    (checks.pods_allowed_on_nodes, on_a_cordoned_node, "node(s) were unschedulable"),
    (checks.pods_allowed_on_nodes, on_a_node_that_was_cordoned_then, "node(s) were unschedulable"),
    (checks.pods_allowed_on_nodes, out_of_its_pool, "didn't match Pod's node affinity/selector"),
    (checks.pods_allowed_on_nodes, on_no_node, "no such node"),
    (checks.zones_and_nodes_even, too_many_in_one_zone, "web over topology.kubernetes.io/zone"),
    (checks.zones_and_nodes_even, too_many_on_one_node, "payments over kubernetes.io/hostname"),
    (checks.rivals_apart, rivals_together, "2 database pods on zone-"),
    (checks.followers_beside, alone, "without cache"),
    (checks.gates_respected, behind_its_gate, "was placed behind its gate"),
    (checks.gates_respected, before_the_gate_opened, "was placed behind its gate"),
    (checks.important_first, the_less_important_first, "came before payroll-"),
    (checks.room_used_again, before_there_was_room, "nobody had made room"),
    (checks.lost_pods_replaced, not_replaced, "database: 0 of 1 placed again"),
    (checks.lost_pods_replaced, still_there, "is still counted"),
    (checks.lost_pods_replaced, no_death, "no node died"),
    (checks.hopeless_pod_told, placed_against_all_odds, "should wait for a node"),
    (checks.hopeless_pod_told, told_wrongly, "its condition says"),
    (checks.hopeless_pod_told, no_event, "it has no event FailedScheduling"),
    (checks.hopeless_pod_told, the_wrong_event, "its event says"),
)


@pytest.mark.parametrize(
    ("judge", "tamper", "fault"),
    [pytest.param(*case, id=case[1].__name__) for case in CASES],
)
def test_what_is_wrong_is_found(judge: Judge, tamper: Tamper, fault: str) -> None:
    outcome = the_outcome()
    assert judge(outcome).faults == ()
    assert fault in " | ".join(judge(tamper(outcome)).faults)


def test_every_check_can_fail() -> None:
    assert {judge for judge, _, _ in CASES} == set(checks._CHECKS)
