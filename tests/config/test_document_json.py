"""Texts that start with a brace are JSON, and nothing but JSON."""

import pytest

from berthing.config.document import parse_document

AS_JSON = "a text that starts with { is read as JSON; put a line --- before it for YAML"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("{}", {}, id="nothing in it"),
        pytest.param(' \t\r\n{"a" : [ ] }\n', {"a": []}, id="blanks everywhere"),
        pytest.param(
            '{"a": [true, false, null, "x", 1, -0, 1.5, {"b": {}}]}',
            {"a": [True, False, None, "x", 1, 0, 1.5, {"b": {}}]},
            id="every kind of value",
        ),
        pytest.param('{"a": "on", "b": "010"}', {"a": "on", "b": "010"}, id="no words of YAML"),
        pytest.param(
            '{"a": 12345678901234567890}', {"a": 12345678901234567890}, id="a long number"
        ),
        pytest.param('{"a": 16.0, "b": 1e3}', {"a": 16.0, "b": 1000.0}, id="floats stay floats"),
        pytest.param(r'{"a": "\"\\\/\b\f\n\r\t"}', {"a": '"\\/\b\f\n\r\t'}, id="short escapes"),
        pytest.param(r'{"\u0061": "\u00e9"}', {"a": "é"}, id="numbered escapes"),
        pytest.param(r'{"a": "\ud83d\ude00"}', {"a": "😀"}, id="a pair of surrogates"),
        pytest.param(r'{"a": "\ud83dx\ude00"}', {"a": "\ufffdx\ufffd"}, id="lone surrogates"),
        pytest.param('{"a": "\x7f\u2028"}', {"a": "\x7f\u2028"}, id="odd characters as they are"),
        pytest.param('{"": 1, "A": 2, "a": 3}', {"": 1, "A": 2, "a": 3}, id="odd keys"),
    ],
)
def test_value(text: str, value: object) -> None:
    document = parse_document(text)
    assert repr(document.value) == repr(value)
    assert list(document.findings) == []


@pytest.mark.parametrize(
    ("text", "place", "message", "suggestion"),
    [
        pytest.param(
            "{a: 1}", (1, 2), "a key in double quotes is due here, not a", AS_JSON, id="flow style"
        ),
        pytest.param(
            "{'a': 1}",
            (1, 2),
            "a key in double quotes is due here, not 'a'",
            'JSON knows only double quotes: "',
            id="single quotes",
        ),
        pytest.param(
            "{\"a\": 'b'}",
            (1, 7),
            "a value is due here, not 'b'",
            'JSON knows only double quotes: "',
            id="a value in single quotes",
        ),
        pytest.param(
            '{\n "a": 1,\n}',
            (3, 1),
            "there is a comma before this }",
            "remove the comma",
            id="a comma too many",
        ),
        pytest.param(
            '{"a": [1, ]}',
            (1, 11),
            "there is a comma before this ]",
            "remove the comma",
            id="a comma too many in a list",
        ),
        pytest.param(
            '{"a": 1\n "b": 2}', (2, 2), 'a , or } is due here, not "', AS_JSON, id="no comma"
        ),
        pytest.param(
            '{"a": [1 2]}', (1, 10), "a , or ] is due here, not 2", AS_JSON, id="no comma in a list"
        ),
        pytest.param(
            '{"a" 1}', (1, 6), "a : is due here, after the key, not 1", AS_JSON, id="no colon"
        ),
        pytest.param('{"a": }', (1, 7), "a value is due here, not }", AS_JSON, id="no value"),
        pytest.param(
            '{"a": 1',
            (1, 8),
            "a , or } is due here, not the end of the text",
            "is the end of the file missing?",
            id="cut short",
        ),
        pytest.param(
            "{",
            (1, 2),
            "a key in double quotes is due here, not the end of the text",
            "is the end of the file missing?",
            id="cut at once",
        ),
        pytest.param('{"a": "b', (1, 7), "these quotes are not closed", "", id="open quotes"),
        pytest.param(
            '{"a": "b\n"}', (1, 7), "these quotes are not closed", "", id="a line end in quotes"
        ),
        pytest.param(
            '{"a": "b\tc"}',
            (1, 9),
            "the control character U+0009 is not allowed in quotes",
            "write \\t for a tab",
            id="a tab in quotes",
        ),
        pytest.param(
            '{"a": "\\x41"}',
            (1, 8),
            "\\x is no escape that JSON knows",
            "write \\\\ for a backslash",
            id="an escape of YAML",
        ),
        pytest.param(
            '{"a": "\\u12"}',
            (1, 8),
            "\\u is no escape that JSON knows",
            "write \\\\ for a backslash",
            id="an escape cut short",
        ),
        pytest.param(
            '{"a": 1} x', (1, 10), "there is more text after the closing }", AS_JSON, id="more text"
        ),
        pytest.param(
            '{"a": 1}\n{"b": 2}',
            (2, 1),
            "there is more text after the closing }",
            AS_JSON,
            id="two texts",
        ),
        pytest.param(
            '{"a": 1} // b',
            (1, 10),
            "there is more text after the closing }",
            AS_JSON,
            id="a comment behind",
        ),
        pytest.param(
            '{// b\n"a": 1}',
            (1, 2),
            "a key in double quotes is due here, not //",
            "JSON has no comments",
            id="a comment",
        ),
        pytest.param(
            '{# b\n"a": 1}',
            (1, 2),
            "a key in double quotes is due here, not #",
            "JSON has no comments",
            id="a comment of YAML",
        ),
        pytest.param(
            '{"a": 01}', (1, 8), "a , or } is due here, not 1", AS_JSON, id="a leading zero"
        ),
        pytest.param('{"a": +1}', (1, 7), "a value is due here, not +1", AS_JSON, id="a plus sign"),
        pytest.param(
            '{"a": .5}', (1, 7), "a value is due here, not .5", AS_JSON, id="a point first"
        ),
        pytest.param(
            '{"a": 1.}', (1, 8), "a , or } is due here, not .", AS_JSON, id="a point last"
        ),
        pytest.param(
            '{"a": True}', (1, 7), "a value is due here, not True", AS_JSON, id="a word in capitals"
        ),
        pytest.param('{"a": NaN}', (1, 7), "a value is due here, not NaN", AS_JSON, id="no number"),
        pytest.param(
            '{"a": 1e999}', (1, 7), "this number is too large", AS_JSON, id="beyond a float"
        ),
        pytest.param(
            '{"a":\u00a01}',
            (1, 6),
            "a value is due here, not \\xa0",
            AS_JSON,
            id="a blank of another kind",
        ),
        pytest.param(
            "\u00a0{}",
            (1, 1),
            "a value is due here, not \\xa0",
            AS_JSON,
            id="a blank of another kind in front",
        ),
    ],
)
def test_what_is_no_json(text: str, place: tuple[int, int], message: str, suggestion: str) -> None:
    document = parse_document(text)
    (finding,) = document.findings
    assert finding.is_error
    assert (finding.line, finding.column) == place
    assert (finding.message, finding.suggestion) == (message, suggestion)
    assert document.value is None


def test_repeated_keys_are_errors_each_at_its_place() -> None:
    document = parse_document('{"a": 1,\n "b": [{"c": 1, "\\u0063": 2}],\n "a": 3}')
    assert [
        (error.line, error.column, error.path, error.message) for error in document.findings
    ] == [
        (2, 17, ("b", 0, "c"), '"c" is set already in line 2'),
        (3, 2, ("a",), '"a" is set already in line 1'),
    ]
    assert document.value == {"a": 3, "b": [{"c": 2}]}
