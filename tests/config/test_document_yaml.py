"""Mappings, lists, anchors and merges: what YAML texts mean, and which keys may not be."""

import pytest

from berthing.config.document import parse_document

Found = tuple[int, int, tuple[str | int, ...], str]


def errors(text: str) -> list[Found]:
    findings = parse_document(text).findings
    return [(error.line, error.column, error.path, error.message) for error in findings.errors]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a:\n- 1\n- b: 2\n", {"a": [1, {"b": 2}]}, id="block style"),
        pytest.param("--- {a: [1, {b: 2}]}", {"a": [1, {"b": 2}]}, id="flow style"),
        pytest.param("? a\n: 1\n? b\n", {"a": 1, "b": None}, id="keys with a question mark"),
        pytest.param("a: [b: 1, c]\n", {"a": [{"b": 1}, "c"]}, id="a pair in a list"),
        pytest.param("a: |\n  x\n  y\n", {"a": "x\ny\n"}, id="lines kept"),
        pytest.param("a: >-\n  x\n  y\n", {"a": "x y"}, id="lines folded"),
        pytest.param("a: x\n  y\n", {"a": "x y"}, id="a text over two lines"),
        pytest.param("    a: 1\n    b: 2\n", {"a": 1, "b": 2}, id="all of it indented"),
        pytest.param("a: 1\n...\nb: 2\n", {"a": 1}, id="what follows the end"),
        pytest.param("a: 1\n---\nb: 2\n", {"a": 1}, id="a second document"),
        pytest.param("%YAML 1.1\n---\na: 1\n", {"a": 1}, id="a version"),
        pytest.param("just text\n", "just text", id="a text alone"),
        pytest.param("- 1\n", [1], id="a list alone"),
        pytest.param("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, id="an alias"),
        pytest.param("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}, id="the last anchor"),
        pytest.param("&x a: 1\nb: *x\n", {"a": 1, "b": "a"}, id="an anchor at a key"),
        pytest.param("a: &x b\n*x : 1\n", {"a": "b", "b": 1}, id="an alias as key"),
        pytest.param(
            "a: &x {p: 1}\nb:\n  <<: *x\n  q: 2\n",
            {"a": {"p": 1}, "b": {"p": 1, "q": 2}},
            id="a merge",
        ),
        pytest.param(
            "a:\n  <<: [{p: 1}, {q: 2}]\n", {"a": {"p": 1, "q": 2}}, id="a merge of several"
        ),
        pytest.param("a:\n  <<: {<<: {p: 1}}\n", {"a": {"p": 1}}, id="a merge in a merge"),
        pytest.param("a:\n  !!merge <<: {p: 1}\n", {"a": {"p": 1}}, id="a tagged merge"),
        pytest.param("a:\n  <<: []\n", {"a": {}}, id="a merge of nothing"),
        pytest.param("a: 1\nA: 2\n", {"a": 1, "A": 2}, id="keys in other cases"),
        pytest.param("1: a\n1.5: b\n", {"1": "a", "1.5": "b"}, id="numbers as keys"),
    ],
)
def test_value(text: str, value: object) -> None:
    document = parse_document(text)
    assert document.value == value
    assert document.findings.errors == []


def test_an_alias_is_a_value_of_its_own() -> None:
    value = parse_document("a: &x {b: []}\nc: *x\n").value
    assert isinstance(value, dict)
    value["a"]["b"].append(1)
    assert value["c"] == {"b": []}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(
            "a: 1\nb: 2\na: 3\n", [(3, 1, ("a",), '"a" is set already in line 1')], id="a key twice"
        ),
        pytest.param(
            "a: 1\na: 2\na: 3\n",
            [
                (2, 1, ("a",), '"a" is set already in line 1'),
                (3, 1, ("a",), '"a" is set already in line 2'),
            ],
            id="a key three times",
        ),
        pytest.param(
            "p:\n- a: 1\n- a: 1\n  b: 2\n  a: 3\n",
            [(5, 3, ("p", 1, "a"), '"a" is set already in line 3')],
            id="a key twice in a list item",
        ),
        pytest.param(
            "p: {a: {b: 1, b: 1}}\na: 1\na: 2\n",
            [
                (1, 15, ("p", "a", "b"), '"b" is set already in line 1'),
                (3, 1, ("a",), '"a" is set already in line 2'),
            ],
            id="keys twice in two places",
        ),
        pytest.param(
            "yes: 1\non: 2\n", [(2, 1, ("true",), '"true" is set already in line 1')], id="words"
        ),
        pytest.param(
            "a: &x {p: 1}\nb:\n  <<: *x\n  p: 2\n",
            [(4, 3, ("b", "p"), '"p" is set already by the merge << in line 3')],
            id="a merged key overridden",
        ),
        pytest.param(
            "b:\n  p: 2\n  <<: {p: 1}\n",
            [(3, 3, ("b", "p"), 'the merge << sets "p" again, which line 2 set')],
            id="a key merged over",
        ),
        pytest.param(
            "b:\n  <<: [{p: 1}, {p: 2}]\n",
            [(2, 3, ("b", "p"), 'the merge << sets "p" again, which line 2 set')],
            id="a key merged twice",
        ),
        pytest.param(
            "a: &x {p: 1, p: 2}\nb: *x\nc: {<<: *x}\n",
            [(1, 14, ("a", "p"), '"p" is set already in line 1')],
            id="told once, however many aliases there are",
        ),
        pytest.param(
            "a:\n  <<: 1\n",
            [(2, 7, ("a",), "<< merges a mapping or a list of mappings")],
            id="a merge of a number",
        ),
        pytest.param(
            "a: &x [1]\nb:\n  <<: *x\n",
            [(3, 7, ("b",), "<< merges a mapping or a list of mappings")],
            id="a merge of an alias to a list",
        ),
        pytest.param("? [a, b]\n: 1\n", [(1, 3, (), "a list cannot be a key")], id="a list as key"),
        pytest.param(
            "a:\n  ? {b: 1}\n  : 1\n",
            [(2, 5, ("a",), "a mapping cannot be a key")],
            id="a mapping as key",
        ),
        pytest.param("~: 1\n", [(1, 1, (), "~ cannot be a key")], id="null as key"),
        pytest.param("? \n: 1\n", [(1, 2, (), "null cannot be a key")], id="nothing as key"),
        pytest.param(
            "a: &x\n*x : 1\n", [(2, 1, (), "null cannot be a key")], id="an alias to null as key"
        ),
        pytest.param(
            "18446744073709551615: 1\n",
            [(1, 1, (), "18446744073709551615 cannot be a key")],
            id="a number beyond int64 as key",
        ),
    ],
)
def test_what_keys_may_not_be(text: str, found: list[Found]) -> None:
    assert errors(text) == found


def test_of_a_repeated_key_the_last_counts() -> None:
    assert parse_document("a: 1\na: 2\nb: 3\n").value == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("text", "place", "message", "suggestion"),
    [
        pytest.param(
            "a:\n\tb: 1\n", (2, 1), "there is a tab in the indentation", "use spaces", id="a tab"
        ),
        pytest.param(
            "a: b\n\tc: 1\n",
            (2, 1),
            "there is a tab in the indentation",
            "use spaces",
            id="a tab that looks like more text",
        ),
        pytest.param(
            "a:\n    b: 1\n  c: 2\n",
            (3, 3),
            "this does not continue the mapping that starts in line 1",
            "is it indented as the lines that it belongs to?",
            id="indented between two levels",
        ),
        pytest.param(
            "a:\n- b\nc:\n  - d\n e: 1\n",
            (5, 2),
            "this does not continue the mapping that starts in line 1",
            "is it indented as the lines that it belongs to?",
            id="indented by one",
        ),
        pytest.param(
            "a:\n  - b\n  c: 1\n",
            (3, 3),
            "this does not continue the list that starts in line 2",
            "is it indented as the lines that it belongs to?",
            id="a key in a list",
        ),
        pytest.param(
            "a: 1\n  b: 2\n",
            (2, 4),
            "a key is not allowed here",
            'is it indented as the lines that it belongs to? or is this a text with ": " in it, '
            "which needs quotes?",
            id="indented under a value",
        ),
        pytest.param(
            "a: b: c\n",
            (1, 5),
            "a key is not allowed here",
            'is it indented as the lines that it belongs to? or is this a text with ": " in it, '
            "which needs quotes?",
            id="two colons in a line",
        ),
        pytest.param(
            "a: 1\nb 2\nc: 3\n",
            (2, 1),
            "a : is missing after this key",
            "write key: value, with a blank after the :",
            id="no colon",
        ),
        pytest.param(
            "a: 1\nb:2\n",
            (2, 1),
            "a : is missing after this key",
            "write key: value, with a blank after the :",
            id="no blank after the colon",
        ),
        pytest.param(
            "a: - b\n",
            (1, 4),
            "a list item is not allowed here",
            "start the list in a line of its own",
            id="a list item after a key",
        ),
        pytest.param(
            "a: [{b: 1}\nc: 2\n",
            (2, 1),
            "a , or ] is due here: the [ in line 1 is still open",
            "",
            id="an open bracket",
        ),
        pytest.param(
            "a: {b: 1\nc: 2\n",
            (2, 2),
            "a , or } is due here: the { in line 1 is still open",
            "",
            id="an open brace",
        ),
        pytest.param("a: [\n", (2, 1), "a value is due here", "put the text in quotes", id="cut"),
        pytest.param(
            "a: 1\nb: 'it\nc: 2\n", (2, 4), "these quotes are not closed", "", id="open quotes"
        ),
        pytest.param(
            "b: 'it\n---\nc: 2\n",
            (1, 4),
            "these quotes are not closed",
            "",
            id="quotes open at the end of a document",
        ),
        pytest.param(
            "a: *x\n",
            (1, 4),
            "there is no anchor &x before this alias",
            "put the text in quotes if it is not meant as an alias",
            id="an alias of nothing",
        ),
        pytest.param(
            "a: *x\nb: &x 1\n",
            (1, 4),
            "there is no anchor &x before this alias",
            "put the text in quotes if it is not meant as an alias",
            id="an alias before its anchor",
        ),
        pytest.param(
            "a: &x [*x]\n",
            (1, 8),
            "the value of the anchor &x contains itself",
            "",
            id="an alias in its own anchor",
        ),
        pytest.param(
            "name: *\n",
            (1, 8),
            "a name is due after & and *",
            "put the text in quotes",
            id="a star without quotes",
        ),
        pytest.param(
            "a: @b\n",
            (1, 4),
            "a text may not start with this character",
            "put the text in quotes",
            id="an at sign",
        ),
        pytest.param(
            "%a: 1\n",
            (1, 1),
            "a line may not start with %",
            "put the text in quotes",
            id="a percent sign",
        ),
        pytest.param(
            'a: "\\d"\n',
            (1, 5),
            "this is no escape that YAML knows",
            "write \\\\ for a backslash, or use single quotes",
            id="an unknown escape",
        ),
        pytest.param(
            'a: "x\\/y"\n',
            (1, 6),
            "this is no escape that YAML knows",
            "write / alone",
            id="an escape of JSON",
        ),
        pytest.param(
            "a: |x\n",
            (1, 5),
            "nothing may follow here in the same line",
            "put the text in quotes",
            id="text after a bar",
        ),
        pytest.param(
            "a: [http://x?y]\n",
            (1, 5),
            "a text with a ? in it is not allowed in brackets",
            "put the text in quotes",
            id="a question mark in brackets",
        ),
        pytest.param(
            "a: {b:}\n", (1, 6), "a blank is missing after this :", "", id="a colon before a brace"
        ),
        pytest.param(
            "%YAML 1.2\n---\na: 1\n",
            (1, 1),
            "YAML 1.1 is the only version that kube-scheduler reads",
            "leave out the line %YAML",
            id="YAML of today",
        ),
        pytest.param(
            "%YAML 1.1\na: 1\n",
            (2, 1),
            "the document has ended, or a line --- is missing before this",
            "",
            id="a version without a document",
        ),
        pytest.param(
            "a: !x!y z\n",
            (1, 4),
            "nothing tells what this tag means",
            "put the text in quotes",
            id="a tag without a meaning",
        ),
        pytest.param(
            '// c\n{"a": 1}',
            (2, 5),
            "a key is not allowed here",
            'is it indented as the lines that it belongs to? or is this a text with ": " in it, '
            "which needs quotes?",
            id="JSON behind a comment",
        ),
    ],
)
def test_what_is_no_yaml(text: str, place: tuple[int, int], message: str, suggestion: str) -> None:
    document = parse_document(text)
    (finding,) = document.findings
    assert finding.is_error
    assert (finding.line, finding.column) == place
    assert (finding.message, finding.suggestion) == (message, suggestion)
    assert document.value is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('a: "x\\\\/y"\n', id="a slash after a backslash"),
        pytest.param("a: 'x\\/y'\n", id="an escape in single quotes"),
        pytest.param("a: http://x?y\n", id="a question mark outside of brackets"),
        pytest.param("a: ['http://x?y']\n", id="a question mark in quotes"),
        pytest.param("a: [1]\nb: x?y\n", id="a question mark after brackets"),
    ],
)
def test_what_is_yaml_after_all(text: str) -> None:
    assert list(parse_document(text).findings) == []
