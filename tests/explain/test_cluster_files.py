from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from berthing.explain.cluster_files import ClusterFiles, read_files
from berthing.explain.problems import InputError

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop}\n"
LIST = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}],
}


def read(*paths: Path | str, stdin: bytes = b"") -> ClusterFiles:
    return read_files([str(path) for path in paths], io.BytesIO(stdin))


def names(files: ClusterFiles) -> list[str]:
    return [obj.key for obj in files.objects]


def problems(*paths: Path | str, stdin: bytes = b"") -> list[str]:
    with pytest.raises(InputError) as caught:
        read(*paths, stdin=stdin)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("a.yaml", (NODE % "a").encode(), ["a"], id="one object"),
        pytest.param(
            "a.yaml", f"{NODE % 'a'}---\n{POD % 'p'}".encode(), ["a", "shop/p"], id="YAML documents"
        ),
        pytest.param("a.json", json.dumps(LIST).encode(), ["a"], id="a List in JSON"),
        pytest.param("a.json.gz", gzip.compress(json.dumps(LIST).encode()), ["a"], id="gzip"),
        pytest.param("dump", gzip.compress((NODE % "a").encode()), ["a"], id="gzip by its content"),
        pytest.param(
            "a.json", b'{"apiVersion": "v1", "kind": "PodList", "items": []}', [], id="none"
        ),
    ],
)
def test_what_kubectl_writes(
    tmp_path: Path, name: str, content: bytes, expected: list[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert names(read(path)) == expected


def test_standard_input() -> None:
    assert names(read("-", stdin=(NODE % "a").encode())) == ["a"]


def test_a_folder_stands_for_the_manifests_below_it_in_order(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "b.yml").write_text(NODE % "b")
    (tmp_path / "deep" / "c.json").write_text(json.dumps(LIST))
    (tmp_path / "z.yaml.gz").write_bytes(gzip.compress((NODE % "z").encode()))
    (tmp_path / "notes.txt").write_text("not a manifest")
    assert names(read(tmp_path)) == ["a", "b", "z"]


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(NODE % "a")
    assert names(read(tmp_path, tmp_path / "a.yaml")) == ["a"]


def test_kinds_that_no_scheduler_reads_are_counted_and_left_out(tmp_path: Path) -> None:
    deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join((NODE % "a", deployment, deployment, widget)))
    files = read(path)
    assert names(files) == ["a"]
    assert files.skipped == {"Deployment (apps/v1)": 2, "Widget (example.com/v1)": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            b"", "there is nothing in it; expected what `kubectl get -o yaml` writes", id="empty"
        ),
        pytest.param(b"# later\n---\n", "there is nothing in it", id="only a comment"),
        pytest.param(b"kind: [Pod\nx: 1\n", "line 2: did not find expected ',' or ']'", id="YAML"),
        pytest.param(b'{"kind": "Pod",', "input data was truncated", id="JSON"),
        pytest.param(
            b"apiVersion: v1\nkind: Nod\nmetadata: {name: a}\n",
            "Nod a: v1 has no Nod; did you mean Node?",
            id="a kind that is not there",
        ),
        pytest.param(
            b"apiVersion: apps/v1\nkind: Wheel\nmetadata: {name: a}\n",
            "Wheel a: apps/v1 has no Wheel",
            id="nor anything like it",
        ),
        pytest.param(
            b"values: 1\n", "no apiVersion or no kind; every object says what it is", id="no kind"
        ),
        pytest.param(b"\xff\xfe\x00", "not a text", id="binary"),
        pytest.param(gzip.compress(b"x" * 99)[:-9], "broken gzip data", id="cut gzip"),
        pytest.param(
            (NODE % "a").encode() + b"status: {allocatable: {cpu: 4x}}\n",
            "Node a: status.allocatable: cpu: ",
            id="a quantity that does not parse",
        ),
        pytest.param(
            (POD % "p").encode() + b"spec: {containers: 5}\n",
            "Pod shop/p: spec.containers: expected `array`, got `int`",
            id="a wrong type",
        ),
        pytest.param(
            b"apiVersion: v1\nkind: Pod\nspec: {}\n", "metadata.name: it has no name", id="no name"
        ),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)
    (problem,) = problems(path)
    assert problem.startswith(f"{path}: ")
    assert expected in problem
    assert "\n" not in problem


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")
    (tmp_path / "b.yaml").write_text(f"{NODE % 'n1'}---\n{NODE % 'n1'}")
    (tmp_path / "c.yaml").write_text(NODE % "n1")
    assert problems(tmp_path, tmp_path / "missing") == [
        f"{tmp_path}/a.yaml: there is nothing in it; expected what `kubectl get -o yaml` writes",
        f"{tmp_path}/missing: No such file or directory",
        f"{tmp_path}/b.yaml: Node n1 is there twice; leave one",
        f"{tmp_path}/c.yaml: Node n1 is there here, and in {tmp_path}/b.yaml; leave one",
    ]


def test_a_folder_without_manifests(tmp_path: Path) -> None:
    assert problems(tmp_path) == [
        f"{tmp_path}: there is no .yaml, .yml or .json file in this folder"
    ]


def test_pods_that_share_a_uid(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, uid: same}\n"
    path = tmp_path / "copied.yaml"
    path.write_text(f"{pod % 'p'}---\n{pod % 'q'}")
    assert problems(path) == [f"{path}: Pod default/q has the uid of Pod default/p"]


def test_a_namespace_of_its_own_for_what_names_none(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n")
    assert names(read(path)) == ["default/p"]
