from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from click.testing import CliRunner

from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.bench.engine import EngineFigures, Figure, cases, run
from berthing.bench.engine_workloads import (
    WORKLOADS,
    ZONES,
    Workload,
    make_nodes,
    make_others,
    node_name,
)
from berthing.cli.bench import WORKLOAD_NAMES, bench
from berthing.testing import HOSTNAME, ZONE

each_workload = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda each: each.name)


def shapes(pods: list[Pod]) -> int:
    return len({PodInfo.of(pod).shape for pod in pods})


def test_nodes_have_names_of_their_own_and_share_three_zones() -> None:
    labels = [node.metadata.labels for node in make_nodes(9)]
    assert len({each[HOSTNAME] for each in labels}) == 9
    assert Counter(each[ZONE] for each in labels) == dict.fromkeys(ZONES, 3)


def test_other_pods_run_everywhere_and_come_in_deployments() -> None:
    pods = list(make_others(100, 10))
    assert {pod.spec.node_name for pod in pods} == set(map(node_name, range(10)))
    assert len({pod.metadata.uid for pod in pods}) == 100
    assert shapes(pods) == 4


@each_workload
def test_templates_take_turns(workload: Workload) -> None:
    pods = list(islice(workload.pods(3), 9))
    assert len({pod.metadata.uid for pod in pods}) == 9
    assert shapes(pods) == 3
    assert shapes(pods[::3]) == 1


@each_workload
def test_replicas_that_run_already_have_a_node_each(workload: Workload) -> None:
    running = list(workload.running(20, 4, 100))
    assert len({pod.spec.node_name for pod in running}) == 20
    assert shapes([*running, *islice(workload.pods(4), 4)]) == 4


@each_workload
def test_every_pod_is_placed_in_every_case(workload: Workload) -> None:
    figures = run(nodes=300, pods=60, cycles=20, rounds=1, workloads=[workload.name]).figures
    assert [each.case for each in figures] == [
        "one template",
        "100 templates",
        "300 pods",
        "900 nodes",
    ]
    for each in figures:
        assert (each.workload, each.cycles, each.placed) == (workload.name, 20, 20)
        assert each.mean_micros > 0
        assert each.p99_micros > 0


def test_targets_grow_with_the_case() -> None:
    figures = run(nodes=300, pods=60, cycles=1, rounds=1, workloads=["plain", "anti-affinity"])
    assert [(each.workload, each.target_micros) for each in figures.figures] == [
        ("plain", 60),
        ("plain", 120),
        ("plain", 72),
        ("plain", 90),
        ("anti-affinity", 150),
        ("anti-affinity", 300),
        ("anti-affinity", 180),
        ("anti-affinity", 375),
    ]


def test_cases_go_by_the_size_that_was_asked_for() -> None:
    sizes = [(case.nodes, case.pods, case.templates) for case in cases(10, 20)]
    assert sizes == [(10, 20, 1), (10, 20, 100), (10, 100, 1), (30, 20, 1)]


def test_the_report_reads_as_a_table() -> None:
    def figure(workload: str, case: str, placed: int, mean: float) -> Figure:
        return Figure(workload, case, 10, placed, mean, 2 * mean, 60)

    figures = EngineFigures(
        5_000,
        10_000,
        (
            figure("plain", "one template", 10, 45),
            figure("plain", "100 templates", 7, 90),
            figure("anti-affinity", "one template", 10, 120),
        ),
    )
    assert figures.report().splitlines()[:6] == [
        "5,000 nodes, 10,000 running pods; microseconds per cycle",
        "",
        "workload            case                    mean     p99  target   ratio   x first",
        "plain               one template            45.0    90.0      60    0.75      1.00",
        "plain               100 templates           90.0   180.0      60    1.50      2.00  3 not placed",
        "anti-affinity       one template           120.0   240.0      60    2.00      1.00",
    ]


def test_the_command_knows_every_workload() -> None:
    assert [each.name for each in WORKLOADS] == list(WORKLOAD_NAMES)


def test_the_command_measures_what_it_is_asked_for() -> None:
    sizes = ["--nodes=30", "--pods=30", "--cycles=2", "--rounds=1"]
    result = CliRunner().invoke(bench, ["engine", *sizes, "--workload=plain"])
    assert result.exit_code == 0, result.output
    assert "30 nodes, 30 running pods" in result.output
    assert [line.split()[0] for line in result.output.splitlines()[3:7]] == ["plain"] * 4
