"""Warnings: for what is hardly meant, and for nothing else."""

from __future__ import annotations

import pytest

from berthing.config.features import FeatureGates
from berthing.config.load import default
from config.reading import warnings, with_args, with_plugins


def test_there_is_nothing_to_say_without_a_configuration() -> None:
    assert default().findings == ()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="nothing but a header"),
        pytest.param("leaderElection: {leaderElect: false}", id="no leader election"),
        pytest.param(
            "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}", id="a kubeconfig"
        ),
        pytest.param(
            """
            leaderElection: {leaseDuration: 60s, renewDeadline: 40s, retryPeriod: 5s}
            clientConnection: {qps: 200, burst: 400, contentType: application/json}
            percentageOfNodesToScore: 70
            """,
            id="tuned for a large cluster",
        ),
        pytest.param(
            """
            profiles:
            - schedulerName: default-scheduler
            - schedulerName: no-scoring-scheduler
              plugins:
                preScore: {disabled: [{name: "*"}]}
                score: {disabled: [{name: "*"}]}
            """,
            id="a second profile that does not score",
        ),
        pytest.param(
            """
            profiles:
            - schedulerName: bin-packing
              pluginConfig:
              - name: NodeResourcesFit
                args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}}
              plugins:
                score:
                  disabled: [{name: NodeResourcesBalancedAllocation}]
                  enabled: [{name: NodeResourcesFit, weight: 5}]
            """,
            id="bin packing",
        ),
        pytest.param(
            """
            profiles:
            - plugins:
                multiPoint:
                  disabled: [{name: ImageLocality}]
                  enabled: [{name: ImageLocality, weight: 2}]
                queueSort:
                  disabled: [{name: "*"}]
                  enabled: [{name: PrioritySort}]
            """,
            id="order changed",
        ),
        pytest.param(
            """
            profiles:
            - pluginConfig:
              - name: PodTopologySpread
                args:
                  defaultingType: List
                  defaultConstraints:
                  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2}
            """,
            id="default constraints",
        ),
        pytest.param(
            """
            extenders:
            - urlPrefix: https://127.0.0.1:8888/scheduler
              filterVerb: filter
              prioritizeVerb: prioritize
              weight: 5
              enableHTTPS: true
              managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]
            - urlPrefix: http://127.0.0.1:8889
              managedResources: [{name: example.com/nic, ignoredByScheduler: true}]
            """,
            id="extenders",
        ),
    ],
)
def test_ordinary_files_get_no_warnings(body: str) -> None:
    assert warnings(body) == {}


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        (
            "enableProfiling: false\nenableContentionProfiling: true",
            "enableContentionProfiling",
            "has no effect without enableProfiling",
        ),
        (
            "delayCacheUntilActive: true\nleaderElection: {leaderElect: false}",
            "delayCacheUntilActive",
            "has no effect without leader election",
        ),
        (
            "podMaxBackoffSeconds: 9223372037",
            "podMaxBackoffSeconds",
            "9223372037 s are more than can be counted, 9223372036 s at most",
        ),
        (
            "leaderElection: {leaseDuration: 0s}",
            "leaderElection.leaseDuration",
            "0s stands for the default, 15s",
        ),
        pytest.param(
            "leaderElection: {retryPeriod: 9s}",
            "leaderElection.retryPeriod",
            "kube-scheduler does not start with this: "
            "need 1.2 * retryPeriod (9s) < renewDeadline (10s)",
            id="retries too rare to keep the lease",
        ),
        (
            "leaderElection: {leaderElect: false, renewDeadline: -1s}",
            "leaderElection.renewDeadline",
            "would be wrong with leaderElect: -1s",
        ),
        (
            "leaderElection: {leaderElect: false, resourceLock: x}",
            "leaderElection.resourceLock",
            'would be wrong with leaderElect: "x"',
        ),
        (
            "clientConnection: {qps: -1}",
            "clientConnection.qps",
            "less than 0 means no limit at all, so burst means nothing",
        ),
        ("clientConnection: {qps: 0}", "clientConnection.qps", "0 stands for the default, 50"),
        ("clientConnection: {burst: 0}", "clientConnection.burst", "0 stands for the default, 100"),
        (
            "clientConnection: {contentType: json}",
            "clientConnection.contentType",
            '"json" is no content type',
        ),
        (
            "profiles: [{schedulerName: my scheduler}]",
            "profiles[0].schedulerName",
            'the API server refuses events of a scheduler called "my scheduler"',
        ),
        (
            "profiles: [{pluginConfig: [{name: Foo}]}]",
            "profiles[0].pluginConfig[0]",
            "there is no plugin Foo that could get these",
        ),
        (
            "profiles: [{pluginConfig: [{args: {}}]}]",
            "profiles[0].pluginConfig[0]",
            "the name of the plugin is missing: nothing gets these",
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeName, args: {x: 1}}]}]",
            "profiles[0].pluginConfig[0].args",
            "NodeName has no arguments",
        ),
        (
            "profiles: [{pluginConfig: [{name: GangScheduling}]}]",
            "profiles[0].pluginConfig[0]",
            "GangScheduling is not enabled in this profile",
        ),
    ],
)
def test_settings_that_are_odd(body: str, path: str, message: str) -> None:
    assert warnings(body) == {path: [message]}


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        (
            "filter: {enabled: [{name: NodeName, weight: 4}]}",
            "filter.enabled[0].weight",
            "has no effect: there are no scores at filter",
        ),
        (
            "multiPoint: {enabled: [{name: NodeName, weight: 4}]}",
            "multiPoint.enabled[0].weight",
            "has no effect: NodeName gives no scores",
        ),
        (
            "multiPoint: {enabled: [{name: NodeAffinity, weight: 0}]}",
            "multiPoint.enabled[0].weight",
            "0 means 1 here",
        ),
        (
            "multiPoint: {enabled: [{name: ImageLocality, weight: -1}]}",
            "multiPoint.enabled[0].weight",
            "a weight should not be negative, got -1",
        ),
        (
            "score: {enabled: [{name: NodeAffinity}]}",
            "score.enabled[0]",
            "the weight of NodeAffinity is 1 now, not 2 any more",
        ),
        (
            "score: {disabled: [{name: ImageLocality, weight: 3}]}",
            "score.disabled[0].weight",
            "has no effect: this plugin is disabled",
        ),
        (
            "score: {disabled: [{name: ImageLocality}, {name: ImageLocality}]}",
            "score.disabled[1]",
            "ImageLocality is disabled twice",
        ),
        (
            'score: {disabled: [{name: "*"}, {name: ImageLocality}]}',
            "score.disabled[1]",
            '"*" disables ImageLocality already',
        ),
        (
            "score: {disabled: [{name: ImageLocalty}]}",
            "score.disabled[0]",
            "there is no plugin ImageLocalty to disable",
        ),
        (
            "score: {disabled: [{name: NodeName}]}",
            "score.disabled[0]",
            "changes nothing: NodeName does not take part in score",
        ),
        (
            "placementScore: {disabled: [{name: PodGroupPodsCount}]}",
            "placementScore.disabled[0]",
            "changes nothing: PodGroupPodsCount is not enabled under multiPoint",
        ),
        (
            "multiPoint: {enabled: [{name: GangScheduling}]}",
            "multiPoint.enabled[0]",
            "GangScheduling has nothing to do while the feature GangScheduling is off",
        ),
        pytest.param(
            "preFilter: {disabled: [{name: NodePorts}]}",
            "preFilter.disabled[0]",
            "NodePorts runs at filter but not at preFilter, where it gets ready for that: "
            "it will fail every pod",
            id="only a part of a plugin is disabled",
        ),
        pytest.param(
            "{multiPoint: {disabled: [{name: InterPodAffinity}]}, "
            "score: {enabled: [{name: InterPodAffinity, weight: 2}]}}",
            "score.enabled[0]",
            "InterPodAffinity runs at score but not at preScore, where it gets ready for that: "
            "it will fail every pod",
            id="only a part of a plugin is enabled",
        ),
    ],
)
def test_plugins_that_are_odd(body: str, path: str, message: str) -> None:
    assert warnings(with_plugins(body)) == {f"profiles[0].plugins.{path}": [message]}


def test_a_plugin_may_be_on_with_its_feature() -> None:
    gates = FeatureGates().setting({"GangScheduling": True})
    body = with_plugins("multiPoint: {enabled: [{name: GangScheduling}]}")
    assert warnings(body, gates=gates) == {}


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = "{matchExpressions: [{key: k, operator: Exists}]}"
SPREAD = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway"


@pytest.mark.parametrize(
    ("plugin", "args", "path", "message"),
    [
        (
            "NodeAffinity",
            f"addedAffinity: {{{REQUIRED}: {{}}}}",
            f"addedAffinity.{REQUIRED}.nodeSelectorTerms",
            "no node matches this, so no pod can be scheduled",
        ),
        (
            "NodeAffinity",
            f"addedAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{{}}, {TERM}]}}}}",
            f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0]",
            "a term without conditions matches no node",
        ),
        (
            "NodeAffinity",
            f"addedAffinity: {{{PREFERRED}: [{{preference: {TERM}}}]}}",
            f"addedAffinity.{PREFERRED}[0].weight",
            "0 means that this term is not even read",
        ),
        (
            "NodeAffinity",
            f"addedAffinity: {{{PREFERRED}: [{{weight: 101, preference: {TERM}}}]}}",
            f"addedAffinity.{PREFERRED}[0].weight",
            "should be from 1 to 100, got 101",
        ),
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: LeastAllocated, resources: [{name: cpu}, {name: cpu}]}",
            "scoringStrategy.resources[1].name",
            "cpu is listed twice",
        ),
        (
            "NodeResourcesBalancedAllocation",
            "resources: [{name: a b}]",
            "resources[0].name",
            'no resource can be called "a b"',
        ),
        (
            "PodTopologySpread",
            f"{{defaultingType: List, defaultConstraints: [{{{SPREAD}, minDomains: 0}}]}}",
            "defaultConstraints[0].minDomains",
            "should be greater than 0, got 0",
        ),
        (
            "PodTopologySpread",
            f"{{defaultingType: List, defaultConstraints: [{{{SPREAD}, minDomains: 2}}]}}",
            "defaultConstraints[0].minDomains",
            "has no effect with ScheduleAnyway",
        ),
        (
            "PodTopologySpread",
            f"{{defaultingType: List, defaultConstraints: [{{{SPREAD}, nodeTaintsPolicy: Honour}}]}}",
            "defaultConstraints[0].nodeTaintsPolicy",
            'should be Honor or Ignore, got "Honour"',
        ),
    ],
)
def test_arguments_that_are_odd(plugin: str, args: str, path: str, message: str) -> None:
    found = warnings(with_args(plugin, args))
    assert found == {f"profiles[0].pluginConfig[0].args.{path}": [message]}


URL = "urlPrefix: http://127.0.0.1"


@pytest.mark.parametrize(
    ("extender", "path", "message"),
    [
        (f"{{{URL}}}", "", "this extender is never called: it has no verb"),
        (
            f"{{{URL}, filterVerb: f, weight: -3}}",
            ".weight",
            "has no effect without prioritizeVerb",
        ),
        (
            f"{{{URL}, prioritizeVerb: p, weight: 9223372036854775807}}",
            ".weight",
            "scores times 9223372036854775807 are more than can be counted",
        ),
        (
            f"{{{URL}, filterVerb: f, httpTimeout: -3s}}",
            ".httpTimeout",
            "every call runs out of time with -3s",
        ),
        (
            f"{{{URL}, filterVerb: a b}}",
            ".filterVerb",
            'there are blanks in "a b", which is part of a URL',
        ),
        ("{filterVerb: f}", ".urlPrefix", 'cannot be called: "" is no URL'),
        (
            '{urlPrefix: "http://[", filterVerb: f}',
            ".urlPrefix",
            "cannot be called: Invalid IPv6 URL",
        ),
        (
            f"{{{URL}, filterVerb: f, enableHTTPS: true}}",
            ".enableHTTPS",
            "does not make http:// in urlPrefix https://",
        ),
        (
            f"{{{URL}, filterVerb: f, tlsConfig: {{certData: eA==}}}}",
            ".tlsConfig",
            "the certificate is not used without keyFile or keyData",
        ),
        (
            f"{{{URL}, filterVerb: f, tlsConfig: {{keyData: eA==}}}}",
            ".tlsConfig",
            "the key is not used without certFile or certData",
        ),
        pytest.param(
            f"{{{URL}, filterVerb: f}}, {{{URL}, filterVerb: f}}",
            "",
            "asks the same as extenders[0]",
            id="the same extender twice",
        ),
    ],
)
def test_extenders_that_are_odd(extender: str, path: str, message: str) -> None:
    found = warnings(f"extenders: [{extender}]")
    index = extender.count(URL) - 1 if "}, {" in extender else 0
    assert found == {f"extenders[{index}]{path}": [message]}
