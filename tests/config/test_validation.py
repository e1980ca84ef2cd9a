"""Which values a configuration may have, to the last one that is right and the first that is wrong."""

from __future__ import annotations

import pytest

from config.reading import errors, read, with_plugins


def paths(body: str) -> set[str]:
    return set(errors(body))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("parallelism: 0", "parallelism"),
        ("parallelism: -1", "parallelism"),
        ("percentageOfNodesToScore: -1", "percentageOfNodesToScore"),
        ("percentageOfNodesToScore: 101", "percentageOfNodesToScore"),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds"),
        ("podInitialBackoffSeconds: 11", "podMaxBackoffSeconds"),
        ("podMaxBackoffSeconds: 0", "podMaxBackoffSeconds"),
        ("clientConnection: {burst: -1}", "clientConnection.burst"),
        ("leaderElection: {leaseDuration: 10s}", "leaderElection.leaseDuration"),
        ("leaderElection: {renewDeadline: 15s}", "leaderElection.leaseDuration"),
        ("leaderElection: {renewDeadline: -1ns}", "leaderElection.renewDeadline"),
        ("leaderElection: {retryPeriod: -1ns}", "leaderElection.retryPeriod"),
        ("leaderElection: {resourceLock: endpoints}", "leaderElection.resourceLock"),
        ('profiles: [{schedulerName: ""}]', "profiles[0].schedulerName"),
        ("profiles: [{schedulerName: a}, {}]", "profiles[1].schedulerName"),
        ("profiles: [{schedulerName: a}, {schedulerName: a}]", "profiles[1].schedulerName"),
        ("profiles: [{percentageOfNodesToScore: -1}]", "profiles[0].percentageOfNodesToScore"),
        ("profiles: [{percentageOfNodesToScore: 101}]", "profiles[0].percentageOfNodesToScore"),
    ],
)
def test_values_that_are_wrong(body: str, path: str) -> None:
    assert paths(body) == {path}


@pytest.mark.parametrize(
    "body",
    [
        "parallelism: 1",
        "percentageOfNodesToScore: 0",
        "percentageOfNodesToScore: 100",
        "podInitialBackoffSeconds: 10",
        "podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1",
        "clientConnection: {burst: 1, qps: -1}",
        "leaderElection: {leaseDuration: 10001ms}",
        "leaderElection: {leaseDuration: 2ns, renewDeadline: 1ns}",
        "profiles: [{schedulerName: a, percentageOfNodesToScore: 0}]",
        "profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 100}]",
    ],
)
def test_values_that_are_just_right(body: str) -> None:
    assert paths(body) == set()


def test_a_negative_lease_is_wrong_twice() -> None:
    assert errors("leaderElection: {leaseDuration: -1s}") == {
        "leaderElection.leaseDuration": [
            "must be longer than 0s, got -1s",
            "must be longer than renewDeadline, got leaseDuration -1s and renewDeadline 10s",
        ]
    }


@pytest.mark.parametrize(
    "field",
    ["leaseDuration: -5s", "renewDeadline: 99s", "retryPeriod: -1s", "resourceLock: nothing"],
)
def test_nothing_is_checked_without_leader_election(field: str) -> None:
    name, value = field.split(": ")
    assert paths(f"leaderElection: {{leaderElect: false, {name}: {value}}}") == set()


def test_everything_is_told_at_once() -> None:
    body = """
    parallelism: 0
    percentageOfNodesToScore: 101
    podInitialBackoffSeconds: 0
    podMaxBackoffSeconds: -1
    clientConnection: {burst: -1}
    leaderElection: {resourceLock: x}
    profiles:
    - schedulerName: a
      pluginConfig:
      - {name: InterPodAffinity, args: {hardPodAffinityWeight: -1}}
      plugins:
        filter: {enabled: [{name: Nada}, {name: PrioritySort}]}
    - schedulerName: a
      plugins:
        bind: {disabled: [{name: "*"}]}
    extenders:
    - {urlPrefix: "http://127.0.0.1", prioritizeVerb: p}
    """
    assert paths(body) == {
        "parallelism",
        "percentageOfNodesToScore",
        "podInitialBackoffSeconds",
        "podMaxBackoffSeconds",
        "clientConnection.burst",
        "leaderElection.resourceLock",
        "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
        "profiles[0].plugins.filter.enabled[0]",
        "profiles[0].plugins.filter.enabled[1]",
        "profiles[1].schedulerName",
        "profiles[1].plugins.bind",
        "extenders[0].weight",
    }


@pytest.mark.parametrize(
    "point",
    [
        "preEnqueue",
        "queueSort",
        "preFilter",
        "filter",
        "postFilter",
        "preScore",
        "score",
        "reserve",
        "permit",
        "preBind",
        "bind",
        "postBind",
        "multiPoint",
        "placementGenerate",
        "placementScore",
    ],
)
@pytest.mark.parametrize("name", ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"])
def test_removed_plugins_are_refused_everywhere(point: str, name: str) -> None:
    loaded = read(with_plugins(f"{point}: {{enabled: [{{name: {name}}}]}}"))
    first, *_ = loaded.findings
    assert first.path == ("profiles", 0, "plugins", point, "enabled", 0)
    assert first.suggestion == "NodeVolumeLimits does its work for all kinds of volumes"
    assert not loaded.ok


def test_removed_plugins_may_be_disabled() -> None:
    assert read(with_plugins("filter: {disabled: [{name: EBSLimits}]}")).ok


def test_arguments_of_removed_plugins_are_refused() -> None:
    body = "profiles: [{pluginConfig: [{name: CinderLimits}]}]"
    assert paths(body) == {"profiles[0].pluginConfig[0]"}


def test_arguments_may_be_given_once() -> None:
    body = "profiles: [{pluginConfig: [{name: A}, {name: B}, {name: A}, {name: A}]}]"
    assert paths(body) == {"profiles[0].pluginConfig[2]", "profiles[0].pluginConfig[3]"}


QUEUE_SORT = "{queueSort: {enabled: [{name: PrioritySort}]}}"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        pytest.param(
            f"profiles: [{{schedulerName: a}}, {{schedulerName: b, plugins: {QUEUE_SORT}}}]",
            "profiles[1].plugins.queueSort",
            id="enabled in one only",
        ),
        pytest.param(
            f"profiles: [{{schedulerName: a, plugins: {QUEUE_SORT}}}, {{schedulerName: b}}]",
            "profiles[1].plugins.queueSort",
            id="enabled in the first only",
        ),
        pytest.param(
            "profiles: [{schedulerName: a}, {schedulerName: b, plugins: "
            "{queueSort: {disabled: [{name: Other}]}}}]",
            "profiles[1].plugins.queueSort",
            id="disabled in one only",
        ),
        pytest.param(
            f"profiles: [{{schedulerName: a, plugins: {QUEUE_SORT}, "
            "pluginConfig: [{name: PrioritySort, args: {x: 1}}]}, "
            f"{{schedulerName: b, plugins: {QUEUE_SORT}, "
            "pluginConfig: [{name: PrioritySort, args: {x: 2}}]}]",
            "profiles[1].pluginConfig.args",
            id="with other arguments",
        ),
        pytest.param(
            "profiles: [{schedulerName: a}, "
            "{schedulerName: b, pluginConfig: [{name: PrioritySort, args: {x: 2}}]}]",
            "profiles[1].pluginConfig.args",
            id="with arguments in one only, and from the defaults",
        ),
    ],
)
def test_all_profiles_sort_the_queue_alike(body: str, path: str) -> None:
    assert paths(body) == {path}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            f"profiles: [{{schedulerName: a, plugins: {QUEUE_SORT}}}, "
            f"{{schedulerName: b, plugins: {QUEUE_SORT}}}]",
            id="the same in both",
        ),
        pytest.param(
            f"profiles: [{{schedulerName: a, plugins: {QUEUE_SORT}}}, {{schedulerName: b, plugins: "
            "{queueSort: {enabled: [{name: PrioritySort, weight: 0}], disabled: []}}}]",
            id="with what means nothing",
        ),
    ],
)
def test_the_same_sort_may_be_written_differently(body: str) -> None:
    assert paths(body) == set()


def test_one_plugin_sorts_the_queue() -> None:
    body = with_plugins("queueSort: {enabled: [{name: PrioritySort}, {name: PrioritySort}]}")
    assert "profiles[0].plugins.queueSort.Enabled" in paths(body)


@pytest.mark.parametrize(
    ("extenders", "path"),
    [
        ("[{prioritizeVerb: p}]", "extenders[0].weight"),
        ("[{prioritizeVerb: p, weight: -1}]", "extenders[0].weight"),
        ("[{bindVerb: b}, {filterVerb: f}, {bindVerb: b}]", "extenders"),
        ("[{managedResources: [{name: cpu}]}]", "extenders[0].managedResources[0].name"),
        ("[{managedResources: [{}]}]", "extenders[0].managedResources[0].name"),
        ('[{managedResources: [{name: "a b/c"}]}]', "extenders[0].managedResources[0].name"),
        (
            "[{managedResources: [{name: x.kubernetes.io/a}]}]",
            "extenders[0].managedResources[0].name",
        ),
        (
            "[{managedResources: [{name: requests.a/b}]}]",
            "extenders[0].managedResources[0].name",
        ),
        (
            "[{managedResources: [{name: a/b}]}, {managedResources: [{name: a/b}]}]",
            "extenders[1].managedResources[0].name",
        ),
    ],
)
def test_extenders_that_are_wrong(extenders: str, path: str) -> None:
    assert paths(f"extenders: {extenders}") == {path}


@pytest.mark.parametrize(
    "extenders",
    [
        "[{weight: -3, filterVerb: f}]",
        "[{prioritizeVerb: p, weight: 1}]",
        "[{bindVerb: b}]",
        "[{managedResources: [{name: example.com/gpu}]}, {managedResources: [{name: a/b}]}]",
        "[null]",
    ],
)
def test_extenders_that_are_right(extenders: str) -> None:
    assert paths(f"extenders: {extenders}") == set()
