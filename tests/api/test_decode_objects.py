from __future__ import annotations

import copy
import json
import pickle

import msgspec
import pytest

from api.objects import OBJECTS, POD, Json, plain
from berthing.api.decode import decode_object, encode
from berthing.api.kinds import KINDS, kind_of
from berthing.api.meta import ApiObject, Value
from berthing.api.pod import Pod


def of_kind(obj: Json) -> str:
    assert isinstance(obj, dict)
    return f"{obj['apiVersion']}/{obj['kind']}"


def test_there_is_an_object_of_every_kind() -> None:
    kinds = {f"{kind.api_version}/{kind.kind}" for kind in KINDS}
    assert sorted(map(of_kind, OBJECTS)) == sorted(kinds)


@pytest.mark.parametrize("obj", [pytest.param(obj, id=of_kind(obj)) for obj in OBJECTS])
def test_what_was_read_is_written_again(obj: Json) -> None:
    assert json.loads(encode(decode_object(json.dumps(obj)))) == obj


@pytest.mark.parametrize("obj", [pytest.param(obj, id=of_kind(obj)) for obj in OBJECTS])
def test_every_field_of_every_part_is_among_these_objects(obj: Json) -> None:
    decoded = decode_object(json.dumps(obj))
    unset = set(_unset(decoded, type(decoded).__name__)) - _SET_ELSEWHERE
    assert unset == set()


# Of alternatives, one at a time is set.
_SET_ELSEWHERE = {
    f"{owner}.{field}"
    for owner, fields in {
        "ObjectMeta": "name namespace uid resource_version generation creation_timestamp "
        "deletion_timestamp annotations owner_references finalizers",
        "ObjectReference": "uid resource_version field_path",
        "PodGroupSchedulingPolicy": "basic",
        "PodGroupResourceClaim": "resource_claim_name resource_claim_template_name",
        "PodResourceClaim": "resource_claim_name resource_claim_template_name",
        "DeviceRequest": "exactly first_available",
        "ExactDeviceRequest": "admin_access",
        "DeviceAttribute": "int_value bool_value string_value version_value int_values "
        "bool_values string_values version_values",
        "AzureFileVolumeSource": "read_only secret_namespace",
    }.items()
    for field in fields.split()
}


def _unset(value: object, owner: str) -> list[str]:
    """Fields that have their default, here and in all parts but volumes, which set one each."""
    if isinstance(value, tuple):
        return [name for each in value for name in _unset(each, owner)]
    if isinstance(value, dict):
        return [name for each in value.values() for name in _unset(each, owner)]
    if not isinstance(value, msgspec.Struct) or type(value).__name__ == "Volume":
        return []
    name = type(value).__name__
    empty = type(value)()
    found = [
        f"{name}.{field}" for field in value.__struct_fields__ if _is_default(value, empty, field)
    ]
    for field in value.__struct_fields__:
        found += _unset(getattr(value, field), name)
    return found


def _is_default(value: msgspec.Struct, empty: msgspec.Struct, field: str) -> bool:
    return bool(getattr(value, field) == getattr(empty, field))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.api_version}/{kind.kind}")
def test_an_empty_object_says_what_it_is(kind: object) -> None:
    assert isinstance(kind, type(KINDS[0]))
    text = encode(kind.type())
    assert json.loads(text) == {"apiVersion": kind.api_version, "kind": kind.kind}
    assert decode_object(text) == kind.type()


def test_unknown_fields_are_skipped() -> None:
    obj = plain("v1", "Namespace", spec={"finalizers": ["kubernetes"]}, extra={"deep": [1, None]})
    assert isinstance(obj, dict)
    known = plain("v1", "Namespace")
    assert isinstance(obj["metadata"], dict)
    obj["metadata"]["managedFields"] = [{"manager": "kubectl", "fieldsV1": {"f:x": {}}}]
    assert decode_object(json.dumps(obj)) == decode_object(json.dumps(known))


@pytest.mark.parametrize(
    ("literal", "cpu"),
    [
        pytest.param("2", "2", id="a whole number"),
        pytest.param("0.5", "500m", id="a fraction"),
        pytest.param("1e3", "1e3", id="an exponent"),
        pytest.param("0.1234567890000000001", "123456790n", id="more digits than a float has"),
        pytest.param("12345678901234567890", "12345678901234567890", id="more than 64 bits"),
        pytest.param('" 250m "', "250m", id="blanks around a text"),
    ],
)
def test_amounts_may_be_bare_numbers(literal: str, cpu: str) -> None:
    text = f'{{"spec":{{"overhead":{{"cpu":{literal}}}}}}}'
    pod = decode_object('{"apiVersion":"v1","kind":"Pod",' + text[1:])
    assert isinstance(pod, Pod)
    assert str(pod.spec.overhead["cpu"]) == cpu


@pytest.mark.parametrize("obj", [pytest.param(obj, id=of_kind(obj)) for obj in OBJECTS])
def test_no_part_is_tracked_by_the_garbage_collector(obj: Json) -> None:
    assert [
        type(part).__name__
        for part in _parts(decode_object(json.dumps(obj)))
        if type(part).__flags__ & _HAVE_GC
    ] == []


_HAVE_GC = 1 << 14


def _parts(value: object) -> list[Value]:
    if isinstance(value, tuple):
        return [part for each in value for part in _parts(each)]
    if not isinstance(value, Value):
        return []
    inner = [part for field in value.__struct_fields__ for part in _parts(getattr(value, field))]
    return [value, *inner]


def test_objects_are_frozen() -> None:
    pod = decode_object(json.dumps(POD))
    with pytest.raises(AttributeError):
        pod.metadata.name = "other"  # type: ignore[misc]  # that is the point


def test_objects_survive_copies_and_pickles() -> None:
    pod = decode_object(json.dumps(POD))
    assert copy.deepcopy(pod) == pod
    assert pickle.loads(pickle.dumps(pod)) == pod


def test_kinds_and_types_belong_together() -> None:
    for obj in OBJECTS:
        decoded: ApiObject = decode_object(json.dumps(obj))
        kind = kind_of(type(decoded))
        assert of_kind(obj) == f"{kind.api_version}/{kind.kind}"
