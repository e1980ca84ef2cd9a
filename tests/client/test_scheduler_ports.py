"""The client fits the ports that the scheduler offers to plugins; the type checker is the test."""

from __future__ import annotations

import random

from berthing.client.event_recorder import EventBroadcaster
from berthing.client.pod_writer import PodWriter
from berthing.framework.handle import ApiClient, EventRecorder
from berthing.framework.handle import PodWriter as PodWriterPort
from client.fake_server import FakeServer


def test_the_ports_are_met() -> None:
    client = FakeServer().client()
    chance = random.Random(1)
    api: ApiClient = client
    writer: PodWriterPort = PodWriter(client, now=lambda: 0.0, random=chance)
    broadcaster = EventBroadcaster(client, hostname="host", now=lambda: 0.0, random=chance)
    recorder: EventRecorder = broadcaster.recorder("default-scheduler")
    assert all((api, writer, recorder))
