"""Which objects a list or a watch is about: namespace, label selector, field selector.

Upstream: ToSelectableFields of the strategies in pkg/registry, and the label conversions in
          pkg/apis/*/v1/conversion.go, which say what fields may be asked for (v1.36.4).
Differs:  of each kind, only the fields that clients of a scheduler ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from berthing.api.fields import EVERY_FIELD, FieldSelector, FieldSelectorError, parse_field_selector
from berthing.api.kinds import Kind
from berthing.api.label_syntax import parse_selector
from berthing.api.labels import EVERYTHING, Selector, SelectorError
from berthing.api.meta import ApiObject
from berthing.embedded.refusals import bad_request
from berthing.embedded.store import Stored
from berthing.embedded.trees import Json, value_at

_METADATA: Final = ("metadata.name", "metadata.namespace")
_BY_RESOURCE: Final[Mapping[str, tuple[str, ...]]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "replicasets": ("status.replicas",),
    "replicationcontrollers": ("status.replicas",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "reason",
        "reportingController",
        "reportingComponent",
        "source",
        "type",
    ),
}
# What a field says that is not written.
_UNWRITTEN: Final = {"spec.unschedulable": "false", "spec.hostNetwork": "false"}


@dataclass(frozen=True, slots=True)
class Selection:
    """Some objects of one kind."""

    namespace: str = ""
    labels: Selector = EVERYTHING
    fields: FieldSelector = EVERY_FIELD

    @property
    def is_by_content(self) -> bool:
        """Whether it takes more than the namespace to know."""
        return not (self.labels.is_everything and self.fields.is_everything)

    def __call__(self, stored: Stored) -> bool:
        """Whether an object is among them."""
        if self.namespace and stored.key[0] != self.namespace:
            return False
        if not self.labels.is_everything and not self.labels.matches(stored.object.metadata.labels):
            return False
        return all(
            each.admits(_field(stored.tree, each.field)) for each in self.fields.requirements
        )


def read_selection(kind: Kind[ApiObject], namespace: str, query: Callable[[str], str]) -> Selection:
    """What the query of a request selects; refuses selectors that mean nothing."""
    try:
        labels = parse_selector(query("labelSelector"))
    except SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    try:
        fields = parse_field_selector(query("fieldSelector"))
    except FieldSelectorError as error:
        raise bad_request(str(error)) from error
    known = (*_METADATA, *_BY_RESOURCE.get(kind.resource, ()))
    for each in fields.requirements:
        if each.field not in known:
            raise bad_request(f"field label not supported: {each.field}")
    return Selection(namespace=namespace, labels=labels, fields=fields)


def _field(tree: Json, field: str) -> str:
    value = value_at(tree, *field.split("."))
    if isinstance(value, bool):
        return str(value).lower()
    return _UNWRITTEN.get(field, "") if value is None else str(value)
