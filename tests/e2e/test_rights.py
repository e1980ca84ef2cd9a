"""The manifest that we ship gives a scheduler what it needs, and nothing that would hurt if stolen."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import pytest

from e2e.control_plane import SERVICE_ACCOUNT as ACCOUNT
from e2e.control_plane import ControlPlane


class Act(NamedTuple):
    """Verbs on a resource: `pods/binding` in the core group, `leases.coordination.k8s.io`."""

    verbs: str
    resource: str
    namespace: str = ""
    name: str = ""


ALLOWED = [
    Act("get list watch delete", "pods"),
    Act("create", "pods/binding"),
    Act("patch", "pods/status"),
    Act("update", "pods/finalizers"),
    Act("create patch", "events.events.k8s.io"),
    Act("get list watch", "nodes"),
    Act("get list watch", "namespaces"),
    Act("get list watch", "services"),
    Act("get list watch", "replicationcontrollers"),
    Act("get list watch", "replicasets.apps"),
    Act("get list watch", "statefulsets.apps"),
    Act("get list watch", "poddisruptionbudgets.policy"),
    Act("get list watch patch update", "persistentvolumes"),
    Act("get list watch patch update", "persistentvolumeclaims"),
    Act("get list watch", "storageclasses.storage.k8s.io"),
    Act("get list watch", "csinodes.storage.k8s.io"),
    Act("get list watch", "csidrivers.storage.k8s.io"),
    Act("get list watch", "csistoragecapacities.storage.k8s.io"),
    Act("get list watch", "volumeattachments.storage.k8s.io"),
    Act("get list watch", "deviceclasses.resource.k8s.io"),
    Act("get list watch", "resourceslices.resource.k8s.io"),
    Act("get list watch create patch update delete", "resourceclaims.resource.k8s.io"),
    Act("get list watch patch update", "resourceclaims.resource.k8s.io/status"),
    Act("patch update", "resourceclaims.resource.k8s.io/binding"),
    Act("create", "tokenreviews.authentication.k8s.io"),
    Act("create", "subjectaccessreviews.authorization.k8s.io"),
    Act("create", "leases.coordination.k8s.io", "kube-system"),
    Act("get update", "leases.coordination.k8s.io", "kube-system", ACCOUNT),
    Act("get list watch", "configmaps", "kube-system", "extension-apiserver-authentication"),
]

DENIED = [
    Act("create update patch deletecollection", "pods"),
    Act("create", "pods/exec"),
    Act("create", "pods/eviction"),
    Act("create update patch delete", "nodes"),
    Act("patch update", "nodes/status"),
    Act("create update patch delete", "namespaces"),
    Act("get list watch create", "secrets"),
    Act("get list watch", "secrets", "kube-system"),
    Act("get list watch", "configmaps", "kube-system"),
    Act("create", "serviceaccounts/token"),
    Act("create delete", "persistentvolumes"),
    Act("create delete", "persistentvolumeclaims"),
    Act("create update patch delete", "poddisruptionbudgets.policy"),
    Act("create update patch delete", "replicasets.apps"),
    Act("create update patch delete", "resourceslices.resource.k8s.io"),
    Act("create", "leases.coordination.k8s.io"),
    Act("get update delete", "leases.coordination.k8s.io", "kube-system", "kube-scheduler"),
    Act("delete patch", "leases.coordination.k8s.io", "kube-system", ACCOUNT),
    Act("create", "clusterrolebindings.rbac.authorization.k8s.io"),
    Act("impersonate", "users"),
    Act("escalate bind", "clusterroles.rbac.authorization.k8s.io"),
]


class Answer(msgspec.Struct):
    allowed: bool = False


class Review(msgspec.Struct):
    status: Answer


@pytest.mark.parametrize("act", ALLOWED, ids=" ".join)
def test_a_scheduler_may(servers: ControlPlane, act: Act) -> None:
    assert granted(servers, act) == act.verbs.split()


@pytest.mark.parametrize("act", DENIED, ids=" ".join)
def test_a_scheduler_may_not(servers: ControlPlane, act: Act) -> None:
    assert granted(servers, act) == []


def granted(servers: ControlPlane, act: Act) -> list[str]:
    """Which of the verbs the token in the scheduler's kubeconfig is good for."""
    client = servers.scheduler_client()
    plain, _, subresource = act.resource.partition("/")
    resource, _, group = plain.partition(".")

    def is_granted(verb: str) -> bool:
        attributes = {
            "verb": verb,
            "resource": resource,
            "group": group,
            "subresource": subresource,
            "namespace": act.namespace,
            "name": act.name,
        }
        body = msgspec.json.encode({"spec": {"resourceAttributes": attributes}})
        where = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = client.request("POST", where, body)
        return msgspec.json.decode(answer, type=Review).status.allowed

    return [verb for verb in act.verbs.split() if is_granted(verb)]
