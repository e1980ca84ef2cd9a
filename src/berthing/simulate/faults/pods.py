"""The pods of a simulated cluster: few kinds, which between them ask for every built-in plugin."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from berthing.api.pod import Pod
from berthing.testing import (
    HOSTNAME,
    ZONE,
    make_affinity_term,
    make_node_term,
    make_pod,
    make_spread_constraint,
    make_toleration,
)

# A profile of its own, with plugins that wait, turn back and break.
PATIENT: Final = "patient"
DEFAULT: Final = "default-scheduler"
OURS: Final = (DEFAULT, PATIENT)
FOREIGN: Final = "somebody-else"
NAMESPACES: Final = ("default", "team-a", "team-b")
DISK: Final = "disk"
DISKS: Final = ("ssd", "hdd")
DEDICATED: Final = "dedicated"
GATE: Final = "example.com/wait"
FINALIZER: Final = "example.com/hold"


def some_pod(chance: Random, name: str) -> Pod:
    """A pod of some kind."""
    make, _ = chance.choices(_KINDS, [weight for _, weight in _KINDS])[0]
    pod = make(chance, name)
    spec = replace(
        pod.spec,
        scheduler_name=chance.choices((DEFAULT, PATIENT, FOREIGN), (14, 6, 1))[0],
        priority=chance.choice((0, 0, 0, 10)),
    )
    metadata = replace(
        pod.metadata,
        namespace=chance.choice(NAMESPACES),
        uid="",
        finalizers=(FINALIZER,) if chance.random() < 0.05 else (),
    )
    return replace(pod, metadata=metadata, spec=spec)


def _plain(chance: Random, name: str) -> Pod:
    return make_pod(name, cpu=chance.choice(("100m", "500m", "1")), memory="256Mi")


def _large(chance: Random, name: str) -> Pod:
    return make_pod(name, cpu=chance.choice(("2", "3")), memory=chance.choice(("1Gi", "6Gi")))


def _too_large(_: Random, name: str) -> Pod:
    return make_pod(name, cpu="64")


def _spread(chance: Random, name: str) -> Pod:
    labels = {"app": chance.choice(("web", "api"))}
    constraint = make_spread_constraint(labels, max_skew=chance.choice((1, 2)))
    return make_pod(name, cpu="200m", labels=labels, spread=[constraint])


def _gladly_spread(_: Random, name: str) -> Pod:
    labels = {"app": "web"}
    constraint = make_spread_constraint(labels, when_unsatisfiable="ScheduleAnyway")
    return make_pod(name, cpu="200m", labels=labels, spread=[constraint])


def _apart(chance: Random, name: str) -> Pod:
    labels = {"app": chance.choice(("db", "cache"))}
    term = make_affinity_term(
        labels,
        topology_key=ZONE if chance.random() < 0.3 else HOSTNAME,
        namespace_labels={} if chance.random() < 0.3 else None,
    )
    return make_pod(name, cpu="200m", labels=labels, pod_anti_affinity=[term])


def _together(chance: Random, name: str) -> Pod:
    other = {"app": chance.choice(("web", "db", "batch"))}
    term = make_affinity_term(
        other,
        topology_key=ZONE,
        namespace_labels={"team": "a"} if chance.random() < 0.3 else None,
    )
    return make_pod(name, cpu="200m", labels={"app": "batch"}, pod_affinity=[term])


def _gladly_together(_: Random, name: str) -> Pod:
    near = (10, make_affinity_term({"app": "web"}, topology_key=ZONE))
    far = (5, make_affinity_term({"app": "db"}))
    return make_pod(
        name, cpu="100m", preferred_pod_affinity=[near], preferred_pod_anti_affinity=[far]
    )


def _choosy(chance: Random, name: str) -> Pod:
    if chance.random() < 0.5:
        return make_pod(name, cpu="200m", node_selector={DISK: chance.choice(DISKS)})
    term = make_node_term({DISK: chance.choice(DISKS)})
    return make_pod(name, cpu="200m", node_affinity=[term])


def _tolerant(_: Random, name: str) -> Pod:
    return make_pod(name, cpu="500m", tolerations=[make_toleration(DEDICATED)])


def _with_port(chance: Random, name: str) -> Pod:
    return make_pod(name, cpu="100m", host_ports=[chance.choice((8080, 9090))])


def _gated(_: Random, name: str) -> Pod:
    return make_pod(name, cpu="200m", labels={"app": "web"}, scheduling_gates=[GATE])


def _tied(chance: Random, name: str) -> Pod:
    term = make_node_term(node_name=f"node-{chance.randrange(6)}")
    return make_pod(name, cpu="100m", node_affinity=[term])


_Make = Callable[[Random, str], Pod]
_KINDS: Final[tuple[tuple[_Make, int], ...]] = (
    (_plain, 5),
    (_large, 4),
    (_too_large, 1),
    (_spread, 4),
    (_gladly_spread, 1),
    (_apart, 4),
    (_together, 3),
    (_gladly_together, 1),
    (_choosy, 3),
    (_tolerant, 2),
    (_with_port, 3),
    (_gated, 2),
    (_tied, 2),
)
