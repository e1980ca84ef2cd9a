"""The example plugin of docs/plugins.md, from its configuration to its decisions."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from berthing.config.features import FeatureGates
from berthing.config.findings import format_path
from berthing.config.load import Loaded, load_text
from berthing.framework import PodInfo
from berthing.scheduler.offline import Offline
from berthing.scheduler.registry import ENTRY_POINT_GROUP, Registry, discover
from berthing.testing import make_node, make_pod

SOURCE = Path(__file__).parents[2] / "examples" / "plugin" / "src"

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:
      - name: NodePrice
        weight: 3
  pluginConfig:
  - name: NodePrice
    args:
      limit: 100
"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.syspath_prepend(str(SOURCE))
    offered = EntryPoint("NodePrice", "node_price:NodePrice", ENTRY_POINT_GROUP)
    registry = discover([offered])
    assert registry.problems == ()
    return registry


def loaded(text: str, registry: Registry) -> Loaded:
    return load_text(text, catalogue=registry.catalogue, args_types=registry.args_types)


def offline(registry: Registry, prices: dict[str, str], *, config: str = CONFIG) -> Offline:
    engine = Offline(loaded(config, registry).profiles, registry=registry, gates=FeatureGates())
    for name, price in prices.items():
        labels = {"example.com/cents-per-hour": price} if price else {}
        engine.add(make_node(name, labels=labels))
    return engine


def test_cheaper_nodes_go_first(registry: Registry) -> None:
    engine = offline(registry, {"dear": "90", "cheap": "10", "middling": "50"})
    decision = engine.decide(PodInfo.of(make_pod()))
    assert decision.chosen == "cheap"
    (scores,) = [each for each in decision.scores if each.plugin == "NodePrice"]
    assert scores.weighted.tolist() == [30, 270, 150]


def test_nodes_above_the_limit_are_turned_down(registry: Registry) -> None:
    decision = offline(registry, {"dear": "101"}).decide(PodInfo.of(make_pod()))
    assert decision.message == "0/1 nodes are available: 1 node(s) cost more than 100."


def test_it_is_row_local_and_so_asked_again_when_a_price_changes(registry: Registry) -> None:
    engine = offline(registry, {"a": "10", "b": "50"})
    assert engine.decide(PodInfo.of(make_pod())).chosen == "a"
    engine.add(make_node("a", labels={"example.com/cents-per-hour": "99"}))
    assert engine.decide(PodInfo.of(make_pod())).chosen == "b"


@pytest.mark.parametrize(
    ("percentage", "found"),
    [
        pytest.param("", 400, id="all nodes unless told otherwise"),
        pytest.param("percentageOfNodesToScore: 50\n", 200, id="a configured share is honoured"),
    ],
)
def test_how_many_nodes_it_is_asked_about(registry: Registry, percentage: str, found: int) -> None:
    prices = {f"n{number}": "10" for number in range(400)}
    engine = offline(registry, prices, config=CONFIG + percentage)
    assert len(engine.decide(PodInfo.of(make_pod())).feasible) == found


@pytest.mark.parametrize(
    ("wrong", "path", "line", "message"),
    [
        ("limits: 5", "limits", 12, "did you mean limit?"),
        ("limit: none", "limit", 12, "expected a whole number"),
        ("limit: 0", "limit", 12, "1"),
        ('label: ""', "label", 12, "must name a node label"),
    ],
)
def test_its_args_are_checked_as_those_of_built_in_plugins(
    registry: Registry, wrong: str, path: str, line: int, message: str
) -> None:
    findings = loaded(CONFIG.replace("limit: 100", wrong), registry).findings
    (error,) = [finding for finding in findings if finding.is_error]
    assert format_path(error.path) == f"profiles[0].pluginConfig[0].args.{path}"
    assert error.line == line
    assert message in f"{error.message} {error.suggestion}"
