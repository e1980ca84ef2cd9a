"""Upstream's recorded answers, replayed: not one may differ."""

from __future__ import annotations

import pytest

from berthing.verify.recordings import replay
from golden.files import golden


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("quantities.jsonl.gz", 1500),
        ("quantity-pairs.jsonl.gz", 500),
        ("selectors.jsonl.gz", 420),
        ("configurations.jsonl.gz", 282),
    ],
)
def test_readings_are_equal_in_every_field(name: str, cases: int) -> None:
    done = replay(golden(name))
    assert done.mismatches == []
    assert done.unchecked == {}
    assert done.matches + done.on_purpose_cases == done.cases == cases


# What preemption adds to a decision has work of its own to come.
LATER = {"postFilterMessage", "eventMessage", "preemption"}


@pytest.mark.parametrize(
    ("family", "with_claims"),
    [
        pytest.param("resources", 0, id="resources"),
        pytest.param("scoring-strategies", 0, id="scoring-strategies"),
        pytest.param("taints", 0, id="taints"),
        pytest.param("node-affinity", 0, id="node-affinity"),
        pytest.param("spread-hard", 0, id="spread-hard"),
        pytest.param("spread-soft", 0, id="spread-soft"),
        pytest.param("pod-affinity", 0, id="pod-affinity"),
        pytest.param("pod-anti-affinity", 0, id="pod-anti-affinity"),
        pytest.param("pod-affinity-preferred", 0, id="pod-affinity-preferred"),
        pytest.param("ports-images-names", 0, id="ports-images-names"),
        pytest.param("preemption", 3, id="preemption"),
        pytest.param("nominated", 3, id="nominated"),
        pytest.param("mixed", 9, id="mixed"),
    ],
)
def test_decisions_are_equal(family: str, with_claims: int) -> None:
    done = replay(golden(f"{family}.jsonl.gz"))
    assert done.mismatches == []
    assert done.cases == 50
    # Only scenarios whose pod mounts claims may be left out.
    assert done.matches == done.cases - with_claims
    assert {field for field, count in done.unchecked.items() if count > with_claims} == LATER


def test_sequences_are_equal_step_by_step() -> None:
    done = replay(golden("sequence.jsonl.gz"))
    assert done.mismatches == []
    assert (done.cases, done.matches) == (20, 20)
    # Of 972 steps; the others of these sequences are compared.
    assert done.unchecked == {"steps of pods that mount claims": 19}


def test_hints_are_equal_wherever_upstream_does_not_sleep() -> None:
    done = replay(golden("hints.jsonl.gz"))
    assert done.mismatches == []
    assert (done.cases, done.matches) == (600, 597)
    assert done.on_purpose == {
        "affinity-hint-knows-namespaces": 1,
        "affinity-hint-knows-running-pods": 1,
        "anti-affinity-hint-asks-for-one": 1,
    }
    # Only what an attempt comes to that takes plugins which are not done.
    assert done.unchecked == dict.fromkeys(("message", "rejectedBy", "pendingPlugins"), 153)


def test_the_queue_is_equal_after_every_step() -> None:
    done = replay(golden("queue.jsonl.gz"))
    assert done.mismatches == []
    assert done.matches == done.cases == 120
    assert done.unchecked == {}
