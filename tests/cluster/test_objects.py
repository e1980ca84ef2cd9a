"""Objects that are looked up by kind, namespace and name."""

from __future__ import annotations

from berthing.api.core import ReplicationController, Service
from berthing.api.meta import ObjectMeta
from berthing.api.storage import StorageClass
from berthing.cluster.objects import Objects


def service(name: str, namespace: str = "default", *, uid: str = "") -> Service:
    return Service(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid))


def objects_of(*services: Service) -> Objects:
    objects = Objects()
    for each in services:
        objects.set(each)
    return objects


def test_an_object_is_found_by_its_kind_namespace_and_name() -> None:
    web, other = service("web"), service("web", "other")
    objects = objects_of(web, other)
    assert objects.get(Service, "web", "default") is web
    assert objects.get(Service, "web", "other") is other
    assert objects.get(Service, "web") is None
    assert objects.get(ReplicationController, "web", "default") is None


def test_objects_without_a_namespace_are_found_by_name_alone() -> None:
    objects = Objects()
    fast = StorageClass(metadata=ObjectMeta(name="fast"))
    objects.set(fast)
    assert objects.get(StorageClass, "fast") is fast


def test_a_new_version_takes_the_place_of_the_old() -> None:
    objects = objects_of(service("web", uid="old"), service("web", uid="new"))
    assert [each.metadata.uid for each in objects.list(Service)] == ["new"]


def test_objects_are_listed_by_namespace_or_all_of_them() -> None:
    objects = objects_of(service("a"), service("b"), service("c", "other"))
    assert [each.name for each in objects.list(Service, "default")] == ["a", "b"]
    assert [each.name for each in objects.list(Service)] == ["a", "b", "c"]
    assert list(objects.list(Service, "nowhere")) == []
    assert list(objects.list(StorageClass)) == []


def test_what_is_removed_is_gone() -> None:
    objects = objects_of(service("a"), service("b"))
    objects.remove(service("a"))
    assert [each.name for each in objects.list(Service)] == ["b"]
    objects.remove(service("never there"))
    assert [each.name for each in objects.list(Service)] == ["b"]


def test_the_version_of_a_kind_tells_of_its_changes_alone() -> None:
    objects = objects_of(service("a"))
    before, others = objects.version(Service), objects.version(StorageClass)
    objects.set(service("a"))
    objects.remove(service("a"))
    assert objects.version(Service) == before + 2
    assert objects.version(StorageClass) == others
