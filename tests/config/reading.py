"""Short ways to read a configuration in a test: the header is added, answers come by path."""

from __future__ import annotations

from textwrap import dedent, indent

from berthing.config.default_plugins import IN_TREE_CATALOGUE
from berthing.config.effective import effective_object
from berthing.config.features import FeatureGates
from berthing.config.findings import Finding, format_path
from berthing.config.load import Loaded, load_text
from berthing.config.paths import parse_path

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
NO_GATES = FeatureGates()


def read(body: str = "", *, gates: FeatureGates = NO_GATES) -> Loaded:
    return load_text(HEADER + dedent(body), gates=gates)


def effective(path: str, body: str = "", *, gates: FeatureGates = NO_GATES) -> object:
    """What stands at a path of the complete configuration; KeyError if nothing does."""
    loaded = read(body, gates=gates)
    assert loaded.config is not None, loaded.findings
    value: object = effective_object(loaded.config, IN_TREE_CATALOGUE)
    for step in parse_path(path):
        value = value[step]  # type: ignore[index]  # a test fails well enough by itself
    return value


def told(findings: list[Finding]) -> dict[str, list[str]]:
    """Messages by path."""
    by_path: dict[str, list[str]] = {}
    for finding in findings:
        by_path.setdefault(format_path(finding.path), []).append(finding.message)
    return by_path


def errors(body: str = "", *, gates: FeatureGates = NO_GATES) -> dict[str, list[str]]:
    """Error messages by path."""
    return told([each for each in read(body, gates=gates).findings if each.is_error])


def warnings(body: str = "", *, gates: FeatureGates = NO_GATES) -> dict[str, list[str]]:
    """Warnings by path, of a configuration that has no errors."""
    loaded = read(body, gates=gates)
    assert loaded.ok, loaded.findings
    return told(list(loaded.findings))


def with_plugins(body: str) -> str:
    """A configuration with one profile, whose `plugins` these are."""
    return "profiles:\n- schedulerName: mine\n  plugins:\n" + indent(dedent(body).lstrip(), "    ")


def with_args(plugin: str, body: str) -> str:
    """A configuration with one profile, which has these `args` for a plugin."""
    args = indent(dedent(body).lstrip(), "      ")
    return (
        f"profiles:\n- schedulerName: mine\n  pluginConfig:\n  - name: {plugin}\n    args:\n{args}"
    )
