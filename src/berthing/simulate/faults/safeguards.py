"""What keeps pods safe, each taken away by itself: then some seed has to fail.

A check that nothing can fail shows nothing.  Here is the other half of every promise: the part of
the scheduler that keeps it, and how it would look without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import NoneType
from typing import Any, Final

import msgspec

from berthing.api.pod import Pod
from berthing.client import informer, known_objects, pod_writer
from berthing.client.known_objects import KnownObjects
from berthing.client.pod_writer import PodWriter
from berthing.cluster.cluster import Cluster
from berthing.queue.in_flight import InFlight
from berthing.queue.queued_pod import QueuedPod
from berthing.queue.scheduling_queue import SchedulingQueue
from berthing.scheduler.schedule_one import Attempt, ScheduleOne
from berthing.scheduler.status_writes import StatusWrites

# Of a class or module: the name of a part of it, and what takes its place.
_Swap = tuple[object, str, Callable[..., Any]]


class Safeguard(msgspec.Struct, frozen=True):
    """A part of the scheduler, and what goes wrong without it."""

    name: str
    keeps: str
    swaps: tuple[_Swap, ...]

    @contextmanager
    def taken_away(self) -> Iterator[None]:
        """Do without it for a while."""
        kept = [(owner, name, getattr(owner, name)) for owner, name, _ in self.swaps]
        try:
            for owner, name, instead in self.swaps:
                setattr(owner, name, instead)
            yield
        finally:
            for owner, name, part in kept:
                setattr(owner, name, part)


def _nothing(*_args: object, **_kwargs: object) -> None:
    return None


async def _nothing_to_wait_for(*_args: object, **_kwargs: object) -> None:
    return None


async def _bind_once(self: PodWriter, pod: Pod, node_name: str) -> None:
    await self._client.request(
        "POST",
        f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}/binding",
        body=pod_writer._binding(pod, node_name),  # noqa: SLF001  # in its place
        type_=NoneType,
    )


_binding: Final = pod_writer._binding  # noqa: SLF001  # the part itself


def _binding_of_any(pod: Pod, node_name: str) -> object:
    binding = _binding(pod, node_name)
    metadata = msgspec.structs.replace(binding.metadata, uid="")
    return msgspec.structs.replace(binding, metadata=metadata)


def _unreserve_alone(_self: ScheduleOne, attempt: Attempt) -> None:
    attempt.runtime.unreserve(attempt.state, attempt.pod, attempt.node_name)


def _drop(self: SchedulingQueue, queued: QueuedPod, **_kwargs: object) -> bool:
    self.done(queued.uid)
    return False


_ALL: Final = (
    Safeguard(
        "look-up",
        "a binding whose answer is lost is looked up before the node is given to others",
        ((PodWriter, "bind_pod", _bind_once),),
    ),
    Safeguard(
        "uid",
        "a binding is for this pod, not for another that has taken its name",
        ((pod_writer, "_binding", _binding_of_any),),
    ),
    Safeguard(
        "assume",
        "a pod takes its room before it is bound",
        ((Cluster, "assume", _nothing),),
    ),
    Safeguard(
        "forget",
        "a pod whose binding failed gives its room back",
        ((ScheduleOne, "_give_up_node", _unreserve_alone),),
    ),
    Safeguard(
        "give-back",
        "a pod whose attempt failed goes back to the queue",
        ((SchedulingQueue, "give_back", _drop),),
    ),
    Safeguard(
        "in-flight",
        "what happens while a pod is tried counts once it is back",
        ((InFlight, "record", _nothing),),
    ),
    Safeguard(
        "backoff",
        "pods leave the backoff queues when their time has come",
        ((SchedulingQueue, "flush_backoff", _nothing),),
    ),
    Safeguard(
        "relist",
        "a watch that the server cannot take up begins anew with a list",
        ((informer, "_has_lost_track", lambda _: False),),
    ),
    Safeguard(
        "old-news",
        "of two states of an object the newer one counts, whichever comes last",
        ((known_objects, "is_newer", lambda *_: True),),
    ),
    Safeguard(
        "deletions",
        "what was deleted does not come back with late news",
        ((KnownObjects, "_remember_deletion", _nothing),),
    ),
    Safeguard(
        "settle",
        "no 'does not fit' is on its way when a pod is bound",
        ((StatusWrites, "settle", _nothing_to_wait_for),),
    ),
)
SAFEGUARDS: Final[Mapping[str, Safeguard]] = {each.name: each for each in _ALL}
