"""Creating, reading, changing and deleting objects, and the answers when that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.servers import POD, Server, named

PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_created_object_gets_what_identifies_it(server: Server) -> None:
    made = server.create(PODS, POD)
    metadata = made["metadata"]
    assert metadata["namespace"] == "default"
    assert metadata["uid"]
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert server.get(f"{PODS}/web") == made
    assert (made["kind"], made["apiVersion"]) == ("Pod", "v1")


def test_fields_that_no_scheduler_reads_are_kept(server: Server) -> None:
    server.create(PODS, named(POD, "web", dnsPolicy="ClusterFirst"))
    assert server.get(f"{PODS}/web")["spec"]["dnsPolicy"] == "ClusterFirst"


def test_a_new_pod_is_pending_whatever_it_says(server: Server) -> None:
    made = server.create(PODS, {**POD, "status": {"phase": "Running"}})
    assert made["status"] == {"phase": "Pending"}
    assert made["spec"]["schedulerName"] == "default-scheduler"


def test_a_gated_pod_says_that_it_is(server: Server) -> None:
    made = server.create(PODS, named(POD, "web", schedulingGates=[{"name": "wait"}]))
    (condition,) = made["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "SchedulingGated")


def test_priority_classes_become_priorities(server: Server) -> None:
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    server.create(classes, {"metadata": {"name": "high"}, "value": 7})
    made = server.create(PODS, named(POD, "web", priorityClassName="high"))
    assert made["spec"]["priority"] == 7
    code, answer = server.ask("POST", PODS, named(POD, "other", priorityClassName="none"))
    assert code == 403
    assert "no PriorityClass with name none was found" in answer["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "message"),
    [
        ("GET", f"{PODS}/none", None, 404, 'pods "none" not found'),
        ("GET", "/apis/apps/v1/namespaces/default/replicasets/x", None, 404,
         'replicasets.apps "x" not found'),
        ("GET", "/api/v1/wishes", None, 404, "the server could not find the requested resource"),
        ("POST", PODS, POD, 409, 'pods "web" already exists'),
        ("POST", "/api/v1/namespaces/none/pods", POD, 404, 'namespaces "none" not found'),
        ("POST", PODS, {"metadata": {}}, 422,
         'Pod "" is invalid: metadata.name: Required value: name or generateName is required'),
        ("PUT", f"{PODS}/web", named(POD, "other"), 400,
         "the name of the object (other) does not match the name on the URL (web)"),
        ("DELETE", f"{PODS}/none", None, 404, 'pods "none" not found'),
        ("PUT", PODS, POD, 405, "the server does not allow this method on the requested resource"),
        ("GET", f"{PODS}?fieldSelector=spec.color=red", None, 400,
         "field label not supported: spec.color"),
    ],
)  # fmt: skip
def test_what_is_refused(
    server: Server, method: str, path: str, body: object, code: int, message: str
) -> None:
    server.create(PODS, POD)
    answered, answer = server.ask(method, path, body)
    assert (answered, answer["message"]) == (code, message)
    assert (answer["kind"], answer["status"], answer["code"]) == ("Status", "Failure", code)


def test_a_body_of_the_wrong_shape_is_a_bad_request(server: Server) -> None:
    code, answer = server.ask("POST", PODS, {"metadata": {"name": "web"}, "spec": {"nodeName": 5}})
    assert code == 400
    assert "spec.nodeName" in answer["message"]
    code, _ = server.ask("POST", PODS, [])
    assert code == 400


def test_an_update_of_an_old_version_is_a_conflict(server: Server) -> None:
    node = server.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    changed = {**node, "spec": {"unschedulable": True}}
    assert server.ask("PUT", "/api/v1/nodes/n1", changed)[0] == 200
    code, answer = server.ask("PUT", "/api/v1/nodes/n1", {**node, "spec": {}})
    assert (code, answer["reason"]) == (409, "Conflict")
    assert answer["message"] == (
        'Operation cannot be fulfilled on nodes "n1": the object has been modified; please apply '
        "your changes to the latest version and try again"
    )


def test_an_update_that_changes_nothing_makes_no_version(server: Server) -> None:
    node = server.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    assert server.ask("PUT", "/api/v1/nodes/n1", node)[1] == node


def test_status_and_the_rest_are_changed_apart(server: Server) -> None:
    node: dict[str, Any] = server.create("/api/v1/nodes", {"metadata": {"name": "n1"}})
    both = {"spec": {"unschedulable": True}, "status": {"capacity": {"cpu": "4"}}}
    changed = server.ask("PUT", "/api/v1/nodes/n1/status", {**node, **both})[1]
    assert changed["status"] == both["status"]
    assert "spec" not in changed
    del changed["metadata"]["resourceVersion"]
    rest = {**changed, **both, "status": {}}
    changed = server.ask("PUT", "/api/v1/nodes/n1", rest)[1]
    assert (changed["spec"], changed["status"]) == (both["spec"], both["status"])


def test_conditions_are_patched_one_by_one(server: Server) -> None:
    server.create(PODS, POD)
    for type_, status in (("Ready", "True"), ("PodScheduled", "False"), ("Ready", "False")):
        patch = {"status": {"conditions": [{"type": type_, "status": status}]}}
        server.ask("PATCH", f"{PODS}/web/status", patch, content_type=STRATEGIC)
    conditions = server.get(f"{PODS}/web")["status"]["conditions"]
    assert [(each["type"], each["status"]) for each in conditions] == [
        ("Ready", "False"),
        ("PodScheduled", "False"),
    ]


def test_a_patch_can_insist_on_a_pod(server: Server) -> None:
    server.create(PODS, POD)
    patch = {"metadata": {"uid": "earlier"}, "status": {"nominatedNodeName": "n1"}}
    code, answer = server.ask("PATCH", f"{PODS}/web/status", patch, content_type=STRATEGIC)
    assert (code, answer["reason"]) == (409, "Conflict")


def test_an_unknown_kind_of_patch_is_refused(server: Server) -> None:
    server.create(PODS, POD)
    assert server.ask("PATCH", f"{PODS}/web", {}, content_type="text/plain")[0] == 415


def test_a_pod_without_a_node_goes_at_once(server: Server) -> None:
    server.create(PODS, POD)
    assert server.ask("DELETE", f"{PODS}/web")[0] == 200
    assert server.ask("GET", f"{PODS}/web")[0] == 404


def test_a_pod_on_a_node_gets_its_time(server: Server) -> None:
    server.create(PODS, named(POD, "web", nodeName="n1"))
    left = server.ask("DELETE", f"{PODS}/web")[1]
    assert left["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:30Z"
    assert left["metadata"]["deletionGracePeriodSeconds"] == 30
    assert server.ask("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0})[0] == 200
    assert server.ask("GET", f"{PODS}/web")[0] == 404


def test_a_delete_can_insist_on_a_pod(server: Server) -> None:
    server.create(PODS, POD)
    options = {"preconditions": {"uid": "earlier"}}
    assert server.ask("DELETE", f"{PODS}/web", options)[0] == 409
    assert server.ask("GET", f"{PODS}/web")[0] == 200


def test_finalizers_hold_an_object_until_they_are_gone(server: Server) -> None:
    server.create("/api/v1/nodes", {"metadata": {"name": "n1", "finalizers": ["wait"]}})
    server.ask("DELETE", "/api/v1/nodes/n1")
    node = server.get("/api/v1/nodes/n1")
    assert node["metadata"]["deletionTimestamp"]
    node["metadata"]["finalizers"] = []
    server.ask("PUT", "/api/v1/nodes/n1", node)
    assert server.ask("GET", "/api/v1/nodes/n1")[0] == 404


def test_events_are_created_and_their_series_patched(server: Server) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    event = {"metadata": {"name": "web.1"}, "note": "no room", "regarding": {"name": "web"}}
    server.create(path, event)
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}
    code, _ = server.ask("PATCH", f"{path}/web.1", series, content_type=STRATEGIC)
    assert code == 200
    assert server.get(f"{path}/web.1")["series"]["count"] == 2


def test_a_pod_on_its_way_out_can_be_told_to_go_sooner_and_not_later(server: Server) -> None:
    server.create(PODS, named(POD, "web", nodeName="n"))
    server.ask("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 10})
    server.ask("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 20})
    going = server.get(f"{PODS}/web")["metadata"]
    assert going["deletionGracePeriodSeconds"] == 10
    assert going["deletionTimestamp"] == "2026-01-01T00:00:10Z"
    server.ask("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 5})
    assert server.get(f"{PODS}/web")["metadata"]["deletionGracePeriodSeconds"] == 5


def test_a_pod_told_to_go_at_once_goes_when_its_finalizers_do(server: Server) -> None:
    pod = named(POD, "web", nodeName="n")
    server.create(PODS, {**pod, "metadata": {"name": "web", "finalizers": ["example.com/wait"]}})
    server.ask("DELETE", f"{PODS}/web")
    server.ask("DELETE", f"{PODS}/web", {"gracePeriodSeconds": 0})
    assert server.get(f"{PODS}/web")["metadata"]["deletionGracePeriodSeconds"] == 0
    media_type = "application/merge-patch+json"
    server.ask("PATCH", f"{PODS}/web", {"metadata": {"finalizers": []}}, content_type=media_type)
    assert server.ask("GET", f"{PODS}/web")[0] == 404
