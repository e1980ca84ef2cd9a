"""v1beta1: as v1beta2, but with plugins for scoring node resources and node labels."""

from __future__ import annotations

import pytest

from config.legacy.conversions import args, notes, notes_at, plugins, profile, weights


def test_the_annotation_to_avoid_pods_is_told_to_be_gone() -> None:
    assert (
        "NodePreferAvoidPods is gone: the annotation scheduler.alpha.kubernetes.io/preferAvoidPods "
        "of a node has no effect any more (it ran by default)"
    ) in notes_at(profile("v1beta1", ""), 4)


def test_it_is_not_told_where_it_was_disabled() -> None:
    text = profile("v1beta1", "plugins: {score: {disabled: [{name: NodePreferAvoidPods}]}}")
    assert not any("NodePreferAvoidPods" in message for _, message in notes(text))


MOST = """\
plugins:
  score:
    disabled: [{name: NodeResourcesLeastAllocated}]
    enabled: [{name: NodeResourcesMostAllocated, weight: 5}]
"""


@pytest.mark.parametrize(
    ("body", "score", "fit_args"),
    [
        pytest.param("", None, None, id="LeastAllocated by default is today's default"),
        pytest.param(
            "pluginConfig: [{name: NodeResourcesLeastAllocated, args: {}}]",
            None,
            None,
            id="args that say nothing",
        ),
        pytest.param(
            """\
pluginConfig:
- name: NodeResourcesLeastAllocated
  args: {resources: [{name: cpu, weight: 3}]}
""",
            None,
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": 3}],
                }
            },
            id="its resources become those of the strategy",
        ),
        pytest.param(
            MOST,
            {"enabled": [{"name": "NodeResourcesFit", "weight": 5}]},
            {"scoringStrategy": {"type": "MostAllocated"}},
            id="MostAllocated instead, with its weight",
        ),
        pytest.param(
            MOST
            + """\
pluginConfig:
- name: NodeResourcesFit
  args: {ignoredResources: [example.com/foo]}
- name: NodeResourcesMostAllocated
  args: {resources: [{name: memory, weight: 2}]}
""",
            {"enabled": [{"name": "NodeResourcesFit", "weight": 5}]},
            {
                "ignoredResources": ["example.com/foo"],
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "memory", "weight": 2}],
                },
            },
            id="the strategy joins what NodeResourcesFit was told before",
        ),
        pytest.param(
            """\
plugins:
  score: {disabled: [{name: "*"}], enabled: [{name: RequestedToCapacityRatio, weight: 2}]}
pluginConfig:
- name: RequestedToCapacityRatio
  args:
    shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]
    resources: [{name: cpu}, {name: example.com/gpu, weight: 5}]
""",
            {
                "disabled": [{"name": "*"}],
                "enabled": [{"name": "NodeResourcesFit", "weight": 2}],
            },
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "resources": [{"name": "cpu"}, {"name": "example.com/gpu", "weight": 5}],
                    "requestedToCapacityRatio": {
                        "shape": [
                            {"utilization": 0, "score": 0},
                            {"utilization": 100, "score": 10},
                        ]
                    },
                }
            },
            id="RequestedToCapacityRatio with its shape",
        ),
        pytest.param(
            "plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}]}}",
            {"disabled": [{"name": "NodeResourcesFit"}]},
            None,
            id="no scoring of resources at all",
        ),
        pytest.param(
            "plugins: {score: {disabled: [{name: NodeResourcesFit}]}}",
            None,
            None,
            id="NodeResourcesFit did not score, so disabling it said nothing",
        ),
        pytest.param(
            """\
plugins:
  score:
    disabled: [{name: NodeResourcesLeastAllocated}]
    enabled: [{name: NodeResourcesFit, weight: 4}]
pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]
""",
            {"enabled": [{"name": "NodeResourcesFit", "weight": 4}]},
            {"scoringStrategy": {"type": "MostAllocated"}},
            id="a file that had moved to NodeResourcesFit already",
        ),
    ],
)
def test_scoring_of_resources(body: str, score: object, fit_args: object) -> None:
    text = profile("v1beta1", body)
    written = plugins(text)
    assert isinstance(written, dict)
    assert written.get("score") == score
    assert args(text).get("NodeResourcesFit") == fit_args
    # With that it is read without a mistake.
    assert "NodeResourcesMostAllocated" not in weights(text)


def test_only_one_way_of_scoring_resources_is_kept() -> None:
    text = profile(
        "v1beta1",
        """\
plugins:
  score:
    enabled:
    - {name: NodeResourcesMostAllocated, weight: 5}
    - {name: RequestedToCapacityRatio, weight: 2}
pluginConfig:
- {name: RequestedToCapacityRatio, args: {shape: [{utilization: 0, score: 1}]}}
""",
    )
    assert weights(text)["NodeResourcesFit"] == 5
    assert args(text)["NodeResourcesFit"] == {"scoringStrategy": {"type": "MostAllocated"}}
    only = "NodeResourcesFit can score by one strategy only: MostAllocated (weight 5) is kept, "
    assert {
        line: message.removeprefix(only) for line, message in notes(text) if only in message
    } == {
        8: "LeastAllocated (weight 1, by default) is left out",
        9: "RequestedToCapacityRatio (weight 2) is left out",
    }


def test_a_strategy_without_effect_is_left_out() -> None:
    text = profile(
        "v1beta1",
        "pluginConfig:\n"
        "- {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}\n"
        "- {name: NodeResourcesMostAllocated, args: {}}\n",
    )
    assert args(text) == {"NodeResourcesFit": {}}
    assert (
        "scoringStrategy had no effect, since NodeResourcesLeastAllocated did the scoring: "
        "it is left out"
    ) in notes_at(text, 6)
    assert "NodeResourcesMostAllocated does not run, so its args are left out" in notes_at(text, 7)


@pytest.mark.parametrize(
    ("old", "new", "exactly"),
    [
        pytest.param([1, 100], [1, 100], None, id="up to 100 they stay"),
        pytest.param([150, 300], [1, 2], True, id="a common factor takes them down"),
        pytest.param([500, 3], [100, 1], False, id="or else the nearest proportion"),
    ],
)
def test_resource_weights_without_limit(
    old: list[int], new: list[int], *, exactly: bool | None
) -> None:
    text = profile(
        "v1beta1",
        f"""\
plugins: {{score: {{disabled: [{{name: "*"}}], enabled: [{{name: RequestedToCapacityRatio}}]}}}}
pluginConfig:
- name: RequestedToCapacityRatio
  args:
    shape: [{{utilization: 0, score: 1}}]
    resources: [{{name: cpu, weight: {old[0]}}}, {{name: memory, weight: {old[1]}}}]
""",
    )
    fit = args(text)["NodeResourcesFit"]
    assert isinstance(fit, dict)
    assert [each["weight"] for each in fit["scoringStrategy"]["resources"]] == new
    scaled = "resource weights go up to 100 now: these are scaled down"
    assert [message for line, message in notes(text) if line == 10] == {
        None: [],
        True: [scaled],
        False: [scaled + ", which changes their proportions a little"],
    }[exactly]


LABELS = """\
pluginConfig:
- name: NodeLabel
  args:
    presentLabels: [zone]
    absentLabels: [retiring]
    presentLabelsPreference: [ssd]
    absentLabelsPreference: [noisy]
"""
REQUIRED = [{"key": "zone", "operator": "Exists"}, {"key": "retiring", "operator": "DoesNotExist"}]
PREFERRED = [
    {"weight": 3, "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}},
    {
        "weight": 3,
        "preference": {"matchExpressions": [{"key": "noisy", "operator": "DoesNotExist"}]},
    },
]


def test_required_labels_become_added_affinity() -> None:
    text = profile("v1beta1", "plugins: {filter: {enabled: [{name: NodeLabel}]}}\n" + LABELS)
    assert args(text) == {
        "NodeAffinity": {
            "addedAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": REQUIRED}]
                }
            }
        }
    }
    written = plugins(text)
    assert isinstance(written, dict)
    assert "filter" not in written
    told = dict(notes(text))
    assert told[9] == (
        "NodeLabel is gone: NodeAffinity requires the same of every node by its addedAffinity"
    )
    assert told[11] == "NodeLabel does not run at score: this is left out"


def test_preferred_labels_share_the_weight_of_the_plugin() -> None:
    text = profile(
        "v1beta1", "plugins: {score: {enabled: [{name: NodeLabel, weight: 6}]}}\n" + LABELS
    )
    assert args(text) == {
        "NodeAffinity": {
            "addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": PREFERRED}
        }
    }
    assert "NodeLabel" not in weights(text)
    told = dict(notes(text))
    assert told[11].startswith("NodeLabel is gone: NodeAffinity prefers the same")
    assert told[9] == "NodeLabel does not run at filter: this is left out"


def test_labels_join_every_term_that_is_there() -> None:
    text = profile(
        "v1beta1",
        """\
plugins: {filter: {enabled: [{name: NodeLabel}]}}
pluginConfig:
- name: NodeAffinity
  args:
    addedAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: a, operator: Exists}]
        - matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
- {name: NodeLabel, args: {presentLabels: [zone]}}
""",
    )
    zone = {"key": "zone", "operator": "Exists"}
    assert args(text)["NodeAffinity"] == {
        "addedAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "Exists"}, zone]},
                    {
                        "matchFields": [
                            {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
                        ],
                        "matchExpressions": [zone],
                    },
                ]
            }
        }
    }


def test_labels_bring_node_affinity_along_where_it_did_not_run() -> None:
    text = profile(
        "v1beta1",
        """\
plugins:
  filter: {disabled: [{name: "*"}], enabled: [{name: NodeName}, {name: NodeLabel}]}
  score: {disabled: [{name: "*"}], enabled: [{name: NodeLabel, weight: 2}]}
"""
        + LABELS,
    )
    written = plugins(text)
    assert isinstance(written, dict)
    assert written["filter"]["enabled"] == [{"name": "NodeName"}, {"name": "NodeAffinity"}]
    assert written["score"]["enabled"] == [{"name": "NodeAffinity", "weight": 2}]
    assert dict(notes(text))[11].endswith(
        "it runs for that, and so heeds the node selectors of pods too"
    )


def test_service_affinity_has_no_equivalent() -> None:
    text = profile(
        "v1beta1",
        """\
plugins:
  preFilter: {enabled: [{name: ServiceAffinity}]}
  filter: {enabled: [{name: ServiceAffinity}]}
  score: {enabled: [{name: ServiceAffinity, weight: 3}]}
pluginConfig:
- {name: ServiceAffinity, args: {affinityLabels: [region]}}
""",
    )
    assert args(text) == {}
    assert "ServiceAffinity" not in weights(text)
    assert [line for line, message in notes(text) if message.startswith("ServiceAffinity")] == [10]


def test_constraints_need_to_be_told_to_be_used() -> None:
    constraints = "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]"
    text = profile(
        "v1beta1",
        "pluginConfig:\n"
        f"- {{name: PodTopologySpread, args: {{defaultConstraints: {constraints}}}}}\n",
    )
    spread = args(text)["PodTopologySpread"]
    assert isinstance(spread, dict)
    assert spread["defaultingType"] == "List"
    assert weights(text)["PodTopologySpread"] == 2
