"""What the rules of v1 find wrong with the result is told at the user's own lines."""

from __future__ import annotations

import pytest

from berthing.config.findings import format_path
from berthing.config.load import load_text
from config.legacy.conversions import configuration, policy, profile


@pytest.mark.parametrize(
    ("text", "line", "path"),
    [
        pytest.param(
            configuration("v1beta2", "profiles: [{}]\nparallelism: -1\n"),
            4,
            "parallelism",
            id="outside of profiles",
        ),
        pytest.param(
            profile("v1beta1", "plugins:\n  filter:\n    enabled:\n    - {name: Mine}"),
            8,
            "profiles[0].plugins.filter.enabled[0]",
            id="an entry that stays",
        ),
        pytest.param(
            profile(
                "v1beta2",
                "plugins:\n  filter:\n    enabled:\n    - {name: NodeName}\n    - {name: Mine}",
            ),
            9,
            "profiles[0].plugins.filter.enabled[1]",
            id="an entry that moves up",
        ),
        pytest.param(
            profile(
                "v1beta1",
                """\
plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}], enabled: [
    {name: RequestedToCapacityRatio, weight: 2}]}}
pluginConfig:
- {name: NodeLabel}
- name: RequestedToCapacityRatio
  args:
    resources:
    - {name: cpu, weight: -1}
    shape:
    - {utilization: 0, score: 11}
""",
            ),
            14,
            "profiles[0].pluginConfig[1].args.shape[0].score",
            id="args of another plugin now",
        ),
        pytest.param(
            profile(
                "v1beta1",
                """\
plugins: {filter: {enabled: [{name: NodeLabel}]}}
pluginConfig:
- name: NodeLabel
  args: {presentLabels: ["no label"]}
""",
            ),
            8,
            "profiles[0].pluginConfig[0].args.presentLabels[0]",
            id="a label that is none",
        ),
        pytest.param(
            policy(
                "priorities:\n"
                "- name: A\n"
                "  weight: 1\n"
                "  argument: {requestedToCapacityRatioArguments: {shape: [\n"
                "    {utilization: 101, score: 1}]}}\n"
            ),
            7,
            "priorities[0].argument.requestedToCapacityRatioArguments.shape[0].utilization",
            id="the shape of a priority",
        ),
        pytest.param(
            policy(
                "extenders:\n- {urlPrefix: http://a, BindVerb: b}\n"
                "- urlPrefix: http://b\n  PrioritizeVerb: p\n  Weight: -1\n"
            ),
            7,
            "extenders[1].Weight",
            id="an extender's key as it was spelt",
        ),
    ],
)
def test_errors_of_v1(text: str, line: int, path: str) -> None:
    loaded = load_text(text, convert=True)
    assert not loaded.ok
    assert (line, path) in [
        (finding.line, format_path(finding.path)) for finding in loaded.findings if finding.is_error
    ]


def test_two_binders_are_refused() -> None:
    text = policy(
        "extenders:\n- {urlPrefix: http://a, bindVerb: b}\n- {urlPrefix: http://b, bindVerb: b}\n"
    )
    errors = [finding for finding in load_text(text, convert=True).findings if finding.is_error]
    assert [(error.line, format_path(error.path)) for error in errors] == [(3, "extenders")]
