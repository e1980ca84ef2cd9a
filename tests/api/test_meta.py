from __future__ import annotations

from datetime import UTC, datetime

import pytest

from berthing.api.decode import DecodeError, decode_as
from berthing.api.meta import ObjectMeta, OwnerReference, micro_time
from berthing.api.node import Node
from berthing.api.pod import Pod


def test_a_key_has_the_namespace_if_there_is_one() -> None:
    assert Pod(metadata=ObjectMeta(namespace="default", name="web")).key == "default/web"
    assert Node(metadata=ObjectMeta(name="n1")).key == "n1"


def test_the_controller_is_the_owner_that_says_so() -> None:
    admirer = OwnerReference(kind="Admirer", name="a")
    boss = OwnerReference(kind="ReplicaSet", name="b", controller=True)
    assert ObjectMeta(owner_references=(admirer, boss)).controller is boss
    assert ObjectMeta(owner_references=(admirer,)).controller is None


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        pytest.param(
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "2026-01-02T03:04:05.000000Z",
            id="on the second",
        ),
        pytest.param(
            datetime(2026, 1, 2, 3, 4, 5, 67, tzinfo=UTC),
            "2026-01-02T03:04:05.000067Z",
            id="after it",
        ),
    ],
)
def test_micro_times_have_six_digits(moment: datetime, text: str) -> None:
    assert micro_time(moment) == text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param(
            "2026-01-02T03:04:05Z",
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            id="as API servers write",
        ),
        pytest.param(
            "2026-01-02T03:04:05.25Z",
            datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC),
            id="with a fraction",
        ),
        pytest.param(
            "2026-01-02T05:04:05+02:00",
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            id="in another zone",
        ),
    ],
)
def test_times_are_read(text: str, moment: datetime) -> None:
    pod = decode_as(f'{{"metadata":{{"creationTimestamp":"{text}"}}}}', Pod)
    assert pod.metadata.creation_timestamp == moment


@pytest.mark.parametrize("text", ["yesterday", "", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z"])
def test_what_is_no_time_is_refused_by_path(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_as(f'{{"metadata":{{"creationTimestamp":"{text}"}}}}', Pod)
    assert caught.value.path == "metadata.creationTimestamp"
