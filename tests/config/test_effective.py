"""The complete configuration, as kube-scheduler writes it."""

from __future__ import annotations

import base64

import msgspec
import pytest

from berthing.config.default_plugins import IN_TREE_CATALOGUE
from berthing.config.durations import Duration
from berthing.config.effective import args_object, effective_yaml
from berthing.config.load import load_text
from config.reading import effective, read, with_args


def test_lists_that_are_empty_are_left_out() -> None:
    profile = effective("profiles[0]", "profiles: [{plugins: {score: {enabled: []}}}]")
    assert isinstance(profile, dict)
    assert profile["plugins"]["score"] == {}
    assert "percentageOfNodesToScore" not in profile


def test_weights_are_always_written() -> None:
    body = "profiles: [{plugins: {score: {enabled: [{name: ImageLocality}], disabled: [{name: A, weight: 3}]}}}]"
    assert effective("profiles[0].plugins.score", body) == {
        "enabled": [{"name": "ImageLocality", "weight": 0}],
        "disabled": [{"name": "A", "weight": 0}],
    }


def test_extender_with_little() -> None:
    assert effective("extenders[0]", "extenders: [{urlPrefix: x}]") == {
        "urlPrefix": "x",
        "httpTimeout": "5s",
    }


def test_extender_with_everything() -> None:
    body = """
    extenders:
    - urlPrefix: http://127.0.0.1
      filterVerb: f
      preemptVerb: q
      prioritizeVerb: p
      weight: 3
      bindVerb: b
      enableHTTPS: true
      tlsConfig: {serverName: s, certFile: "", keyData: eA==}
      httpTimeout: 90s
      nodeCacheCapable: true
      managedResources: [{name: a/b}, {name: a/c, ignoredByScheduler: true}]
      ignorable: true
    """
    assert effective("extenders[0]", body) == {
        "urlPrefix": "http://127.0.0.1",
        "filterVerb": "f",
        "preemptVerb": "q",
        "prioritizeVerb": "p",
        "weight": 3,
        "bindVerb": "b",
        "enableHTTPS": True,
        "tlsConfig": {"serverName": "s", "keyData": "eA=="},
        "httpTimeout": "1m30s",
        "nodeCacheCapable": True,
        "managedResources": [{"name": "a/b"}, {"name": "a/c", "ignoredByScheduler": True}],
        "ignorable": True,
    }


def args(plugin: str, body: str) -> dict[str, object]:
    configs = effective("profiles[0].pluginConfig", with_args(plugin, body))
    assert isinstance(configs, list)
    found = next(config["args"] for config in configs if config["name"] == plugin)
    return {name: found[name] for name in found.keys() - {"apiVersion", "kind"}}


@pytest.mark.parametrize(
    ("plugin", "given", "written"),
    [
        ("NodeAffinity", "addedAffinity: {}", {"addedAffinity": {}}),
        (
            "NodeAffinity",
            "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}",
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}
                }
            },
        ),
        pytest.param(
            "NodeAffinity",
            "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "{nodeSelectorTerms: [{matchExpressions: [{key: k, operator: Exists, values: []}]}]}}",
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
                        ]
                    }
                }
            },
        ),
        pytest.param(
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
            "whenUnsatisfiable: DoNotSchedule, minDomains: 0, nodeTaintsPolicy: Honor}]}",
            {
                "defaultingType": "List",
                "defaultConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "zone",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "minDomains": 0,
                        "nodeTaintsPolicy": "Honor",
                    }
                ],
            },
        ),
        (
            "NodeResourcesFit",
            "{ignoredResources: [cpu], ignoredResourceGroups: []}",
            {
                "ignoredResources": ["cpu"],
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                },
            },
        ),
    ],
)
def test_arguments(plugin: str, given: str, written: dict[str, object]) -> None:
    assert args(plugin, given) == written


def test_arguments_of_a_plugin_without_any_stay_as_they_are() -> None:
    config = {"name": "NodeName", "args": [1, {"x": None}]}
    found = effective("profiles[0].pluginConfig", with_args("NodeName", "[1, {x: null}]"))
    assert isinstance(found, list)
    assert config in found


class Nested(msgspec.Struct, rename="camel"):
    wait_for: Duration = Duration.seconds(90)


class ForeignArgs(msgspec.Struct, rename="camel"):
    unset: int | msgspec.UnsetType = msgspec.UNSET
    max_pods: int = 3
    secret: bytes = b"x"
    inner: Nested = msgspec.field(default_factory=Nested)
    names: tuple[str, ...] = ("a",)
    by_name: dict[str, float] = msgspec.field(default_factory=lambda: {"b": 0.5})


def test_arguments_of_another_plugin_are_written_in_full() -> None:
    assert args_object("Foreign", ForeignArgs()) == {
        "maxPods": 3,
        "secret": base64.b64encode(b"x").decode(),
        "inner": {"waitFor": "1m30s"},
        "names": ["a"],
        "byName": {"b": 0.5},
    }


def yaml_of(body: str) -> list[str]:
    config = read(body).config
    assert config is not None
    return effective_yaml(config, IN_TREE_CATALOGUE).splitlines()


def test_yaml_is_sorted_and_lists_stand_where_their_keys_do() -> None:
    lines = yaml_of("extenders: [{urlPrefix: x}]")
    top = [line.partition(":")[0] for line in lines if line[0] not in " -"]
    assert top == sorted(top)
    start = lines.index("extenders:")
    assert lines[start + 1 : start + 3] == ["- httpTimeout: 5s", "  urlPrefix: x"]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        pytest.param('"plain"', "plain", id="plain"),
        pytest.param('"10"', '"10"', id="would be a number"),
        pytest.param('"n"', '"n"', id="would be false"),
        pytest.param('"1:30"', '"1:30"', id="would be ninety"),
        pytest.param('"2026-01-01"', '"2026-01-01"', id="would be a date"),
        pytest.param('"*"', "'*'", id="would be an alias"),
        pytest.param('"a: b"', "'a: b'", id="would be a mapping"),
        pytest.param('"\\u00e9"', "é", id="not ASCII"),
    ],
)
def test_quotes_are_those_of_go(name: str, written: str) -> None:
    assert f"  schedulerName: {written}" in yaml_of(f"profiles: [{{schedulerName: {name}}}]")


def test_nothing_is_an_empty_text() -> None:
    assert '  kubeconfig: ""' in yaml_of("")


@pytest.mark.parametrize(
    ("qps", "written"),
    [
        ("50", "50"),
        ("0.1", "0.1"),
        ("-1", "-1"),
        ("16777217", "16777216"),
        ("1234567.5", "1.2345675e+06"),
        ("1e-7", "1e-07"),
        ("1e22", "1e+22"),
    ],
)
def test_numbers_are_those_of_go(qps: str, written: str) -> None:
    assert f"  qps: {written}" in yaml_of(f"clientConnection: {{qps: {qps}}}")


def test_what_is_written_reads_the_same_again_and_without_warnings() -> None:
    body = """
    profiles:
    - schedulerName: mine
      plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 4}]}}
    extenders: [{urlPrefix: "http://127.0.0.1", filterVerb: filter}]
    """
    text = "\n".join(yaml_of(body))
    again = load_text(text)
    assert again.findings == ()
    assert again.config is not None
    assert effective_yaml(again.config, IN_TREE_CATALOGUE).splitlines() == text.splitlines()
