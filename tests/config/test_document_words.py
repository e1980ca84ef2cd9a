"""What bare words, numbers and tags of YAML 1.1 come out as."""

import pytest

from berthing.config.document import parse_document


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("true", True, id="true"),
        pytest.param("False", False, id="False"),
        pytest.param("tRUE", "tRUE", id="a word in mixed case is text"),
        pytest.param("y", True, id="y"),
        pytest.param("No", False, id="No"),
        pytest.param("ON", True, id="ON"),
        pytest.param("off", False, id="off"),
        pytest.param("oFF", "oFF", id="oFF is text"),
        pytest.param("'yes'", "yes", id="a word in quotes is text"),
        pytest.param("", None, id="nothing is null"),
        pytest.param("~", None, id="a tilde is null"),
        pytest.param("Null", None, id="Null"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-12", -12, id="negative"),
        pytest.param("+12", 12, id="a plus sign"),
        pytest.param("1_000", 1000, id="underscores are left out"),
        pytest.param("_1", "_1", id="but not in front"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("-0X1f", -31, id="negative hexadecimal"),
        pytest.param("0b101", 5, id="binary"),
        pytest.param("0b-101", -5, id="binary with the sign behind"),
        pytest.param("0o17", 15, id="octal of today"),
        pytest.param("017", 15, id="octal of old"),
        pytest.param("08", 8, id="an 8 makes it decimal"),
        pytest.param("0x", "0x", id="no digits"),
        pytest.param("9223372036854775808", 2**63, id="beyond int64"),
        pytest.param("18446744073709551615", 2**64 - 1, id="the largest number of 64 bits"),
        pytest.param("18446744073709551616", 18446744073709552000, id="beyond it, a float"),
        pytest.param("0x1FFFFFFFFFFFFFFFF", "0x1FFFFFFFFFFFFFFFF", id="or a text"),
        pytest.param("16.0", 16, id="a float without a fraction is whole"),
        pytest.param("1e3", 1000, id="an exponent too"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param(".5", 0.5, id="nothing before the point"),
        pytest.param("._5", "._5", id="an underscore before all digits"),
        pytest.param(".5_0", 0.5, id="an underscore between digits"),
        pytest.param("1e400", "1e400", id="too big for a float is text"),
        pytest.param("1e21", 1e21, id="from here on JSON has an exponent"),
        pytest.param("1:30", "1:30", id="there are no numbers of base 60"),
        pytest.param("2026-01-01", "2026-01-01", id="a date is text"),
        pytest.param("1.2.3", "1.2.3", id="a version is text"),
        pytest.param("9" * 5000, "9" * 5000, id="thousands of digits"),
        pytest.param("<<", "<<", id="a merge sign as value"),
        pytest.param("a b # c", "a b", id="a comment"),
        pytest.param("a#b", "a#b", id="no comment"),
        pytest.param('"\\x41\\u00e9\\U0001F600"', "Aé😀", id="escapes"),
        pytest.param("'it''s'", "it's", id="a quote in single quotes"),
        pytest.param("!!str 29", "29", id="tagged as text"),
        pytest.param("!!int '7'", 7, id="tagged as number"),
        pytest.param("!!float 5", 5, id="tagged as float"),
        pytest.param("!!bool 'on'", True, id="tagged as true or false"),
        pytest.param("!!null ''", None, id="tagged as null"),
        pytest.param("!!str", "", id="an empty text"),
        pytest.param("!!binary aGk=", "hi", id="tagged as binary"),
        pytest.param("!!timestamp 2001-1-1", "2001-1-1", id="tagged as a date"),
        pytest.param("!!timestamp 2001-1-1 1:2:3", "2001-1-1 1:2:3", id="tagged as a time"),
        pytest.param("!mine 29", "29", id="an unknown tag makes text"),
        pytest.param("! 29", "29", id="so does the lone tag"),
        pytest.param("&a ! 29", "29", id="behind an anchor too"),
        pytest.param("!mine [1]", [1], id="a tag of a list means nothing"),
        pytest.param("!!set {a, b}", {"a": None, "b": None}, id="a set is a mapping"),
    ],
)
def test_value(written: str, value: object) -> None:
    document = parse_document(f"key: {written}\n")
    # By their text, in which 1, 1.0 and true are three.
    assert repr(document.value) == repr({"key": value})
    assert not document.findings.errors


@pytest.mark.parametrize(
    ("written", "message"),
    [
        pytest.param("!!int x", '"x" cannot be read as !!int', id="a text as number"),
        pytest.param("!!int 1.5", '"1.5" cannot be read as !!int', id="a fraction as whole"),
        pytest.param("!!bool 1", '"1" cannot be read as !!bool', id="a number as a word"),
        pytest.param("!!null x", '"x" cannot be read as !!null', id="a text as null"),
        pytest.param("!!int", '"" cannot be read as !!int', id="nothing as number"),
        pytest.param("!!float x", '"x" cannot be read as !!float', id="a text as float"),
        pytest.param("!!binary 'a G k='", "this is not base64", id="blanks in base64"),
        pytest.param("!!binary aGk", "this is not base64", id="base64 cut short"),
        pytest.param(
            "!!timestamp 2001-02-30", '"2001-02-30" cannot be read as !!timestamp', id="no such day"
        ),
        pytest.param(
            "!!timestamp 2001-01-01 24:00:00",
            '"2001-01-01 24:00:00" cannot be read as !!timestamp',
            id="no such hour",
        ),
        pytest.param(".inf", ".inf is not a number here", id="infinity"),
        pytest.param("-.INF", "-.INF is not a number here", id="minus infinity"),
        pytest.param(".nan", ".nan is not a number here", id="no number"),
    ],
)
def test_what_a_value_cannot_be(written: str, message: str) -> None:
    (finding,) = parse_document(f"a: 1\nkey: {written}\n").findings
    assert (finding.message, finding.path) == (message, ("key",))
    assert (finding.line, finding.column) == (2, 6)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        pytest.param("7", "7", id="a number"),
        pytest.param("0x10", "16", id="a number in hexadecimal"),
        pytest.param("yes", "true", id="a word"),
        pytest.param("1.5", "1.5", id="a fraction"),
        pytest.param("16.0", "16", id="a float without a fraction"),
        pytest.param("1234567.0", "1.234567e+06", id="a large float"),
        pytest.param("0.00001", "1e-05", id="a small float"),
        pytest.param("16777217.0", "1.6777216e+07", id="a float of more than 32 bits"),
        pytest.param("1e300", ".inf", id="a float beyond 32 bits"),
        pytest.param("-.inf", "-.inf", id="infinity"),
        pytest.param(".nan", ".nan", id="no number"),
        pytest.param("2001-01-01", "2001-01-01", id="a date"),
        pytest.param("''", "", id="the empty text"),
        pytest.param("'~'", "~", id="a tilde in quotes"),
        pytest.param("'<<'", "<<", id="a merge sign in quotes"),
    ],
)
def test_keys_become_text(written: str, key: str) -> None:
    document = parse_document(f"? {written}\n: 1\n")
    assert document.value == {key: 1}
    assert not document.findings.errors


@pytest.mark.parametrize(
    ("text", "place", "message", "suggestion"),
    [
        pytest.param(
            "a: on\n",
            (1, 4),
            "the word on is read as true",
            'write true, or "on" in quotes if a text is meant',
            id="a word for true",
        ),
        pytest.param(
            "a:\n- N\n",
            (2, 3),
            "the word N is read as false",
            'write false, or "N" in quotes if a text is meant',
            id="a word for false",
        ),
        pytest.param(
            "y: 1\n",
            (1, 1),
            "the word y is read as true",
            'write true, or "y" in quotes if a text is meant',
            id="a word as key",
        ),
        pytest.param(
            "a: 010\n",
            (1, 4),
            "010 is read as an octal number, that is 8",
            "write 8, or leave out the leading zero",
            id="an octal number",
        ),
        pytest.param(
            "a: 1\n---\nb: 2\n",
            (2, 1),
            "only the first YAML document counts; this one is ignored",
            "",
            id="a second document",
        ),
        pytest.param(
            "a: 1\n--- [\n",
            (2, 1),
            "only the first YAML document counts; this one is ignored",
            "",
            id="a second document that is broken",
        ),
        pytest.param(
            "1: a\n'1': b\n",
            (2, 1),
            'another key of this mapping is read as "1" as well; this one counts',
            "",
            id="two keys that become one",
        ),
    ],
)
def test_what_is_accepted_but_odd_gets_a_warning(
    text: str, place: tuple[int, int], message: str, suggestion: str
) -> None:
    (finding,) = parse_document(text).findings
    assert not finding.is_error
    assert (finding.line, finding.column) == place
    assert (finding.message, finding.suggestion) == (message, suggestion)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 'on'\n", id="a word in quotes"),
        pytest.param("a: TRUE\n", id="true, however it is spelt"),
        pytest.param("a: !!bool yes\n", id="a word that is tagged"),
        pytest.param("a: 07\n", id="an octal number that is what it seems"),
        pytest.param("a: 0o10\n", id="an octal number that looks like one"),
        pytest.param("a: 08\n", id="a decimal number with a zero"),
        pytest.param('{"a": "on"}', id="a word in JSON"),
        pytest.param("a: 1\n...\n# end\n", id="the end of the document"),
        pytest.param("---\na: 1\n", id="its beginning"),
    ],
)
def test_what_is_plain_gets_no_warning(text: str) -> None:
    assert list(parse_document(text).findings) == []
