"""How things must stand once all is well again: an independent word on every pod.

The judge looks at the server alone, and decides anew about each pod that has no node, with the same
profiles and a scheduler that has seen nothing of what happened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from berthing.api.events import Event
from berthing.api.kinds import KINDS, kind_of
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.config.features import FeatureGates
from berthing.config.load import EffectiveProfile
from berthing.embedded.store import Store
from berthing.queue.queued_pod import Place
from berthing.scheduler.offline import Offline
from berthing.scheduler.registry import Registry
from berthing.scheduler.scheduler import Scheduler
from berthing.serving.process import SchedulerProcess
from berthing.simulate.faults.pods import OURS


def unsettled(
    store: Store,
    process: SchedulerProcess,
    profiles: tuple[EffectiveProfile, ...],
    registry: Registry,
    outlived: Collection[str],
) -> Iterator[str]:
    """What is not yet as it has to be in the end.

    outlived  uids of pods whose status had words from a process after its end; who came after it may
              not have seen them in time
    """
    pods = [each.object for each in store.all(kind_of(Pod)) if isinstance(each.object, Pod)]
    told = process.informers["Pod"].objects
    alive = {pod.key: pod.metadata.resource_version for pod in pods if not pod.is_terminal}
    if alive != {key: pod.metadata.resource_version for key, pod in told.items()}:
        yield "the scheduler has not seen all pods as they are"
    scheduler = process.scheduler
    for info, node_name, is_assumed in scheduler.cluster.placed():
        if is_assumed:
            yield f"{info.key} is still assumed on {node_name}"
    waiting = [pod for pod in pods if _is_waiting(pod)]
    if waiting:
        judge = _judge(store, profiles, registry)
        for pod in waiting:
            expected = "" if pod.metadata.uid in outlived else _last_word(pod, scheduler)
            yield from _unsettled_pod(pod, scheduler, judge, expected)
    yield from _untold(store, waiting)


def _is_waiting(pod: Pod) -> bool:
    return (
        pod.spec.scheduler_name in OURS
        and not pod.spec.node_name
        and not pod.is_terminal
        and pod.metadata.deletion_timestamp is None
    )


def _judge(store: Store, profiles: tuple[EffectiveProfile, ...], registry: Registry) -> Offline:
    judge = Offline(profiles, registry=registry, gates=FeatureGates())
    for kind in KINDS:
        if kind.type is not Event:
            for stored in store.all(kind):
                judge.add(stored.object)
    return judge


def _unsettled_pod(pod: Pod, scheduler: Scheduler, judge: Offline, expected: str) -> Iterator[str]:
    queued = scheduler.queue.get(pod.metadata.uid)
    if queued is None:
        yield f"{pod.key} is not in the queue"
        return
    yield from _nominated_elsewhere(pod, scheduler)
    if pod.spec.scheduling_gates:
        if not queued.gating_plugin:
            yield f"{pod.key} has gates, and is {queued.place}"
        return
    # Whether a gated pod's nomination counts depends on when it was made, which only the queue knows.
    decision = judge.decide(PodInfo.of(pod), nominations=scheduler.queue.nominator.by_node)
    if decision.chosen:
        yield f"{pod.key} is {queued.place}, for {sorted(queued.rejectors)}, and fits on {decision.chosen}"
    elif queued.place is not Place.UNSCHEDULABLE and decision.feasible.size:
        yield f"{pod.key} is {queued.place}"
    else:
        yield from _unsaid(pod, expected)


def _unsaid(pod: Pod, expected: str) -> Iterator[str]:
    """What users are not told about a pod that fits nowhere."""
    condition = pod.condition("PodScheduled")
    if condition is None or condition.status != "False" or condition.reason != "Unschedulable":
        yield f"{pod.key} does not fit, and its condition is {condition}"
    elif not condition.message.startswith(expected):
        yield f"{pod.key} says {condition.message!r}, and was told {expected!r}"


def _nominated_elsewhere(pod: Pod, scheduler: Scheduler) -> Iterator[str]:
    """Where the queue and the pod's status do not agree."""
    status = pod.status.nominated_node_name
    nominated = scheduler.queue.nominator.node_of(pod.metadata.uid) or ""
    if nominated != status and (nominated or not pod.spec.scheduling_gates):
        yield f"{pod.key} is nominated to {status!r}, we think {nominated!r}"


def _last_word(pod: Pod, scheduler: Scheduler) -> str:
    """How the message begins with which the last attempt ended, as far as that is known."""
    decision = scheduler.decision(pod.key)
    is_known = (
        decision is not None
        and decision.pod.uid == pod.metadata.uid
        # Permit may have turned it back from there; without any node no decision is made.
        and not decision.chosen
        and len(scheduler.cluster.nodes) > 0
    )
    return decision.message if is_known and decision else ""


def _untold(store: Store, waiting: list[Pod]) -> Iterator[str]:
    """Events that nobody wrote."""
    told = {
        (each.object.regarding.uid, each.object.reason)
        for each in store.all(kind_of(Event))
        if isinstance(each.object, Event)
    }
    for pod in waiting:
        is_gated = pod.spec.scheduling_gates
        if not is_gated and (pod.metadata.uid, "FailedScheduling") not in told:
            yield f"no event tells that {pod.key} does not fit"
