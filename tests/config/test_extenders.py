"""What only shows when extenders are built: certificates, and resources that they count themselves."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from berthing.config.args import NodeResourcesFitArgs
from config.reading import errors, read, warnings

CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBhjCCAS2gAwIBAgIUALqKIznABlOVWQAdg/nXOEBdTU0wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNYmVydGhpbmcgdGVzdDAgFw0yNjExMTgyMjM3MzdaGA8yMTI2
MTAyNTIyMzczN1owGDEWMBQGA1UEAwwNYmVydGhpbmcgdGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABFv1EfbHMthL6xVm8ajVCmq4UOwviTIUHnISW9jWofey
Goo+NIC8jL8CF9NauWzv2hu5ilxQNNJNP4DJK2r2ndejUzBRMB0GA1UdDgQWBBSz
OFm9MkhatQHuBE8tmfIVFjquwzAfBgNVHSMEGDAWgBSzOFm9MkhatQHuBE8tmfIV
FjquwzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIAScSO4S/9Zk
8GLh7FLKDfsYDUfuN6289LXd2RCF6+XEAiA6qKUIPoBHONmpWHGlUgitkksqUzO5
1MeXW9oo1LS7Tg==
-----END CERTIFICATE-----
"""
# Only the frame is looked at before the first call.
KEY = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"


def data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def extender(tls: Mapping[str, object], *, https: bool = False) -> str:
    return f"extenders: [{{filterVerb: f, enableHTTPS: {https}, tlsConfig: {tls}}}]"


@pytest.fixture(name="files")
def _files(tmp_path: Path) -> dict[str, str]:
    texts = {"ca.crt": CERTIFICATE, "tls.crt": CERTIFICATE, "tls.key": KEY, "rubbish": "rubbish"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts} | {"nowhere": str(tmp_path / "nowhere")}


def complaints(tls: Mapping[str, object], *, https: bool = False) -> dict[str, list[str]]:
    prefix = "extenders[0].tlsConfig."
    found = errors(extender(tls, https=https))
    return {path.removeprefix(prefix): messages for path, messages in found.items()}


def test_certificates_that_can_be_used(files: dict[str, str]) -> None:
    for tls in (
        {},
        {"serverName": "x"},
        {"insecure": True},
        {"caData": data(CERTIFICATE)},
        {"caData": data("some words\n" + CERTIFICATE)},
        {"caFile": files["ca.crt"]},
        {"certData": data(CERTIFICATE), "keyData": data(KEY)},
        {"certFile": files["tls.crt"], "keyFile": files["tls.key"]},
        {"insecure": True, "certFile": files["tls.crt"], "keyData": data(KEY)},
    ):
        assert complaints(tls) == {}


def test_what_is_in_files_is_not_looked_at_yet(files: dict[str, str]) -> None:
    assert complaints({"certFile": files["rubbish"], "keyFile": files["rubbish"]}) == {}


def test_data_goes_before_files(files: dict[str, str]) -> None:
    assert complaints({"caData": data(CERTIFICATE), "caFile": files["nowhere"]}) == {}


@pytest.mark.parametrize("https", [False, True])
def test_half_a_pair_is_opened_only_where_tls_is_set_up(files: dict[str, str], https: bool) -> None:
    found = complaints({"certFile": files["nowhere"]}, https=https)
    assert found.keys() == ({"certFile"} if https else set())


def test_files_that_are_not_there(files: dict[str, str]) -> None:
    nowhere = files["nowhere"]
    reason = [f"cannot read {nowhere}: No such file or directory"]
    tls: dict[str, object] = {"caFile": nowhere, "certFile": nowhere, "keyFile": nowhere}
    assert complaints(tls) == {"caFile": reason, "certFile": reason, "keyFile": reason}


@pytest.mark.parametrize(
    ("tls", "path", "message"),
    [
        (
            {"caData": data("rubbish")},
            "caData",
            "there is no PEM certificate in it",
        ),
        (
            {"caData": data(CERTIFICATE.replace("M", "m"))},
            "caData",
            "there is no PEM certificate in it",
        ),
        (
            {"certData": data("rubbish"), "keyData": data(KEY)},
            "certData",
            "there is no PEM certificate in it",
        ),
        (
            {"certData": data(CERTIFICATE), "keyData": data("rubbish")},
            "keyData",
            "there is no PEM private key in it",
        ),
        (
            {"caData": data(CERTIFICATE), "insecure": True},
            "insecure",
            "must not be set together with caData or caFile",
        ),
    ],
)
def test_certificates_that_cannot_be_used(tls: dict[str, object], path: str, message: str) -> None:
    assert complaints(tls) == {path: [message]}


MANAGING = """
extenders:
- filterVerb: f
  managedResources:
  - {name: example.com/a, ignoredByScheduler: true}
  - {name: example.com/b}
- filterVerb: f
  managedResources:
  - {name: example.com/c, ignoredByScheduler: true}
"""


def ignored(body: str) -> list[tuple[str, ...]]:
    """What NodeResourcesFit ignores, by profile."""
    loaded = read(body)
    assert loaded.ok, loaded.findings
    found = []
    for profile in loaded.profiles:
        args = profile.args["NodeResourcesFit"]
        assert isinstance(args, NodeResourcesFitArgs)
        found.append(args.ignored_resources)
    return found


def test_ignored_resources_replace_those_of_every_profile() -> None:
    profiles = """
    profiles:
    - schedulerName: a
      pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/z]}}]
    - schedulerName: b
    """
    assert ignored(profiles) == [("example.com/z",), ()]
    assert ignored(MANAGING + profiles.replace("\n    ", "\n")) == [
        ("example.com/a", "example.com/c"),
        ("example.com/a", "example.com/c"),
    ]


def test_ignored_resources_that_are_replaced_need_not_be_right() -> None:
    body = "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a b]}}]}]"
    path = "profiles[0].pluginConfig[0].args.ignoredResources"
    assert errors(body).keys() == {f"{path}[0]"}
    assert warnings(MANAGING + body).keys() >= {path}


WITHOUT_FIT = "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}"


def test_ignored_resources_need_arguments_to_go_to() -> None:
    assert errors(f"{MANAGING}{WITHOUT_FIT}}}]").keys() == {"profiles[0].pluginConfig"}
    with_args = f"{MANAGING}{WITHOUT_FIT}, pluginConfig: [{{name: NodeResourcesFit}}]}}]"
    assert errors(with_args) == {}
