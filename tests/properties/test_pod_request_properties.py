"""What must hold for requests of any pod, and for signatures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from berthing.api.decode import decode_object, encode
from berthing.api.pod import (
    Container,
    ContainerStatus,
    Pod,
    PodStatus,
    ResourceRequirements,
)
from berthing.api.pod_info import PodInfo
from berthing.api.pod_requests import asked, spent
from berthing.api.resource_list import ResourceList
from berthing.testing import make_container, make_pod

NAMES = ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/gpu")

amounts = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from(("0", "1m", "500m", "1", "3", "1Ki", "2.5Gi", "1e3"))
)


@st.composite
def containers(draw: st.DrawFn, *, sidecars: bool = False) -> Container:
    return make_container(
        draw(st.sampled_from("abcdef")),
        requests=draw(amounts),
        restart_policy=draw(st.sampled_from(("", "Always"))) if sidecars else "",
    )


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    return make_pod(
        containers=draw(st.lists(containers(), min_size=1, max_size=3)),
        init_containers=draw(st.lists(containers(sidecars=True), max_size=3)),
        overhead=draw(amounts),
        pod_level_requests=draw(st.just({}) | amounts),
    )


@st.composite
def reported(draw: st.DrawFn) -> Pod:
    """A pod with something in its status for each of its containers."""
    pod = draw(pods())
    statuses = tuple(
        ContainerStatus(
            name=name,
            allocated_resources=ResourceList.of(draw(amounts)),
            resources=ResourceRequirements(requests=ResourceList.of(draw(amounts))),
        )
        for name in "abcdef"
    )
    return replace(pod, status=PodStatus(container_statuses=statuses))


def at_least(larger: dict[str, int], smaller: dict[str, int]) -> bool:
    return all(larger.get(name, 0) >= amount for name, amount in smaller.items())


@given(pods(), containers())
def test_a_container_more_never_asks_for_less(pod: Pod, container: Container) -> None:
    larger = replace(pod, spec=replace(pod.spec, containers=(*pod.spec.containers, container)))
    assert at_least(asked(larger).requests, asked(pod).requests)
    assert at_least(asked(larger).scored, asked(pod).scored)


@given(pods(), containers(sidecars=True))
def test_an_init_container_more_never_asks_for_less(pod: Pod, container: Container) -> None:
    init_containers = (*pod.spec.init_containers, container)
    larger = replace(pod, spec=replace(pod.spec, init_containers=init_containers))
    assert at_least(asked(larger).requests, asked(pod).requests)


@given(reported())
def test_a_resize_never_takes_less_than_the_spec_asks_for(pod: Pod) -> None:
    assert at_least(spent(pod).requests, asked(pod).requests)


@given(pods())
def test_containers_run_in_any_order(pod: Pod) -> None:
    backwards = replace(pod, spec=replace(pod.spec, containers=pod.spec.containers[::-1]))
    assert asked(backwards).requests == asked(pod).requests
    assert spent(backwards) == spent(pod)


@given(pods())
def test_least_amounts_only_ever_add(pod: Pod) -> None:
    taken = spent(pod)
    assert taken.non_zero_cpu_millis >= taken.requests.get("cpu", 0)
    assert taken.non_zero_memory_bytes >= taken.requests.get("memory", 0)


@given(pods())
def test_without_a_status_a_pod_takes_what_it_asks_for(pod: Pod) -> None:
    assert spent(pod).requests == asked(pod).requests
    assert spent(pod) == asked(pod).to_spend


@given(pods(), pods())
def test_the_signature_follows_the_spec(one: Pod, other: Pod) -> None:
    same = PodInfo.of(one).signature == PodInfo.of(other).signature
    renamed = replace(one, metadata=replace(one.metadata, name="other", uid="other"))
    assert PodInfo.of(one).signature == PodInfo.of(renamed).signature
    if same:
        assert asked(one) == asked(other)


@given(reported())
def test_pods_come_back_as_they_were_sent(pod: Pod) -> None:
    again = decode_object(encode(pod))
    assert again == pod
    assert isinstance(again, Pod)
    assert PodInfo.of(again).signature == PodInfo.of(pod).signature
