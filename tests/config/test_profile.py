"""From the plugins a profile enables and disables to what runs at each point, and why."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from berthing.config.findings import Finding, Findings, format_path
from berthing.config.profile import Origin, RunningPlugin, expand, merge
from berthing.config.v1 import EXTENSION_POINTS, Plugin, Plugins, PluginSet

# A small world: names tell what each takes part in.
CATALOGUE = {
    "Sort": ("queueSort",),
    "OtherSort": ("queueSort",),
    "Bind": ("bind",),
    "Filter": ("filter",),
    "Score": ("score",),
    "Both": ("filter", "score"),
    "More": ("filter", "score"),
    "Place": ("placementGenerate",),
    "OtherPlace": ("placementGenerate",),
}
DEFAULTS = "Sort Bind Filter Both:2 Score:3"


def plugins(text: str) -> tuple[Plugin, ...]:
    return tuple(
        Plugin(name=name, weight=int(weight) if weight else None)
        for name, _, weight in (word.partition(":") for word in text.split())
    )


def change(enabled: str = "", disabled: str = "") -> PluginSet:
    return PluginSet(enabled=plugins(enabled), disabled=plugins(disabled))


def run(changes: Plugins, defaults: str = DEFAULTS) -> tuple[dict[str, str], list[Finding]]:
    findings = Findings()
    running = expand(merge(changes, plugins(defaults)), CATALOGUE, findings)
    assert list(running) == list(EXTENSION_POINTS)
    return {point: _text(entries) for point, entries in running.items()}, list(findings)


def _text(running: Iterable[RunningPlugin]) -> str:
    return " ".join(
        plugin.name if plugin.weight is None else f"{plugin.name}:{plugin.weight}"
        for plugin in running
    )


def runs(changes: Plugins, point: str) -> str:
    running, findings = run(changes)
    assert not findings
    return running[point]


@pytest.mark.parametrize(
    ("changes", "merged"),
    [
        pytest.param(change(), "Sort Bind Filter Both:2 Score:3", id="nothing changed"),
        pytest.param(change(disabled="Both"), "Sort Bind Filter Score:3", id="one disabled"),
        pytest.param(change(disabled="*"), "", id="all disabled"),
        pytest.param(
            change("More:5"), "Sort Bind Filter Both:2 Score:3 More:5", id="one added at the end"
        ),
        pytest.param(
            change("Both:7"), "Sort Bind Filter Both:7 Score:3", id="a new weight in the old place"
        ),
        pytest.param(
            change("Both"), "Sort Bind Filter Both Score:3", id="named again, the weight is gone"
        ),
        pytest.param(
            change("Both:7", "Both"),
            "Sort Bind Filter Score:3 Both:7",
            id="disabled and enabled, it moves to the end",
        ),
        pytest.param(change("More Both", "*"), "More Both", id="only the new ones"),
        pytest.param(
            change("Both:7 Both:8"),
            "Sort Bind Filter Both:8 Score:3 Both:7",
            id="twice, the last one takes the place",
        ),
    ],
)
def test_merging_with_the_defaults(changes: PluginSet, merged: str) -> None:
    entries = merge(Plugins(multi_point=changes), plugins(DEFAULTS))["multiPoint"].enabled
    assert _text(RunningPlugin(entry.name, entry.weight) for entry in entries) == merged


def test_points_themselves_have_no_defaults() -> None:
    merged = merge(Plugins(score=change("Both", "Other")), plugins(DEFAULTS))
    assert [entry.name for entry in merged["score"].enabled] == ["Both"]
    assert merged["score"].disabled == ("Other",)
    assert merged["filter"].enabled == ()


@pytest.mark.parametrize(
    ("changes", "filters", "scores"),
    [
        pytest.param(Plugins(), "Filter Both", "Both:2 Score:3", id="defaults"),
        pytest.param(
            Plugins(multi_point=change(disabled="Both")), "Filter", "Score:3", id="off everywhere"
        ),
        pytest.param(
            Plugins(score=change(disabled="Both")), "Filter Both", "Score:3", id="off at one point"
        ),
        pytest.param(
            Plugins(score=change(disabled="*")), "Filter Both", "", id="all off at one point"
        ),
        pytest.param(
            Plugins(score=change("More:4")),
            "Filter Both",
            "Both:2 Score:3 More:4",
            id="what is listed only at the point comes last",
        ),
        pytest.param(
            Plugins(score=change("Score:9")),
            "Filter Both",
            "Score:9 Both:2",
            id="what is listed there and under multiPoint comes first",
        ),
        pytest.param(
            Plugins(score=change("Score Both:4")),
            "Filter Both",
            "Score:1 Both:4",
            id="in the order of the point, and a missing weight is 1",
        ),
        pytest.param(
            Plugins(score=change("More:1 Score:2"), multi_point=change("More:6")),
            "Filter Both More",
            "More:1 Score:2 Both:2",
            id="the weight of the point goes before that of multiPoint",
        ),
        pytest.param(
            Plugins(score=change("Both:5", "Both")),
            "Filter Both",
            "Score:3 Both:5",
            id="off and on at a point, it moves to the end",
        ),
        pytest.param(
            Plugins(filter=change("Both", "*")),
            "Both",
            "Both:2 Score:3",
            id="only what the point lists",
        ),
        pytest.param(
            Plugins(multi_point=change(disabled="Both"), score=change("Both")),
            "Filter",
            "Score:3 Both:1",
            id="off everywhere, but on at one point",
        ),
        pytest.param(
            Plugins(multi_point=change("Score:0")),
            "Filter Both",
            "Both:2 Score:1",
            id="a weight of 0 is 1",
        ),
    ],
)
def test_what_runs(changes: Plugins, filters: str, scores: str) -> None:
    assert runs(changes, "filter") == filters
    assert runs(changes, "score") == scores


def test_what_runs_tells_where_it_came_from() -> None:
    changes = Plugins(score=change("Score:9"), multi_point=change("More"))
    running = expand(merge(changes, plugins(DEFAULTS)), CATALOGUE, Findings())
    assert running["score"] == (
        RunningPlugin("Score", 9, Origin.EXPLICIT, ("score", "enabled", 0)),
        RunningPlugin("Both", 2, Origin.DEFAULT),
        RunningPlugin("More", 1, Origin.MULTI_POINT, ("multiPoint", "enabled", 0)),
    )


@pytest.mark.parametrize(
    ("changes", "path", "message", "suggestion"),
    [
        pytest.param(
            Plugins(score=change("Scor")),
            "score.enabled[0]",
            "plugin Scor does not exist",
            "did you mean Score?",
            id="unknown",
        ),
        pytest.param(
            Plugins(multi_point=change("Xyz")),
            "multiPoint.enabled[0]",
            "plugin Xyz does not exist",
            "",
            id="unknown under multiPoint, once for all points",
        ),
        pytest.param(
            Plugins(pre_bind=change("SelectorSpread")),
            "preBind.enabled[0]",
            "plugin SelectorSpread does not exist",
            "PodTopologySpread does its work",
            id="of an earlier release",
        ),
        pytest.param(
            Plugins(bind=change(" Filter")),
            "bind.enabled[0]",
            "plugin Filter does not take part in bind",
            "it takes part in filter",
            id="at a point that it does not implement",
        ),
        pytest.param(
            Plugins(score=change("Score Both Score")),
            "score.enabled[2]",
            "plugin Score is enabled twice",
            "",
            id="twice at a point",
        ),
        pytest.param(
            Plugins(multi_point=change("More More")),
            "multiPoint.enabled[1]",
            "plugin More is enabled twice",
            "",
            id="twice under multiPoint",
        ),
        pytest.param(
            Plugins(multi_point=change("Both Both")),
            "multiPoint.enabled[1]",
            "plugin Both is enabled twice",
            "",
            id="a default twice under multiPoint",
        ),
        pytest.param(
            Plugins(queue_sort=change(disabled="*")),
            "queueSort",
            "no plugin sorts the queue, need exactly one",
            "enable PrioritySort",
            id="nothing sorts",
        ),
        pytest.param(
            Plugins(multi_point=change("OtherSort")),
            "queueSort",
            "only one plugin can sort the queue, got Sort, OtherSort",
            "disable Sort or OtherSort here",
            id="two sort",
        ),
        pytest.param(
            Plugins(multi_point=change(disabled="Bind")),
            "bind",
            "no plugin binds pods, need at least one",
            "enable DefaultBinder",
            id="nothing binds",
        ),
        pytest.param(
            Plugins(multi_point=change("Place OtherPlace")),
            "placementGenerate",
            "only one plugin can generate placements, got Place, OtherPlace",
            "disable Place or OtherPlace here",
            id="two generate placements",
        ),
        pytest.param(
            Plugins(score=change("Score:-1")),
            "score.enabled[0].weight",
            "a weight should not be negative, got -1",
            "to leave a plugin out, disable it",
            id="a negative weight before others",
        ),
    ],
)
def test_mistakes(changes: Plugins, path: str, message: str, suggestion: str) -> None:
    (finding,) = run(changes)[1]
    assert finding.is_error
    assert format_path(finding.path) == path
    assert finding.message == message
    assert finding.suggestion == suggestion


def test_all_mistakes_are_found() -> None:
    changes = Plugins(
        filter=change("Nada Score"), score=change("Score Score"), bind=change(disabled="*")
    )
    assert [format_path(finding.path) for finding in run(changes)[1]] == [
        "filter.enabled[0]",
        "filter.enabled[1]",
        "score.enabled[1]",
        "bind",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(Plugins(multi_point=change("Score:-5")), id="at the end"),
        pytest.param(Plugins(multi_point=change("Both:-1", "Both")), id="the sum stays positive"),
    ],
)
def test_a_negative_weight_that_upstream_takes_is_odd(changes: Plugins) -> None:
    running, (finding,) = run(changes)
    assert not finding.is_error
    assert ":-" in running["score"]


def test_twice_under_multi_point_where_neither_runs_is_odd() -> None:
    changes = Plugins(
        multi_point=change("More More"), filter=change("More"), score=change(disabled="More")
    )
    running, (finding,) = run(changes)
    assert not finding.is_error
    assert running["filter"] == "More Filter Both"
