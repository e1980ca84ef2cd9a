"""Watches break in the middle of a line, and the server forgets where they were: nothing is missed."""

from __future__ import annotations

from collections.abc import Mapping

from berthing.api.frozen import EMPTY
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.testing import HOSTNAME, make_node, make_pod
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.load import check_bound_once, check_settled, nodes_for, plain_pods, wait_bound
from e2e.pod_history import revision
from e2e.proxy import Proxy, Request, is_pod_watch
from e2e.waiting import wait_until


def test_a_line_that_was_cut_is_read_after_all(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*nodes_for(60))
    berthing = start_berthing(through=proxy)
    since = revision(control_plane)
    pods = plain_pods(60)
    with proxy.cutting(is_pod_watch) as cut:
        control_plane.client.create_all(pods[:30])
        # As often as it is opened anew, for there is always something to tell.
        wait_until(lambda: cut.count >= 2)
        control_plane.client.create_all(pods[30:])
    wait_bound(control_plane, 60)
    check_bound_once(control_plane, pods, since=since)
    check_settled(berthing, pods=60)
    # It went on from where it was, without a new list.
    assert len(proxy.statuses(is_pod_list)) == 1


def test_what_happened_in_a_time_that_the_server_forgot_is_listed(
    control_plane: ControlPlane, proxy: Proxy, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(*(make_node(name, cpu="1") for name in ("stays", "goes")))
    berthing = start_berthing(through=proxy)
    control_plane.client.create_all([pod("stays"), pod("goes")])
    wait_bound(control_plane, 2)
    control_plane.client.create(pod("waits"))
    berthing.wait_metric("scheduler_pending_pods", 1, queue="unschedulable")
    with proxy.holding(is_watch):
        proxy.break_off(is_watch)
        # What it does not see: pods and nodes come, change and go.
        goes = control_plane.client.get(Pod, "goes")
        control_plane.client.delete(Pod, "goes")
        control_plane.client.delete(Pod, "waits")
        control_plane.client.delete(Node, goes.spec.node_name)
        # For which there was no node when it last looked.
        control_plane.client.create(pod("late", node_selector={HOSTNAME: "new"}))
        # A server that has started anew remembers nothing of that.
        control_plane.api_server.kill()
        control_plane.start()
        control_plane.add_nodes(make_node("new", cpu="1"))
    pods = control_plane.client.wait_for(
        Pod, lambda pods: pods["default/late"].spec.node_name == "new", timeout=60
    )
    assert pods.keys() == {"default/stays", "default/late"}
    check_settled(berthing, pods=2)
    assert berthing.metric("scheduler_cache_size", type="nodes") == 2
    assert "too old resource version" in berthing.log()
    assert len(proxy.statuses(is_pod_list)) > 1


def pod(name: str, node_selector: Mapping[str, str] = EMPTY) -> Pod:
    """A pod that fills a node."""
    return make_pod(name, image="app", cpu="600m", node_selector=node_selector)


def is_watch(request: Request) -> bool:
    return request.is_watch


def is_pod_list(request: Request) -> bool:
    is_list = request.method == "GET" and not request.is_watch
    return is_list and request.path == "/api/v1/pods"
