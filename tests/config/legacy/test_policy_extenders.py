"""Extenders of a Policy: keys in any case, and a timeout in nanoseconds."""

from __future__ import annotations

import pytest

from berthing.config.document import parse_document
from berthing.config.findings import Findings, format_path
from berthing.config.legacy import convert
from config.legacy.conversions import converted, mistakes, policy


def test_keys_take_the_case_of_v1() -> None:
    text = policy("""\
extenders:
- URLPrefix: http://x
  FILTERVERB: filter
  bindverb: bind
  enableHttps: true
  TLSConfig: {Insecure: true, serverName: s, CAData: YQ==}
  managedresources: [{Name: example.com/foo, ignoredbyscheduler: true}]
  nodeCacheCapable: null
""")
    assert converted(text).value["extenders"] == [
        {
            "urlPrefix": "http://x",
            "filterVerb": "filter",
            "bindVerb": "bind",
            "enableHTTPS": True,
            "tlsConfig": {"insecure": True, "serverName": "s", "caData": "YQ=="},
            "managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}],
            "nodeCacheCapable": None,
        }
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("100000000", {"httpTimeout": "100ms"}, id="a tenth of a second"),
        pytest.param("5000000000", {"httpTimeout": "5s"}, id="seconds"),
        pytest.param("1", {"httpTimeout": "1ns"}, id="hardly what was meant"),
        pytest.param("0", {}, id="zero is the default"),
        pytest.param("null", {}, id="null is the default"),
    ],
)
def test_timeouts(written: str, expected: dict[str, object]) -> None:
    text = policy(f"extenders: [{{urlPrefix: http://x, httpTimeout: {written}}}]\n")
    assert converted(text).value["extenders"] == [{"urlPrefix": "http://x", **expected}]


def test_mistakes_are_told_where_they_are_written() -> None:
    text = policy("""\
extenders:
- urlPrefix: http://x
  HTTPTimeout: 5s
  Weight: heavy
  tlsConfig:
    Insecure: "true"
- bindverb: [bind]
- 5
""")
    assert [told[:2] for told in mistakes(text)] == [
        (5, "extenders[0].HTTPTimeout"),
        (6, "extenders[0].Weight"),
        (8, "extenders[0].tlsConfig.Insecure"),
        (9, "extenders[1].bindverb"),
        (10, "extenders[2]"),
    ]
    assert mistakes(text)[0][2:] == (
        "must be a number of nanoseconds, got 5s",
        "write 5000000000",
    )


@pytest.mark.parametrize(
    ("key", "message", "suggestion"),
    [
        pytest.param(
            "urlPrefx", "urlPrefx means nothing here", "did you mean urlPrefix?", id="typo"
        ),
        pytest.param("URLPREFIX", "URLPREFIX is urlPrefix again, and replaces it", "", id="twice"),
    ],
)
def test_what_upstream_let_pass_is_warned_of(key: str, message: str, suggestion: str) -> None:
    findings = Findings()
    text = policy(f"extenders:\n- urlPrefix: http://x\n  {key}: http://y\n")
    document = parse_document(text)
    assert convert(document, findings) is not None
    (warning,) = document.located(findings)
    assert not warning.is_error
    assert (warning.message, warning.suggestion) == (message, suggestion)
    assert (warning.line, format_path(warning.path)) == (5, f"extenders[0].{key}")
