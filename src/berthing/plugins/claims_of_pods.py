"""The persistent volume claims that a pod mounts, as hints ask for them."""

from __future__ import annotations

from berthing.api.pod_info import PodInfo
from berthing.api.volumes import PersistentVolumeClaim


def names_claim(pod: PodInfo, claim: PersistentVolumeClaim) -> bool:
    """Whether the pod mounts the claim by its name."""
    return claim.namespace == pod.namespace and claim.name in pod.shape.claim_names


def uses_claim(pod: PodInfo, claim: PersistentVolumeClaim) -> bool:
    """The same, or whether it is made for an ephemeral volume of the pod."""
    ephemeral = pod.facts.ephemeral_claims
    return names_claim(pod, claim) or (claim.namespace == pod.namespace and claim.name in ephemeral)
