"""v1beta3: all but v1 already."""

from __future__ import annotations

from config.legacy.conversions import GROUP, configuration, converted, notes_at, plugins, profile


def test_nothing_but_the_version_changes() -> None:
    body = """\
parallelism: 8
profiles:
- schedulerName: a
  plugins:
    multiPoint:
      disabled: [{name: ImageLocality}]
      enabled: [{name: NodeAffinity, weight: 7}, {name: Mine}]
    filter:
      enabled: [{name: NodeName}]
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesFit, weight: 2}]
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 5, ignorePreferredTermsOfExistingPods: true}
- schedulerName: b
"""
    assert converted(configuration("v1beta3", body)).value == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 8,
        "profiles": [
            {
                "schedulerName": "a",
                "plugins": {
                    "multiPoint": {
                        "disabled": [{"name": "ImageLocality"}],
                        "enabled": [{"name": "NodeAffinity", "weight": 7}, {"name": "Mine"}],
                    },
                    "filter": {"enabled": [{"name": "NodeName"}]},
                    "score": {
                        "disabled": [{"name": "*"}],
                        "enabled": [{"name": "NodeResourcesFit", "weight": 2}],
                    },
                },
                "pluginConfig": [
                    {
                        "name": "InterPodAffinity",
                        "args": {
                            "hardPodAffinityWeight": 5,
                            "ignorePreferredTermsOfExistingPods": True,
                        },
                    }
                ],
            },
            {"schedulerName": "b"},
        ],
    }


def test_an_empty_file_stays_empty() -> None:
    assert converted(configuration("v1beta3")).value == {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeSchedulerConfiguration",
    }


def test_pre_enqueue_had_no_effect() -> None:
    text = profile("v1beta3", "plugins:\n  preEnqueue: {disabled: [{name: SchedulingGates}]}")
    assert plugins(text) is None
    assert "preEnqueue had no effect in v1beta3: it is left out" in notes_at(text, 6)
