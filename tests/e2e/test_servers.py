"""The servers are what they say they are, and come back as they were."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec
import pytest

from berthing.api.core import Namespace
from berthing.api.node import Node
from berthing.testing import make_node, make_taint
from e2e.api_client import Access, ApiClient
from e2e.binaries import kubernetes_version
from e2e.certificates import Authority
from e2e.control_plane import ControlPlane


class Version(msgspec.Struct, rename="camel"):
    git_version: str


class Versions(msgspec.Struct, rename="camel"):
    client_version: Version
    server_version: Version


def test_client_and_server_are_of_the_pinned_version(control_plane: ControlPlane) -> None:
    told = msgspec.json.decode(control_plane.kubectl("version", "-o", "json"), type=Versions)
    pinned = Version(git_version=kubernetes_version())
    assert told == Versions(client_version=pinned, server_version=pinned)


def test_a_client_that_trusts_others_turns_away(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    access: Access = msgspec.structs.replace(
        control_plane.access, authority=Authority(tmp_path).certificate
    )
    with pytest.raises(ssl.SSLCertVerificationError):
        ApiClient(access).list(Namespace)


def test_nodes_have_just_the_taints_they_were_made_with(control_plane: ControlPlane) -> None:
    taint = make_taint("dedicated", "db")
    control_plane.add_nodes(make_node("plain"), make_node("tainted", taints=[taint]))
    nodes = control_plane.client.list(Node)
    assert {node.name: node.spec.taints for node in nodes} == {"plain": (), "tainted": (taint,)}


@pytest.mark.parametrize("server", ["etcd", "kube-apiserver"])
def test_a_server_that_was_killed_comes_back_with_its_data(
    control_plane: ControlPlane, server: str
) -> None:
    control_plane.add_nodes(make_node("kept"))
    process = control_plane.etcd if server == "etcd" else control_plane.api_server
    process.kill()
    assert not process.is_running
    control_plane.start()
    control_plane.client.wait_for(Node, lambda nodes: nodes.keys() == {"kept"})


def test_waiting_sees_through_a_restart(control_plane: ControlPlane) -> None:
    control_plane.api_server.stop()
    control_plane.api_server.start()
    control_plane.client.wait_for(Namespace, lambda found: "default" in found)


def test_wiping_takes_away_what_was_made(control_plane: ControlPlane) -> None:
    control_plane.add_nodes(make_node("gone"))
    # Volumes and claims get finalizers from admission.
    control_plane.kubectl("apply", "-f", "-", stdin=CLAIM)
    control_plane.wipe()
    assert control_plane.kubectl("get", "nodes,persistentvolumeclaims", "-A", "-o", "name") == ""


CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
"""
