"""Reading a configuration as a whole: what it is, where mistakes are, plugins from elsewhere."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from berthing.config.default_plugins import IN_TREE_CATALOGUE
from berthing.config.durations import Duration
from berthing.config.effective import effective_object
from berthing.config.findings import Finding, Findings, format_path
from berthing.config.load import Loaded, default, load, load_text
from berthing.config.profile import Origin
from config.reading import HEADER, errors, read


def test_a_good_configuration_is_complete() -> None:
    loaded = read("parallelism: 8\nprofiles: [{schedulerName: mine}]")
    assert loaded.ok
    assert loaded.config is not None
    assert loaded.config.parallelism == 8
    (profile,) = loaded.profiles
    assert profile.scheduler_name == "mine"
    assert [plugin.name for plugin in profile.plugins["bind"]] == ["DefaultBinder"]
    assert list(profile.args) == sorted(profile.args)


def test_a_bad_configuration_is_none() -> None:
    loaded = read("parallelism: 0")
    assert not loaded.ok
    assert loaded.config is None
    assert loaded.profiles == ()


def test_no_file_is_like_an_empty_configuration() -> None:
    assert default().config == read().config
    assert default().profiles == read().profiles


def test_a_file_keeps_its_name(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text(HEADER)
    assert load(path) == Loaded(str(path), (), default().config, default().profiles)
    assert load_text(HEADER, file="x").file == "x"


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    (finding,) = load(tmp_path / "nowhere.yaml").findings
    assert finding.message == "there is no such file"


def test_findings_come_in_the_order_of_the_file() -> None:
    body = """
    clientConnection: {burst: -1}
    parallelism: 0
    profiles:
    - pluginConfig:
      - {name: InterPodAffinity, args: {hardPodAffinityWeight: -1}}
      schedulerName: ""
    extra: 1
    percentageOfNodesToScore: 101
    """
    lines = [finding.line for finding in read(body).findings]
    assert lines == sorted(lines) == [4, 5, 8, 9, 10, 11]


def test_a_mistake_is_told_once() -> None:
    findings = read(
        "profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}]"
    ).findings
    assert findings == ()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(
            "parallelism: many\nextra: 1\npodInitialBackoffSeconds: 0",
            {"parallelism", "extra", "podInitialBackoffSeconds"},
            id="fields beside",
        ),
        pytest.param(
            "profiles: [{schedulerName: 5}, {percentageOfNodesToScore: 101}]",
            {
                "profiles[0].schedulerName",
                "profiles[1].schedulerName",
                "profiles[1].percentageOfNodesToScore",
            },
            id="profiles beside",
        ),
        pytest.param(
            "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: x}},"
            " {name: VolumeBinding, args: {bindTimeoutSeconds: -1, more: 1}}]}]",
            {
                "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
                "profiles[0].pluginConfig[1].args.bindTimeoutSeconds",
                "profiles[0].pluginConfig[1].args.more",
            },
            id="arguments beside",
        ),
        pytest.param(
            "profiles: [{plugins: {bind: {disabled: [{name: 5}]}, filter: {enabled: [{name: X}]}}}]",
            {
                "profiles[0].plugins.bind.disabled[0].name",
                "profiles[0].plugins.filter.enabled[0]",
            },
            id="points beside",
        ),
    ],
)
def test_what_stands_beside_a_mistake_is_checked_too(body: str, found: set[str]) -> None:
    assert set(errors(body)) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param(
            "profiles: [{schedulerName: a}, {schedulerName: 5}]",
            {"profiles[1].schedulerName"},
            id="a name that cannot be read is not missing",
        ),
        pytest.param(
            "profiles: [{plugins: {bind: {enabled: [5], disabled: [{name: '*'}]}}}]",
            {"profiles[0].plugins.bind.enabled[0]"},
            id="a binder that cannot be read is not missing",
        ),
        pytest.param(
            "leaderElection: {leaseDuration: x, renewDeadline: 1h}",
            {"leaderElection.leaseDuration"},
            id="a lease that cannot be read is not too short",
        ),
    ],
)
def test_what_a_mistake_brings_about_is_not_told(body: str, found: set[str]) -> None:
    assert set(errors(body)) == found


@pytest.mark.parametrize(
    ("path", "line"),
    [
        pytest.param("profiles[0].plugins.queueSort.Enabled", 8, id="upstream's own spelling"),
        pytest.param("profiles[1].pluginConfig.args", 14, id="a list without an index"),
        pytest.param("podMaxBackoffSeconds", 3, id="the field it is compared with"),
        pytest.param(
            "profiles[1].pluginConfig[1].args.addedAffinity."
            "preferredDuringSchedulingIgnoredDuringExecution[0].matchFields[0].operator",
            25,
            id="upstream leaves out preference",
        ),
    ],
)
def test_lines_of_paths_that_are_not_in_the_file(path: str, line: int) -> None:
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 11
profiles:
- schedulerName: a
  plugins: &plugins
    queueSort:
      enabled:
      - name: PrioritySort
      - name: PrioritySort
  pluginConfig: [{name: PrioritySort, args: {x: 1}}]
- schedulerName: b
  plugins: *plugins
  pluginConfig:
  - {name: PrioritySort, args: {x: 2}}
  - name: NodeAffinity
    args:
      addedAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 1
          preference:
            matchFields:
            - key: metadata.name
              values: [a]
              operator: Is
"""
    lines = {format_path(finding.path): finding.line for finding in load_text(text).findings}
    assert lines[path] == line


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3"])
def test_older_versions_are_refused_with_the_way_out(version: str) -> None:
    text = HEADER.replace("/v1", f"/{version}")
    (finding,) = load_text(text).findings
    assert finding.path == ("apiVersion",)
    assert finding.suggestion == "run: berthing config migrate FILE"


def test_a_policy_is_refused_with_the_way_out() -> None:
    (finding,) = load_text('{"kind": "Policy", "apiVersion": "v1"}').findings
    assert finding.path == ("kind",)
    assert finding.suggestion == "run: berthing config migrate FILE"


def test_older_versions_are_converted_when_asked_for() -> None:
    text = HEADER.replace("/v1", "/v1beta3") + "parallelism: 8\n"
    loaded = load_text(text, convert=True)
    assert loaded.config is not None, loaded.findings
    assert loaded.config.parallelism == 8
    assert [plugin.name for plugin in loaded.profiles[0].plugins["bind"]] == ["DefaultBinder"]


def test_mistakes_in_older_versions_are_where_they_are_in_the_file() -> None:
    text = HEADER.replace("/v1", "/v1beta3") + "profiles:\n- percentageOfNodesToScore: 1\n"
    loaded = load_text(text + "parallelism: 0\n", convert=True)
    assert not loaded.ok
    assert {finding.line for finding in loaded.findings if finding.is_error} <= {4, 5}


def test_conversion_leaves_other_files_alone() -> None:
    assert load_text(HEADER, convert=True) == load_text(HEADER)
    assert not load_text(HEADER.replace("/v1", "/v1alpha1"), convert=True).ok


# Plugins from elsewhere.


class Window(msgspec.Struct, rename="camel"):
    start_hour: int = 0


class QuietArgs(msgspec.Struct, rename="camel"):
    wait_for: Duration = Duration.seconds(5)
    windows: tuple[Window, ...] = ()

    def validate(self, problems: Findings) -> None:
        for index, window in enumerate(self.windows):
            if not 0 <= window.start_hour < 24:
                problems.error("must be from 0 to 23", "windows", index, "startHour")


class NeedyArgs(msgspec.Struct, rename="camel"):
    target: str


class BrokenArgs(msgspec.Struct):
    def validate(self, problems: Findings) -> None:
        raise KeyError(problems)


CATALOGUE = {**IN_TREE_CATALOGUE, **dict.fromkeys(("Quiet", "Needy", "Broken"), ("filter",))}
TYPES: dict[str, type[msgspec.Struct]] = {
    "Quiet": QuietArgs,
    "Needy": NeedyArgs,
    "Broken": BrokenArgs,
}


def foreign(plugin: str, config: str = "") -> Loaded:
    body = f"profiles:\n- plugins: {{multiPoint: {{enabled: [{{name: {plugin}}}]}}}}\n"
    return load_text(HEADER + body + config, catalogue=CATALOGUE, args_types=TYPES)


def messages(loaded: Loaded) -> dict[str, str]:
    return {format_path(finding.path): finding.message for finding in loaded.findings}


def test_a_plugin_from_elsewhere_runs_with_its_default_arguments() -> None:
    (profile,) = foreign("Quiet").profiles
    last = profile.plugins["filter"][-1]
    assert (last.name, last.origin) == ("Quiet", Origin.MULTI_POINT)
    assert profile.args["Quiet"] == QuietArgs()


def test_arguments_of_a_plugin_from_elsewhere_are_typed_and_shown() -> None:
    loaded = foreign("Quiet", "  pluginConfig: [{name: Quiet, args: {waitFor: 1m}}]")
    assert loaded.config is not None
    assert loaded.profiles[0].args["Quiet"] == QuietArgs(wait_for=Duration.minutes(1))
    written = effective_object(loaded.config, CATALOGUE)["profiles"]
    assert isinstance(written, list)
    assert {"name": "Quiet", "args": {"waitFor": "1m0s", "windows": []}} in written[0][
        "pluginConfig"
    ]


@pytest.mark.parametrize(
    ("args", "path", "message"),
    [
        ("{waitfor: 1m}", ".waitfor", 'unknown field "waitfor"'),
        ("{waitFor: 1}", ".waitFor", 'expected a duration like "15s", got 1'),
        (
            "{windows: [{startHour: x}]}",
            ".windows[0].startHour",
            'expected a whole number, got "x"',
        ),
        ("{windows: [{startHour: 24}]}", ".windows[0].startHour", "must be from 0 to 23"),
        ("[]", "", "must be a mapping with arguments of Quiet, got a list"),
        ("{kind: Foo}", ".kind", 'must be QuietArgs for the plugin Quiet, got "Foo"'),
    ],
)
def test_arguments_of_a_plugin_from_elsewhere_are_checked(
    args: str, path: str, message: str
) -> None:
    loaded = foreign("Quiet", f"  pluginConfig: [{{name: Quiet, args: {args}}}]")
    assert messages(loaded) == {f"profiles[0].pluginConfig[0].args{path}": message}
    assert not loaded.ok


def test_a_plugin_that_needs_arguments_says_so() -> None:
    (finding,) = foreign("Needy").findings
    assert finding.path == ("profiles", 0, "pluginConfig")
    assert finding.message.startswith("plugin Needy needs arguments: ")
    assert finding.is_error
    assert foreign("Needy", "  pluginConfig: [{name: Needy, args: {target: x}}]").ok


def test_a_check_that_fails_is_told_with_its_name() -> None:
    found = messages(foreign("Broken"))
    (message,) = found.values()
    assert message.startswith("BrokenArgs.validate failed with KeyError: ")


def test_arguments_nobody_knows_are_kept_out_of_the_way() -> None:
    loaded = read("profiles: [{pluginConfig: [{name: InterPodAfinity, args: [1]}]}]")
    (finding,) = loaded.findings
    assert loaded.ok
    assert finding == Finding(
        "there is no plugin InterPodAfinity that could get these",
        ("profiles", 0, "pluginConfig", 0),
        "did you mean InterPodAffinity?",
        finding.severity,
        finding.line,
        finding.column,
    )
    assert not finding.is_error
    assert "InterPodAfinity" not in loaded.profiles[0].args


def test_there_are_limits() -> None:
    body = "profiles:\n" + "".join(f"- schedulerName: a{n}\n" for n in range(1001))
    assert errors(body) == {
        "profiles": ["there are 1001 profiles, more than the 1000 that are read"]
    }
