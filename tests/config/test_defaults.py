"""What a configuration says where it says nothing, or zero."""

from __future__ import annotations

import pytest

from berthing.config.features import FeatureGates
from config.reading import effective, read, with_args, with_plugins

CPU_AND_MEMORY = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("apiVersion", "kubescheduler.config.k8s.io/v1"),
        ("kind", "KubeSchedulerConfiguration"),
        ("parallelism", 16),
        ("leaderElection.leaderElect", True),
        ("leaderElection.leaseDuration", "15s"),
        ("leaderElection.renewDeadline", "10s"),
        ("leaderElection.retryPeriod", "2s"),
        ("leaderElection.resourceLock", "leases"),
        ("leaderElection.resourceName", "kube-scheduler"),
        ("leaderElection.resourceNamespace", "kube-system"),
        ("clientConnection.kubeconfig", ""),
        ("clientConnection.acceptContentTypes", ""),
        ("clientConnection.contentType", "application/vnd.kubernetes.protobuf"),
        ("clientConnection.qps", 50),
        ("clientConnection.burst", 100),
        ("enableProfiling", True),
        ("enableContentionProfiling", True),
        ("percentageOfNodesToScore", 0),
        ("podInitialBackoffSeconds", 1),
        ("podMaxBackoffSeconds", 10),
        ("profiles[0].schedulerName", "default-scheduler"),
    ],
)
def test_a_field_that_is_not_written(path: str, value: object) -> None:
    assert effective(path) == value


@pytest.mark.parametrize("path", ["extenders", "delayCacheUntilActive"])
def test_a_field_that_is_left_out_when_empty(path: str) -> None:
    with pytest.raises(KeyError):
        effective(path)


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        pytest.param("parallelism: null", "parallelism", 16, id="null"),
        pytest.param("leaderElection: {leaderElect: null}", "leaderElection.leaderElect", True),
        pytest.param("leaderElection: null", "leaderElection.leaderElect", True),
        pytest.param("leaderElection: {leaseDuration: 0s}", "leaderElection.leaseDuration", "15s"),
        pytest.param('leaderElection: {renewDeadline: "0"}', "leaderElection.renewDeadline", "10s"),
        pytest.param("leaderElection: {retryPeriod: 0ms}", "leaderElection.retryPeriod", "2s"),
        pytest.param('leaderElection: {resourceLock: ""}', "leaderElection.resourceLock", "leases"),
        pytest.param(
            'leaderElection: {resourceName: ""}', "leaderElection.resourceName", "kube-scheduler"
        ),
        pytest.param(
            'leaderElection: {resourceNamespace: ""}',
            "leaderElection.resourceNamespace",
            "kube-system",
        ),
        pytest.param("clientConnection: {qps: 0}", "clientConnection.qps", 50),
        pytest.param("clientConnection: {burst: 0}", "clientConnection.burst", 100),
        pytest.param(
            'clientConnection: {contentType: ""}',
            "clientConnection.contentType",
            "application/vnd.kubernetes.protobuf",
        ),
        pytest.param("extenders: [{httpTimeout: 0s}]", "extenders[0].httpTimeout", "5s"),
        pytest.param("extenders: [{}]", "extenders[0].httpTimeout", "5s"),
        pytest.param("profiles: []", "profiles[0].schedulerName", "default-scheduler"),
        pytest.param("profiles: [null]", "profiles[0].schedulerName", "default-scheduler"),
        pytest.param("profiles: [{plugins: {}}]", "profiles[0].schedulerName", "default-scheduler"),
    ],
)
def test_null_and_zero_stand_for_the_default(body: str, path: str, value: object) -> None:
    assert effective(path, body) == value


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        pytest.param("percentageOfNodesToScore: 0", "percentageOfNodesToScore", 0),
        pytest.param(
            "leaderElection: {leaderElect: false}",
            "leaderElection.leaderElect",
            False,
            id="no leader election",
        ),
        pytest.param("clientConnection: {qps: -1}", "clientConnection.qps", -1),
        pytest.param("clientConnection: {qps: .5}", "clientConnection.qps", 0.5),
        pytest.param("clientConnection: {qps: 16777217}", "clientConnection.qps", 16777216),
        pytest.param("extenders: [{httpTimeout: -1s}]", "extenders[0].httpTimeout", "-1s"),
    ],
)
def test_what_is_written_stays(body: str, path: str, value: object) -> None:
    assert effective(path, body) == value


@pytest.mark.parametrize(
    ("body", "contention"),
    [
        pytest.param("enableProfiling: true", True, id="on with profiling"),
        pytest.param("enableProfiling: false", False, id="off without"),
        pytest.param("enableContentionProfiling: false", False, id="off if it says so"),
        pytest.param(
            "enableProfiling: false\nenableContentionProfiling: true",
            True,
            id="on if it says so, whatever for",
        ),
    ],
)
def test_contention_profiling_goes_with_profiling(body: str, contention: bool) -> None:
    assert effective("enableContentionProfiling", body) is contention


def test_a_profile_inherits_the_percentage_by_saying_nothing() -> None:
    body = "percentageOfNodesToScore: 50\nprofiles: [{schedulerName: a}]"
    assert "percentageOfNodesToScore" not in _keys("profiles[0]", body)


def test_a_profile_can_set_the_percentage_to_zero() -> None:
    body = "percentageOfNodesToScore: 50\nprofiles: [{percentageOfNodesToScore: 0}]"
    assert effective("profiles[0].percentageOfNodesToScore", body) == 0


def _keys(path: str, body: str) -> set[str]:
    value = effective(path, body)
    assert isinstance(value, dict)
    return set(value)


@pytest.mark.parametrize(
    ("plugin", "args"),
    [
        (
            "DefaultPreemption",
            {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100},
        ),
        ("DynamicResources", {"filterTimeout": "10s", "bindingTimeout": "10m0s"}),
        (
            "InterPodAffinity",
            {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False},
        ),
        ("NodeAffinity", {}),
        ("NodeResourcesBalancedAllocation", {"resources": CPU_AND_MEMORY}),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "LeastAllocated", "resources": CPU_AND_MEMORY}},
        ),
        ("PodTopologySpread", {"defaultingType": "System"}),
        ("VolumeBinding", {"bindTimeoutSeconds": 600}),
    ],
)
def test_arguments_that_are_not_written(plugin: str, args: dict[str, object]) -> None:
    configs = effective("profiles[0].pluginConfig")
    assert isinstance(configs, list)
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": f"{plugin}Args"}
    assert {"name": plugin, "args": header | args} in configs
    assert {"name": plugin, "args": header | args} == _config_of(plugin, with_args(plugin, "{}"))


def _config_of(plugin: str, body: str, gates: FeatureGates | None = None) -> dict[str, object]:
    configs = effective("profiles[0].pluginConfig", body, gates=gates or FeatureGates())
    assert isinstance(configs, list)
    return next(config for config in configs if config["name"] == plugin)


def _args_of(plugin: str, body: str, gates: FeatureGates | None = None) -> dict[str, object]:
    args = _config_of(plugin, body, gates)["args"]
    assert isinstance(args, dict)
    return args


@pytest.mark.parametrize(
    ("strategy", "value"),
    [
        pytest.param(
            "null",
            {"type": "LeastAllocated", "resources": CPU_AND_MEMORY},
            id="null is the default strategy",
        ),
        pytest.param(
            "{type: MostAllocated}",
            {"type": "MostAllocated", "resources": CPU_AND_MEMORY},
            id="resources by default",
        ),
        pytest.param(
            "{type: MostAllocated, resources: []}",
            {"type": "MostAllocated", "resources": CPU_AND_MEMORY},
            id="no resources are the default ones",
        ),
        pytest.param(
            "{type: MostAllocated, resources: [{name: cpu}, {name: example.com/x, weight: 0}]}",
            {
                "type": "MostAllocated",
                "resources": [
                    {"name": "cpu", "weight": 1},
                    {"name": "example.com/x", "weight": 1},
                ],
            },
            id="a weight of 0 is 1",
        ),
    ],
)
def test_scoring_strategy_of_fit(strategy: str, value: object) -> None:
    body = with_args("NodeResourcesFit", f"scoringStrategy: {strategy}")
    assert _args_of("NodeResourcesFit", body)["scoringStrategy"] == value


@pytest.mark.parametrize(
    ("resources", "value"),
    [
        ("[]", CPU_AND_MEMORY),
        ("null", CPU_AND_MEMORY),
        ("[{name: cpu}]", [{"name": "cpu", "weight": 1}]),
    ],
)
def test_resources_of_balanced_allocation(resources: str, value: object) -> None:
    body = with_args("NodeResourcesBalancedAllocation", f"resources: {resources}")
    assert _args_of("NodeResourcesBalancedAllocation", body)["resources"] == value


def test_an_empty_defaulting_type_is_system() -> None:
    body = with_args("PodTopologySpread", 'defaultingType: ""')
    assert _args_of("PodTopologySpread", body)["defaultingType"] == "System"


def test_volume_binding_has_a_shape_with_its_feature() -> None:
    gates = FeatureGates().setting({"StorageCapacityScoring": True})
    falling = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    for given in ("{}", "shape: []", "shape: null"):
        body = with_args("VolumeBinding", given)
        assert _args_of("VolumeBinding", body, gates)["shape"] == falling


@pytest.mark.parametrize(
    ("gate", "args"),
    [
        ("DRASchedulerFilterTimeout", {"filterTimeout": None, "bindingTimeout": "10m0s"}),
        ("DRADeviceBindingConditions", {"filterTimeout": "10s"}),
        ("DRAResourceClaimDeviceStatus", {"filterTimeout": "10s"}),
    ],
)
def test_claim_timeouts_need_their_features(gate: str, args: dict[str, object]) -> None:
    found = _args_of("DynamicResources", "", FeatureGates().setting({gate: False}))
    assert {name: found[name] for name in found.keys() - {"apiVersion", "kind"}} == args


def test_arguments_are_added_for_what_is_enabled_anywhere() -> None:
    body = with_plugins(
        """
        multiPoint:
          disabled: [{name: "*"}]
          enabled: [{name: PrioritySort}, {name: DefaultBinder}]
        score:
          enabled: [{name: InterPodAffinity}]
        """
    )
    configs = effective("profiles[0].pluginConfig", body)
    assert isinstance(configs, list)
    assert [config["name"] for config in configs] == ["InterPodAffinity"]


def test_arguments_of_what_is_not_enabled_are_dropped() -> None:
    body = """
    profiles:
    - plugins:
        multiPoint:
          disabled: [{name: "*"}]
          enabled: [{name: PrioritySort}, {name: DefaultBinder}]
      pluginConfig:
      - name: NodeResourcesFit
    """
    assert "pluginConfig" not in _keys("profiles[0]", body)


def test_several_profiles_get_no_names() -> None:
    loaded = read("profiles: [{schedulerName: a}, {}]")
    assert [finding.path for finding in loaded.findings] == [("profiles", 1, "schedulerName")]
