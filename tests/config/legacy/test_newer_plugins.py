"""Plugins that are newer than the file: they run where it took the defaults."""

from __future__ import annotations

import pytest

from config.legacy.conversions import configuration, converted, names, notes_at, policy, profile

OLD_V1BETA = ["SchedulingGates", "DynamicResources", "NodeDeclaredFeatures"]
WHOLE = ["DynamicResources", "NodeDeclaredFeatures"]


@pytest.mark.parametrize(
    ("text", "joining"),
    [
        pytest.param(configuration("v1beta1"), OLD_V1BETA, id="v1beta1"),
        pytest.param(configuration("v1beta2"), OLD_V1BETA, id="v1beta2"),
        pytest.param(configuration("v1beta3"), WHOLE, id="v1beta3 knew scheduling gates"),
        pytest.param(policy(), OLD_V1BETA, id="Policy"),
        pytest.param(policy("priorities: []\n"), OLD_V1BETA, id="a Policy without priorities"),
        pytest.param(
            profile("v1beta2", 'plugins: {score: {disabled: [{name: "*"}]}}'),
            OLD_V1BETA,
            id="scores of one's own leave them room",
        ),
        pytest.param(
            policy("predicates: []\n"), ["SchedulingGates"], id="predicates of one's own do not"
        ),
        pytest.param(
            profile("v1beta2", 'plugins: {filter: {disabled: [{name: "*"}]}}'),
            ["SchedulingGates"],
            id="nor do filters of one's own",
        ),
        pytest.param(
            profile("v1beta2", 'plugins: {preFilter: {disabled: [{name: "*"}]}}'),
            ["SchedulingGates"],
            id="or what prepares them",
        ),
        pytest.param(
            profile("v1beta2", 'plugins: {reserve: {disabled: [{name: "*"}]}}'),
            ["SchedulingGates", "NodeDeclaredFeatures"],
            id="only one of them reserves",
        ),
    ],
)
def test_newer_plugins(text: str, joining: list[str]) -> None:
    run = {name for point in ("preEnqueue", "preFilter", "filter") for name in names(text, point)}
    assert run & set(OLD_V1BETA) - {"SchedulingGates"} == set(joining) - {"SchedulingGates"}
    told = next(note for note in converted(text).notes if "and on by default: " in note.message)
    assert told.message.partition("and on by default: ")[2] == ", ".join(joining)
    assert told.suggestion == "disable them under multiPoint to do without"


def test_what_is_kept_off_is_told() -> None:
    text = profile("v1beta2", 'plugins: {filter: {disabled: [{name: "*"}]}}')
    assert (
        "newer than v1beta2 and kept off, since the file itself lists what runs at their points: "
        "DynamicResources, NodeDeclaredFeatures"
    ) in notes_at(text, 4)


def test_multi_point_of_ones_own_has_none_of_them() -> None:
    text = profile(
        "v1beta3",
        'plugins: {multiPoint: {disabled: [{name: "*"}], '
        "enabled: [{name: PrioritySort}, {name: DefaultBinder}]}}",
    )
    assert names(text, "filter") == []
    assert (
        "newer than v1beta3 and kept off, since multiPoint disables *: DynamicResources, "
        "NodeDeclaredFeatures"
    ) in notes_at(text, 4)


def test_what_the_file_names_itself_is_not_news() -> None:
    text = profile(
        "v1beta3", "plugins: {multiPoint: {enabled: [{name: DynamicResources, weight: 1}]}}"
    )
    assert "newer than v1beta3 and on by default: NodeDeclaredFeatures" in notes_at(text, 4)


@pytest.mark.parametrize(
    ("pre_filter", "line"),
    [
        pytest.param('{disabled: [{name: "*"}], enabled: [{name: NodePorts}]}', 6, id="not listed"),
        pytest.param("{disabled: [{name: VolumeRestrictions}]}", 6, id="disabled"),
    ],
)
@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3"])
def test_volume_restrictions_have_come_to_need_preparing(
    version: str, pre_filter: str, line: int
) -> None:
    text = profile(version, f"plugins:\n  preFilter: {pre_filter}")
    assert "VolumeRestrictions" in names(text, "preFilter")
    assert (
        "VolumeRestrictions needs to run at preFilter too, or its filter fails: it is added"
    ) in notes_at(text, line)
