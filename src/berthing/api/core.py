"""Small objects of the core API: namespaces, services, replication controllers, references.

Upstream: api/core/v1/types.go (v1.36.4).  Pods, nodes and volumes have modules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.api.frozen import EMPTY
from berthing.api.meta import ApiObject, Int32, Value


class ObjectReference(Value, frozen=True, kw_only=True):
    """Says which object is meant, from anywhere."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class NamespaceStatus(Value, frozen=True, kw_only=True):
    """Whether a namespace is in use or on its way out."""

    phase: str = ""


class Namespace(ApiObject, frozen=True, kw_only=True):
    """A part of the cluster's names; affinity terms select namespaces by label."""

    status: NamespaceStatus = NamespaceStatus()


class ServiceSpec(Value, frozen=True, kw_only=True):
    """Which pods a service stands for."""

    # None selects nothing, an empty selector everything.
    selector: Mapping[str, str] | None = None


class Service(ApiObject, frozen=True, kw_only=True):
    """Pods behind one address; without constraints of their own they are spread."""

    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(Value, frozen=True, kw_only=True):
    """How many pods are wanted, and which ones count."""

    replicas: Int32 | None = None
    selector: Mapping[str, str] = EMPTY


class ReplicationController(ApiObject, frozen=True, kw_only=True):
    """Keeps a number of pods; the predecessor of replica sets."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class EventSource(Value, frozen=True, kw_only=True):
    """Who reported an event."""

    component: str = ""
    host: str = ""


class TopologySelectorLabelRequirement(Value, frozen=True, kw_only=True):
    """A label and the values of which it must have one."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Value, frozen=True, kw_only=True):
    """Labels that a place for new volumes must have."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class TypedLocalObjectReference(Value, frozen=True, kw_only=True):
    """Says which object of the same namespace is meant."""

    api_group: str = msgspec.field(default="", name="apiGroup")
    kind: str = ""
    name: str = ""
