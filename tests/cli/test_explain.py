from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from cli.run import run

NODES = """\
apiVersion: v1
kind: Node
metadata: {name: small, labels: {disk: ssd}}
status: {allocatable: {cpu: 1500m, memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: large}
spec: {taints: [{key: gpu, value: "true", effect: NoSchedule}]}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  %s
  containers: [{name: main, resources: {requests: {cpu: %s}}}]
"""


def pod(name: str = "web", *, cpu: str = "1", more: str = "") -> str:
    return POD % (name, more, cpu)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text("---\n".join((NODES, pod(), pod("big", cpu="2"))))
    return path


def test_why_a_pod_does_not_fit_and_what_would_place_it(cluster: Path) -> None:
    result = run("explain", "big", "--cluster", str(cluster))
    assert result.exit_code == 0
    assert (
        result.stdout
        == """\
default/big fits on none of 2 nodes.

0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).

FELL TO           NODES  REASONS
NodeResourcesFit  1      Insufficient cpu
TaintToleration   1      node(s) had untolerated taint(s)

Closest nodes first:
NODE   PLUGIN            IN THE WAY
small  NodeResourcesFit  cpu: asked 2, free 1500m of 1500m, short by 500m
large  TaintToleration   taint gpu=true:NoSchedule

It would fit (each of these was decided again):
  on 1 node  if cpu <= 1500m
  on 1 node  with a toleration for gpu=true:NoSchedule
"""
    )
    assert result.stderr == ""


def test_where_a_pod_goes_with_the_ranking(cluster: Path) -> None:
    result = run("explain", "default/web", "--cluster", str(cluster))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "default/web fits on 1 of 2 nodes and goes to small."
    assert lines[2] == "Scores, weighted:"
    assert lines[3].split()[:3] == ["NODE", "TOTAL", "TaintToleration"]
    assert lines[4].split()[0] == "small"
    assert "TaintToleration  1      node(s) had untolerated taint(s)" in lines


def test_the_margin_to_the_runner_up(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("---\n".join((NODES.replace("NoSchedule", "PreferNoSchedule"), pod())))
    result = run("explain", "web", "--cluster", str(path))
    first, second = (line.split() for line in result.stdout.splitlines()[4:6])
    margin = int(first[1]) - int(second[1])
    assert result.stdout.startswith(
        f"default/web fits on 2 of 2 nodes and goes to {first[0]}: {margin} ahead of {second[0]}."
    )


def test_equal_scores_are_said_to_be_decided_by_lot(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    small = NODES.split("---\n", maxsplit=1)[0]
    path.write_text("---\n".join((small, small.replace("small", "other"), pod())))
    assert (
        ": by lot, as another one has the same score."
        in run("explain", "web", "--cluster", str(path)).stdout
    )


@pytest.mark.parametrize("flag", ["-v", "--all-nodes"])
def test_ten_nodes_unless_all_are_asked_for(tmp_path: Path, flag: str) -> None:
    path = tmp_path / "cluster.yaml"
    small = NODES.split("---\n", maxsplit=1)[0]
    nodes = [small.replace("small", f"small-{i:02}") for i in range(15)]
    path.write_text("---\n".join((*nodes, pod(), pod("big", cpu="2"))))
    for name in ("web", "big"):
        few = run("explain", name, "--cluster", str(path)).stdout
        every = run("explain", name, "--cluster", str(path), flag).stdout
        assert few.count("\nsmall-") == 10
        assert "... and 5 nodes more; -v shows all" in few
        assert every.count("\nsmall-") == 15


def test_json_and_yaml_have_the_shape_of_recorded_decisions(cluster: Path) -> None:
    result = run("explain", "big", "--cluster", str(cluster), "-o", "json")
    answer = json.loads(result.stdout)
    assert list(answer) == [
        "preFilter",
        "preFilterNodes",
        "filter",
        "feasible",
        "scores",
        "total",
        "best",
        "nominatedNode",
        "message",
        "error",
    ]
    assert answer["filter"]["small"] == {
        "plugin": "NodeResourcesFit",
        "code": "UnschedulableAndUnresolvable",
        "reasons": ["Insufficient cpu"],
    }
    in_yaml = run("explain", "big", "--cluster", str(cluster), "-o", "yaml")
    assert yaml.safe_load(in_yaml.stdout) == answer


def test_a_pod_from_a_file_of_its_own(cluster: Path, tmp_path: Path) -> None:
    own = tmp_path / "pod.yaml"
    own.write_text(pod("fresh", more="nodeSelector: {disk: hdd}"))
    result = run("explain", "--cluster", str(cluster), "--pod", str(own))
    assert result.exit_code == 0
    assert "nodeSelector disk=hdd, and the node has disk=ssd" in result.stdout
    assert "on 1 node  without nodeSelector disk=hdd" in result.stdout


def test_it_takes_the_place_of_the_pod_of_its_name(cluster: Path, tmp_path: Path) -> None:
    own = tmp_path / "pod.yaml"
    own.write_text(pod("big", cpu="1"))
    result = run("explain", "--cluster", str(cluster), "--pod", str(own))
    assert result.stdout.startswith("default/big fits on 1 of 2 nodes")


def test_a_pod_that_runs_makes_room_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    running = pod("big", cpu="1500m", more="nodeName: small") + "status: {phase: Running}\n"
    path.write_text(f"{NODES}---\n{running}")
    result = run("explain", "big", "--cluster", str(path))
    assert result.stdout.startswith("default/big fits on 1 of 2 nodes and goes to small.")
    assert result.stderr == (
        "note: default/big runs on small; this is decided as if it had no node yet\n"
    )


def test_several_files_a_folder_gzip_and_standard_input(tmp_path: Path) -> None:
    small, large = NODES.split("---\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "large.yaml.gz").write_bytes(gzip.compress(large.encode()))
    (tmp_path / "small.yaml").write_text(small)
    words = ("--cluster", f"{tmp_path}/small.yaml", f"{tmp_path}/folder", "--cluster", "-")
    result = run("explain", "web", *words, stdin=pod())
    assert result.stdout.startswith("default/web fits on 1 of 2 nodes")


def test_kinds_that_are_left_out_are_told_in_one_line(cluster: Path) -> None:
    other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
    cluster.write_text(cluster.read_text() + other % "c1" + other % "c2")
    result = run("explain", "web", "--cluster", str(cluster))
    assert result.exit_code == 0
    assert result.stderr == "note: left out, as no scheduler reads them: 2 ConfigMap (v1)\n"


def test_the_configuration_decides_too(cluster: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}\n"
    )
    result = run("explain", "big", "--cluster", str(cluster), "--config", str(config))
    assert result.stdout.startswith("default/big fits on 1 of 2 nodes and goes to small.")


def test_a_plugin_that_fails_is_named(cluster: Path) -> None:
    volume = "volumes: [{name: v, awsElasticBlockStore: {volumeID: x}}]"
    cluster.write_text("---\n".join((NODES, pod(more=volume))))
    result = run("explain", "web", "--cluster", str(cluster))
    assert result.exit_code == 1
    assert 'plugin "VolumeRestrictions"' in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(
            ["wep", "--cluster", "CLUSTER"],
            "berthing explain: there is no pod default/wep in these files; did you mean default/web?",
            id="missing pod",
        ),
        pytest.param(
            ["web", "--cluster", "missing.yaml"],
            "berthing explain: missing.yaml: No such file or directory",
            id="missing file",
        ),
        pytest.param(
            ["web", "--cluster", "CLUSTER", "--config", "CLUSTER"],
            "CLUSTER:1:1: error: ",
            id="a configuration that is none",
        ),
        pytest.param(["--cluster", "CLUSTER"], "say which pod: POD, or --pod FILE", id="no pod"),
        pytest.param(
            ["web", "--cluster", "CLUSTER", "--kubeconfig", "CLUSTER"],
            "--cluster describes a cluster, --kubeconfig reaches one: choose",
            id="two clusters",
        ),
        pytest.param(["web", "db"], "one pod at a time", id="two pods"),
        pytest.param(
            ["web", "--cluster", "CLUSTER", "--feature-gates", "Nope=true"],
            "there is no feature gate 'Nope'",
            id="feature gate",
        ),
    ],
)
def test_bad_words(cluster: Path, words: list[str], message: str) -> None:
    result = run("explain", *(word.replace("CLUSTER", str(cluster)) for word in words))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message.replace("CLUSTER", str(cluster)) in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("", "there is nothing in it", id="empty"),
        pytest.param("a: [\n", "line 2: ", id="broken YAML"),
        pytest.param(
            "---\n".join((NODES, NODES.split("---\n", maxsplit=1)[0], pod())),
            "Node small is there twice; leave one",
            id="a node twice",
        ),
        pytest.param(pod(), "there is no Node in the cluster files", id="no nodes"),
        pytest.param(
            f"{NODES}---\n{pod(more='schedulerName: other')}",
            "wants the scheduler other, and no profile of the configuration has that name; "
            "there are: default-scheduler",
            id="unknown scheduler",
        ),
        pytest.param(
            f"{NODES}---\n{pod(cpu='1x')}",
            "document 3: Pod web: spec.containers[0].resources.requests: cpu: ",
            id="a quantity that does not parse",
        ),
        pytest.param(
            NODES
            + "---\n"
            + pod(
                more="topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, labelSelector: "
                "{matchExpressions: [{key: a, operator: Im}]}}]"
            ),
            'Pod default/web: spec.topologySpreadConstraints[0].labelSelector: "Im" is not a valid',
            id="a selector that does not parse",
        ),
    ],
)
def test_bad_clusters(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(content)
    result = run("explain", "web", "--cluster", str(path))
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("berthing explain: ")
    assert message in line


def test_a_flood_of_problems_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-%d}\n"
    path.write_text("---\n".join(node % (number // 2) for number in range(60)))
    lines = run("explain", "web", "--cluster", str(path)).stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "berthing explain: and 10 more"


def test_without_any_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    result = run("explain", "web")
    assert result.exit_code == 2
    assert result.stderr == (
        "berthing explain: there is no kubeconfig: give --kubeconfig FILE, or set KUBECONFIG; "
        "or describe a cluster with --cluster FILE...\n"
    )
