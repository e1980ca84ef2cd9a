"""Which pod is meant, and how it is to be seen: as one that has no node yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from berthing.api.pod import Pod
from berthing.config.findings import did_you_mean
from berthing.explain.admission import DEFAULT_NAMESPACE
from berthing.explain.checks import oddities
from berthing.explain.cluster_files import ClusterFiles
from berthing.explain.problems import InputError


class AskedPod(msgspec.Struct, frozen=True):
    """The pod to place, and what somebody should know who asked for it."""

    pod: Pod
    notes: tuple[str, ...] = ()


def pod_in_cluster(files: ClusterFiles, name: str) -> AskedPod:
    """The pod of this name in the cluster; if it runs, as it was before it was placed."""
    pod = _named(files, name, where="these files")
    if not pod.spec.node_name:
        return AskedPod(pod, tuple(_about(pod)))
    return AskedPod(_unplaced(pod), (*_on_its_node(pod), *_about(pod)))


def pod_in_file(files: ClusterFiles, name: str = "") -> AskedPod:
    """The pod of a file of its own, which may name the node it wants."""
    pods = [found for found in files.found if isinstance(found.obj, Pod)]
    file = pods[0].file if pods else "the file"
    if not pods:
        raise InputError("--pod: there is no Pod in the file")
    if not name and len(pods) > 1:
        names = ", ".join(found.obj.key for found in pods[:5])
        raise InputError(f"{file}: there are {len(pods)} pods in it; say which: {names}")
    pod = _named(files, name or pods[0].obj.key, where=file)
    if not _is_placed(pod):
        return AskedPod(pod, tuple(_about(pod)))
    return AskedPod(_unplaced(pod), (*_on_its_node(pod), *_about(pod)))


def _is_placed(pod: Pod) -> bool:
    """Whether the pod's nodeName is a scheduler's word rather than its author's."""
    if not pod.spec.node_name:
        return False
    scheduled = pod.condition("PodScheduled")
    return pod.status.phase not in ("", "Pending") or bool(scheduled and scheduled.status == "True")


def _unplaced(pod: Pod) -> Pod:
    return replace(
        pod,
        spec=replace(pod.spec, node_name=""),
        status=replace(pod.status, phase="Pending", nominated_node_name=""),
    )


def _on_its_node(pod: Pod) -> tuple[str, ...]:
    if pod.is_terminal:
        return ()
    return (f"{pod.key} runs on {pod.spec.node_name}; this is decided as if it had no node yet",)


def _about(pod: Pod) -> Iterator[str]:
    if pod.is_terminal:
        yield f"{pod.key} is over ({pod.status.phase}); this is decided as if it were to run again"
    if pod.spec.scheduling_gates:
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        yield f"{pod.key} has scheduling gates ({gates}): nobody places it while it has them"
    for oddity in oddities(pod):
        yield f"{pod.key}: {oddity}; its term matches no node"


def _named(files: ClusterFiles, name: str, *, where: str) -> Pod:
    pods = [found.obj for found in files.found if isinstance(found.obj, Pod)]
    key = name if "/" in name else f"{DEFAULT_NAMESPACE}/{name}"
    for pod in pods:
        if pod.key == key:
            return pod
    if "/" not in name:
        same_name = [pod for pod in pods if pod.name == name]
        if len(same_name) == 1:
            return same_name[0]
        if same_name:
            keys = ", ".join(pod.key for pod in same_name[:5])
            raise InputError(f"there are {len(same_name)} pods called {name}; say which: {keys}")
    raise InputError(f"there is no pod {key} in {where}{_meant(key, pods)}")


def _meant(key: str, pods: Sequence[Pod]) -> str:
    near = did_you_mean(key, [pod.key for pod in pods])
    return (
        f"; {near}" if near else f"; they have {len(pods)} pods" if pods else "; they have no pods"
    )
