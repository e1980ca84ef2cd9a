from __future__ import annotations

import pytest

from berthing.api.apps import ReplicaSet
from berthing.api.core import Namespace, Service
from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.explain.gaps import gaps
from berthing.testing import (
    make_affinity_term,
    make_node,
    make_owner,
    make_pod,
    make_spread_constraint,
)

SELECTING = make_pod(
    pod_affinity=[make_affinity_term({"a": "b"}, namespace_labels={"env": "prod"})]
)
OWNED = make_pod(owner=make_owner("web"))


@pytest.mark.parametrize(
    ("pod", "objects", "words"),
    [
        pytest.param(
            SELECTING, [make_node()], ["no Namespaces"], id="namespaces that are selected"
        ),
        pytest.param(SELECTING, [Namespace()], [], id="namespaces that are there"),
        pytest.param(OWNED, [make_node()], ["no Services and no ReplicaSets"], id="the owner"),
        pytest.param(OWNED, [ReplicaSet()], [], id="an owner that is there"),
        pytest.param(OWNED, [Service()], [], id="services that are there"),
        pytest.param(
            make_pod(owner=make_owner("web"), spread=[make_spread_constraint({"a": "b"})]),
            [make_node()],
            [],
            id="a pod that says itself how it is spread",
        ),
        pytest.param(make_pod(), [make_node()], [], id="a pod that needs neither"),
    ],
)
def test_what_the_files_lack(pod: Pod, objects: list[ApiObject], words: list[str]) -> None:
    found = list(gaps(PodInfo.of(pod), objects))
    assert len(found) == len(words)
    assert all(word in gap for word, gap in zip(words, found, strict=True))
