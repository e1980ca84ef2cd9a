"""Every object of every recorded scenario is read, written and read again; pods are derived."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from berthing.api.decode import decode_as, decode_object, encode
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from golden.files import golden

FAMILIES = """
resources scoring-strategies taints node-affinity spread-hard spread-soft pod-affinity
pod-anti-affinity pod-affinity-preferred ports-images-names volumes preemption nominated mixed
sequence
"""


class Scenario(msgspec.Struct):
    objects: list[msgspec.Raw]
    pod: msgspec.Raw = msgspec.Raw(b"{}")
    pods: list[msgspec.Raw] = []  # msgspec copies it


class Row(msgspec.Struct):
    scenario: Scenario


def objects_of(path: Path) -> Iterator[ApiObject]:
    with gzip.open(path) as lines:
        for line in lines:
            scenario = msgspec.json.decode(line, type=Row).scenario
            yield from map(decode_object, scenario.objects)
            for pod in (scenario.pod, *scenario.pods):
                yield decode_as(pod, Pod)


@pytest.mark.parametrize("family", FAMILIES.split())
def test_all_objects_are_read_and_all_pods_derived(family: str) -> None:
    path = golden(f"{family}.jsonl.gz")
    if not path.exists():
        pytest.skip("the recorded scenarios are not beside this checkout")
    count = 0
    for obj in objects_of(path):
        count += 1
        assert decode_object(encode(obj)) == obj
        if isinstance(obj, Pod):
            info = PodInfo.of(obj)
            assert info.terms.error == ""
            # Some have terms with mistakes on purpose, which must not raise.
            info.shape.required_node_affinity.matches("n", {})
            info.shape.preferred_node_terms.score("n", {})
    assert count > 100
