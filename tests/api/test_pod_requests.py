"""The rules by which containers, init containers, sidecars, overhead and the pod add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from msgspec.structs import replace

from berthing.api.pod import (
    Container,
    ContainerStatus,
    NodeAllocatableResourceClaimStatus,
    Pod,
    PodCondition,
    PodStatus,
    ResourceRequirements,
)
from berthing.api.pod_requests import RequestGates, asked, is_counted, spent, whole_amounts
from berthing.api.resource_list import ResourceList
from berthing.testing import make_container, make_pod

Amounts = dict[str, int]
MI = 1024 * 1024


def uses(cpu: str = "", memory: str = "", name: str = "main", **others: str) -> Container:
    requests = {key.replace("_", "-"): amount for key, amount in others.items()}
    return make_container(name, cpu=cpu, memory=memory, requests=requests)


def sidecar(cpu: str, name: str = "sidecar") -> Container:
    return make_container(name, cpu=cpu, restart_policy="Always")


def running(*containers: Container, init: Iterable[Container] = ()) -> Pod:
    return make_pod(containers=containers, init_containers=init)


@pytest.mark.parametrize(
    ("pod", "requests"),
    [
        pytest.param(running(uses()), {}, id="nothing asked for"),
        pytest.param(
            running(uses("100m", "1Gi"), uses("200m", name="b")),
            {"cpu": 300, "memory": 1024 * MI},
            id="containers add up",
        ),
        pytest.param(
            running(uses("1"), init=[uses("300m"), uses("2"), uses("200m")]),
            {"cpu": 2000},
            id="the hungriest init container decides if it is hungrier than all containers",
        ),
        pytest.param(
            running(uses("1"), uses("1", name="b"), init=[uses("1500m"), uses("1500m")]),
            {"cpu": 2000},
            id="init containers run one by one",
        ),
        pytest.param(
            running(uses("1", "1Gi"), init=[uses("2", "100Mi")]),
            {"cpu": 2000, "memory": 1024 * MI},
            id="every resource has its own maximum",
        ),
        pytest.param(
            running(uses(memory="1Gi"), init=[uses("2")]),
            {"cpu": 2000, "memory": 1024 * MI},
            id="a resource that only an init container asks for",
        ),
        pytest.param(
            running(uses("1"), init=[sidecar("500m")]), {"cpu": 1500}, id="sidecars go on running"
        ),
        pytest.param(
            running(uses("1"), init=[sidecar("500m"), uses("2")]),
            {"cpu": 2500},
            id="an init container starts beside the sidecars before it",
        ),
        pytest.param(
            running(uses("1"), init=[uses("2"), sidecar("500m")]),
            {"cpu": 2000},
            id="but not beside those after it",
        ),
        pytest.param(
            running(uses("1"), init=[sidecar("1"), uses("5"), sidecar("3", "other")]),
            {"cpu": 6000},
            id="sidecars add up as they start",
        ),
        pytest.param(
            running(uses("1"), init=[sidecar("1"), uses("2"), sidecar("3", "other")]),
            {"cpu": 5000},
            id="and with the containers when all have started",
        ),
        pytest.param(
            running(make_container(cpu="1", restart_policy="Always"), init=[uses("2")]),
            {"cpu": 2000},
            id="a container that restarts always is no sidecar",
        ),
        pytest.param(
            make_pod(cpu="1", overhead={"cpu": "10m", "memory": "5Mi"}),
            {"cpu": 1010, "memory": 5 * MI},
            id="overhead comes on top",
        ),
        pytest.param(
            make_pod(cpu="1", init_containers=[uses("4")], overhead={"cpu": "10m"}),
            {"cpu": 4010},
            id="overhead comes on top of init containers too",
        ),
        pytest.param(
            make_pod(cpu="0", requests={"example.com/gpu": "0"}),
            {"cpu": 0, "example.com/gpu": 0},
            id="asking for nothing by name",
        ),
        pytest.param(
            running(uses("0.5m"), uses("0.5m", name="b"), uses("1u", name="c")),
            {"cpu": 2},
            id="sums are exact and rounded up at the end",
        ),
        pytest.param(
            running(uses(memory="0.5"), uses(memory="100m", name="b")),
            {"memory": 1},
            id="bytes are rounded up as well",
        ),
        pytest.param(
            make_pod(
                requests={
                    "ephemeral-storage": "1Gi",
                    "hugepages-2Mi": "4Mi",
                    "example.com/gpu": "2",
                    "attachable-volumes-x": "3",
                    "kubernetes.io/odd": "4",
                }
            ),
            {
                "ephemeral-storage": 1024 * MI,
                "hugepages-2Mi": 4 * MI,
                "example.com/gpu": 2,
                "attachable-volumes-x": 3,
                "kubernetes.io/odd": 4,
            },
            id="all resources that nodes are short of",
        ),
        pytest.param(
            make_pod(cpu="1", requests={"pods": "5", "storage": "1Gi", "requests.cpu/x": "1"}),
            {"cpu": 1000},
            id="names that mean nothing to the scheduler",
        ),
        pytest.param(
            make_pod(memory="16E"), {"memory": 2**63 - 1}, id="more than 64 bits can count"
        ),
    ],
)
def test_before_a_pod_runs_its_spec_decides(pod: Pod, requests: Amounts) -> None:
    assert asked(pod).requests == requests
    assert spent(pod).requests == requests


@pytest.mark.parametrize(
    ("pod", "requests"),
    [
        pytest.param(
            make_pod(cpu="1", memory="1Gi", pod_level_requests={"cpu": "3"}),
            {"cpu": 3000, "memory": 1024 * MI},
            id="they take the place of the sum, resource by resource",
        ),
        pytest.param(
            make_pod(cpu="4", pod_level_requests={"cpu": "3"}),
            {"cpu": 3000},
            id="even if the sum is larger",
        ),
        pytest.param(
            make_pod(init_containers=[uses("8")], pod_level_requests={"cpu": "3"}),
            {"cpu": 3000},
            id="init containers share them",
        ),
        pytest.param(
            make_pod(pod_level_requests={"cpu": "3"}, overhead={"cpu": "10m"}),
            {"cpu": 3010},
            id="overhead comes on top",
        ),
        pytest.param(
            make_pod(pod_level_requests={"hugepages-2Mi": "4Mi"}),
            {"hugepages-2Mi": 4 * MI},
            id="huge pages can be asked for",
        ),
        pytest.param(
            make_pod(
                requests={"example.com/gpu": "1"},
                pod_level_requests={"cpu": "3", "example.com/gpu": "9", "ephemeral-storage": "1Gi"},
            ),
            {"cpu": 3000, "example.com/gpu": 1},
            id="other resources cannot",
        ),
    ],
)
def test_requests_of_the_pod_as_a_whole(pod: Pod, requests: Amounts) -> None:
    assert asked(pod).requests == requests
    assert spent(pod).requests == requests


def test_without_the_gate_requests_of_the_pod_as_a_whole_do_not_count() -> None:
    pod = make_pod(cpu="1", pod_level_requests={"cpu": "3"})
    gates = RequestGates(pod_level_resources=False)
    assert asked(pod, gates).requests == spent(pod, gates).requests == {"cpu": 1000}
    assert spent(pod, gates).non_zero_memory_bytes == 200 * MI


DEFAULTS = (100, 200 * MI)


@pytest.mark.parametrize(
    ("pod", "cpu_millis_and_bytes"),
    [
        pytest.param(running(uses()), DEFAULTS, id="a container that asks for nothing"),
        pytest.param(running(uses(), uses(name="b")), (200, 400 * MI), id="two of them"),
        pytest.param(running(uses("1")), (1000, 200 * MI), id="a resource at a time"),
        pytest.param(running(uses("0", "0")), (0, 0), id="zero is an answer"),
        pytest.param(
            running(uses("1"), uses(name="b", memory="1Gi")),
            (1100, 1224 * MI),
            id="each container for itself",
        ),
        pytest.param(running(uses("1"), init=[uses()]), (1000, 200 * MI), id="init containers"),
        pytest.param(
            running(uses("1"), init=[make_container(restart_policy="Always")]),
            (1100, 400 * MI),
            id="sidecars",
        ),
        pytest.param(
            make_pod(overhead={"cpu": "50m"}), (150, 200 * MI), id="overhead is no answer"
        ),
        pytest.param(
            make_pod(pod_level_requests={"cpu": "1"}),
            (1000, 200 * MI),
            id="what the pod as a whole asks for is an answer",
        ),
        pytest.param(
            make_pod(
                containers=[uses(memory="1Gi"), uses(name="b")], pod_level_requests={"cpu": "1"}
            ),
            (1000, 1024 * MI),
            id="then one container's answer is enough for all",
        ),
        pytest.param(
            make_pod(pod_level_requests={"example.com/gpu": "1"}),
            DEFAULTS,
            id="but not an answer about what pods cannot ask for",
        ),
    ],
)
def test_least_amounts_for_scores(pod: Pod, cpu_millis_and_bytes: tuple[int, int]) -> None:
    taken = spent(pod)
    assert (taken.non_zero_cpu_millis, taken.non_zero_memory_bytes) == cpu_millis_and_bytes


def test_the_pod_to_place_is_scored_by_its_containers() -> None:
    pod = make_pod(
        cpu="1", pod_level_requests={"cpu": "3", "memory": "3Gi"}, overhead={"cpu": "5m"}
    )
    assert asked(pod).scored == {"cpu": 1005, "memory": 200 * MI}


def test_scores_may_count_any_resource() -> None:
    assert asked(make_pod(requests={"odd": "2"})).scored == {
        "cpu": 100,
        "memory": 200 * MI,
        "odd": 2,
    }


def with_status(
    pod: Pod,
    actuated: Mapping[str, str] | None = None,
    allocated: Mapping[str, str] | None = None,
    *,
    container: str = "main",
    infeasible: bool = False,
    **fields: object,
) -> Pod:
    """The pod as its kubelet reports it: what a container has, and what it was allocated."""
    reported = ContainerStatus(
        name=container,
        allocated_resources=ResourceList.of(allocated or {}),
        resources=None
        if actuated is None
        else ResourceRequirements(requests=ResourceList.of(actuated)),
    )
    reason = "Infeasible" if infeasible else "Deferred"
    status = PodStatus(
        container_statuses=(reported,),
        conditions=(PodCondition(type="PodResizePending", status="True", reason=reason),),
    )
    return replace(pod, status=replace(status, **fields))


@pytest.mark.parametrize(
    ("pod", "requests"),
    [
        pytest.param(
            with_status(make_pod(cpu="1"), actuated={"cpu": "2"}, allocated={"cpu": "1"}),
            {"cpu": 2000},
            id="shrinking: the container still has more",
        ),
        pytest.param(
            with_status(make_pod(cpu="3"), actuated={"cpu": "1"}, allocated={"cpu": "1"}),
            {"cpu": 3000},
            id="growing: the container should have more",
        ),
        pytest.param(
            with_status(make_pod(cpu="1"), actuated={"cpu": "1"}, allocated={"cpu": "2"}),
            {"cpu": 2000},
            id="more is allocated than it has or should have",
        ),
        pytest.param(
            with_status(make_pod(cpu="3"), {"cpu": "1"}, {"cpu": "2"}, infeasible=True),
            {"cpu": 2000},
            id="infeasible: what it should have is left out",
        ),
        pytest.param(
            with_status(make_pod(cpu="1", memory="2Gi"), {"cpu": "2", "memory": "1Gi"}, {}),
            {"cpu": 2000, "memory": 2048 * MI},
            id="resource by resource",
        ),
        pytest.param(
            with_status(make_pod(cpu="1"), {"cpu": "1", "memory": "1Gi"}, {}),
            {"cpu": 1000, "memory": 1024 * MI},
            id="a resource that only the status knows",
        ),
        pytest.param(
            with_status(make_pod(cpu="1"), None, {"cpu": "2"}),
            {"cpu": 1000},
            id="no word on what it has: the status does not count",
        ),
        pytest.param(
            with_status(make_pod(cpu="1"), {"cpu": "2"}, {}, container="other"),
            {"cpu": 1000},
            id="the status of another container",
        ),
        pytest.param(
            with_status(
                make_pod(cpu="1", init_containers=[sidecar("1", "s")]), {"cpu": "2"}, container="s"
            ),
            {"cpu": 3000},
            id="sidecars are resized",
        ),
        pytest.param(
            with_status(
                make_pod(cpu="1", init_containers=[uses("1", name="i")]),
                {"cpu": "2"},
                container="i",
            ),
            {"cpu": 1000},
            id="other init containers are not",
        ),
    ],
)
def test_during_a_resize_the_largest_counts(pod: Pod, requests: Amounts) -> None:
    assert spent(pod).requests == requests


def test_a_pod_that_runs_nowhere_yet_has_no_resize() -> None:
    pod = with_status(make_pod(cpu="1"), actuated={"cpu": "2"}, allocated={"cpu": "2"})
    assert asked(pod).requests == {"cpu": 1000}
    assert asked(pod).scored["cpu"] == 1000


def resized_as_a_whole(
    desired: str, actuated: Mapping[str, str] | None, allocated: str, *, infeasible: bool = False
) -> Pod:
    return with_status(
        make_pod(pod_level_requests={"cpu": desired}),
        infeasible=infeasible,
        resources=None
        if actuated is None
        else ResourceRequirements(requests=ResourceList.of(actuated)),
        allocated_resources=ResourceList.of({"cpu": allocated}),
    )


@pytest.mark.parametrize(
    ("pod", "cpu_millis"),
    [
        pytest.param(resized_as_a_whole("1", {"cpu": "2"}, "1"), 2000, id="it still has more"),
        pytest.param(resized_as_a_whole("3", {"cpu": "1"}, "1"), 3000, id="it should have more"),
        pytest.param(resized_as_a_whole("1", {"cpu": "1"}, "2"), 2000, id="more is allocated"),
        pytest.param(
            resized_as_a_whole("3", {"cpu": "1"}, "2", infeasible=True), 2000, id="infeasible"
        ),
        pytest.param(resized_as_a_whole("1", None, "9"), 1000, id="no word on what it has"),
        pytest.param(resized_as_a_whole("1", {}, "9"), 9000, id="it has nothing yet"),
    ],
)
def test_a_pod_as_a_whole_is_resized_too(pod: Pod, cpu_millis: int) -> None:
    assert spent(pod).requests["cpu"] == cpu_millis
    assert asked(pod).requests == whole_amounts(
        pod.spec.resources.requests if pod.spec.resources else {}
    )


def test_an_infeasible_resize_of_what_the_pod_never_had_counts_as_nothing() -> None:
    pod = resized_as_a_whole("3", {"memory": "1Gi"}, "0", infeasible=True)
    status = replace(pod.status, allocated_resources=ResourceList())
    assert spent(replace(pod, status=status)).requests == {"cpu": 0}


def test_without_the_gate_a_pod_as_a_whole_is_not_resized() -> None:
    gates = RequestGates(in_place_pod_level_resources_vertical_scaling=False)
    pod = resized_as_a_whole("1", {"cpu": "2"}, "3")
    assert spent(pod, gates).requests == {"cpu": 1000}


def test_claims_on_the_node_itself_count_under_their_gate_only() -> None:
    claim = NodeAllocatableResourceClaimStatus(
        resource_claim_name="c", resources=ResourceList.of({"cpu": "2"})
    )
    pod = make_pod(cpu="1")
    status = replace(pod.status, node_allocatable_resource_claim_statuses=(claim, claim))
    pod = replace(pod, status=status)
    assert spent(pod).requests == {"cpu": 1000}
    gates = RequestGates(dra_node_allocatable_resources=True)
    assert spent(pod, gates).requests == {"cpu": 5000}
    assert asked(pod, gates).requests == {"cpu": 1000}


def test_extended_resources_are_kept_per_container() -> None:
    pod = make_pod(
        containers=[
            make_container("a", cpu="1", requests={"example.com/gpu": "1"}),
            make_container("b", cpu="1"),
            make_container("c", requests={"example.com/gpu": "2"}),
        ],
        init_containers=[make_container("d", requests={"example.com/nic": "1"})],
    )
    assert asked(pod).extended == (
        {"example.com/gpu": 1},
        {"example.com/gpu": 2},
        {"example.com/nic": 1},
    )


def test_what_a_pod_will_spend_is_known_before_it_runs() -> None:
    pod = with_status(make_pod(cpu="1"), actuated={"cpu": "2"})
    assert asked(pod).to_spend == spent(make_pod(cpu="1"))


def test_replicas_share_their_amounts() -> None:
    one, other = make_pod("a", cpu="1"), make_pod("b", cpu="1000m")
    assert asked(one) is asked(other)
    assert spent(one) is spent(other)


@pytest.mark.parametrize(
    ("resource", "counted"),
    [
        ("cpu", True),
        ("memory", True),
        ("ephemeral-storage", True),
        ("hugepages-1Gi", True),
        ("example.com/gpu", True),
        ("pods", False),
        ("storage", False),
        ("gpu", False),
    ],
)
def test_what_is_counted(resource: str, counted: bool) -> None:
    assert is_counted(resource) is counted


def test_whole_amounts_count_cpu_in_thousandths() -> None:
    amounts = ResourceList.of({"cpu": "1.5", "memory": "1.5", "x": "1500m"})
    assert whole_amounts(amounts) == {"cpu": 1500, "memory": 2, "x": 2}
