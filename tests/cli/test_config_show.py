from __future__ import annotations

import re
from pathlib import Path

import yaml

from cli.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"

# Facts of kube-scheduler v1.36.4: the default score plugins in running order.
DEFAULT_SCORES = [
    ("TaintToleration", "3"),
    ("NodeAffinity", "2"),
    ("NodeResourcesFit", "1"),
    ("VolumeBinding", "1"),
    ("PodTopologySpread", "2"),
    ("InterPodAffinity", "2"),
    ("DynamicResources", "2"),
    ("NodeResourcesBalancedAllocation", "1"),
    ("ImageLocality", "1"),
]


def points(output: str) -> dict[str, list[tuple[str, str, str]]]:
    """The table, read back: point -> (plugin, weight, origin)."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    point = ""
    for line in output.splitlines():
        if match := re.fullmatch(r"  (\w*)\s+(\w+)\s+(-|\d+)\s+(\w+)", line):
            point = match[1] or point
            found.setdefault(point, []).append((match[2], match[3], match[4]))
    return found


def test_without_a_file_upstreams_defaults_in_upstreams_order() -> None:
    result = run("config", "show")
    assert result.exit_code == 0
    shown = points(result.stdout)
    assert shown["score"] == [(name, weight, "default") for name, weight in DEFAULT_SCORES]
    assert [name for name, _, _ in shown["postFilter"]] == ["DynamicResources", "DefaultPreemption"]
    assert [name for name, _, _ in shown["filter"]][:4] == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
    ]


def test_where_a_plugin_comes_from() -> None:
    result = run("config", "show", str(EXAMPLES / "bin-packing.yaml"))
    assert result.exit_code == 0
    assert "profile default-scheduler" in result.stdout
    packing = points(result.stdout.split("profile bin-packing")[1])
    assert packing["score"][0] == ("NodeResourcesFit", "5", "explicit")
    assert ("ImageLocality", "1", "default") in packing["score"]
    assert "NodeResourcesBalancedAllocation" not in {name for name, _, _ in packing["score"]}
    assert "MostAllocated" in result.stdout


def test_yaml_is_complete_and_means_the_same(tmp_path: Path) -> None:
    first = run("config", "show", "-o", "yaml", str(EXAMPLES / "bin-packing.yaml"))
    assert first.exit_code == 0
    tree = yaml.safe_load(first.stdout)
    assert tree["leaderElection"]["leaseDuration"] == "15s"
    assert [profile["schedulerName"] for profile in tree["profiles"]] == [
        "default-scheduler",
        "bin-packing",
    ]
    again = tmp_path / "again.yaml"
    again.write_text(first.stdout)
    second = run("config", "show", "-o", "yaml", str(again))
    assert second.stdout == first.stdout


def test_a_bad_file_shows_its_mistakes_and_nothing_else() -> None:
    result = run("config", "show", str(EXAMPLES / "mistaken.yaml"))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "did you mean NodeResourcesFit?" in result.stderr


def test_gated_plugins_appear_with_their_gate() -> None:
    gates = "GenericWorkload=true,GangScheduling=true"
    shown = points(run("config", "show", "--feature-gates", gates).stdout)
    assert ("GangScheduling", "-", "default") in shown["permit"]
