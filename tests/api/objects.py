"""An object of every kind with every field set that is read, as an API server would write it.

What comes out of decoding and encoding must be what went in, so a field that is misnamed, dropped
or turned into something else shows.
"""

from __future__ import annotations

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

TIME = "2026-01-02T03:04:05Z"
MICRO_TIME = "2026-01-02T03:04:05.000000Z"


def metadata(name: str, namespace: str = "") -> Json:
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": f"uid-{name}",
        "resourceVersion": "42",
        "generation": 3,
        "creationTimestamp": TIME,
        "deletionTimestamp": TIME,
        "labels": {"app": "web"},
        "annotations": {"note": "x"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "o",
                "uid": "u",
                "controller": True,
            }
        ],
        "finalizers": ["example.com/f"],
    }


SELECTOR: Json = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
}
NODE_TERM: Json = {
    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
}
NODE_SELECTOR: Json = {"nodeSelectorTerms": [NODE_TERM]}
AFFINITY_TERM: Json = {
    "labelSelector": SELECTOR,
    "namespaces": ["x"],
    "topologyKey": "zone",
    "namespaceSelector": SELECTOR,
    "matchLabelKeys": ["pod-template-hash"],
    "mismatchLabelKeys": ["tenant"],
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
POD_AFFINITY: Json = {
    REQUIRED: [AFFINITY_TERM],
    PREFERRED: [{"weight": 7, "podAffinityTerm": AFFINITY_TERM}],
}
RESOURCES: Json = {
    "requests": {"cpu": "250m", "example.com/gpu": "1"},
    "limits": {"memory": "1Gi"},
    "claims": [{"name": "gpu", "request": "r"}],
}
CONTAINER: Json = {
    "name": "main",
    "image": "web:v1",
    "ports": [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"}],
    "resources": RESOURCES,
    "restartPolicy": "Always",
    "restartPolicyRules": [{"action": "RestartAllContainers"}],
}
CONTAINER_STATUS: Json = {
    "name": "main",
    "allocatedResources": {"cpu": "250m"},
    "resources": RESOURCES,
}
CLAIM_SPEC: Json = {
    "accessModes": ["ReadWriteOnce"],
    "selector": SELECTOR,
    "resources": {"requests": {"storage": "1Gi"}, "limits": {"storage": "2Gi"}},
    "volumeName": "pv",
    "storageClassName": "fast",
    "volumeMode": "Block",
    "volumeAttributesClassName": "gold",
}
SOURCES: dict[str, Json] = {
    "gcePersistentDisk": {"pdName": "d", "fsType": "ext4", "partition": 1, "readOnly": True},
    "awsElasticBlockStore": {"volumeID": "v", "fsType": "ext4", "partition": 1, "readOnly": True},
    "azureDisk": {
        "diskName": "d",
        "diskURI": "u",
        "cachingMode": "None",
        "fsType": "ext4",
        "readOnly": True,
        "kind": "Managed",
    },
    "azureFile": {"secretName": "s", "shareName": "h", "readOnly": True},
    "cinder": {"volumeID": "v", "fsType": "ext4", "readOnly": True},
    "glusterfs": {"endpoints": "e", "path": "p", "readOnly": True},
    "iscsi": {"targetPortal": "t", "iqn": "q", "lun": 2, "readOnly": True},
    "portworxVolume": {"volumeID": "v", "fsType": "ext4", "readOnly": True},
    "rbd": {"monitors": ["m"], "image": "i", "fsType": "ext4", "pool": "p", "readOnly": True},
    "vsphereVolume": {
        "volumePath": "p",
        "fsType": "ext4",
        "storagePolicyName": "n",
        "storagePolicyID": "i",
    },
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": metadata("web", "default"),
    "spec": {
        "volumes": [
            {"name": "c", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
            {
                "name": "e",
                "ephemeral": {
                    "volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": CLAIM_SPEC}
                },
            },
            {
                "name": "s",
                "csi": {
                    "driver": "d",
                    "readOnly": False,
                    "fsType": "ext4",
                    "volumeAttributes": {"a": "b"},
                },
            },
            {"name": "i", "image": {"reference": "files:v1", "pullPolicy": "Always"}},
            *({"name": name, name: source} for name, source in SOURCES.items()),
        ],
        "initContainers": [CONTAINER],
        "containers": [CONTAINER],
        "nodeSelector": {"disk": "ssd"},
        "nodeName": "n1",
        "hostNetwork": True,
        "hostUsers": False,
        "affinity": {
            "nodeAffinity": {
                REQUIRED: NODE_SELECTOR,
                PREFERRED: [{"weight": 5, "preference": NODE_TERM}],
            },
            "podAffinity": POD_AFFINITY,
            "podAntiAffinity": POD_AFFINITY,
        },
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": "k",
                "operator": "Equal",
                "value": "v",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
        ],
        "priorityClassName": "high",
        "priority": 1000,
        "preemptionPolicy": "Never",
        "overhead": {"cpu": "10m"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SELECTOR,
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["pod-template-hash"],
            }
        ],
        "os": {"name": "linux"},
        "schedulingGates": [{"name": "example.com/wait"}],
        "resourceClaims": [
            {"name": "a", "resourceClaimName": "claim"},
            {"name": "b", "resourceClaimTemplateName": "template"},
        ],
        "resources": RESOURCES,
        "schedulingGroup": {"podGroupName": "gang"},
    },
    "status": {
        "phase": "Running",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "True",
                "reason": "r",
                "message": "m",
                "observedGeneration": 2,
                "lastTransitionTime": TIME,
            }
        ],
        "nominatedNodeName": "n2",
        "startTime": TIME,
        "initContainerStatuses": [CONTAINER_STATUS],
        "containerStatuses": [CONTAINER_STATUS],
        "resize": "Deferred",
        "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "web-b"}],
        "extendedResourceClaimStatus": {
            "requestMappings": [
                {"containerName": "main", "resourceName": "example.com/gpu", "requestName": "r"}
            ],
            "resourceClaimName": "web-extended",
        },
        "allocatedResources": {"cpu": "1"},
        "resources": RESOURCES,
        "nodeAllocatableResourceClaimStatuses": [
            {"resourceClaimName": "c", "containers": ["main"], "resources": {"cpu": "2"}}
        ],
    },
}
NODE: Json = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": metadata("n1"),
    "spec": {
        "unschedulable": True,
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
    },
    "status": {
        "capacity": {"cpu": "4"},
        "allocatable": {"cpu": "3900m"},
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "images": [{"names": ["web:v1"], "sizeBytes": 5}],
        "volumesInUse": ["v"],
        "volumesAttached": [{"name": "v", "devicePath": "/dev/x"}],
        "declaredFeatures": ["F"],
    },
}
VOLUME_SPEC: Json = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteOnce"],
    "claimRef": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "default",
        "name": "data",
        "uid": "u",
        "resourceVersion": "1",
        "fieldPath": "f",
    },
    "storageClassName": "fast",
    "volumeMode": "Block",
    "nodeAffinity": {"required": NODE_SELECTOR},
    "volumeAttributesClassName": "gold",
    "csi": {
        "driver": "d",
        "volumeHandle": "h",
        "readOnly": True,
        "fsType": "ext4",
        "volumeAttributes": {"a": "b"},
    },
    **SOURCES,
    "azureFile": {"secretName": "s", "shareName": "h", "secretNamespace": "n"},
}
EVENT_SERIES: Json = {"count": 3, "lastObservedTime": MICRO_TIME}
REFERENCE: Json = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web"}
CONDITION: Json = {
    "type": "T",
    "status": "True",
    "observedGeneration": 1,
    "lastTransitionTime": TIME,
    "reason": "r",
    "message": "m",
}
GROUP_TEMPLATE: dict[str, Json] = {
    "schedulingPolicy": {"gang": {"minCount": 4}},
    "schedulingConstraints": {"topology": [{"key": "zone"}]},
    "resourceClaims": [
        {"name": "c", "resourceClaimName": "claim"},
        {"name": "d", "resourceClaimTemplateName": "template"},
    ],
    "disruptionMode": "PodGroup",
    "priorityClassName": "high",
    "priority": 9,
}
DEVICE_TOLERATION: Json = {
    "key": "k",
    "operator": "Equal",
    "value": "v",
    "effect": "NoExecute",
    "tolerationSeconds": 5,
}
DEVICE_REQUEST: dict[str, Json] = {
    "deviceClassName": "gpu",
    "selectors": [{"cel": {"expression": "true"}}],
    "allocationMode": "ExactCount",
    "count": 2,
    "tolerations": [DEVICE_TOLERATION],
    "capacity": {"requests": {"memory": "1Gi"}},
}
OPAQUE: Json = {"driver": "d", "parameters": {"rate": 0.10, "deep": {"null": None}}}


def plain(api_version: str, kind: str, namespace: str = "", **fields: Json) -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata("x", namespace),
        **fields,
    }


OBJECTS: list[Json] = [
    POD,
    NODE,
    plain("v1", "Namespace", status={"phase": "Active"}),
    plain("v1", "Service", "default", spec={"selector": {"app": "web"}}),
    plain(
        "v1", "ReplicationController", "default", spec={"replicas": 2, "selector": {"app": "web"}}
    ),
    plain("v1", "PersistentVolume", spec=VOLUME_SPEC, status={"phase": "Bound"}),
    plain(
        "v1",
        "PersistentVolumeClaim",
        "default",
        spec=CLAIM_SPEC,
        status={"phase": "Bound", "capacity": {"storage": "1Gi"}},
    ),
    plain(
        "v1",
        "Event",
        "default",
        involvedObject=REFERENCE,
        reason="r",
        message="m",
        source={"component": "c", "host": "h"},
        firstTimestamp=TIME,
        lastTimestamp=TIME,
        count=2,
        type="Normal",
        eventTime=MICRO_TIME,
        series=EVENT_SERIES,
        action="a",
        related=REFERENCE,
        reportingComponent="rc",
        reportingInstance="ri",
    ),
    plain(
        "events.k8s.io/v1",
        "Event",
        "default",
        eventTime=MICRO_TIME,
        series=EVENT_SERIES,
        reportingController="rc",
        reportingInstance="ri",
        action="a",
        reason="r",
        regarding=REFERENCE,
        related=REFERENCE,
        note="n",
        type="Warning",
        deprecatedSource={"component": "c", "host": "h"},
        deprecatedFirstTimestamp=TIME,
        deprecatedLastTimestamp=TIME,
        deprecatedCount=2,
    ),
    plain("apps/v1", "ReplicaSet", "default", spec={"replicas": 2, "selector": SELECTOR}),
    plain("apps/v1", "StatefulSet", "default", spec={"replicas": 2, "selector": SELECTOR}),
    plain(
        "coordination.k8s.io/v1",
        "Lease",
        "kube-system",
        spec={
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "acquireTime": MICRO_TIME,
            "renewTime": MICRO_TIME,
            "leaseTransitions": 1,
            "strategy": "OldestEmulationVersion",
            "preferredHolder": "you",
        },
    ),
    plain(
        "policy/v1",
        "PodDisruptionBudget",
        "default",
        spec={"minAvailable": "50%", "maxUnavailable": 1, "selector": SELECTOR},
        status={
            "observedGeneration": 1,
            "disruptedPods": {"web": TIME},
            "disruptionsAllowed": 1,
            "currentHealthy": 3,
            "desiredHealthy": 2,
            "expectedPods": 3,
        },
    ),
    plain(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        value=1000,
        globalDefault=True,
        preemptionPolicy="Never",
    ),
    plain(
        "scheduling.k8s.io/v1alpha2",
        "Workload",
        "default",
        spec={
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
            "podGroupTemplates": [{"name": "t", **GROUP_TEMPLATE}],
        },
    ),
    plain(
        "scheduling.k8s.io/v1alpha2",
        "PodGroup",
        "default",
        spec={
            "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}},
            **GROUP_TEMPLATE,
        },
        status={
            "conditions": [CONDITION],
            "resourceClaimStatuses": [{"name": "d", "resourceClaimName": "made"}],
        },
    ),
    plain(
        "storage.k8s.io/v1",
        "StorageClass",
        provisioner="p",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    ),
    plain(
        "storage.k8s.io/v1",
        "CSINode",
        spec={
            "drivers": [
                {"name": "d", "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 8}}
            ]
        },
    ),
    plain(
        "storage.k8s.io/v1",
        "CSIDriver",
        spec={
            "attachRequired": True,
            "storageCapacity": False,
            "preventPodSchedulingIfMissing": True,
        },
    ),
    plain(
        "storage.k8s.io/v1",
        "CSIStorageCapacity",
        "default",
        nodeTopology=SELECTOR,
        storageClassName="fast",
        capacity="10Gi",
        maximumVolumeSize="5Gi",
    ),
    plain(
        "storage.k8s.io/v1",
        "VolumeAttachment",
        spec={
            "attacher": "d",
            "source": {"persistentVolumeName": "pv", "inlineVolumeSpec": VOLUME_SPEC},
            "nodeName": "n1",
        },
        status={"attached": True},
    ),
    plain(
        "resource.k8s.io/v1",
        "DeviceClass",
        spec={
            "selectors": [{"cel": {"expression": "true"}}],
            "config": [{"opaque": OPAQUE}],
            "extendedResourceName": "example.com/gpu",
        },
    ),
    plain(
        "resource.k8s.io/v1",
        "ResourceClaim",
        "default",
        spec={
            "devices": {
                "requests": [
                    {"name": "one", "exactly": {**DEVICE_REQUEST, "adminAccess": True}},
                    {"name": "some", "firstAvailable": [{"name": "big", **DEVICE_REQUEST}]},
                ],
                "constraints": [
                    {"requests": ["one"], "matchAttribute": "d/a", "distinctAttribute": "d/b"}
                ],
                "config": [{"requests": ["one"], "opaque": OPAQUE}],
            }
        },
        status={
            "allocation": {
                "devices": {
                    "results": [
                        {
                            "request": "one",
                            "driver": "d",
                            "pool": "p",
                            "device": "gpu-0",
                            "adminAccess": False,
                            "tolerations": [DEVICE_TOLERATION],
                            "bindingConditions": ["Ready"],
                            "bindingFailureConditions": ["Broken"],
                            "shareID": "s",
                            "consumedCapacity": {"memory": "1Gi"},
                        }
                    ],
                    "config": [{"source": "FromClass", "requests": ["one"], "opaque": OPAQUE}],
                },
                "nodeSelector": NODE_SELECTOR,
                "allocationTimestamp": TIME,
            },
            "reservedFor": [{"apiGroup": "g", "resource": "pods", "name": "web", "uid": "u"}],
            "devices": [
                {
                    "driver": "d",
                    "pool": "p",
                    "device": "gpu-0",
                    "shareID": "s",
                    "conditions": [CONDITION],
                }
            ],
        },
    ),
    plain(
        "resource.k8s.io/v1",
        "ResourceSlice",
        spec={
            "driver": "d",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 2},
            "nodeName": "n1",
            "nodeSelector": NODE_SELECTOR,
            "allNodes": False,
            "devices": [
                {
                    "name": "gpu-0",
                    "attributes": {
                        "a": {"int": 1},
                        "b": {"bool": False},
                        "c": {"string": "x"},
                        "d": {"version": "1.2.3"},
                        "e": {"ints": [1, 2]},
                        "f": {"bools": [True]},
                        "g": {"strings": ["x"]},
                        "h": {"versions": ["1.2.3"]},
                    },
                    "capacity": {
                        "memory": {
                            "value": "16Gi",
                            "requestPolicy": {
                                "default": "1Gi",
                                "validValues": ["1Gi", "2Gi"],
                                "validRange": {"min": "1Gi", "max": "4Gi", "step": "1Gi"},
                            },
                        }
                    },
                    "consumesCounters": [
                        {"counterSet": "s", "counters": {"memory": {"value": "1Gi"}}}
                    ],
                    "nodeName": "n1",
                    "nodeSelector": NODE_SELECTOR,
                    "allNodes": True,
                    "taints": [{"key": "k", "value": "v", "effect": "None", "timeAdded": TIME}],
                    "bindsToNode": True,
                    "bindingConditions": ["Ready"],
                    "bindingFailureConditions": ["Broken"],
                    "allowMultipleAllocations": True,
                    "nodeAllocatableResourceMappings": {
                        "cpu": {"capacityKey": "cores", "allocationMultiplier": "2"}
                    },
                }
            ],
            "perDeviceNodeSelection": True,
            "sharedCounters": [{"name": "s", "counters": {"memory": {"value": "16Gi"}}}],
        },
    ),
]
