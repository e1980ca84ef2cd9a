"""What Kubernetes accepts as a name, a label, a resource or an integer, and what it says if not.

Upstream: apimachinery/pkg/api/validate/content, pkg/apis/core/v1/helper/helpers.go (v1.36.4).
Differs:  nowhere a user can see; the messages are upstream's, byte for byte.

The `*_errors` functions return all that is wrong with a text, and nothing for a good one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from berthing.api.field_errors import quoted

LABEL_MAX_BYTES = 63
SUBDOMAIN_MAX_BYTES = 253

_DNS1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1123_SUBDOMAIN = rf"{_DNS1123_LABEL}(\.{_DNS1123_LABEL})*"
_LABEL_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_LABEL_NAME})?"

_is_dns1123_label = re.compile(_DNS1123_LABEL).fullmatch
_is_dns1123_subdomain = re.compile(_DNS1123_SUBDOMAIN).fullmatch
_is_label_name = re.compile(_LABEL_NAME).fullmatch
_is_label_value = re.compile(_LABEL_VALUE).fullmatch
_is_decimal_integer = re.compile("0|-?[1-9][0-9]*").fullmatch
_integer_start = re.compile("([+-]?)0*([0-9]*)").match

_UINT64_DIGITS = len(str(1 << 64))

_EMPTY = "must be non-empty"
_BAD_DNS1123_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
    f"regex used for validation is '{_DNS1123_LABEL}')"
)
_BAD_DNS1123_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', "
    f"regex used for validation is '{_DNS1123_SUBDOMAIN}')"
)
_BAD_LABEL_NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_LABEL_NAME}')"
)
_TOO_MANY_SLASHES = (
    f"a valid label key {_BAD_LABEL_NAME} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_BAD_LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
    f"'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)


def label_key_errors(key: str) -> tuple[str, ...]:
    """What is wrong with a label key: a name, or a DNS prefix, a slash and a name."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (_TOO_MANY_SLASHES,)
    errors = _prefix_errors(prefix) if slash else ()
    return tuple(f"prefix part {error}" for error in errors) + tuple(
        f"name part {error}" for error in _label_name_errors(name)
    )


# One rule under two names, as upstream: resources and features have qualified names.
qualified_name_errors = label_key_errors


def _prefix_errors(prefix: str) -> tuple[str, ...]:
    return dns1123_subdomain_errors(prefix) if prefix else (_EMPTY,)


def _label_name_errors(name: str) -> tuple[str, ...]:
    errors = _length_errors(name, LABEL_MAX_BYTES) if name else (_EMPTY,)
    return errors if _is_label_name(name) else (*errors, _BAD_LABEL_NAME)


def label_value_errors(value: str) -> tuple[str, ...]:
    """What is wrong with the value of a label; an empty one is fine."""
    errors = _length_errors(value, LABEL_MAX_BYTES)
    return errors if _is_label_value(value) else (*errors, _BAD_LABEL_VALUE)


def dns1123_label_errors(name: str) -> tuple[str, ...]:
    """What is wrong with one part of a DNS name, as namespaces are called."""
    errors = _length_errors(name, LABEL_MAX_BYTES)
    if _is_dns1123_label(name):
        return errors
    if _is_dns1123_subdomain(name):
        return (*errors, "must not contain dots")
    return (*errors, _BAD_DNS1123_LABEL)


def dns1123_subdomain_errors(name: str) -> tuple[str, ...]:
    """What is wrong with a DNS name, as pods and nodes are called."""
    errors = _length_errors(name, SUBDOMAIN_MAX_BYTES)
    return errors if _is_dns1123_subdomain(name) else (*errors, _BAD_DNS1123_SUBDOMAIN)


def decimal_integer_errors(text: str) -> tuple[str, ...]:
    """What keeps a text from being an integer in the one way it is usually written."""
    if not text:
        return (_EMPTY,)
    if not _is_decimal_integer(text):
        return ("must be a valid decimal integer in canonical form",)
    return ()


def parse_int64(text: str) -> int:
    """Read an integer as upstream does, or say in its words why not.

    Python's int() takes blanks, underscores and other scripts' digits, and any size.
    """
    start = _integer_start(text)
    assert start is not None, "every part of the pattern may be empty"
    sign, digits = start.groups()
    # Upstream gives up at the digit that leaves 64 bits, before it sees what comes behind.
    magnitude = int(digits or "0") if len(digits) <= _UINT64_DIGITS else 1 << 64
    number = -magnitude if sign == "-" else magnitude
    is_integer = start.end() == len(text) and text[-1:].isdigit()
    if magnitude >= 1 << 64 or (is_integer and not -(1 << 63) <= number < 1 << 63):
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    if not is_integer:
        raise ValueError(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    return number


def _length_errors(text: str, limit: int) -> tuple[str, ...]:
    # Upstream counts bytes of UTF-8.  A lone surrogate has none, but must not stop us.
    too_long = len(text) > limit or len(text.encode(errors="surrogatepass")) > limit
    return (f"must be no more than {limit} bytes",) if too_long else ()


def is_native_resource(name: str) -> bool:
    """True for Kubernetes' own resources: without a prefix, or in *kubernetes.io/."""
    return "/" not in name or is_prefixed_native_resource(name)


def is_prefixed_native_resource(name: str) -> bool:
    """True if the name says *kubernetes.io/, wherever in it."""
    return "kubernetes.io/" in name


@lru_cache(maxsize=1024)
def is_extended_resource_name(name: str) -> bool:
    """True for what device plugins and administrators offer, as example.com/gpu."""
    if is_native_resource(name) or name.startswith("requests."):
        return False
    # A quota on it is called this, so this has to be a name too.
    return not qualified_name_errors(f"requests.{name}")


def is_huge_page_resource_name(name: str) -> bool:
    """True for huge pages of any size."""
    return name.startswith("hugepages-")


def is_attachable_volume_resource_name(name: str) -> bool:
    """True for the count of volumes of one kind that a node can attach."""
    return name.startswith("attachable-volumes-")


@lru_cache(maxsize=1024)
def is_scalar_resource_name(name: str) -> bool:
    """True for what the scheduler counts beside cpu, memory and ephemeral storage."""
    return (
        is_extended_resource_name(name)
        or is_huge_page_resource_name(name)
        or is_prefixed_native_resource(name)
        or is_attachable_volume_resource_name(name)
    )
