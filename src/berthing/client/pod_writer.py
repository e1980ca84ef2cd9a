"""What a scheduler writes about pods: bindings, conditions, nominations, and deletions of victims.

Upstream: pkg/scheduler/util/utils.go (PatchPodStatus, DeletePod), defaultbinder, backend/api_calls
          (v1.36.4).
Differs:  a binding whose answer is lost is looked up, where upstream takes it for failed; a
          deletion is meant for this pod and no other of its name; what was written about a pod
          counts though its watch has not shown it yet, where upstream leaves out what an outdated
          pod has already, and so leaves users with the words before; a status is written onto the
          version of the pod that is known, where upstream names none.

A binding ends in one of two ways: the pod is on the node, or an error says that it is not.  As long
as neither is sure the pod must count as placed, or its room would be given away twice, so
`bind_pod` asks on until it knows.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime
from types import NoneType
from typing import Final

import msgspec
from msgspec.structs import replace

from berthing.api.errors import (
    ApiError,
    ClientError,
    ConflictError,
    NotFoundError,
    NotSentError,
    ServerError,
    TimedOutError,
    TooManyRequestsError,
    TransportError,
)
from berthing.api.meta import ObjectMeta, Value
from berthing.api.pod import Pod, PodCondition
from berthing.client.api_client import ApiClient
from berthing.client.backoff import Backoff
from berthing.client.known_objects import is_newer
from berthing.telemetry import logs

_log = logs.get("client.pod_writer")

_STRATEGIC_MERGE: Final = "application/strategic-merge-patch+json"
_STATUS_TRIES: Final = 4
# A server that is asked over and over whether it bound a pod, and each time fails to bind it.
_BIND_TRIES: Final = 5
# API servers give up on a write after 34 s.
_CARRIED_OUT_SECONDS: Final = 35.0
_LOOK_UP_SECONDS: Final = 1.0
_PASSING_CODES: Final = (500, 503)
# Of how many pods it is known what was written: watches catch up long before there are as many.
_REMEMBERED: Final = 10_000


class PodWriter:
    """Writes about pods; each method returns once the API server has answered."""

    def __init__(
        self, client: ApiClient, *, now: Callable[[], float], random: random.Random
    ) -> None:
        self._client = client
        self._now = now
        self._random = random
        # By uid, oldest first: pods as they are since we wrote about them.  Without a version if
        # no answer has told what became of the last write.
        self._written: dict[str, Pod] = {}

    async def bind_pod(self, pod: Pod, node_name: str) -> None:
        """Bind the pod, or raise the ApiError or TransportError for which it is not bound."""
        body = _binding(pod, node_name)
        path = f"{_path(pod)}/binding"
        backoff = Backoff(initial_seconds=0.05, max_seconds=5, random=self._random)
        now = asyncio.get_running_loop().time
        # From then on nothing of what was asked for can still be carried out.
        settled_at = now()
        for attempt in range(_BIND_TRIES):
            try:
                return await self._client.request("POST", path, body=body, type_=NoneType)
            except ClientError as error:
                if attempt == 0 and _is_clear_no(error):
                    raise
                if _is_unanswered(error):
                    settled_at = now() + _CARRIED_OUT_SECONDS
                bound_to = await self._node_of(pod)
                # Not being bound yet may mean being bound soon.  Another attempt can tell, for it is
                # refused if an earlier one made it; a no to the last attempt does not.
                is_last = attempt == _BIND_TRIES - 1 or _is_answered(error)
                while is_last and bound_to == "" and now() < settled_at:
                    await asyncio.sleep(_LOOK_UP_SECONDS)
                    bound_to = await self._node_of(pod)
                if bound_to == node_name:
                    return None
                if is_last or bound_to != "":
                    raise
                _log.info("Binding is tried again", pod=pod, err=error)
                await backoff.wait()
        raise AssertionError("the last attempt returns or raises")

    async def _node_of(self, pod: Pod) -> str | None:
        """The node that the pod is bound to now, None if it is gone; waits until the server can tell."""
        backoff = Backoff(initial_seconds=0.05, max_seconds=5, random=self._random)
        while True:
            try:
                current = await self._client.request("GET", _path(pod), type_=Pod)
            except (TransportError, ServerError, TooManyRequestsError) as error:
                _log.warning("Cannot tell whether pod is bound", pod=pod, err=error)
                await backoff.wait()
            else:
                # Another pod of that name is bound or not; this one is gone.
                return current.spec.node_name if current.metadata.uid == pod.metadata.uid else None

    async def patch_pod_status(
        self,
        pod: Pod,
        *,
        condition: PodCondition | None = None,
        nominated_node_name: str | None = None,
    ) -> None:
        """Set a condition, a nomination (the empty text takes it back), or both.

        Writes nothing if the pod has all that already, or has a node by now.

        What is written is for the pod as it was known: a request that is carried out late, or for
        a second time, is a conflict by then, and puts no old words in the place of newer ones.
        """
        uid = pod.metadata.uid
        known = self._newest(pod)
        backoff = Backoff(initial_seconds=0.01, factor=5, jitter=0.1, random=self._random)
        for tries_left in reversed(range(_STATUS_TRIES)):
            try:
                if known is None:
                    known = await self._client.request("GET", _path(pod), type_=Pod)
                    if known.metadata.uid != uid or known.spec.node_name:
                        self._written.pop(uid, None)
                        return
                    self._remember(known, known.metadata.resource_version)
                await self._patch_status(known, condition, nominated_node_name)
            except ClientError as error:
                if not tries_left or not _is_passing(error):
                    raise
                if not isinstance(error, NotSentError):
                    # What became of it the pod itself can tell.
                    known = None
                await backoff.wait()
            else:
                return

    async def _patch_status(
        self, pod: Pod, condition: PodCondition | None, nominated_node_name: str | None
    ) -> None:
        """Change a pod that is known to be so."""
        status: dict[str, object] = {}
        written = pod.status
        if condition is not None and not _has(pod, condition):
            condition = self._dated(pod, condition)
            status["conditions"] = [_as_json(condition)]
            others = (each for each in written.conditions if each.type != condition.type)
            written = replace(written, conditions=(*others, condition))
        if nominated_node_name is not None and nominated_node_name != written.nominated_node_name:
            # A patch deletes what it sets to null.
            status["nominatedNodeName"] = nominated_node_name or None
            written = replace(written, nominated_node_name=nominated_node_name)
        if not status:
            return
        metadata = {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version}
        body = msgspec.json.encode({"metadata": metadata, "status": status})
        pod = replace(pod, status=written)
        self._remember(pod, "")
        answer = await self._client.request(
            "PATCH",
            f"{_path(pod)}/status",
            body=body,
            content_type=_STRATEGIC_MERGE,
            type_=_Versioned,
        )
        self._remember(pod, answer.metadata.resource_version)

    def _newest(self, pod: Pod) -> Pod | None:
        """The pod as given, or as we wrote it after that; None if nobody said what came of it."""
        written = self._written.get(pod.metadata.uid)
        if written is None:
            return pod
        version = written.metadata.resource_version
        if version and not is_newer(version, pod.metadata.resource_version):
            del self._written[pod.metadata.uid]
            return pod
        return written if version else None

    def _remember(self, pod: Pod, version: str) -> None:
        uid = pod.metadata.uid
        self._written.pop(uid, None)
        self._written[uid] = replace(pod, metadata=replace(pod.metadata, resource_version=version))
        if len(self._written) > _REMEMBERED:
            del self._written[next(iter(self._written))]

    async def delete_pod(self, pod: Pod) -> None:
        """Delete the pod, in its own time of grace; one that is gone already is fine."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1"}
        options = body | {"preconditions": {"uid": pod.metadata.uid}}
        try:
            await self._client.request("DELETE", _path(pod), body=options, type_=NoneType)
        except NotFoundError:
            _log.v4("Pod to delete is gone already", pod=pod)

    def _dated(self, pod: Pod, condition: PodCondition) -> PodCondition:
        before = pod.condition(condition.type)
        since = condition.last_transition_time
        if before is not None and before.status == condition.status:
            since = before.last_transition_time
        since = since or datetime.fromtimestamp(self._now(), UTC).replace(microsecond=0)
        return replace(condition, last_transition_time=since)


class _Versioned(Value, frozen=True, kw_only=True):
    """As much of a pod as tells its version."""

    metadata: ObjectMeta = ObjectMeta()


class _Target(Value, frozen=True, kw_only=True):
    kind: str
    name: str


class _Binding(Value, frozen=True, kw_only=True):
    api_version: str
    kind: str
    metadata: ObjectMeta
    target: _Target


def _binding(pod: Pod, node_name: str) -> _Binding:
    metadata = pod.metadata
    return _Binding(
        api_version="v1",
        kind="Binding",
        metadata=ObjectMeta(name=metadata.name, namespace=metadata.namespace, uid=metadata.uid),
        target=_Target(kind="Node", name=node_name),
    )


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}"


def _as_json(condition: PodCondition) -> dict[str, object]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason or None,
        "message": condition.message or None,
        "observedGeneration": condition.observed_generation or None,
        "lastProbeTime": None,
        "lastTransitionTime": condition.last_transition_time,
    }


def _has(pod: Pod, condition: PodCondition) -> bool:
    """Whether the pod has the condition; for which generation of its spec does not count."""
    before = pod.condition(condition.type)
    return before is not None and (before.status, before.reason, before.message) == (
        condition.status,
        condition.reason,
        condition.message,
    )


def _is_answered(error: ClientError) -> bool:
    """Whether it is a no to this attempt, after which this attempt at least is over."""
    return isinstance(error, ApiError) and not isinstance(error, ServerError)


def _is_clear_no(error: ClientError) -> bool:
    """Whether nothing was done, and nobody else has done it."""
    if isinstance(error, NotSentError):
        return True
    return _is_answered(error) and not isinstance(error, ConflictError)


def _is_unanswered(error: ClientError) -> bool:
    """Whether the server may still be at it; it is not after the time that we wait for an answer."""
    return not isinstance(error, ApiError | NotSentError | TimedOutError)


def _is_passing(error: ClientError) -> bool:
    if isinstance(error, ApiError):
        return isinstance(error, ConflictError) or error.status.code in _PASSING_CODES
    return isinstance(error, NotSentError)
