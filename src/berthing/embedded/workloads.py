"""Workload controllers: they make the pods that replica sets, stateful sets and jobs ask for.

Upstream: pkg/controller/{replicaset,statefulset,job} (v1.36.4).
Differs:  only what decides how many pods there are, and which: no adoption of pods that nobody
          owns, no rollouts, no volume claims, no indexed or suspended jobs, no deadlines; an owner
          that is deleted leaves its pods.

A pod that is going, or is over, no longer counts, so another comes in its place: for a pod of a
stateful set only once the old one is gone, as no two pods may have one name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import ClassVar, Final, Never

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.batch import Job
from berthing.api.kinds import Kind, kind_of
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.embedded.objects import Objects
from berthing.embedded.owned_pods import OwnedPods, pod_from_template
from berthing.embedded.patches import MERGE
from berthing.embedded.pods import PODS
from berthing.embedded.reconciling import Reconciler
from berthing.embedded.store import Change, Key, Store, Stored
from berthing.embedded.trees import Tree, branch_at, text_at, value_at, with_value

# A job counts a pod that is over, then lets go of it: none is counted twice, or not at all.
JOB_TRACKING: Final = "batch.kubernetes.io/job-tracking"
_BACKOFF_LIMIT: Final = 6
# More pods than this are made one crowd after the other, so that others have their turn.
_AT_ONCE: Final = 100


class WorkloadController(ABC):
    """Keeps the pods of all objects of one kind."""

    kind: ClassVar[Kind[ApiObject]]

    def __init__(self, store: Store, objects: Objects, pods: OwnedPods) -> None:
        self._store = store
        self._objects = objects
        self._pods = pods
        self._reconciler = Reconciler(self.kind.resource, self._reconcile)
        for stored in store.all(self.kind):
            self._reconciler.want(stored.key)
        store.listen(self.kind, self._changed)
        pods.listen(self.kind, self._reconciler.want)

    async def run(self) -> Never:
        """Make and remove pods until cancelled."""
        await self._reconciler.run()

    @abstractmethod
    def keep(self, owner: Stored, pods: Collection[Pod]) -> None:
        """Bring the pods of one object to what its spec says, and tell how far that is."""
        ...

    def _changed(self, change: Change) -> None:
        if change.after is not None:
            self._reconciler.want(change.after.key)

    def _reconcile(self, key: Key) -> None:
        owner = self._store.get(self.kind, key)
        if owner is not None and owner.object.metadata.deletion_timestamp is None:
            self.keep(owner, self._pods.of(owner))

    def _tell(self, owner: Stored, status: Tree) -> None:
        patch: Tree = {"status": status}
        self._objects.patch(self.kind, owner.key, patch, content_type=MERGE, subresource="status")

    def _make(self, owner: Stored, **metadata: str) -> None:
        template = branch_at(owner.tree, "spec", "template")
        self._create(owner, pod_from_template(owner, template, **metadata))

    def _create(self, owner: Stored, pod: Tree) -> None:
        self._objects.create(PODS, owner.key[0], pod)

    def _remove(self, pod: Pod) -> None:
        self._objects.delete(PODS, (pod.namespace, pod.name), {})


class ReplicaSets(WorkloadController):
    """Pods that are all alike."""

    kind = kind_of(ReplicaSet)

    def keep(self, owner: Stored, pods: Collection[Pod]) -> None:
        """Make those that are missing, and remove those that are too many."""
        active = [pod for pod in pods if _is_active(pod)]
        wanted = _count(owner, "replicas")
        # The pods that are made now are the next change to be looked at.
        for _ in range(min(wanted - len(active), _AT_ONCE)):
            self._make(owner, generateName=f"{owner.key[1]}-")
        if len(active) > wanted:
            # Those go first that do the least.
            active.sort(key=lambda pod: (bool(pod.spec.node_name), _is_ready(pod)))
            for pod in active[: len(active) - wanted]:
                self._remove(pod)
        self._tell(owner, _replica_status(owner, active))


class StatefulSets(WorkloadController):
    """Pods with a number each, in whose name and place the next one comes."""

    kind = kind_of(StatefulSet)

    def keep(self, owner: Stored, pods: Collection[Pod]) -> None:
        """Make those that are missing, one after the other or all at once; remove the last ones."""
        name = owner.key[1]
        wanted = _count(owner, "replicas")
        in_order = text_at(owner.tree, "spec", "podManagementPolicy") != "Parallel"
        by_name = {pod.name: pod for pod in pods}
        for number in range(wanted):
            pod = by_name.pop(f"{name}-{number}", None)
            if pod is None:
                self._make(owner, name=f"{name}-{number}")
            elif pod.is_terminal:
                self._remove(pod)
            if in_order and (pod is None or not _is_ready(pod)):
                break
        else:
            surplus = sorted(by_name.values(), key=_number, reverse=True)
            for pod in surplus[:1] if in_order else surplus:
                if not _is_going(pod):
                    self._remove(pod)
        self._tell(owner, _replica_status(owner, [pod for pod in pods if _is_active(pod)]))

    def _create(self, owner: Stored, pod: Tree) -> None:
        name = text_at(pod, "metadata", "name")
        labels: Tree = {
            **branch_at(pod, "metadata", "labels"),
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
        }
        super()._create(owner, with_value(pod, ("metadata", "labels"), labels))


class Jobs(WorkloadController):
    """Pods that run to their end, until enough of them have."""

    kind = kind_of(Job)

    def keep(self, owner: Stored, pods: Collection[Pod]) -> None:
        """Count those that are over, and make as many as may run and are still needed."""
        job = owner.object
        assert isinstance(job, Job), "of this kind"
        active = [pod for pod in pods if _is_active(pod)]
        succeeded, failed = self._count_those_over(owner, job, pods)
        limit = _BACKOFF_LIMIT if job.spec.backoff_limit is None else job.spec.backoff_limit
        parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
        completions = parallelism if job.spec.completions is None else job.spec.completions
        status: Tree = {"active": len(active)}
        if failed > limit:
            for pod in active:
                self._remove(pod)
            status["conditions"] = [{"type": "Failed", "status": "True"}]
        elif succeeded >= completions:
            status["conditions"] = [{"type": "Complete", "status": "True"}]
        else:
            missing = min(parallelism, completions - succeeded) - len(active)
            for _ in range(min(missing, _AT_ONCE)):
                self._make(owner, generateName=f"{owner.key[1]}-")
        self._tell(owner, status)

    def _count_those_over(self, owner: Stored, job: Job, pods: Collection[Pod]) -> tuple[int, int]:
        """How many have succeeded and failed by now, upstream's way: what is going has failed."""
        over = [
            pod for pod in pods if not _is_active(pod) and JOB_TRACKING in pod.metadata.finalizers
        ]
        fresh = sum(pod.status.phase == "Succeeded" for pod in over)
        succeeded = job.status.succeeded + fresh
        failed = job.status.failed + len(over) - fresh
        self._tell(owner, {"succeeded": succeeded, "failed": failed})
        for pod in over:
            self._let_go(pod)
        return succeeded, failed

    def _create(self, owner: Stored, pod: Tree) -> None:
        labels: Tree = {
            **branch_at(pod, "metadata", "labels"),
            "batch.kubernetes.io/controller-uid": owner.uid,
            "batch.kubernetes.io/job-name": owner.key[1],
        }
        pod = with_value(pod, ("metadata", "labels"), labels)
        super()._create(owner, with_value(pod, ("metadata", "finalizers"), [JOB_TRACKING]))

    def _let_go(self, pod: Pod) -> None:
        rest = [each for each in pod.metadata.finalizers if each != JOB_TRACKING]
        patch: Tree = {"metadata": {"finalizers": [*rest]}}
        self._objects.patch(PODS, (pod.namespace, pod.name), patch, content_type=MERGE)


def _count(owner: Stored, field: str) -> int:
    count = value_at(owner.tree, "spec", field)
    return count if isinstance(count, int) else 1


def _is_going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _is_active(pod: Pod) -> bool:
    return not pod.is_terminal and not _is_going(pod)


def _is_ready(pod: Pod) -> bool:
    ready = pod.condition("Ready")
    return _is_active(pod) and ready is not None and ready.status == "True"


def _number(pod: Pod) -> int:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _replica_status(owner: Stored, active: Iterable[Pod]) -> Tree:
    pods = list(active)
    ready = sum(map(_is_ready, pods))
    return {
        "replicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "observedGeneration": value_at(owner.tree, "metadata", "generation"),
    }
