"""Replaying recorded readings of configurations: what counts as equal, and what is found."""

from __future__ import annotations

import copy
import gzip
from collections.abc import Iterator

import msgspec
import pytest

from berthing.verify.configurations import check, recognises
from berthing.verify.outcome import BadRowError, Outcome
from berthing.verify.recordings import replay
from golden.files import golden

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def rows() -> Iterator[dict[str, object]]:
    with gzip.open(golden("configurations.jsonl.gz")) as file:
        for line in file:
            yield msgspec.json.decode(line, type=dict[str, object])


def good_row() -> dict[str, object]:
    return copy.deepcopy(next(row for row in rows() if row["id"] == "minimal"))


def bad(text: str, error: str, field: str | None = None) -> Outcome:
    expect = {"ok": False, "stage": "decode", "errors": [error], "fields": [field]}
    return check({"id": "x", "text": HEADER + text, "expect": expect})


def test_all_recorded_rows_are_equal() -> None:
    done = replay(golden("configurations.jsonl.gz"))
    assert done.matches == done.cases == 282


def test_rows_are_recognised_by_their_fields() -> None:
    assert recognises(good_row())
    assert not recognises({"text": "1", "valid": True})


def test_a_difference_is_told_down_to_the_field() -> None:
    row = good_row()
    expect = row["expect"]
    assert isinstance(expect, dict)
    expect["effective"]["parallelism"] = 17
    expect["plugins"]["default-scheduler"]["score"][0]["weight"] = 4
    found = [(each.field, each.recorded, each.ours) for each in check(row).differences]
    assert found == [
        ("effective.parallelism", 17, 16),
        ("plugins[default-scheduler].score[0].weight", 4, 3),
    ]


def test_a_list_of_another_length_is_told_as_a_whole() -> None:
    row = good_row()
    expect = row["expect"]
    assert isinstance(expect, dict)
    expect["plugins"]["default-scheduler"]["bind"] = []
    (difference,) = check(row).differences
    assert difference.recorded == []


def test_a_good_file_that_we_refuse_differs() -> None:
    row = good_row()
    row["text"] = HEADER + "parallelism: 0\n"
    (difference,) = check(row).differences
    assert difference.field == "ok"
    assert difference.ours == ["parallelism: must be greater than 0, got 0"]


def test_a_bad_file_that_we_take_differs() -> None:
    (difference,) = bad("", "whatever").differences
    assert (difference.field, difference.recorded, difference.ours) == ("ok", False, True)


@pytest.mark.parametrize(
    ("text", "error", "field"),
    [
        pytest.param(
            "parallelism: 0", "parallelism: Invalid value: 0: ...", "parallelism", id="its field"
        ),
        pytest.param("a: 1", 'unknown field "a"', None, id="an unknown field"),
        pytest.param("x: 1\nx: 2", 'duplicate field "x"', None, id="a repeated field"),
        pytest.param(
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {a: 1}}]}]",
            "decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for "
            'plugin NodeAffinity: strict decoding error: unknown field "a"',
            None,
            id="an unknown field of arguments",
        ),
        pytest.param(
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: []}]}]",
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: ...",
            None,
            id="somewhere in arguments",
        ),
        pytest.param(
            "profiles: [{schedulerName: 5}]",
            "json: cannot unmarshal number into Go struct field "
            "KubeSchedulerProfile.profiles.schedulerName of type string",
            None,
            id="a field without its index",
        ),
        pytest.param(
            "enableProfiling: 5",
            "json: cannot unmarshal number into Go struct field "
            "KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling of type bool",
            None,
            id="a field of a struct within a struct",
        ),
        pytest.param(
            "kind: x",
            'yaml: unmarshal errors:\n  line 3: key "kind" already set in map',
            None,
            id="a key",
        ),
        pytest.param(
            "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {}}}]}]",
            "initializing profiles: creating profile for scheduler name default-scheduler: "
            'initializing plugin "NodeResourcesFit": scoringStrategy.type: Unsupported value: ""',
            None,
            id="a field of arguments, told when the plugin is built",
        ),
        pytest.param(
            "profiles: [{plugins: {bind: {enabled: [{name: NodeName}]}}}]",
            "initializing profiles: creating profile for scheduler name default-scheduler: "
            'plugin "NodeName" does not extend BindPlugin plugin',
            None,
            id="an extension point",
        ),
    ],
)
def test_an_error_must_be_where_the_recorded_text_says(
    text: str, error: str, field: str | None
) -> None:
    assert bad(text, error, field).differences == ()
    (difference,) = bad("leaderElection: {resourceLock: x}", error, field).differences
    assert difference.field.startswith("error ")
    assert difference.recorded == error


@pytest.mark.parametrize(
    "error", ["yaml: line 3: mapping values are not allowed in this context", "time: whatever"]
)
def test_an_error_without_a_place_may_be_anywhere(error: str) -> None:
    assert bad("parallelism: 0", error).differences == ()


@pytest.mark.parametrize(
    "row",
    [
        {"id": "x", "text": 5, "expect": {"ok": True}},
        {"id": "x", "text": "", "expect": {}},
        {"text": "", "expect": {"ok": True}},
        {"id": "x", "text": "", "expect": {"ok": False, "errors": ["a"], "fields": ["a", "b"]}},
    ],
)
def test_a_row_of_another_form_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(BadRowError):
        check(row)
