from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from berthing.api.pod import Pod, PodCondition
from berthing.explain.asked_pod import AskedPod, pod_in_cluster, pod_in_file
from berthing.explain.cluster_files import ClusterFiles, Found
from berthing.explain.problems import InputError
from berthing.testing import make_pod


def files(*pods: Pod) -> ClusterFiles:
    return ClusterFiles(tuple(Found(pod, "pods.yaml") for pod in pods), Counter())


WEB, SHOP_WEB, API = (
    make_pod("web"),
    make_pod("web", namespace="shop"),
    make_pod("api", namespace="shop"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("shop/web", "shop/web", id="by namespace and name"),
        pytest.param("web", "default/web", id="a name alone is one in default"),
        pytest.param("api", "shop/api", id="or one that is the only one"),
    ],
)
def test_which_pod_is_meant(name: str, expected: str) -> None:
    assert pod_in_cluster(files(SHOP_WEB, WEB, API), name) == AskedPod(
        next(pod for pod in (WEB, SHOP_WEB, API) if pod.key == expected)
    )


@pytest.mark.parametrize(
    ("pods", "name", "message"),
    [
        pytest.param(
            [make_pod("web", namespace="a"), make_pod("web", namespace="b")],
            "web",
            "there are 2 pods called web; say which: a/web, b/web",
            id="one of several",
        ),
        pytest.param(
            [WEB],
            "wep",
            "there is no pod default/wep in these files; did you mean default/web?",
            id="typo",
        ),
        pytest.param(
            [], "web", "there is no pod default/web in these files; they have no pods", id="none"
        ),
    ],
)
def test_a_pod_that_is_not_there(pods: list[Pod], name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        pod_in_cluster(files(*pods), name)
    assert caught.value.problems == (message,)


def test_a_pod_that_runs_is_seen_as_if_it_did_not() -> None:
    asked = pod_in_cluster(files(make_pod("web", node_name="n", nominated_node_name="n")), "web")
    assert not asked.pod.spec.node_name
    assert not asked.pod.status.nominated_node_name
    assert asked.notes == ("default/web runs on n; this is decided as if it had no node yet",)


@pytest.mark.parametrize(
    ("pod", "note"),
    [
        pytest.param(
            make_pod("web", scheduling_gates=["quota"]),
            "default/web has scheduling gates (quota): nobody places it while it has them",
            id="gated",
        ),
        pytest.param(
            make_pod("web", node_name="n", phase="Succeeded"),
            "default/web is over (Succeeded); this is decided as if it were to run again",
            id="over",
        ),
    ],
)
def test_what_one_should_know_about_the_pod(pod: Pod, note: str) -> None:
    assert pod_in_cluster(files(pod), "web").notes == (note,)


def test_a_node_name_that_the_author_wrote_is_kept() -> None:
    written = make_pod("web", node_name="n", phase="Pending")
    assert pod_in_file(files(written)) == AskedPod(written)


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod("web", node_name="n"), id="running"),
        pytest.param(
            make_pod(
                "web",
                node_name="n",
                phase="Pending",
                conditions=[PodCondition(type="PodScheduled", status="True")],
            ),
            id="scheduled",
        ),
    ],
)
def test_one_that_a_scheduler_wrote_is_not(pod: Pod) -> None:
    assert not pod_in_file(files(pod)).pod.spec.node_name


def test_a_file_with_several_pods_needs_a_name() -> None:
    with pytest.raises(InputError, match=r"pods.yaml: there are 2 pods in it; say which"):
        pod_in_file(files(WEB, API))
    assert pod_in_file(files(WEB, API), "api").pod is API


def test_a_file_without_pods() -> None:
    with pytest.raises(InputError, match="there is no Pod in the file"):
        pod_in_file(files())


def test_the_pod_itself_is_not_changed() -> None:
    pod = make_pod("web", node_name="n")
    pod_in_cluster(files(pod), "web")
    assert pod == replace(pod)
    assert pod.spec.node_name == "n"
