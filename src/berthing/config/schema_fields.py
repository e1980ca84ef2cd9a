"""What an editor tells of each field of a configuration, and what it holds against a value.

The fields themselves, their types and defaults come from the types in `v1` and `args`; here is
what types do not say.  Limits are those of `validation` and `validation_args`, as far as one
object can tell.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from berthing.api.labels import LabelSelector, LabelSelectorRequirement
from berthing.api.node_selector import NodeSelectorRequirement, NodeSelectorTerm
from berthing.config import args, v1
from berthing.config.validation_args import (
    DEFAULTING_TYPES,
    SCORING_STRATEGIES,
    UNSATISFIABLE_ACTIONS,
)

Keywords = Mapping[str, object]
"""JSON Schema for one field, beside its type."""

_PERCENT: Keywords = {"minimum": 0, "maximum": 100}
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_POLICIES = ("Honor", "Ignore")


def _says(description: str, **keywords: object) -> Keywords:
    return {"description": description, **keywords}


def _one_of(names: tuple[str, ...], *, default: str | None = None) -> Keywords:
    """One of these; an empty text where that stands for a default."""
    return {"enum": [*names, *([] if default is None else [""])]}


FIELDS: Mapping[type[msgspec.Struct], Mapping[str, Keywords]] = {
    v1.KubeSchedulerConfiguration: {
        "apiVersion": _says("The version of this format.", const=v1.API_VERSION),
        "kind": _says("What this file is.", const=v1.KIND),
        "parallelism": _says(
            "How many threads kube-scheduler would use for one pod. More than 0.", minimum=1
        ),
        "leaderElection": _says("How replicas agree on the one that schedules."),
        "clientConnection": _says("How to reach the API server."),
        "enableProfiling": _says("Serve profiles of the running process under /debug/pprof."),
        "enableContentionProfiling": _says(
            "Profile blocking, too. On by default if enableProfiling is."
        ),
        "percentageOfNodesToScore": _says(
            "Stop looking for nodes once this share of all nodes is found to fit a pod. "
            "0 leaves the choice to the scheduler.",
            **_PERCENT,
        ),
        "podInitialBackoffSeconds": _says(
            "How long a pod waits after its first failed attempt. It doubles with each attempt.",
            minimum=1,
        ),
        "podMaxBackoffSeconds": _says(
            "The longest that a pod waits between attempts. At least podInitialBackoffSeconds.",
            minimum=1,
        ),
        "profiles": _says(
            "Schedulers in this process, one for each schedulerName that pods ask for. "
            "Without any there is one with the default plugins.",
            **{
                "if": {"minItems": 2},
                "then": {"items": {"required": ["schedulerName"]}},
            },
        ),
        "extenders": _says("HTTP services that have a say in the scheduling of all profiles."),
        "delayCacheUntilActive": _says(
            "Do not watch the cluster before this replica is the leader: saves memory while "
            "waiting, and costs time when taking over."
        ),
    },
    v1.LeaderElectionConfiguration: {
        "leaderElect": _says("Take part in the election. If not, the rest is not looked at."),
        "leaseDuration": _says(
            "How long the others wait for a leader that went silent. More than renewDeadline."
        ),
        "renewDeadline": _says("How long a leader tries to renew its lease before it gives up."),
        "retryPeriod": _says("How long to wait between attempts to get or to renew the lease."),
        "resourceLock": _says("The kind of object that is the lock.", examples=["leases"]),
        "resourceName": _says("The name of the lock."),
        "resourceNamespace": _says("The namespace of the lock."),
    },
    v1.ClientConnectionConfiguration: {
        "kubeconfig": _says("The file that says how to reach the API server."),
        "acceptContentTypes": _says("Content types to ask the API server for, if not contentType."),
        "contentType": _says("The content type of what is sent to the API server."),
        "qps": _says("How many requests per second to send. 0 is the default; less is no limit."),
        "burst": _says("How many requests may be sent at once. 0 is the default.", minimum=0),
    },
    v1.KubeSchedulerProfile: {
        "schedulerName": _says(
            "The name by which pods ask for this profile, as spec.schedulerName. "
            "A profile needs one unless it is alone: then it is default-scheduler.",
            minLength=1,
        ),
        "percentageOfNodesToScore": _says(
            "The same for this profile alone; without it, what the whole configuration says.",
            **_PERCENT,
        ),
        "plugins": _says("Which plugins run, beside those that run by default."),
        "pluginConfig": _says("Arguments of plugins. Without any, a plugin has its defaults."),
    },
    v1.Plugins: {
        "preEnqueue": _says("Whether a pod may enter the queue of pods to schedule."),
        "queueSort": _says(
            "The order of the queue. Just one plugin, and the same in all profiles."
        ),
        "preFilter": _says("Look at the pod and the cluster before looking at single nodes."),
        "filter": _says("Which nodes can run the pod."),
        "postFilter": _says("What to do if there is no such node: preemption, for one."),
        "preScore": _says("Look at the nodes that are left before scoring them one by one."),
        "score": _says("How good each node is, from 0 to 100, times the weight of the plugin."),
        "reserve": _says("Set something aside for the pod on the node, or give it back."),
        "permit": _says("Hold a pod back, or turn it down, at the last moment."),
        "preBind": _says("What must be done before the pod can be bound."),
        "bind": _says("Bind the pod to its node. The first plugin that takes the pod does it."),
        "postBind": _says("Tidy up after the pod was bound."),
        "multiPoint": _says(
            "All points that a plugin takes part in at once. What stands at a point itself "
            "goes before."
        ),
        "placementGenerate": _says("Where a group of pods could go. Just one plugin."),
        "placementScore": _says("How good each place for a group of pods is, times the weight."),
    },
    v1.PluginSet: {
        "enabled": _says("Plugins to run here, after those that run by default."),
        "disabled": _says('Default plugins not to run here; "*" is all of them.'),
    },
    v1.Plugin: {
        "name": _says("The name of the plugin."),
        "weight": _says(
            "What the plugin's scores count for. It means something for scores only; 0 is 1."
        ),
    },
    v1.PluginConfig: {
        "name": _says("The plugin that the arguments are for."),
        "args": _says("The arguments: which there are depends on the plugin."),
    },
    v1.Extender: {
        "urlPrefix": _says("Where the extender is; the verb is added to it."),
        "filterVerb": _says("What to call to filter nodes. Without it, it is not asked."),
        "preemptVerb": _says("What to call about preemption. Without it, it is not asked."),
        "prioritizeVerb": _says("What to call to score nodes. Without it, it is not asked."),
        "weight": _says("What its scores count for. More than 0 if there is a prioritizeVerb."),
        "bindVerb": _says("What to call to bind a pod. Only one extender can have it."),
        "enableHTTPS": _says("Speak TLS, without checking certificates unless tlsConfig has a CA."),
        "tlsConfig": _says("Certificates for speaking TLS."),
        "httpTimeout": _says(
            "How long to wait for an answer. A filter that is late fails the pod's attempt."
        ),
        "nodeCacheCapable": _says("Send the names of nodes only: the extender knows the nodes."),
        "managedResources": _says(
            "Resources it manages: only pods that ask for one of them are sent to it. "
            "Without any, all pods are."
        ),
        "ignorable": _says("Go on without this extender if it cannot be reached."),
    },
    v1.ExtenderManagedResource: {
        "name": _says("The name of an extended resource.", examples=["example.com/gpu"]),
        "ignoredByScheduler": _says("Leave it to the extender whether a node has enough of it."),
    },
    v1.ExtenderTLSConfig: {
        "insecure": _says("Do not check the extender's certificate. For tests only."),
        "serverName": _says("The name to expect in its certificate, if not that of the URL."),
        "certFile": _says("The file with the scheduler's own certificate."),
        "keyFile": _says("The file with the key to that."),
        "caFile": _says("The file with the certificates to trust."),
        "certData": _says("The scheduler's own certificate, PEM in base64; goes before certFile."),
        "keyData": _says("The key to that, PEM in base64; goes before keyFile."),
        "caData": _says("The certificates to trust, PEM in base64; goes before caFile."),
    },
    args.DefaultPreemptionArgs: {
        "minCandidateNodesPercentage": _says(
            "Look for victims on at least this share of all nodes, in percent.", **_PERCENT
        ),
        "minCandidateNodesAbsolute": _says(
            "And on at least this many nodes. Not 0 if the other is.", minimum=0
        ),
    },
    args.DynamicResourcesArgs: {
        "filterTimeout": _says(
            "How long to look for devices on one node; 0s is without end. 10s by default."
        ),
        "bindingTimeout": _says(
            "How long to wait for devices to be ready before the pod is bound. At least 1s; "
            "10m by default."
        ),
    },
    args.InterPodAffinityArgs: {
        "hardPodAffinityWeight": _says(
            "What it counts for if a running pod requires pods such as this one beside it.",
            **_PERCENT,
        ),
        "ignorePreferredTermsOfExistingPods": _says(
            "Do not ask what running pods prefer, unless the pod itself has any pod affinity."
        ),
    },
    args.NodeAffinityArgs: {
        "addedAffinity": _says("Node affinity for all pods of the profile, beside their own."),
    },
    args.AddedAffinity: {
        "requiredDuringSchedulingIgnoredDuringExecution": _says("What a node must match."),
        "preferredDuringSchedulingIgnoredDuringExecution": _says("What a node had better match."),
    },
    args.RequiredNodes: {
        "nodeSelectorTerms": _says("Terms of which a node must match at least one."),
    },
    args.PreferredNodes: {
        "weight": _says("What a node that matches is worth, from 1 to 100.", maximum=100),
        "preference": _says("What to match."),
    },
    NodeSelectorTerm: {
        "matchExpressions": _says("Conditions on labels of the node. All must hold."),
        "matchFields": _says("Conditions on fields of the node. All must hold."),
    },
    NodeSelectorRequirement: {
        "key": _says("The label, or metadata.name for a field."),
        "operator": _says("How to compare.", **_one_of((*_OPERATORS, "Gt", "Lt"))),
        "values": _says(
            "What to compare with: some for In and NotIn, one number for Gt and Lt, "
            "none for the others."
        ),
    },
    args.NodeResourcesFitArgs: {
        "ignoredResources": _says("Resources that a node need not have for the pod to fit."),
        "ignoredResourceGroups": _says(
            "The same for all resources with this before the slash.", examples=[["example.com"]]
        ),
        "scoringStrategy": _says("What makes a node a good one. LeastAllocated by default."),
    },
    args.ScoringStrategy: {
        "type": _says(
            "LeastAllocated spreads pods, MostAllocated packs them, RequestedToCapacityRatio "
            "scores by a shape of your own.",
            **_one_of(SCORING_STRATEGIES),
        ),
        "resources": _says("The resources to look at. cpu and memory by default."),
        "requestedToCapacityRatio": _says("The shape for the type RequestedToCapacityRatio."),
    },
    args.ResourceSpec: {
        "name": _says("The name of the resource.", examples=["cpu", "memory"]),
        "weight": _says("What it counts for, from 1 to 100. 0 is 1.", **_PERCENT),
    },
    args.RequestedToCapacityRatioParam: {
        "shape": _says(
            "Points between which scores follow straight lines, by growing utilization.",
            minItems=1,
        ),
    },
    args.UtilizationShapePoint: {
        "utilization": _says("How much of the resource is used, in percent.", **_PERCENT),
        "score": _says(
            "The score of such a node, from 0 to 10.", minimum=0, maximum=args.MAX_SHAPE_SCORE
        ),
    },
    args.NodeResourcesBalancedAllocationArgs: {
        "resources": _says("Resources that should be used evenly. All of them have weight 1."),
    },
    args.PodTopologySpreadArgs: {
        "defaultConstraints": _says(
            "Constraints for pods that have none. They need the defaultingType List."
        ),
        "defaultingType": _says(
            "System spreads such pods over nodes and zones, List does what defaultConstraints say.",
            **_one_of(DEFAULTING_TYPES, default="System"),
        ),
    },
    args.TopologySpreadConstraint: {
        "maxSkew": _says("How uneven the pods may be spread. More than 0.", minimum=1),
        "topologyKey": _says(
            "The label of nodes over whose values to spread.",
            minLength=1,
            examples=["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
        ),
        "whenUnsatisfiable": _says(
            "Whether such a node is out of the question or just not as good.",
            **_one_of(UNSATISFIABLE_ACTIONS),
        ),
        "labelSelector": _says(
            "Not to be set here: which pods count follows from services and controllers.",
            type="null",
        ),
        "minDomains": _says("Spread over at least this many domains.", minimum=1),
        "nodeAffinityPolicy": _says(
            "Whether nodes that the pod's affinity rules out count.", **_one_of(_POLICIES)
        ),
        "nodeTaintsPolicy": _says(
            "Whether nodes whose taints the pod does not tolerate count.", **_one_of(_POLICIES)
        ),
        "matchLabelKeys": _says("Labels of the pod that other pods must share to count."),
    },
    LabelSelector: {
        "matchLabels": _says("Labels and their values. All must match."),
        "matchExpressions": _says("Conditions on labels. All must hold."),
    },
    LabelSelectorRequirement: {
        "key": _says("The label."),
        "operator": _says("How to compare.", **_one_of(_OPERATORS)),
        "values": _says("What to compare with: some for In and NotIn, none for the others."),
    },
    args.VolumeBindingArgs: {
        "bindTimeoutSeconds": _says(
            "How long to wait for volumes to be bound. 0 is not at all.", minimum=0
        ),
        "shape": _says(
            "Scores of nodes by the storage used. Only with the feature StorageCapacityScoring."
        ),
    },
}


def _if_set(name: str, value: Keywords, then: Keywords) -> Keywords:
    return {"if": {"properties": {name: value}, "required": [name]}, "then": then}


RULES: Mapping[type[msgspec.Struct], Keywords] = {
    # Nobody looks at the lock of a scheduler that takes part in no election.
    v1.LeaderElectionConfiguration: {
        "if": {"properties": {"leaderElect": {"const": False}}, "required": ["leaderElect"]},
        "else": {"properties": {"resourceLock": {"enum": ["leases", "", None]}}},
    },
    v1.Extender: _if_set(
        "prioritizeVerb",
        {"type": "string", "minLength": 1},
        {"required": ["weight"], "properties": {"weight": {"minimum": 1}}},
    ),
    args.ScoringStrategy: {
        **_if_set(
            "type",
            {"const": "RequestedToCapacityRatio"},
            {"required": ["requestedToCapacityRatio"]},
        ),
        "else": {"properties": {"requestedToCapacityRatio": {"type": "null"}}},
    },
    args.PodTopologySpreadArgs: _if_set(
        "defaultConstraints",
        {"type": "array", "minItems": 1},
        {"required": ["defaultingType"], "properties": {"defaultingType": {"const": "List"}}},
    ),
}
"""What the fields of one object must be to each other."""
