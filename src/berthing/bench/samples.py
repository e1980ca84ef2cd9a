"""Made-up lists of nodes and pods, in the JSON of an API server.

No two objects have a name or uid in common, and pods repeat each other as pods of deployments do:
25 replicas share owner, labels, image and resources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_REPLICAS: Final = 25
_NAMESPACES: Final = 60


def pod_list(pods: int, nodes: int) -> bytes:
    """A PodList of running pods, some 2.5 KB each, spread over so many nodes."""
    return _list("PodList", pods, lambda index: _pod(index, nodes))


def node_list(nodes: int) -> bytes:
    """A NodeList of ready nodes, each with some 20 images."""
    return _list("NodeList", nodes, _node)


def _list(kind: str, count: int, item: Callable[[int], str]) -> bytes:
    head = (
        f'{{"kind":"{kind}","apiVersion":"v1","metadata":{{"resourceVersion":"98765432"}},"items":['
    )
    return f"{head}{','.join(map(item, range(count)))}]}}".encode()


def _pod(index: int, nodes: int) -> str:
    workload = index // _REPLICAS
    app = f"service-{workload:05d}"
    template_hash = f"{workload * 2654435761 % 2**32:08x}"
    name = f"{app}-{template_hash}-{index * 40503 % 2**20:05x}"
    token = f"kube-api-access-{index:05x}"
    cpu, memory = (("250m", "256Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("100m", "128Mi"))[
        workload % 4
    ]
    started = _time(index)
    requests = f'{{"cpu":"{cpu}","memory":"{memory}"}}'
    resources = f'{{"limits":{{"memory":"{memory}"}},"requests":{requests}}}'
    image = f"registry.example.com/shop/{app}:v1.{workload % 40}.{workload % 7}"
    return (
        f'{{"metadata":{{"name":"{name}","generateName":"{app}-{template_hash}-",'
        f'"namespace":"team-{workload % _NAMESPACES:02d}","uid":"{_uid(index, 1)}",'
        f'"resourceVersion":"{40_000_000 + index}","generation":1,"creationTimestamp":"{started}",'
        f'"labels":{{"app.kubernetes.io/name":"{app}","pod-template-hash":"{template_hash}"}},'
        f'"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet",'
        f'"name":"{app}-{template_hash}","uid":"{_uid(workload, 2)}","controller":true,'
        f'"blockOwnerDeletion":true}}],"managedFields":[{{"manager":"kube-controller-manager",'
        f'"operation":"Update","apiVersion":"v1","time":"{started}","fieldsType":"FieldsV1",'
        f'"fieldsV1":{_POD_FIELDS}}}]}},'
        f'"spec":{{"volumes":[{{"name":"{token}","projected":{{"sources":[{{"serviceAccountToken":'
        f'{{"expirationSeconds":3607,"path":"token"}}}}],"defaultMode":420}}}}],'
        f'"containers":[{{"name":"main","image":"{image}","ports":[{{"containerPort":8080,'
        f'"protocol":"TCP"}}],"resources":{resources},"volumeMounts":[{{"name":"{token}",'
        f'"readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],'
        f'"imagePullPolicy":"IfNotPresent"}}],"restartPolicy":"Always",'
        f'"serviceAccountName":"default","nodeName":"{_node_name(index % nodes)}",'
        f'"securityContext":{{}},"schedulerName":"default-scheduler","tolerations":{_TOLERATIONS},'
        f'"priority":0,"preemptionPolicy":"PreemptLowerPriority"}},'
        f'"status":{{"phase":"Running","conditions":[{_pod_conditions(started)}],'
        f'"podIP":"10.{index >> 16}.{index >> 8 & 255}.{index & 255}","startTime":"{started}",'
        f'"containerStatuses":[{{"name":"main","state":{{"running":{{"startedAt":"{started}"}}}},'
        f'"ready":true,"restartCount":0,"allocatedResources":{requests},'
        f'"resources":{resources}}}],"qosClass":"Burstable"}}}}'
    )


_POD_FIELDS: Final = (
    '{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},'
    '"f:pod-template-hash":{}},"f:ownerReferences":{}},"f:spec":{"f:containers":'
    '{"k:{\\"name\\":\\"main\\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}}'
)
_TOLERATIONS: Final = (
    '[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",'
    '"tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists",'
    '"effect":"NoExecute","tolerationSeconds":300}]'
)


def _pod_conditions(since: str) -> str:
    return ",".join(
        f'{{"type":"{type_}","status":"True","lastProbeTime":null,"lastTransitionTime":"{since}"}}'
        for type_ in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    )


def _node(index: int) -> str:
    name, zone = _node_name(index), "abc"[index % 3]
    since = _time(index)
    resources = (
        f'"cpu":"16","ephemeral-storage":"{_disk(index)}Ki","memory":"65536000Ki","pods":"110"'
    )
    return (
        f'{{"metadata":{{"name":"{name}","uid":"{_uid(index, 3)}",'
        f'"resourceVersion":"{50_000_000 + index}","creationTimestamp":"{since}","labels":{{'
        f'"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/os":"linux",'
        f'"kubernetes.io/arch":"amd64","kubernetes.io/hostname":"{name}","kubernetes.io/os":"linux",'
        f'"node.kubernetes.io/instance-type":"c6.4xlarge",'
        f'"topology.kubernetes.io/region":"region-1",'
        f'"topology.kubernetes.io/zone":"region-1{zone}"}},"annotations":'
        f'{{"volumes.kubernetes.io/controller-managed-attach-detach":"true"}},'
        f'"managedFields":[{{"manager":"kubelet","operation":"Update","apiVersion":"v1",'
        f'"time":"{since}","fieldsType":"FieldsV1","fieldsV1":{_NODE_FIELDS},'
        f'"subresource":"status"}}]}},"spec":{{"podCIDR":"10.{index >> 8}.{index & 255}.0/24",'
        f'"providerID":"example:///{zone}/{name}"}},"status":{{"capacity":{{{resources}}},'
        f'"allocatable":{{{resources}}},"conditions":[{_node_conditions(since)}],'
        f'"addresses":[{{"type":"Hostname","address":"{name}"}}],"nodeInfo":{{'
        f'"machineID":"{_uid(index, 4)}","kubeletVersion":"v1.36.4"}},"images":[{_images(index)}]}}}}'
    )


_NODE_FIELDS: Final = (
    '{"f:status":{"f:allocatable":{"f:memory":{}},"f:conditions":{"k:{\\"type\\":\\"Ready\\"}":'
    '{"f:lastHeartbeatTime":{},"f:lastTransitionTime":{},"f:message":{},"f:status":{}}},'
    '"f:images":{}}}'
)


def _node_conditions(since: str) -> str:
    conditions = {"MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
    return ",".join(
        f'{{"type":"{type_}","status":"{status}","lastHeartbeatTime":"{since}",'
        f'"lastTransitionTime":"{since}","reason":"Kubelet{type_}","message":"kubelet is fine"}}'
        for type_, status in (conditions | {"Ready": "True"}).items()
    )


def _images(index: int) -> str:
    return ",".join(_image((index + step * 97) % 400) for step in range(20))


def _image(number: int) -> str:
    name = f"registry.example.com/shop/service-{number:05d}"
    return (
        f'{{"names":["{name}@sha256:{number * 0x9E3779B97F4A7C15:064x}","{name}:v1.{number % 40}"],'
        f'"sizeBytes":{50_000_000 + number * 1_234_567}}}'
    )


def _disk(index: int) -> int:
    # Disks of one type come in slightly different sizes.
    return 104_000_000 + index % 7 * 4096


def _node_name(index: int) -> str:
    return f"node-{index:05d}.region-1.example.com"


def _uid(number: int, series: int) -> str:
    scattered = number * 2654435761 % 2**32
    return f"{scattered:08x}-{series:04x}-4{number % 4096:03x}-8a9b-{number:012x}"


def _time(index: int) -> str:
    return f"2026-11-{index % 28 + 1:02d}T{index // 60 % 24:02d}:{index % 60:02d}:00Z"
