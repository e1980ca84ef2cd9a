"""Writes about pods: what is sent, and what is done when the answer is no, or does not come."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from berthing.api.errors import (
    BadAnswerError,
    ConflictError,
    ForbiddenError,
    NoAnswerError,
    NotFoundError,
    NotSentError,
    ServerError,
)
from berthing.api.meta import ObjectMeta
from berthing.api.pod import Pod, PodCondition, PodStatus
from berthing.client.pod_writer import PodWriter
from berthing.simulate.virtual_time import run
from client.fake_server import Answer, FakeServer, json_answer, now, status_answer
from client.objects import pod

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
EARLIER = datetime(2026, 1, 2, 11, 0, tzinfo=UTC)
POD = pod("web", 7)
OK = Answer(201)
ON_NODE_1 = json_answer(pod("web", 8, node="node-1"))
ON_NODE_2 = json_answer(pod("web", 8, node="node-2"))
UNBOUND = json_answer(POD)
LOST = NoAnswerError("reset")
BIND = "POST /api/v1/namespaces/default/pods/web/binding"
READ = "GET /api/v1/namespaces/default/pods/web"
SAY = "PATCH /api/v1/namespaces/default/pods/web/status"


def writes(server: FakeServer, write: Callable[[PodWriter], Awaitable[None]]) -> None:
    async def story() -> None:
        writer = PodWriter(server.client(), now=NOON.timestamp, random=random.Random(1))
        await write(writer)

    run(story())


def bind(server: FakeServer) -> None:
    writes(server, lambda writer: writer.bind_pod(POD, "node-1"))


def test_a_binding() -> None:
    server = FakeServer().will(OK)
    bind(server)
    assert server.asked == [BIND]
    assert server.bodies() == [
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "web", "namespace": "default", "uid": "uid-web"},
            "target": {"kind": "Node", "name": "node-1"},
        }
    ]


@pytest.mark.parametrize("unclear", [LOST, status_answer(500), status_answer(504, "Timeout")])
def test_a_binding_without_a_clear_answer_is_looked_up(unclear: Answer | Exception) -> None:
    server = FakeServer().will(unclear, ON_NODE_1)
    bind(server)
    assert server.asked == [BIND, READ]


def test_a_binding_that_was_not_made_is_made_again() -> None:
    server = FakeServer().will(LOST, UNBOUND, OK)
    bind(server)
    assert server.asked == [BIND, READ, BIND]


def test_a_binding_that_was_made_after_it_was_looked_up_is_seen_by_its_conflict() -> None:
    server = FakeServer().will(LOST, UNBOUND, status_answer(409, "Conflict"), ON_NODE_1)
    bind(server)
    assert not server.answers


def test_a_pod_that_somebody_else_has_bound_is_a_conflict() -> None:
    server = FakeServer().will(status_answer(409, "Conflict"), ON_NODE_2)
    with pytest.raises(ConflictError):
        bind(server)


def test_a_conflict_over_a_pod_that_is_not_bound_is_one() -> None:
    server = FakeServer().will(status_answer(409, "Conflict", "being deleted"), UNBOUND)
    with pytest.raises(ConflictError, match="being deleted"):
        bind(server)


def test_a_pod_that_another_one_took_the_name_of_is_not_bound() -> None:
    other = json_answer(pod("web", 9, uid="other", node="node-1"))
    server = FakeServer().will(status_answer(409, "Conflict"), other)
    with pytest.raises(ConflictError):
        bind(server)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (status_answer(404, "NotFound"), NotFoundError),
        (status_answer(403, "Forbidden"), ForbiddenError),
        (NotSentError("refused"), NotSentError),
    ],
)
def test_a_clear_no_is_passed_on_at_once(
    answer: Answer | Exception, expected: type[Exception]
) -> None:
    server = FakeServer().will(answer)
    with pytest.raises(expected):
        bind(server)
    assert server.asked == [BIND]


def test_a_pod_that_is_gone_when_it_is_looked_up_is_not_bound() -> None:
    server = FakeServer().will(LOST, status_answer(404, "NotFound"))
    with pytest.raises(NotFoundError):
        bind(server)


def test_nobody_gives_up_on_a_pod_of_which_it_is_not_known_whether_it_is_bound() -> None:
    trouble = [NotSentError("refused"), LOST, status_answer(500)] * 20
    server = FakeServer().will(LOST, *trouble, ON_NODE_1)
    bind(server)
    assert not server.answers


def test_a_second_attempt_that_is_not_sent_does_not_make_the_first_one_a_failure() -> None:
    server = FakeServer().will(LOST, UNBOUND, NotSentError("refused"), ON_NODE_1)
    bind(server)
    assert not server.answers


@pytest.mark.parametrize(
    "answer", [status_answer(409, "Conflict"), status_answer(403, "Forbidden")], ids=["409", "403"]
)
def test_a_no_does_not_hide_an_earlier_attempt_that_is_still_under_way(answer: Answer) -> None:
    server = FakeServer().will(LOST, UNBOUND, answer, UNBOUND, UNBOUND, ON_NODE_1)
    bind(server)
    assert server.asked == [BIND, READ, BIND, READ, READ, READ]


def test_a_no_counts_once_nothing_is_under_way_any_more() -> None:
    server = FakeServer().will(LOST, UNBOUND, status_answer(409, "Conflict"), *[UNBOUND] * 60)

    async def write(writer: PodWriter) -> None:
        began = now()
        with pytest.raises(ConflictError):
            await writer.bind_pod(POD, "node-1")
        assert 34 < now() - began < 37

    writes(server, write)


def test_an_answer_that_makes_no_sense_may_be_a_yes() -> None:
    server = FakeServer().will(BadAnswerError("no HTTP"), ON_NODE_1)
    bind(server)
    assert server.asked == [BIND, READ]


def test_a_pod_that_is_gone_is_not_waited_for() -> None:
    other = json_answer(pod("web", 9, uid="other"))
    server = FakeServer().will(LOST, other)
    with pytest.raises(NoAnswerError):
        bind(server)
    assert not server.answers


def test_a_server_that_fails_over_and_over_is_believed() -> None:
    server = FakeServer().will(*[status_answer(500), UNBOUND] * 5)
    with pytest.raises(ServerError):
        bind(server)
    assert not server.answers


UNSCHEDULABLE = PodCondition(
    type="PodScheduled",
    status="False",
    reason="Unschedulable",
    message="0/1 nodes are available",
    observed_generation=3,
)


def patch(server: FakeServer, pod: Pod, **wanted: object) -> None:
    writes(server, lambda writer: writer.patch_pod_status(pod, **wanted))  # type: ignore[arg-type]


def with_status(*conditions: PodCondition, nominated: str = "", version: str = "7") -> Pod:
    return Pod(
        metadata=replace(POD.metadata, resource_version=version),
        status=PodStatus(conditions=conditions, nominated_node_name=nominated),
    )


def condition(**fields: object) -> PodCondition:
    values = {name: getattr(UNSCHEDULABLE, name) for name in UNSCHEDULABLE.__struct_fields__}
    return PodCondition(**(values | fields))


def test_a_condition() -> None:
    server = FakeServer().will(OK)
    patch(server, POD, condition=UNSCHEDULABLE)
    assert server.asked == ["PATCH /api/v1/namespaces/default/pods/web/status"]
    assert server.requests[0].headers["content-type"] == "application/strategic-merge-patch+json"
    assert server.bodies() == [
        {
            "metadata": {"uid": "uid-web", "resourceVersion": "7"},
            "status": {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/1 nodes are available",
                        "observedGeneration": 3,
                        "lastProbeTime": None,
                        "lastTransitionTime": "2026-01-02T12:00:00Z",
                    }
                ]
            },
        }
    ]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (condition(message="other", last_transition_time=EARLIER), "2026-01-02T11:00:00Z"),
        (condition(status="True", last_transition_time=EARLIER), "2026-01-02T12:00:00Z"),
    ],
)
def test_a_transition_is_a_change_of_the_status(before: PodCondition, expected: str) -> None:
    server = FakeServer().will(OK)
    patch(server, with_status(before), condition=UNSCHEDULABLE)
    assert server.bodies()[0]["status"]["conditions"][0]["lastTransitionTime"] == expected


def test_a_condition_that_is_there_already_is_not_written() -> None:
    there = condition(last_transition_time=EARLIER, observed_generation=1)
    patch(FakeServer(), with_status(there), condition=UNSCHEDULABLE)


def test_what_was_written_counts_before_the_watch_shows_it() -> None:
    first, other = condition(message="first"), condition(message="other")
    seen = with_status(condition(message="first", last_transition_time=EARLIER))
    server = FakeServer().will(json_answer(pod("web", 8)), json_answer(pod("web", 9)))

    async def write(writer: PodWriter) -> None:
        await writer.patch_pod_status(seen, condition=other)
        await writer.patch_pod_status(seen, condition=other)
        assert len(server.requests) == 1
        # The pod as it was seen says so still, and is outdated.
        await writer.patch_pod_status(seen, condition=first)

    writes(server, write)
    (written,) = server.bodies()[1]["status"]["conditions"]
    assert written["message"] == "first"
    assert written["lastTransitionTime"] == "2026-01-02T11:00:00Z"


def test_what_the_watch_shows_counts_once_it_is_newer() -> None:
    first, other = condition(message="first"), condition(message="other")
    server = FakeServer().will(json_answer(pod("web", 8)))

    async def write(writer: PodWriter) -> None:
        await writer.patch_pod_status(with_status(first), condition=other)
        await writer.patch_pod_status(with_status(first, version="9"), condition=first)

    writes(server, write)
    assert not server.answers


def test_what_became_of_a_write_that_nobody_answered_the_pod_itself_tells() -> None:
    first, other = condition(message="first"), condition(message="other")
    server = FakeServer().will(LOST, json_answer(with_status(other, version="8")), OK)

    async def write(writer: PodWriter) -> None:
        with pytest.raises(NoAnswerError):
            await writer.patch_pod_status(with_status(first), condition=other)
        # It was carried out, so this is a change, whatever the watch has shown.
        await writer.patch_pod_status(with_status(first), condition=first)

    writes(server, write)
    assert server.asked == [SAY, READ, SAY]
    sent = server.bodies()[1]
    assert sent["metadata"]["resourceVersion"] == "8"
    assert sent["status"]["conditions"][0]["message"] == "first"


def test_a_write_that_was_carried_out_unanswered_is_not_made_again() -> None:
    there = with_status(UNSCHEDULABLE, version="8")
    server = FakeServer().will(status_answer(500), json_answer(there))
    patch(server, POD, condition=UNSCHEDULABLE)
    assert server.asked == [SAY, READ]


def test_a_pod_that_has_changed_is_read_and_written_as_it_is_now() -> None:
    changed = with_status(nominated="node-1", version="12")
    server = FakeServer().will(status_answer(409, "Conflict"), json_answer(changed), OK)
    patch(server, POD, condition=UNSCHEDULABLE, nominated_node_name="")
    assert server.asked == [SAY, READ, SAY]
    sent = server.bodies()[1]
    assert sent["metadata"]["resourceVersion"] == "12"
    assert sent["status"].keys() == {"conditions", "nominatedNodeName"}


@pytest.mark.parametrize(
    "by_now", [pod("web", 9, node="node-1"), pod("web", 9, uid="other")], ids=["bound", "another"]
)
def test_nothing_is_said_of_a_pod_that_has_changed_into_one_that_does_not_wait(
    by_now: Pod,
) -> None:
    server = FakeServer().will(status_answer(409, "Conflict"), json_answer(by_now))
    patch(server, POD, condition=UNSCHEDULABLE)
    assert server.asked == [SAY, READ]


@pytest.mark.parametrize(
    ("before", "nominated", "expected"),
    [
        ("", "node-1", {"nominatedNodeName": "node-1"}),
        ("node-1", "", {"nominatedNodeName": None}),
        ("node-1", "node-2", {"nominatedNodeName": "node-2"}),
    ],
)
def test_a_nomination(before: str, nominated: str, expected: object) -> None:
    server = FakeServer().will(OK)
    patch(server, with_status(nominated=before), nominated_node_name=nominated)
    assert server.bodies()[0]["status"] == expected


@pytest.mark.parametrize(("before", "nominated"), [("", ""), ("a", "a"), ("a", None), ("", None)])
def test_a_nomination_that_does_not_change_is_not_written(
    before: str, nominated: str | None
) -> None:
    patch(FakeServer(), with_status(nominated=before), nominated_node_name=nominated)


@pytest.mark.parametrize(
    ("passing", "asked"),
    [
        (NotSentError("refused"), [SAY] * 4),
        *(
            (answer, [SAY, READ, SAY, READ, SAY, READ, SAY])
            for answer in (status_answer(500), status_answer(503), status_answer(409, "Conflict"))
        ),
    ],
)
def test_a_status_is_tried_four_times(passing: Answer | Exception, asked: list[str]) -> None:
    answers = [UNBOUND if each == READ else passing for each in asked]
    server = FakeServer().will(*answers[:-1], OK)
    patch(server, POD, condition=UNSCHEDULABLE)
    assert server.asked == asked
    server = FakeServer().will(*answers)
    with pytest.raises((ServerError, ConflictError, NotSentError)):
        patch(server, POD, condition=UNSCHEDULABLE)
    assert not server.answers


def test_a_status_that_is_refused_is_not_tried_again() -> None:
    server = FakeServer().will(status_answer(404, "NotFound"))
    with pytest.raises(NotFoundError):
        patch(server, POD, condition=UNSCHEDULABLE)


def test_a_deletion_means_this_pod() -> None:
    server = FakeServer().will(OK)
    writes(server, lambda writer: writer.delete_pod(POD))
    assert server.asked == ["DELETE /api/v1/namespaces/default/pods/web"]
    assert server.bodies()[0]["preconditions"] == {"uid": "uid-web"}


def test_a_pod_that_is_gone_need_not_be_deleted() -> None:
    server = FakeServer().will(status_answer(404, "NotFound"))
    writes(server, lambda writer: writer.delete_pod(Pod(metadata=ObjectMeta(name="x"))))
    assert not server.answers
