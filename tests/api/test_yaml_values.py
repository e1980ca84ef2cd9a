"""Bare words, numbers, keys, merges and limits of YAML, as kubectl has them."""

from __future__ import annotations

import pytest

from berthing.api.yaml_values import MAX_DEPTH, JsonValue, YamlError, bare_word, read_yaml


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, True) for word in ("y", "Y", "yes", "YES", "on", "On", "true", "True", "TRUE")),
        *(
            (word, False)
            for word in ("n", "N", "no", "NO", "off", "Off", "false", "False", "FALSE")
        ),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, word) for word in ("yEs", "oN", "tRUE", "nil", "None", "None ")),
    ],
)
def test_words(word: str, value: JsonValue) -> None:
    assert bare_word(word) is value or bare_word(word) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("1_000", 1000),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("18446744073709551615", 2**64 - 1),
        ("2.0", 2),
        ("1e3", 1000),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5),
        ("-1.5e-3", -0.0015),
        ("089", 89),
        ("100000000000000000000", 10**20),
        ("1e21", 1e21),
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert bare_word(text) == value
    assert type(bare_word(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1.2.3", id="a version"),
        pytest.param("12Gi", id="a quantity"),
        pytest.param("190:20:30", id="a sexagesimal of YAML 1.1"),
        pytest.param("2026-01-02T03:04:05Z", id="a time"),
        pytest.param("2026-01-02", id="a date"),
        pytest.param("0xZZ", id="no hexadecimal"),
        pytest.param("0b_", id="binary without digits"),
        pytest.param("1e999", id="beyond any float"),
        pytest.param("9" * 5000, id="thousands of digits"),
        pytest.param("0x" + "F" * 20, id="hexadecimal beyond 64 bits"),
        pytest.param("-", id="a dash"),
        pytest.param(".", id="a dot"),
        pytest.param("=", id="an equals sign"),
    ],
)
def test_texts(text: str) -> None:
    assert bare_word(text) == text


def test_quotes_and_tags_make_texts() -> None:
    text = "a: 'yes'\nb: \"1\"\nc: !!str 1\nd: !custom 1\ne: !!int '7'\nf: !!bool \"on\"\ng: |-\n  12\n"
    assert list(read_yaml(text)) == [
        {"a": "yes", "b": "1", "c": "1", "d": "1", "e": 7, "f": True, "g": "12"}
    ]


def test_documents_one_by_one() -> None:
    assert list(read_yaml("a: 1\n---\n---\n[2]\n...\n")) == [{"a": 1}, None, [2]]
    assert list(read_yaml("")) == []


def test_keys_become_texts() -> None:
    assert list(read_yaml("1: a\non: b\n1.5: c\n'2': d\n")) == [
        {"1": "a", "true": "b", "1.5": "c", "2": "d"}
    ]


def test_anchors_stand_for_their_values_in_one_document() -> None:
    assert list(read_yaml("a: &x [1]\nb: *x\n")) == [{"a": [1], "b": [1]}]
    with pytest.raises(YamlError, match="line 3: no value before this is called &x"):
        list(read_yaml("a: &x 1\n---\nb: *x\n"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("<<: {a: 1, b: 1}\na: 2", {"a": 2, "b": 1}, id="what is written has the say"),
        pytest.param("a: 2\n<<: {a: 1}", {"a": 2}, id="in any order"),
        pytest.param("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}, id="the first of several"),
        pytest.param("'<<': 1", {"<<": 1}, id="a quoted key merges nothing"),
    ],
)
def test_merges(text: str, value: JsonValue) -> None:
    assert list(read_yaml(text)) == [value]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: 1\nb: 2\na: 3", "line 3: a is set twice", id="a key twice"),
        pytest.param("1: a\n'1': b", "line 2: 1 is set twice", id="a key twice in other words"),
        pytest.param("a:\n  - .inf", "line 2: .inf is not a number here", id="infinity"),
        pytest.param("a: .nan", "line 1: .nan is not a number here", id="no number"),
        pytest.param("? [a]\n: b", "line 1: a key must be a text", id="a list as key"),
        pytest.param("~: b", "line 1: a key must be a text", id="null as key"),
        pytest.param("<<: 5", "line 1: << merges a mapping or a list", id="merging a number"),
        pytest.param("a: [1\nb: 2", "line 2: did not find expected", id="a list left open"),
        pytest.param("a: &x [*x]", "line 1: no value before this is called &x", id="a snake"),
        pytest.param("a: b: c", "line 1: mapping values are not allowed", id="two in a line"),
        pytest.param("a: \x01", "control characters are not allowed", id="control characters"),
        pytest.param("\t- a", "line 1", id="a tab"),
        pytest.param(
            "%YAML 3.0\n---\na", "found incompatible YAML document", id="a future version"
        ),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        list(read_yaml(text))
    assert message in str(caught.value)


def test_depth_is_limited() -> None:
    fine = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert len(list(read_yaml(fine))) == 1
    for opening in ("[", "{a: ", "- ", "? "):
        with pytest.raises(YamlError, match="nested more than 200 levels deep"):
            list(read_yaml(opening * 20_000))


def test_aliases_cannot_explode() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    with pytest.raises(YamlError, match="the aliases up to here stand for too much text"):
        list(read_yaml("\n".join(lines)))
