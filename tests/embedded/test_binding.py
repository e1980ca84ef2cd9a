"""What becomes of a pod that is bound, and which bindings are refused in which words."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.servers import POD, Server, named

PODS = "/api/v1/namespaces/default/pods"


def binding(node: str = "n1", **metadata: str) -> dict[str, Any]:
    return {"metadata": {"name": "web", **metadata}, "target": {"kind": "Node", "name": node}}


@pytest.fixture
def server() -> Server:
    server = Server()
    labels = {"topology.kubernetes.io/zone": "a", "disk": "ssd"}
    server.create("/api/v1/nodes", {"metadata": {"name": "n1", "labels": labels}})
    server.create(PODS, POD)
    return server


def test_a_bound_pod_has_its_node_and_says_so(server: Server) -> None:
    status = {"status": {"nominatedNodeName": "n9"}}
    media_type = "application/merge-patch+json"
    server.ask("PATCH", f"{PODS}/web/status", status, content_type=media_type)
    code, answer = server.ask("POST", f"{PODS}/web/binding", binding())
    assert (code, answer["status"]) == (201, "Success")
    pod = server.get(f"{PODS}/web")
    assert pod["spec"]["nodeName"] == "n1"
    (condition,) = pod["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert "nominatedNodeName" not in pod["status"]


def test_a_bound_pod_is_labelled_with_the_topology_of_its_node(server: Server) -> None:
    server.create(f"{PODS}/web/binding", binding())
    labels = server.get(f"{PODS}/web")["metadata"]["labels"]
    assert labels == {"topology.kubernetes.io/zone": "a"}


@pytest.mark.parametrize(
    ("before", "asked", "code", "message"),
    [
        pytest.param(
            binding("n2"),
            binding("n1"),
            409,
            'Operation cannot be fulfilled on pods/binding "web": '
            'pod web is already assigned to node "n2"',
            id="bound elsewhere",
        ),
        pytest.param(
            binding("n1"),
            binding("n1"),
            409,
            'Operation cannot be fulfilled on pods/binding "web": '
            'pod web is already assigned to node "n1"',
            id="bound there already",
        ),
        pytest.param(
            None, binding(name="other"), 400, "name in URL does not match name in Binding object",
            id="another pod in the body",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_bound(
    server: Server, before: dict[str, Any] | None, asked: dict[str, Any], code: int, message: str
) -> None:
    if before:
        server.create(f"{PODS}/web/binding", before)
    answered, answer = server.ask("POST", f"{PODS}/web/binding", asked)
    assert (answered, answer["message"]) == (code, message)


def test_a_binding_for_an_earlier_pod_of_that_name_is_refused(server: Server) -> None:
    code, answer = server.ask("POST", f"{PODS}/web/binding", binding(uid="earlier"))
    uid = server.get(f"{PODS}/web")["metadata"]["uid"]
    assert code == 409
    assert answer["message"].endswith(
        f"Precondition failed: UID in precondition: earlier, UID in object meta: {uid}"
    )


def test_a_pod_that_is_gone_cannot_be_bound(server: Server) -> None:
    server.ask("DELETE", f"{PODS}/web")
    code, answer = server.ask("POST", f"{PODS}/web/binding", binding())
    assert (code, answer["reason"], answer["message"]) == (
        404,
        "NotFound",
        'pods "web" not found',
    )


def test_a_pod_on_its_way_out_cannot_be_bound(server: Server) -> None:
    pod = named(POD, "going")
    pod["metadata"]["finalizers"] = ["example.com/wait"]
    server.create(PODS, pod)
    server.ask("DELETE", f"{PODS}/going")
    body = {**binding(), "metadata": {"name": "going"}}
    code, answer = server.ask("POST", f"{PODS}/going/binding", body)
    assert code == 409
    assert "pod going is being deleted, cannot be assigned to a host" in answer["message"]


def test_a_gated_pod_cannot_be_bound(server: Server) -> None:
    server.create(PODS, named(POD, "gated", schedulingGates=[{"name": "wait"}]))
    body = {**binding(), "metadata": {"name": "gated"}}
    code, answer = server.ask("POST", f"{PODS}/gated/binding", body)
    assert code == 409
    assert "non-empty .spec.schedulingGates" in answer["message"]
