"""Pods and nodes for tests of plugins, by keyword, with a default for everything.

    from berthing.testing import make_node, make_pod, make_taint, tolerate

    gpu = make_taint("example.com/gpu")
    pod = make_pod(cpu="500m", labels={"app": "web"}, tolerations=[tolerate(gpu)])
    node = make_node("n1", cpu="8", zone="a", taints=[gpu])

Write what matters to the test and nothing else.  Amounts are texts, as in manifests.  Nothing is
random and no clock is read, so equal calls make equal objects.
"""

from berthing.testing.nodes import (
    HOSTNAME,
    ZONE,
    make_node,
    make_taint,
    make_toleration,
    tolerate,
)
from berthing.testing.pods import make_container, make_owner, make_pod
from berthing.testing.terms import (
    make_affinity_term,
    make_node_term,
    make_selector,
    make_spread_constraint,
)

__all__ = [
    "HOSTNAME",
    "ZONE",
    "make_affinity_term",
    "make_container",
    "make_node",
    "make_node_term",
    "make_owner",
    "make_pod",
    "make_selector",
    "make_spread_constraint",
    "make_taint",
    "make_toleration",
    "tolerate",
]
