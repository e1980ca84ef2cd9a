"""Volume limits and SelectorSpread, which every older version had."""

from __future__ import annotations

import pytest

from config.legacy.conversions import args, names, notes, notes_at, plugins, profile, weights

COUNTED = "NodeVolumeLimits counts these volumes, up to the limits in each node's CSINode"


@pytest.mark.parametrize(
    ("body", "filters", "note"),
    [
        pytest.param(
            "filter: {enabled: [{name: CinderLimits}]}",
            True,
            f"CinderLimits is gone: {COUNTED}",
            id="enabled beside NodeVolumeLimits",
        ),
        pytest.param(
            "filter: {disabled: [{name: EBSLimits}]}",
            True,
            f"EBSLimits is gone: {COUNTED}",
            id="disabled beside NodeVolumeLimits",
        ),
        pytest.param(
            'filter: {disabled: [{name: "*"}], enabled: [{name: EBSLimits}, {name: GCEPDLimits}]}',
            True,
            f"EBSLimits is gone: {COUNTED}",
            id="enabled without NodeVolumeLimits",
        ),
        pytest.param(
            "filter: {disabled: [{name: NodeVolumeLimits}], enabled: [{name: CinderLimits}]}",
            False,
            "CinderLimits is gone: NodeVolumeLimits would count these volumes, but does not run",
            id="enabled where NodeVolumeLimits was not wanted",
        ),
    ],
)
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3"])
def test_volume_limits(version: str, body: str, note: str, *, filters: bool) -> None:
    text = profile(version, f"plugins:\n  {body}")
    assert names(text, "filter").count("NodeVolumeLimits") == filters
    assert note in notes_at(text, 6)


def test_volume_limits_under_multi_point() -> None:
    text = profile(
        "v1beta3",
        """\
plugins:
  multiPoint:
    disabled: [{name: "*"}]
    enabled:
    - {name: PrioritySort}
    - {name: AzureDiskLimits}
    - {name: EBSLimits}
    - {name: DefaultBinder}
""",
    )
    assert names(text, "filter") == ["NodeVolumeLimits"]
    assert [line for line, message in notes(text) if "Limits is gone" in message] == [10, 11]


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_selector_spread_takes_the_place_of_topology_spread(version: str) -> None:
    text = profile(
        version,
        """\
plugins:
  preScore: {disabled: [{name: PodTopologySpread}], enabled: [{name: SelectorSpread}]}
  score: {disabled: [{name: PodTopologySpread}], enabled: [{name: SelectorSpread, weight: 4}]}
""",
    )
    written = plugins(text)
    assert isinstance(written, dict)
    assert written["score"] == {"enabled": [{"name": "PodTopologySpread", "weight": 4}]}
    assert "preScore" not in written
    assert weights(text)["PodTopologySpread"] == 4
    assert (
        "SelectorSpread is gone: PodTopologySpread spreads the pods of a service or set"
    ) in notes_at(text, 7)


def test_selector_spread_beside_topology_spread() -> None:
    text = profile(
        "v1beta3",
        "plugins: {multiPoint: {enabled: [{name: SelectorSpread, weight: 4}]}}\n"
        "pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]\n",
    )
    assert weights(text)["PodTopologySpread"] == 2
    assert args(text)["PodTopologySpread"] == {"defaultingType": "System"}
    assert (
        "SelectorSpread is gone: PodTopologySpread spreads the pods of a service or set, with its "
        "own weight 2 for 4"
    ) in notes_at(text, 5)


def test_constraints_of_ones_own_go_before_selector_spread() -> None:
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
    text = profile(
        "v1beta3",
        "plugins: {multiPoint: {enabled: [{name: SelectorSpread, weight: 2}]}}\n"
        "pluginConfig:\n"
        "- name: PodTopologySpread\n"
        f"  args: {{defaultingType: List, defaultConstraints: [{constraint}]}}\n",
    )
    spread = args(text)["PodTopologySpread"]
    assert isinstance(spread, dict)
    assert spread["defaultingType"] == "List"
    assert dict(notes(text))[5].endswith("but by the constraints of its args alone")


def test_selector_spread_under_multi_point_without_topology_spread() -> None:
    text = profile(
        "v1beta3",
        """\
plugins:
  multiPoint:
    disabled: [{name: PodTopologySpread}]
    enabled: [{name: SelectorSpread, weight: 4}]
""",
    )
    assert weights(text)["PodTopologySpread"] == 4
    assert "PodTopologySpread" in names(text, "preScore")
    assert "PodTopologySpread" not in names(text, "filter")


def test_disabling_selector_spread_is_told_to_mean_nothing() -> None:
    text = profile("v1beta2", "plugins: {score: {disabled: [{name: SelectorSpread}]}}")
    assert "SelectorSpread is gone: PodTopologySpread spreads pods by default" in notes_at(text, 5)
    assert "SelectorSpread" not in str(plugins(text))


def test_selector_spread_where_topology_spread_prepares_already() -> None:
    text = profile(
        "v1beta2",
        """\
plugins:
  preScore: {enabled: [{name: SelectorSpread}, {name: PodTopologySpread}]}
  score: {disabled: [{name: "*"}], enabled: [{name: SelectorSpread, weight: 3}]}
""",
    )
    assert names(text, "preScore").count("PodTopologySpread") == 1
    assert weights(text) == {"PodTopologySpread": 3}
