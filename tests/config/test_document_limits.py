"""Texts made to exhaust whoever reads them: refused, with the place, and soon."""

import json

import pytest

from berthing.config.document import MAX_BYTES, parse_document
from berthing.config.tree import MAX_DEPTH, MAX_NODES

FULL = MAX_BYTES - 1000


def nested(levels: int) -> str:
    return "a: " + "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[" * FULL, "more than 64 levels", id="open brackets"),
        pytest.param("a: " + "{" * FULL, "more than 64 levels", id="open braces"),
        pytest.param("- " * (FULL // 2), "more than 64 levels", id="lists in a line"),
        pytest.param("? " * (FULL // 2), "more than 64 levels", id="keys in keys"),
        pytest.param(
            "\n".join(" " * level + "a:" for level in range(1000)),
            "more than 64 levels",
            id="steps",
        ),
        pytest.param('{"a": ' * 300_000, "more than 64 levels", id="objects in JSON"),
        pytest.param('{"a": ' + "[" * FULL, "more than 64 levels", id="lists in JSON"),
        pytest.param("- a\n" * (FULL // 4), "more than 200000 keys and values", id="a long list"),
        pytest.param(
            "{" + ",".join(f'"{n}":0' for n in range(200_000)) + "}",
            "more than 200000 keys and values",
            id="a large object",
        ),
        pytest.param(
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(
                f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n"
                for last, name in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "the aliases up to here stand for too much text",
            id="a billion laughs",
        ),
        pytest.param(
            "a0: &a0 {x: 1}\n"
            + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, 5000)),
            "more than 64 levels",
            id="a chain of merges",
        ),
        pytest.param(
            "%TAG !a! b\n" * 150_000 + "---\n", "lines that start with %", id="directives"
        ),
    ],
)
def test_is_refused(text: str, message: str) -> None:
    assert len(text) < MAX_BYTES
    document = parse_document(text)
    assert document.value is None
    (error,) = document.findings.errors
    assert message in error.message
    assert error.line > 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: " + "x" * FULL, id="a long text"),
        pytest.param('a: "' + "\\n" * (FULL // 2) + '"', id="a text full of escapes"),
        pytest.param(json.dumps({"a": "\n" * (FULL // 2)}), id="a text full of escapes in JSON"),
        pytest.param("a: 1\n" + "# x\n" * (FULL // 4), id="a long comment"),
        pytest.param("a: 1\n" + "\n" * FULL, id="a million blank lines"),
        pytest.param("a: 0" + "7" * FULL, id="a number of a million digits"),
        pytest.param("a: 0x" + "f" * FULL, id="a million hexadecimal digits"),
        pytest.param("a: 1" + "_1" * (FULL // 2), id="a million underscores"),
    ],
)
def test_size_alone_is_no_reason(text: str) -> None:
    assert list(parse_document(text).findings) == []


def test_as_deep_as_allowed() -> None:
    assert not parse_document(nested(MAX_DEPTH - 1)).findings.errors
    assert parse_document(nested(MAX_DEPTH)).findings.errors


def test_as_deep_as_allowed_in_json() -> None:
    text = '{"a": %s1%s}'
    assert not parse_document(text % ("[" * (MAX_DEPTH - 1), "]" * (MAX_DEPTH - 1))).findings.errors
    assert parse_document(text % ("[" * MAX_DEPTH, "]" * MAX_DEPTH)).findings.errors


def test_aliases_count_towards_the_depth() -> None:
    deep = "[" * 40 + "]" * 40
    text = f"a: &a {deep}\nb: {deep.replace('[]', '[*a]')}\n"
    (error,) = parse_document(text).findings.errors
    assert "more than 64 levels" in error.message


def test_aliases_count_towards_the_size() -> None:
    items = ", ".join(["1"] * 20_000)
    text = f"a: &a [{items}]\nb: [{', '.join(['*a'] * 10)}]\n"
    (error,) = parse_document(text).findings.errors
    assert f"more than {MAX_NODES}" in error.message


def test_many_aliases_of_little_are_fine() -> None:
    text = "a: &a {b: [1, 2, 3]}\nc:\n" + "- *a\n" * 1000
    value = parse_document(text).value
    assert isinstance(value, dict)
    assert value["c"] == [{"b": [1, 2, 3]}] * 1000


def test_long_texts_are_cut_in_messages() -> None:
    (error,) = parse_document("a: !!int " + "x" * 100_000).findings
    assert error.message == f'"{"x" * 57}..." cannot be read as !!int'
