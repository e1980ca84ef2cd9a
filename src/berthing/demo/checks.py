"""Whether every placement is as it should be: plain Python that judges by what the witness saw.

None of this asks the scheduler, or uses any of its parts: what pods ask for is read in their
manifests, what became of them in the witness's notes.  A check says what it found wrong, in words,
and if nothing is, the figure that it is proud of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Final

import msgspec

from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.demo.machines import GPU
from berthing.demo.outcome import Outcome
from berthing.demo.witness import NodeSeen, PodSeen, requests
from berthing.demo.workloads import NAMESPACE

_HARD: Final = ("NoSchedule", "NoExecute")


class Check(msgspec.Struct, frozen=True):
    """Something that must be so."""

    name: str
    figure: str
    faults: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it is so."""
        return not self.faults


def checks(outcome: Outcome) -> tuple[Check, ...]:
    """All there is to check."""
    return tuple(check(outcome) for check in _CHECKS)


def all_placed(outcome: Outcome) -> Check:
    """Every app has its pods, or had them until it was told otherwise; none was bound twice."""
    faults: list[str] = []
    for app in outcome.workloads.all:
        if app == outcome.workloads.trainer:
            continue
        pods = list(outcome.of(app.name))
        if app == outcome.workloads.crawler:
            good = sum(bool(each.placements) and not each.is_live for each in pods)
        elif app.is_job:
            good = sum(each.pod.status.phase == "Succeeded" for each in pods)
        else:
            good = sum(each.is_live and bool(each.placements) for each in pods)
        if good != app.replicas:
            faults.append(f"{app.name}: {good} of {app.replicas}")
    faults += [
        f"{each.pod.name} was bound {len(each.placements)} times"
        for each in outcome.placed
        if len(each.placements) > 1
    ]
    count = sum(len(each.placements) for each in outcome.placed)
    return Check("all pods placed, each once", f"{count:,} bindings", tuple(faults))


def nodes_not_overfull(outcome: Outcome) -> Check:
    """At no time did a node hold more than it offers."""
    changes: list[tuple[float, int, PodSeen]] = []
    for each in outcome.placed:
        changes += [(place.at, 1, each) for place in each.placements]
        if each.over_at is not None:
            changes.append((each.over_at, -1, each))
    used: dict[str, Counter[str]] = {}
    faults: list[str] = []
    fullest = (0.0, "", "")
    # What ends at some moment makes room for what begins at that moment.
    for _, sign, seen in sorted(changes, key=lambda change: change[:2]):
        name = seen.node_name
        on_node = used.setdefault(name, Counter())
        for resource, amount in seen.wants.items():
            on_node[resource] += sign * amount
        offered = outcome.nodes[name].offers if name in outcome.nodes else {}
        for resource, amount in on_node.items():
            if amount > offered.get(resource, 0):
                faults.append(f"{name}: {resource} {amount} of {offered.get(resource, 0)}")
            elif resource != "pods" and offered.get(resource):
                fullest = max(fullest, (amount / offered[resource], resource, name))
    figure = f"fullest: {fullest[2]}, {fullest[0]:.0%} of its {fullest[1].rpartition('/')[2]}"
    return Check("no node ever overfull", figure, tuple(faults))


def pods_allowed_on_nodes(outcome: Outcome) -> Check:
    """No pod came to a node that is cordoned, tainted against it, or not of its choice."""
    faults = [
        f"{each.pod.name} on {place.node_name}: {fault}"
        for each in outcome.placed
        for place in each.placements
        if (fault := _not_allowed(each.pod, place.node))
    ]
    gpu_pods = [each for each in outcome.placed if GPU in each.wants]
    gpu_nodes = {each.node_name for each in gpu_pods}
    figure = f"{len(gpu_pods)} GPU pods on {len(gpu_nodes)} GPU nodes"
    return Check("taints, cordons, selectors kept", figure, tuple(faults))


def zones_and_nodes_even(outcome: Outcome) -> Check:
    """Pods with hard spread constraints are as even as these say."""
    faults: list[str] = []
    skews: list[int] = []
    for app in outcome.workloads.all:
        pods = [each for each in outcome.of(app.name) if each.is_live and each.placements]
        if not pods:
            continue
        for constraint in pods[0].pod.spec.topology_spread_constraints:
            counts = _domains(outcome, pods[0].pod, constraint.topology_key)
            for each in pods:
                node = outcome.nodes[each.node_name].node
                counts[node.metadata.labels.get(constraint.topology_key, "")] += 1
            skew = max(counts.values()) - min(counts.values())
            skews.append(skew)
            if skew > constraint.max_skew:
                shown = "/".join(str(count) for _, count in sorted(counts.items()))
                faults.append(f"{app.name} over {constraint.topology_key}: {shown}")
    figure = f"{len(skews)} constraints, largest skew {max(skews, default=0)}"
    return Check("services spread evenly", figure, tuple(faults))


def rivals_apart(outcome: Outcome) -> Check:
    """Pods with anti-affinity by node have no other of theirs on their node."""
    faults: list[str] = []
    figures: list[str] = []
    for app in outcome.workloads.all:
        if not app.is_apart:
            continue
        on_nodes = Counter(
            each.node_name for each in outcome.of(app.name) if each.is_live and each.placements
        )
        figures.append(f"{on_nodes.total()} {app.name} on {len(on_nodes)}")
        faults += [f"{n} {app.name} pods on {node}" for node, n in on_nodes.items() if n > 1]
    return Check("anti-affinity kept", f"{', '.join(figures)} nodes", tuple(faults))


def followers_beside(outcome: Outcome) -> Check:
    """Pods with affinity by node have one of whom they want there."""
    faults: list[str] = []
    figures: list[str] = []
    for app in outcome.workloads.all:
        if not app.beside:
            continue
        there = {each.node_name for each in outcome.of(app.beside) if each.is_live}
        pods = [each for each in outcome.of(app.name) if each.is_live and each.placements]
        figures.append(f"{len(pods)} {app.name} beside a {app.beside}")
        faults += [
            f"{each.pod.name} on {each.node_name} without {app.beside}"
            for each in pods
            if each.node_name not in there
        ]
    return Check("affinity kept", ", ".join(figures), tuple(faults))


def gates_respected(outcome: Outcome) -> Check:
    """No gated pod was placed before it was let go."""
    pods = list(outcome.of(outcome.workloads.season.name))
    faults = [
        f"{each.pod.name} was placed behind its gate"
        for each in pods
        if each.placements
        and (each.placements[0].was_gated or each.placements[0].at < outcome.gate_opened_at)
    ]
    held = sum(each.created_at < outcome.gate_opened_at for each in pods)
    figure = f"{held} pods held back, then let go"
    return Check("gates respected", figure, tuple(faults))


def important_first(outcome: Outcome) -> Check:
    """Where both waited for room, the urgent pods got it first."""
    urgent = [each for each in outcome.of(outcome.workloads.payroll.name) if each.placements]
    others = [each for each in outcome.of(outcome.workloads.reports.name) if each.placements]
    faults: list[str] = []
    overtaken: set[int] = set()
    for first in urgent:
        came, got = first.created_at, first.placements[0].at
        for other in others:
            if other.created_at < came < other.placements[0].at:
                overtaken.add(id(other))
                if other.placements[0].at < got:
                    faults.append(f"{other.pod.name} came before {first.pod.name}")
    if not overtaken:
        faults.append("nobody was overtaken")
    figure = f"{len(urgent)} urgent pods overtook {len(overtaken)}"
    return Check("priority respected", figure, tuple(faults))


def room_used_again(outcome: Outcome) -> Check:
    """Jobs that found no room were placed when others were over, on the nodes of these."""
    jobs = list(outcome.of(outcome.workloads.reports.name))
    before_them = (outcome.workloads.crawler.name, outcome.workloads.payroll.name)
    others = [*jobs, *outcome.of(*before_them)]
    late = [each for each in jobs if each.refused_at is not None and each.placements]
    faults: list[str] = []
    delays: list[float] = []
    for each in late:
        place = each.placements[0]
        before = [
            other.over_at
            for other in others
            if other.node_name == place.node_name
            and other.over_at is not None
            and other.over_at <= place.at
        ]
        if before:
            delays.append(place.at - max(before))
        else:
            faults.append(f"{each.pod.name}: nobody had made room on {place.node_name}")
    if not late:
        faults.append("nobody waited for room")
    typical = f"{median(delays) * 1000:.0f} ms" if delays else "never"
    figure = f"{len(late)} waited; {typical} from room to placement"
    return Check("room used again", figure, tuple(faults))


def lost_pods_replaced(outcome: Outcome) -> Check:
    """What a dying node took with it runs elsewhere."""
    name = "a dead node's pods replaced"
    death = outcome.death
    if death is None:
        return Check(name, "", ("no node died",))
    faults = [
        f"{each.pod.name} is still counted on {death.node_name}"
        for each in outcome.pods
        if each.node_name == death.node_name and each.over_at is None
    ]
    last = death.at
    for app, count in Counter(each.app for each in death.lost).items():
        came = sorted(
            each.placements[0].at
            for each in outcome.of(app)
            if each.created_at > death.at and each.placements and each.node_name != death.node_name
        )
        if len(came) < count:
            faults.append(f"{app}: {len(came)} of {count} placed again")
        last = max(last, *came, death.at)
    figure = f"{len(death.lost)} of {death.node_name}, {last - death.at:.1f} s after it died"
    return Check(name, figure, tuple(faults))


def hopeless_pod_told(outcome: Outcome) -> Check:
    """The pod that cannot fit waits, and its event and condition say why, to the last number."""
    name = "told why one cannot fit"
    app = outcome.workloads.trainer
    pods = list(outcome.of(app.name))
    if len(pods) != 1 or pods[0].placements:
        return Check(name, "", (f"{app.name} should wait for a node",))
    pod = pods[0].pod
    expected = why_not(pod, outcome)
    condition = pod.condition("PodScheduled")
    event = outcome.failures.get(f"{NAMESPACE}/{app.name}")
    faults: list[str] = []
    if condition is None or (condition.status, condition.reason) != ("False", "Unschedulable"):
        faults.append("it has no condition PodScheduled=False, Unschedulable")
    elif condition.message != expected:
        faults.append(f"its condition says {condition.message!r} rather than {expected!r}")
    if event is None:
        faults.append("it has no event FailedScheduling")
    elif event.note != expected:
        faults.append(f"its event says {event.note!r} rather than {expected!r}")
    figure = f"{NAMESPACE}/{app.name}: event and condition right"
    return Check(name, figure, tuple(faults))


_CHECKS: Final[tuple[Callable[[Outcome], Check], ...]] = (
    all_placed,
    nodes_not_overfull,
    pods_allowed_on_nodes,
    zones_and_nodes_even,
    rivals_apart,
    followers_beside,
    gates_respected,
    important_first,
    room_used_again,
    lost_pods_replaced,
    hopeless_pod_told,
)


def why_not(pod: Pod, outcome: Outcome) -> str:
    """What kube-scheduler says of a pod that fits nowhere and could evict nobody."""
    nodes = outcome.living_nodes
    reasons: Counter[str] = Counter()
    helped: Counter[str] = Counter()
    for name, seen in nodes.items():
        fault = _not_allowed(pod, seen.node)
        if fault:
            reasons[fault] += 1
            helped["Preemption is not helpful for scheduling"] += 1
            continue
        offered = seen.offers
        taken = _taken(outcome, name)
        short = [
            resource
            for resource, amount in requests(pod).items()
            if amount > offered.get(resource, 0) - taken[resource]
        ]
        reasons.update(
            "Too many pods" if resource == "pods" else f"Insufficient {resource}"
            for resource in short
        )
        never = any(requests(pod)[resource] > offered.get(resource, 0) for resource in short)
        if never:
            helped["Preemption is not helpful for scheduling"] += 1
        else:
            helped["No preemption victims found for incoming pod"] += 1
    head = f"0/{len(nodes)} nodes are available: "
    # What DynamicResources says of every pod without claims.
    no_claims = "no new claims to deallocate"
    return f"{head}{_listed(reasons)}. {no_claims}, preemption: {head}{_listed(helped)}."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))


def _taken(outcome: Outcome, node_name: str) -> Counter[str]:
    taken: Counter[str] = Counter()
    for each in outcome.placed:
        if each.node_name == node_name and each.over_at is None:
            taken.update(each.wants)
    return taken


def _not_allowed(pod: Pod, node: Node | None) -> str:
    """What speaks against a pod on a node, whatever room there is, in kube-scheduler's words."""
    if node is None:
        return "no such node"
    if node.spec.unschedulable:
        return "node(s) were unschedulable"
    for taint in node.spec.taints:
        if taint.effect in _HARD and not any(
            (each.key, each.operator) == (taint.key, "Exists") for each in pod.spec.tolerations
        ):
            return "node(s) had untolerated taint(s)"
    if not _chooses(pod, node):
        return "node(s) didn't match Pod's node affinity/selector"
    return ""


def _chooses(pod: Pod, node: Node) -> bool:
    labels = node.metadata.labels
    return all(labels.get(key) == value for key, value in pod.spec.node_selector.items())


def _domains(outcome: Outcome, pod: Pod, key: str) -> Counter[str]:
    """The values over which a pod is spread, none counted yet."""
    nodes: Iterable[NodeSeen] = outcome.living_nodes.values()
    return Counter(
        {each.node.metadata.labels.get(key, ""): 0 for each in nodes if _chooses(pod, each.node)}
    )
