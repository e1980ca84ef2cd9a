"""What the decision leans on and the files do not have: said, rather than passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from berthing.api.core import Namespace, Service
from berthing.api.meta import ApiObject
from berthing.api.pod import PodAffinity
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import NO_CONSTRAINTS


def gaps(pod: PodInfo, objects: Iterable[ApiObject]) -> Iterator[str]:
    """A line for each kind of object that would bear on this pod and is not there at all."""
    present = {type(obj) for obj in objects}
    if Namespace not in present and _selects_namespaces(pod):
        yield "there are no Namespaces in the files, so namespaceSelectors see no labels"
    controller = pod.facts.controller
    if (
        controller is not None
        and pod.spread == NO_CONSTRAINTS
        and Service not in present
        and controller.kind not in {type_.__name__ for type_ in present}
    ):
        yield (
            f"there are no Services and no {controller.kind}s in the files, "
            "so the pod is not spread by default as it would be in the cluster"
        )


def _selects_namespaces(pod: PodInfo) -> bool:
    affinity = pod.pod.spec.affinity
    if affinity is None:
        return False
    return any(map(_has_namespace_selector, (affinity.pod_affinity, affinity.pod_anti_affinity)))


def _has_namespace_selector(affinity: PodAffinity | None) -> bool:
    if affinity is None:
        return False
    terms = (*affinity.required, *(each.pod_affinity_term for each in affinity.preferred))
    return any(term.namespace_selector is not None for term in terms)
