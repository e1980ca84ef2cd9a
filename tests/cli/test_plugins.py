from __future__ import annotations

import msgspec

from berthing.config.default_plugins import IN_TREE
from cli.run import run


def test_lists_every_plugin_with_points_package_and_version() -> None:
    result = run("plugins")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == [
        "NAME", "RUNS", "PACKAGE", "VERSION", "ARGS", "EXTENSION", "POINTS",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[1:]] == list(IN_TREE)


def test_json() -> None:
    rows = msgspec.json.decode(run("plugins", "-o", "json").stdout, type=list[dict[str, object]])
    fit = next(row for row in rows if row["name"] == "NodeResourcesFit")
    assert fit["package"] == "berthing"
    assert fit["args"] == "NodeResourcesFitArgs"
    assert fit["extensionPoints"] == ["preFilter", "filter", "preScore", "score", "placementScore"]
