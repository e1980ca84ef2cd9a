"""Objects that no scheduler reads: which of them belong into a cluster's files, and which are slips.

A dump has Deployments and ConfigMaps in it, and objects of kinds that somebody has added to the
API.  They are left out.  A kind that Kubernetes' own groups do not have is a mistake, and left out
it would change what is decided.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from berthing.api.decode import UnknownKindError
from berthing.api.kinds import KINDS

# In groups whose names no other group can have: those without a dot.
_OTHERS: Final = {
    "": (
        "Binding ComponentStatus ConfigMap Endpoints LimitRange PodTemplate ResourceQuota Secret "
        "ServiceAccount"
    ),
    "apps": "ControllerRevision DaemonSet Deployment",
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "extensions": "DaemonSet Deployment Ingress NetworkPolicy PodSecurityPolicy ReplicaSet",
    "policy": "Eviction PodSecurityPolicy",
}


def left_out(error: UnknownKindError) -> str:
    """What to call the kind that is left out; UnknownKindError where it should not be."""
    kind, _, version = error.message.rpartition(" of ")
    kind = kind.rpartition(" ")[2]
    if not kind:
        message = f"{error.message}; every object says what it is, as kubectl writes it"
        raise UnknownKindError(message, what=error.what)
    known = _kinds_of(version.rpartition("/")[0])
    if known and kind.removesuffix("List") not in known:
        guess = get_close_matches(kind, known, n=1)
        suggestion = f"; did you mean {guess[0]}?" if guess else ""
        raise UnknownKindError(f"{version} has no {kind}{suggestion}", what=error.what)
    return f"{kind} ({version})"


def _kinds_of(group: str) -> frozenset[str]:
    """All kinds of one of Kubernetes' own groups; nothing for a group that may not be."""
    if group not in _OTHERS:
        return frozenset()
    read = (each.kind for each in KINDS if each.api_version.rpartition("/")[0] == group)
    return frozenset((*_OTHERS[group].split(), *read))
