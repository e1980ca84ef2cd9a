"""`berthing explain` asks a live cluster, and says what the scheduler there has said."""

from __future__ import annotations

import msgspec

from berthing.api.pod import Pod
from berthing.testing import make_node, make_pod
from cli.run import run
from e2e.conftest import StartBerthing
from e2e.control_plane import ControlPlane
from e2e.pods import create_pod


class Explained(msgspec.Struct):
    """The part of a report that is compared."""

    message: str


def test_a_pending_pod_is_explained_in_the_schedulers_words(
    control_plane: ControlPlane, start_berthing: StartBerthing
) -> None:
    control_plane.add_nodes(make_node("small", cpu="1"), make_node("cordoned", cordoned=True))
    create_pod(control_plane, make_pod("big", cpu="2"))
    start_berthing()
    pods = control_plane.client.wait_for(
        Pod, lambda pods: pods["default/big"].condition("PodScheduled") is not None
    )
    condition = pods["default/big"].condition("PodScheduled")
    assert condition
    result = run("explain", "big", "--kubeconfig", str(control_plane.kubeconfig), "-o", "json")
    assert result.exit_code == 0, result.output
    explained = msgspec.json.decode(result.stdout, type=Explained)
    assert explained.message.startswith("0/2 nodes are available: 1 Insufficient cpu, ")
    # What preemption adds is no part of it.
    assert condition.message.startswith(explained.message)
