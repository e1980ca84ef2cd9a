"""v1beta2: every extension point has defaults of its own, and three weights were smaller."""

from __future__ import annotations

import pytest

from berthing.config.load import load_text
from config.legacy.conversions import (
    GROUP,
    args,
    configuration,
    converted,
    names,
    notes_at,
    plugins,
    profile,
    weights,
)

OLD_WEIGHTS = {
    "enabled": [
        {"name": "TaintToleration", "weight": 1},
        {"name": "NodeAffinity", "weight": 1},
        {"name": "InterPodAffinity", "weight": 1},
    ]
}


def test_old_default_weights_are_written_down() -> None:
    assert converted(configuration("v1beta2")).value == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"schedulerName": "default-scheduler", "plugins": {"multiPoint": OLD_WEIGHTS}}
        ],
    }


def test_they_are_noted_with_the_way_to_todays() -> None:
    note = next(
        note for note in converted(profile("v1beta2", "")).notes if "weights" in note.message
    )
    assert note.line == 4
    assert note.message == (
        "default weights have changed since v1beta2 (TaintToleration from 1 to 3, NodeAffinity "
        "from 1 to 2, InterPodAffinity from 1 to 2): the old ones are written out under multiPoint"
    )
    assert note.suggestion == ("remove them there to score as kube-scheduler does by default today")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "plugins: {score: {enabled: [{name: NodeAffinity, weight: 5}]}}",
            {
                "multiPoint": {
                    "enabled": [
                        {"name": "TaintToleration", "weight": 1},
                        {"name": "InterPodAffinity", "weight": 1},
                    ]
                },
                "score": {"enabled": [{"name": "NodeAffinity", "weight": 5}]},
            },
            id="a weight of one's own stays",
        ),
        pytest.param(
            "plugins: {score: {disabled: [{name: ImageLocality}]}}",
            {"multiPoint": OLD_WEIGHTS, "score": {"disabled": [{"name": "ImageLocality"}]}},
            id="a plugin with one point stays disabled there",
        ),
        pytest.param(
            "plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}",
            {
                "multiPoint": {
                    "disabled": [{"name": "NodeResourcesBalancedAllocation"}],
                    **OLD_WEIGHTS,
                }
            },
            id="a plugin that has gained a point is disabled as a whole",
        ),
        pytest.param(
            """\
plugins:
  preFilter: {disabled: [{name: PodTopologySpread}]}
  filter: {disabled: [{name: PodTopologySpread}]}
  preScore: {disabled: [{name: PodTopologySpread}]}
  score: {disabled: [{name: PodTopologySpread}]}
""",
            {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}], **OLD_WEIGHTS}},
            id="disabled everywhere is disabled as a whole",
        ),
        pytest.param(
            "plugins: {score: {disabled: [{name: TaintToleration}]}}",
            {
                "multiPoint": {"enabled": OLD_WEIGHTS["enabled"][1:]},
                "score": {"disabled": [{"name": "TaintToleration"}]},
            },
            id="disabled at one point of several stays there, and needs no weight",
        ),
        pytest.param(
            "plugins: {filter: {enabled: [{name: NodeName}, {name: Mine}]}}",
            {"multiPoint": OLD_WEIGHTS, "filter": {"enabled": [{"name": "Mine"}]}},
            id="naming a default again says nothing, and is dropped",
        ),
        pytest.param(
            """\
plugins:
  filter: {disabled: [{name: NodeName}], enabled: [{name: NodeName}]}
""",
            {
                "multiPoint": OLD_WEIGHTS,
                "filter": {"disabled": [{"name": "NodeName"}], "enabled": [{"name": "NodeName"}]},
            },
            id="disabling it too moves it to the end, as ever",
        ),
        pytest.param(
            'plugins: {score: {disabled: [{name: "*"}], enabled: [{name: ImageLocality}]}}',
            {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality"}]}},
            id="a list of one's own stays as it is",
        ),
        pytest.param(
            'plugins: {queueSort: {disabled: [{name: "*"}], enabled: [{name: Mine}]}}',
            {
                "multiPoint": OLD_WEIGHTS,
                "queueSort": {"disabled": [{"name": "*"}], "enabled": [{"name": "Mine"}]},
            },
            id="plugins from elsewhere are left alone",
        ),
    ],
)
def test_plugins(body: str, expected: object) -> None:
    assert plugins(profile("v1beta2", body)) == expected


def test_what_is_moved_to_the_end_runs_last() -> None:
    text = profile(
        "v1beta2",
        """\
plugins:
  filter: {disabled: [{name: NodeName}], enabled: [{name: NodeName}]}
  score: {disabled: [{name: ImageLocality}], enabled: [{name: ImageLocality, weight: 9}]}
""",
    )
    assert names(text, "filter")[-1] == "NodeName"
    assert names(text, "score")[-1] == "ImageLocality"
    assert weights(text)["ImageLocality"] == 9


def test_everything_outside_of_profiles_stays_as_it_is_written() -> None:
    text = configuration(
        "v1beta2",
        """\
percentageOfNodesToScore: 40
leaderElection: {leaseDuration: 60000ms, resourceLock: leases}
clientConnection: {qps: 7.5}
profiles: [{schedulerName: a}]
podMaxBackoffSeconds: 20
extenders: [{urlPrefix: http://x, httpTimeout: 500ms, enableHTTPS: true}]
""",
    )
    value = converted(text).value
    assert list(value) == [
        "apiVersion",
        "kind",
        "percentageOfNodesToScore",
        "leaderElection",
        "clientConnection",
        "profiles",
        "podMaxBackoffSeconds",
        "extenders",
    ]
    assert value["leaderElection"] == {"leaseDuration": "60000ms", "resourceLock": "leases"}
    assert value["extenders"] == [
        {"urlPrefix": "http://x", "httpTimeout": "500ms", "enableHTTPS": True}
    ]


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        pytest.param("healthzBindAddress: 0.0.0.0:10251", True, id="health checks"),
        pytest.param("metricsBindAddress: 127.0.0.1:10251", True, id="metrics"),
        pytest.param('healthzBindAddress: ""', False, id="no address served nothing"),
        pytest.param("metricsBindAddress: 0.0.0.0:0", False, id="port 0 served nothing"),
        pytest.param("metricsBindAddress: null", False, id="null"),
    ],
)
def test_bind_addresses_are_gone(line: str, *, noted: bool) -> None:
    text = configuration("v1beta2", f"{line}\n")
    assert not {"healthzBindAddress", "metricsBindAddress"} & converted(text).value.keys()
    told = notes_at(text, 3)
    assert bool(told) is noted
    assert all("served over HTTPS only" in message for message in told)


@pytest.mark.parametrize("lock", ["endpoints", "configmaps", "endpointsleases", "configmapsleases"])
def test_former_locks_become_leases(lock: str) -> None:
    text = configuration("v1beta2", f"leaderElection:\n  resourceLock: {lock}\n")
    assert converted(text).value["leaderElection"] == {"resourceLock": "leases"}
    assert (
        f"resourceLock {lock} is gone: leases takes its place, and does not see schedulers that "
        "hold the old lock"
    ) in notes_at(text, 4)


def test_args_lose_their_old_version_and_keep_the_rest() -> None:
    text = profile(
        "v1beta2",
        f"""\
pluginConfig:
- name: NodeResourcesFit
  args:
    apiVersion: {GROUP}/v1beta2
    kind: NodeResourcesFitArgs
    ignoredResources: [example.com/foo]
    scoringStrategy: {{type: MostAllocated}}
- name: Mine
  args: {{apiVersion: {GROUP}/v1beta2, kind: MineArgs, x: 1}}
- name: Other
  args: [1, 2]
- name: InterPodAffinity
""",
    )
    assert args(text) == {
        "NodeResourcesFit": {
            "ignoredResources": ["example.com/foo"],
            "scoringStrategy": {"type": "MostAllocated"},
        },
        "Mine": {"apiVersion": f"{GROUP}/v1", "kind": "MineArgs", "x": 1},
        "Other": [1, 2],
        "InterPodAffinity": None,
    }


@pytest.mark.parametrize("point", ["multiPoint", "preEnqueue"])
def test_points_that_had_no_effect_are_left_out(point: str) -> None:
    text = profile("v1beta2", f"plugins:\n  {point}: {{enabled: [{{name: Mine}}]}}")
    assert plugins(text) == {"multiPoint": OLD_WEIGHTS}
    assert f"{point} had no effect in v1beta2: it is left out" in notes_at(text, 6)


def test_args_of_a_plugin_that_was_gone_already_are_left_out() -> None:
    text = profile("v1beta2", "pluginConfig:\n- {name: NodeLabel, args: {presentLabels: [a]}}")
    assert args(text) == {}
    assert "NodeLabel is gone, and its args had no effect: they are left out" in notes_at(text, 6)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            "{disabled: [{name: PrioritySort}], enabled: [{name: PrioritySort}]}",
            "{}",
            id="the default, said and not said",
        ),
        pytest.param(
            '{disabled: [{name: "*"}], enabled: [{name: PrioritySort}]}',
            "{enabled: [{name: PrioritySort}]}",
            id="the default, said twice",
        ),
    ],
)
def test_profiles_that_sorted_alike_still_do(first: str, second: str) -> None:
    text = configuration(
        "v1beta2",
        f"""\
profiles:
- {{schedulerName: a, plugins: {{queueSort: {first}}}}}
- {{schedulerName: b, plugins: {{queueSort: {second}}}}}
""",
    )
    assert load_text(text, convert=True).ok


def test_another_sort_is_spelt_alike_in_all_profiles() -> None:
    text = configuration(
        "v1beta2",
        """\
profiles:
- schedulerName: a
  plugins: {queueSort: {disabled: [{name: PrioritySort}], enabled: [{name: Mine}]}}
- schedulerName: b
  plugins: {queueSort: {disabled: [{name: "*"}], enabled: [{name: Mine}]}}
""",
    )
    profiles = converted(text).value["profiles"]
    assert isinstance(profiles, list)
    sorts = [profile["plugins"]["queueSort"] for profile in profiles]
    assert sorts == [{"disabled": [{"name": "*"}], "enabled": [{"name": "Mine"}]}] * 2
