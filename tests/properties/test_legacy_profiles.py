"""Any profile of v1beta1 or v1beta2 runs under v1 what it ran, by a model of the old rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from berthing.config.load import load_text

# Where plugins took part in v1.22 to v1.24.
TOOK_PART: Mapping[str, Sequence[str]] = {
    "PrioritySort": ["queueSort"],
    "NodeResourcesFit": ["preFilter", "filter"],
    "NodePorts": ["preFilter", "filter"],
    "VolumeRestrictions": ["preFilter", "filter"],
    "PodTopologySpread": ["preFilter", "filter", "preScore", "score"],
    "InterPodAffinity": ["preFilter", "filter", "preScore", "score"],
    "VolumeBinding": ["preFilter", "filter", "reserve", "preBind"],
    "NodeAffinity": ["preFilter", "filter", "preScore", "score"],
    "NodeUnschedulable": ["filter"],
    "NodeName": ["filter"],
    "TaintToleration": ["filter", "preScore", "score"],
    "EBSLimits": ["filter"],
    "NodeVolumeLimits": ["filter"],
    "VolumeZone": ["filter"],
    "DefaultPreemption": ["postFilter"],
    "NodeResourcesBalancedAllocation": ["score"],
    "ImageLocality": ["score"],
    "DefaultBinder": ["bind"],
    "SelectorSpread": ["preScore", "score"],
}
SCORERS = {
    "v1beta1": ["NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "NodePreferAvoidPods"],
    "v1beta2": ["NodeResourcesFit"],
}
DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "queueSort": {"PrioritySort": 0},
    "preFilter": dict.fromkeys(
        (
            "NodeResourcesFit",
            "NodePorts",
            "VolumeRestrictions",
            "PodTopologySpread",
            "InterPodAffinity",
            "VolumeBinding",
            "NodeAffinity",
        ),
        0,
    ),
    "filter": dict.fromkeys(
        (
            "NodeUnschedulable",
            "NodeName",
            "TaintToleration",
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "EBSLimits",
            "NodeVolumeLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
        ),
        0,
    ),
    "postFilter": {"DefaultPreemption": 0},
    "preScore": dict.fromkeys(
        ("InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"), 0
    ),
    "score": {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    },
    "reserve": {"VolumeBinding": 0},
    "preBind": {"VolumeBinding": 0},
    "bind": {"DefaultBinder": 0},
}
DEFAULT_SCORERS: Mapping[str, Mapping[str, int]] = {
    "v1beta1": {"NodeResourcesLeastAllocated": 1, "NodePreferAvoidPods": 10000},
    "v1beta2": {"NodeResourcesFit": 1},
}

NEWER = {"SchedulingGates", "DynamicResources", "NodeDeclaredFeatures"}
# Points that plugins have come to take part in.
GAINED = {
    ("NodeResourcesFit", "preScore"),
    ("NodeResourcesBalancedAllocation", "preScore"),
    ("VolumeBinding", "preScore"),
    ("VolumeBinding", "score"),
    ("NodeVolumeLimits", "preFilter"),
    ("VolumeZone", "preFilter"),
    ("VolumeRestrictions", "preFilter"),
}


class Lists(msgspec.Struct):
    """What a file enables, with weights, and disables at one point."""

    enabled: dict[str, int]
    disabled: set[str]


def defaults(version: str, point: str) -> dict[str, int]:
    return {**DEFAULTS[point], **(DEFAULT_SCORERS[version] if point == "score" else {})}


@st.composite
def profiles(draw: st.DrawFn) -> tuple[str, dict[str, Lists]]:
    version = draw(st.sampled_from(["v1beta1", "v1beta2"]))
    chosen = draw(st.lists(st.sampled_from(sorted(DEFAULTS)), unique=True))
    return version, {point: draw(lists(version, point)) for point in chosen}


@st.composite
def lists(draw: st.DrawFn, version: str, point: str) -> Lists:
    here = [name for name, points in TOOK_PART.items() if point in points]
    here += SCORERS[version] if point == "score" else []
    names = st.lists(st.sampled_from(here), unique=True, max_size=4)
    weights = st.sampled_from([1, 3, 8] if point == "score" else [0])
    enabled = {name: draw(weights) for name in draw(names)}
    disabled = {"*"} if draw(st.booleans()) else set(draw(names))
    if version == "v1beta1" and "*" not in disabled:
        # In v1beta1 a default could not be enabled again without this.
        disabled |= enabled.keys() & defaults(version, point).keys()
    return Lists(enabled, disabled)


def text_of(version: str, points: Mapping[str, Lists]) -> str:
    plugins = {
        point: {
            "enabled": [
                {"name": name, **({"weight": weight} if weight else {})}
                for name, weight in each.enabled.items()
            ],
            "disabled": [{"name": name} for name in sorted(each.disabled)],
        }
        for point, each in points.items()
    }
    return json.dumps(
        {
            "apiVersion": f"kubescheduler.config.k8s.io/{version}",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": plugins}],
        }
    )


def ran(version: str, point: str, points: Mapping[str, Lists]) -> dict[str, int]:
    """What ran at a point, in order, by the rules of the old versions."""
    given = points.get(point, Lists({}, set()))
    kept = {
        name: given.enabled.get(name, weight)
        for name, weight in defaults(version, point).items()
        if not {"*", name} & given.disabled
    }
    return {**kept, **given.enabled}


def should_run(version: str, point: str, points: Mapping[str, Lists]) -> dict[str, int]:
    """The same in plugins of today."""
    old = ran(version, point, points)
    if point == "filter":
        counted = (
            "EBSLimits" in old
            and "NodeVolumeLimits" not in points.get("filter", Lists({}, set())).disabled
        )
        old = {
            "NodeVolumeLimits" if name == "EBSLimits" and counted else name: weight
            for name, weight in old.items()
            # Where both ran, one of them does.
            if name != "EBSLimits" or (counted and "NodeVolumeLimits" not in old)
        }
    scored = ran(version, "score", points)
    if point in {"preScore", "score"}:
        spread = old.pop("SelectorSpread", 0)
        if "SelectorSpread" in scored and "PodTopologySpread" not in scored:
            old["PodTopologySpread"] = spread
    if point == "score":
        allocated = [
            weight
            for name, weight in old.items()
            if name.endswith(("LeastAllocated", "MostAllocated"))
        ]
        old = {name: old[name] for name in old if name in TOOK_PART}
        if allocated or "NodeResourcesFit" in scored:
            old["NodeResourcesFit"] = max([*allocated, scored.get("NodeResourcesFit", 0)])
    return old


@given(profiles())
def test_old_profiles_run_what_they_ran(profile: tuple[str, dict[str, Lists]]) -> None:
    version, points = profile
    sorts = ran(version, "queueSort", points)
    assume(len(sorts) == 1)
    assume(ran(version, "bind", points))
    loaded = load_text(text_of(version, points), convert=True)
    assert loaded.ok, loaded.findings
    for point in DEFAULTS:
        expected = should_run(version, point, points)
        running = {each.name: each.weight or 0 for each in loaded.profiles[0].plugins[point]}
        extra = {name for name in running if name not in expected and name not in NEWER}
        assert {(name, point) for name in extra} <= GAINED
        old = {name: weight for name, weight in running.items() if name in expected}
        assert old == expected
        if point in {"filter", "reserve", "preBind"}:
            assert list(old) == list(expected)


@given(profiles())
def test_no_plugin_runs_without_what_prepares_it(profile: tuple[str, dict[str, Lists]]) -> None:
    version, points = profile
    loaded = load_text(text_of(version, points), convert=True)
    for each in loaded.profiles:
        prepared = {plugin.name for plugin in each.plugins["preFilter"]}
        filtering = {plugin.name for plugin in each.plugins["filter"]}
        for name in ("VolumeRestrictions", "NodeDeclaredFeatures", "DynamicResources"):
            assert name not in filtering or name in prepared
