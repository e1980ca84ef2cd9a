from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berthing.api.pod_info import PodInfo
from berthing.explain.changed_pods import asking_at_most
from berthing.testing import make_container, make_pod

millis = st.integers(min_value=0, max_value=5000)
policies = st.sampled_from(["", "Always"])


@given(
    containers=st.lists(millis, min_size=1, max_size=4),
    init_containers=st.lists(st.tuples(millis, policies), max_size=3),
    overhead=st.none() | millis,
    share=st.floats(min_value=0, max_value=1),
)
def test_a_cut_pod_asks_for_no_more_than_it_may(
    containers: list[int],
    init_containers: list[tuple[int, str]],
    overhead: int | None,
    share: float,
) -> None:
    pod = make_pod(
        containers=[make_container(f"c{i}", cpu=f"{cpu}m") for i, cpu in enumerate(containers)],
        init_containers=[
            make_container(f"i{i}", cpu=f"{cpu}m", restart_policy=policy)
            for i, (cpu, policy) in enumerate(init_containers)
        ],
        overhead={} if overhead is None else {"cpu": f"{overhead}m"},
    )
    asked = PodInfo.of(pod).facts.asked.requests["cpu"]
    amount = int(asked * share)
    cut = PodInfo.of(asking_at_most(pod, "cpu", amount)).facts.asked.requests["cpu"]
    assert 0 <= cut <= amount


@given(
    containers=st.lists(millis, min_size=1, max_size=4),
    share=st.floats(min_value=0, max_value=1),
)
def test_containers_alone_use_all_that_is_left(containers: list[int], share: float) -> None:
    pod = make_pod(
        containers=[make_container(f"c{i}", cpu=f"{cpu}m") for i, cpu in enumerate(containers)]
    )
    amount = int(sum(containers) * share)
    cut = PodInfo.of(asking_at_most(pod, "cpu", amount)).facts.asked.requests["cpu"]
    assert cut == amount
