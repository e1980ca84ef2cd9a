from __future__ import annotations

import pytest

from berthing.api.names import (
    decimal_integer_errors,
    dns1123_label_errors,
    dns1123_subdomain_errors,
    is_attachable_volume_resource_name,
    is_extended_resource_name,
    is_huge_page_resource_name,
    is_native_resource,
    is_prefixed_native_resource,
    is_scalar_resource_name,
    label_key_errors,
    label_value_errors,
    parse_int64,
)

BAD_NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
BAD_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
    "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
BAD_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@pytest.mark.parametrize(
    "key",
    ["app", "A_b.c-d", "0", "k" * 63, "example.com/role", "a.b.c/D_e", "p" * 253 + "/k", "a..b"],
)
def test_label_keys_that_are_fine(key: str) -> None:
    assert label_key_errors(key) == ()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param("", ("name part must be non-empty", f"name part {BAD_NAME}"), id="empty"),
        pytest.param("-x", (f"name part {BAD_NAME}",), id="starts with a dash"),
        pytest.param("app\n", (f"name part {BAD_NAME}",), id="ends with a line break"),
        pytest.param("k" * 64, ("name part must be no more than 63 bytes",), id="too long"),
        pytest.param(
            "é" * 32,
            ("name part must be no more than 63 bytes", f"name part {BAD_NAME}"),
            id="too long in bytes, though not in letters",
        ),
        pytest.param("/x", ("prefix part must be non-empty",), id="nothing before the slash"),
        pytest.param("Ex.com/x", (f"prefix part {BAD_SUBDOMAIN}",), id="capitals in the prefix"),
        pytest.param(
            "p" * 254 + "/",
            (
                "prefix part must be no more than 253 bytes",
                "name part must be non-empty",
                f"name part {BAD_NAME}",
            ),
            id="prefix too long and no name",
        ),
        pytest.param(
            "a/b/c",
            (
                (
                    f"a valid label key {BAD_NAME} with an optional DNS subdomain prefix and '/' "
                    "(e.g. 'example.com/MyName')"
                ),
            ),
            id="two slashes",
        ),
    ],
)
def test_label_keys_that_are_not(key: str, expected: tuple[str, ...]) -> None:
    assert label_key_errors(key) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("", (), id="empty is fine"),
        pytest.param("v" * 63, (), id="as long as can be"),
        pytest.param("v" * 64, ("must be no more than 63 bytes",), id="too long"),
        pytest.param("-5", (BAD_VALUE,), id="a negative number"),
        pytest.param("a b", (BAD_VALUE,), id="a blank"),
        pytest.param("a\n", (BAD_VALUE,), id="a line break at the end"),
        pytest.param("\u0665", (BAD_VALUE,), id="a digit of another script"),
        pytest.param("\ud800", (BAD_VALUE,), id="half a character"),
    ],
)
def test_label_values(value: str, expected: tuple[str, ...]) -> None:
    assert label_value_errors(value) == expected


@pytest.mark.parametrize(
    ("name", "label_errors", "subdomain_errors"),
    [
        pytest.param("kube-system", (), (), id="fine as both"),
        pytest.param("node-1.example.com", ("must not contain dots",), (), id="dots"),
        pytest.param("Node-1", (BAD_LABEL,), (BAD_SUBDOMAIN,), id="capitals"),
        pytest.param("", (BAD_LABEL,), (BAD_SUBDOMAIN,), id="empty"),
        pytest.param("a..b", (BAD_LABEL,), (BAD_SUBDOMAIN,), id="nothing between dots"),
        pytest.param("x" * 64, ("must be no more than 63 bytes",), (), id="long for a label"),
        pytest.param(
            "x" * 254,
            ("must be no more than 63 bytes",),
            ("must be no more than 253 bytes",),
            id="long for both",
        ),
    ],
)
def test_dns_names(
    name: str, label_errors: tuple[str, ...], subdomain_errors: tuple[str, ...]
) -> None:
    assert dns1123_label_errors(name) == label_errors
    assert dns1123_subdomain_errors(name) == subdomain_errors


@pytest.mark.parametrize("text", ["0", "5", "-5", "10", "99999999999999999999"])
def test_integers_in_their_usual_form(text: str) -> None:
    assert decimal_integer_errors(text) == ()


@pytest.mark.parametrize("text", ["-0", "+5", "007", "-", "5 ", "1_0", "0x10", "\u0665", "5\n"])
def test_integers_in_unusual_form(text: str) -> None:
    assert decimal_integer_errors(text) == ("must be a valid decimal integer in canonical form",)


def test_no_integer_at_all() -> None:
    assert decimal_integer_errors("") == ("must be non-empty",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 5000 + "5", 5),
    ],
)
def test_integers_are_read(text: str, expected: int) -> None:
    assert parse_int64(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", 'parsing "": invalid syntax', id="empty"),
        pytest.param("-", 'parsing "-": invalid syntax', id="a sign alone"),
        pytest.param(" 5", 'parsing " 5": invalid syntax', id="a blank"),
        pytest.param("1_0", 'parsing "1_0": invalid syntax', id="an underscore"),
        pytest.param("\u0665", 'parsing "\u0665": invalid syntax', id="a digit of another script"),
        pytest.param("5\n", r'parsing "5\n": invalid syntax', id="a line break"),
        pytest.param(
            "9223372036854775808",
            'parsing "9223372036854775808": value out of range',
            id="one too many",
        ),
        pytest.param(
            "-9223372036854775809",
            'parsing "-9223372036854775809": value out of range',
            id="one too few",
        ),
        pytest.param(
            "18446744073709551615x",
            'parsing "18446744073709551615x": invalid syntax',
            id="a letter after 64 bits",
        ),
        pytest.param(
            "18446744073709551616x",
            'parsing "18446744073709551616x": value out of range',
            id="a letter after more than 64 bits is not seen any more",
        ),
        pytest.param("9" * 21, f'parsing "{"9" * 21}": value out of range', id="far too many"),
    ],
)
def test_what_is_no_integer_is_told_as_go_tells_it(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="strconv") as caught:
        parse_int64(text)
    assert str(caught.value) == f"strconv.ParseInt: {reason}"


@pytest.mark.parametrize(
    ("name", "native", "extended", "scalar"),
    [
        pytest.param("cpu", True, False, False, id="a built-in"),
        pytest.param("gpu", True, False, False, id="unknown without prefix"),
        pytest.param("example.com/gpu", False, True, True, id="a device"),
        pytest.param("requests.example.com/gpu", False, False, False, id="a quota's name"),
        pytest.param("example.com/g pu", False, False, False, id="no name"),
        pytest.param("p" * 250 + ".io/gpu", False, False, False, id="no room for the quota prefix"),
        pytest.param("kubernetes.io/batch", True, False, True, id="Kubernetes' own with prefix"),
        pytest.param("a.kubernetes.io/b", True, False, True, id="and below it"),
        pytest.param("hugepages-2Mi", True, False, True, id="huge pages"),
        pytest.param("attachable-volumes-csi-x", True, False, True, id="attachable volumes"),
    ],
)
def test_kinds_of_resources(name: str, native: bool, extended: bool, scalar: bool) -> None:
    assert is_native_resource(name) is native
    assert is_extended_resource_name(name) is extended
    assert is_scalar_resource_name(name) is scalar


def test_prefixes_of_resources() -> None:
    assert is_huge_page_resource_name("hugepages-1Gi")
    assert not is_huge_page_resource_name("example.com/hugepages-1Gi")
    assert is_attachable_volume_resource_name("attachable-volumes-aws-ebs")
    assert is_prefixed_native_resource("x.kubernetes.io/y")
    assert not is_prefixed_native_resource("cpu")
