"""Questions about small clusters, asked of the built-in plugins."""

from __future__ import annotations

from functools import lru_cache

from berthing.api.meta import ApiObject
from berthing.api.pod import Pod
from berthing.config.features import FeatureGates
from berthing.config.load import default, load_text
from berthing.explain.obstacles import obstacles
from berthing.explain.question import Question, ask
from berthing.scheduler.registry import Registry, discover


@lru_cache(maxsize=1)
def registry() -> Registry:
    return discover([])


def question(pod: Pod, *objects: ApiObject, config: str = "") -> Question:
    loaded = load_text(config) if config else default()
    assert loaded.ok, loaded.findings
    return ask(pod, objects, loaded.profiles, registry=registry(), gates=FeatureGates())


def texts(pod: Pod, *objects: ApiObject, node: str = "n", config: str = "") -> list[str]:
    """What is in the way of the pod on one node."""
    asked = question(pod, *objects, config=config)
    row = asked.cluster.nodes.row(node)
    assert row is not None
    return [each.text for each in obstacles(asked, row)]
