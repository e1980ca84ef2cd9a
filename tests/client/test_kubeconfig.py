"""What a kubeconfig means: contexts, clusters, users, and several files as one."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from berthing.client.cluster_access import AccessError, ClusterAccess
from berthing.client.identity import Certificate, Identity
from berthing.client.kubeconfig import default_files, kubeconfig_access
from berthing.simulate.virtual_time import run
from client.certificates import Authority, authority
from client.kubeconfigs import access, make_kubeconfig


def identity(access: ClusterAccess) -> Identity:
    return run(access.credentials.identity())


def data(text: bytes) -> str:
    return base64.b64encode(text).decode()


def test_a_kubeconfig_as_people_write_it(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("""\
apiVersion: v1
kind: Config
preferences: {}
current-context: home
contexts:
- name: home
  context: {cluster: home, user: me, namespace: kube-system}
- name: other
  context:
    cluster: other
    user: me
clusters:
- name: home
  cluster:
    server: https://10.0.0.1:6443
    insecure-skip-tls-verify: true
    extensions: null
- name: other
  cluster:
    server: https://other.example.com/k8s
    tls-server-name: api
    proxy-url: http://proxy:3128
users:
- name: me
  user:
    token: abc
""")
    home = access(file)
    assert home.server == "https://10.0.0.1:6443"
    assert home.endpoint.insecure_skip_tls_verify
    assert home.namespace == "kube-system"
    assert home.kubeconfig == str(file)
    assert identity(home).headers == (("authorization", "Bearer abc"),)
    other = access(file, context="other")
    assert other.endpoint.tls_server_name == "api"
    assert other.endpoint.proxy_url == "http://proxy:3128"
    assert other.namespace == "default"
    assert access(file, server="https://elsewhere").server == "https://elsewhere"


def test_of_several_files_the_first_to_say_something_counts(tmp_path: Path) -> None:
    first = make_kubeconfig(tmp_path / "1", user={"token": "first"}, current_context="")
    second = make_kubeconfig(
        tmp_path / "2",
        user={"token": "second"},
        contexts=[
            {"name": "x", "context": {"cluster": "nowhere", "user": "nobody"}},
            {"name": "y", "context": {"cluster": "c", "user": "u", "namespace": "n"}},
        ],
        current_context="y",
    )
    merged = kubeconfig_access([first, second], now=lambda: 0.0)
    assert merged.namespace == "n"
    assert identity(merged).headers == (("authorization", "Bearer first"),)
    assert merged.kubeconfig == str(first)
    by_first = kubeconfig_access([first, second], now=lambda: 0.0, context="x")
    assert by_first.namespace == "default"


def test_the_files_that_kubectl_reads(tmp_path: Path) -> None:
    one, two = make_kubeconfig(tmp_path / "1"), make_kubeconfig(tmp_path / "2")
    listed = f"{one}::{tmp_path / 'missing'}:{two}"
    assert default_files({"KUBECONFIG": listed}, home=tmp_path) == [one, two]
    assert default_files({}, home=tmp_path) == []
    (tmp_path / ".kube").mkdir()
    usual = make_kubeconfig(tmp_path / ".kube" / "config")
    assert default_files({}, home=tmp_path) == [usual]


def test_paths_start_at_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kube"
    folder.mkdir()
    user = authority().issue("me")
    (folder / "ca.pem").write_bytes(authority().pem)
    (folder / "me.pem").write_bytes(user.certificate)
    (folder / "me.key").write_bytes(user.key)
    (folder / "token").write_text("t\n")
    make_kubeconfig(
        folder / "config",
        cluster={"certificate-authority": "ca.pem"},
        user={"client-certificate": "me.pem", "client-key": "./me.key", "tokenFile": "token"},
    )
    monkeypatch.chdir(tmp_path)
    found = access(Path("kube/config"))
    assert found.endpoint.certificate_authority == authority().pem
    assert identity(found) == Identity((("authorization", "Bearer t"),), user)


def test_data_stands_for_files(tmp_path: Path) -> None:
    user = authority().issue("me")
    file = make_kubeconfig(
        tmp_path / "config",
        cluster={"certificate-authority-data": data(authority().pem)},
        user={
            "client-certificate-data": data(user.certificate),
            "client-key-data": data(user.key),
        },
    )
    found = access(file)
    assert found.endpoint.certificate_authority == authority().pem
    assert identity(found).certificate == user


def test_a_certificate_in_a_file_may_have_its_key_in_the_kubeconfig(tmp_path: Path) -> None:
    user = authority().issue("me")
    (tmp_path / "me.pem").write_bytes(user.certificate)
    file = make_kubeconfig(
        tmp_path / "config",
        user={"client-certificate": "me.pem", "client-key-data": data(user.key)},
    )
    assert identity(access(file)).certificate == user


def test_an_authority_may_have_comments_in_any_language(tmp_path: Path) -> None:
    pem = "# Prüfstelle\n".encode() + authority().pem
    file = make_kubeconfig(tmp_path / "c", cluster={"certificate-authority-data": data(pem)})
    assert access(file).endpoint.certificate_authority == pem


@pytest.mark.parametrize(
    ("user", "headers"),
    [
        ({}, []),
        (
            {"username": "me", "password": "pass:word"},
            [("authorization", f"Basic {data(b'me:pass:word')}")],
        ),
        (
            {
                "token": "t",
                "as": "alice",
                "as-uid": "7",
                "as-groups": ["dev", "ops"],
                "as-user-extra": {"Example.com/Scopes": ["a", "b"]},
            },
            [
                ("authorization", "Bearer t"),
                ("impersonate-user", "alice"),
                ("impersonate-uid", "7"),
                ("impersonate-group", "dev"),
                ("impersonate-group", "ops"),
                ("impersonate-extra-example.com%2Fscopes", "a"),
                ("impersonate-extra-example.com%2Fscopes", "b"),
            ],
        ),
    ],
)
def test_who_we_say_we_are(
    tmp_path: Path, user: dict[str, Any], headers: list[tuple[str, str]]
) -> None:
    found = identity(access(make_kubeconfig(tmp_path / "config", user=user)))
    assert sorted(found.headers) == sorted(headers)


def test_a_token_in_a_file_goes_before_one_in_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("file")
    user = {"token": "inline", "tokenFile": "token"}
    found = identity(access(make_kubeconfig(tmp_path / "config", user=user)))
    assert found.headers == (("authorization", "Bearer file"),)


PLUGIN = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "plugin",
    "interactiveMode": "Never",
}


def test_an_exec_plugin_is_not_asked_where_something_else_says_who_we_are(tmp_path: Path) -> None:
    user = {"token": "t", "exec": PLUGIN}
    found = identity(access(make_kubeconfig(tmp_path / "config", user=user)))
    assert found.headers == (("authorization", "Bearer t"),)


PAIR = authority().issue("me")
OTHER = Authority().issue("other")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        pytest.param(
            {"current_context": ""}, "current-context: no context is chosen: there are 'x'"
        ),
        pytest.param({"contexts": []}, "contexts: there is no context 'x': there are none"),
        pytest.param(
            {"contexts": [{"name": "x", "context": {"cluster": "d", "user": "u"}}]},
            "context 'x': there is no cluster 'd': there are 'c'",
        ),
        pytest.param(
            {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "v"}}]},
            "context 'x': there is no user 'v': there are 'u'",
        ),
        pytest.param({"contexts": [{"name": "x"}]}, "context 'x': it names no cluster"),
        pytest.param(
            {"clusters": [{"name": "c"}, {"name": "c"}]}, "clusters: the name 'c' is there twice"
        ),
        pytest.param({"cluster": {"server": ""}}, "cluster 'c': it has no server: set one"),
        pytest.param({"cluster": {"server": "ftp://x"}}, "cluster 'c': server: expected a URL"),
        pytest.param(
            {"cluster": {"proxy-url": "ssh://x"}}, "cluster 'c': proxy-url: expected a URL"
        ),
        pytest.param(
            {"cluster": {"server": 5}}, r"clusters\[0\].cluster.server: expected `str`, got `int`"
        ),
        pytest.param(
            {"cluster": {"certificate-authority-data": "!"}},
            r"clusters\[0\].cluster.certificate-authority-data: invalid base64",
        ),
        pytest.param(
            {"cluster": {"certificate-authority-data": data(b"x")}},
            "cluster 'c': certificate-authority: it is no PEM certificate",
        ),
        pytest.param(
            {"cluster": {"certificate-authority": "missing.pem"}},
            "cluster 'c': certificate-authority: .*/missing.pem cannot be read: No such file",
        ),
        pytest.param(
            {
                "cluster": {
                    "certificate-authority-data": data(authority().pem),
                    "insecure-skip-tls-verify": True,
                }
            },
            "cluster 'c': insecure-skip-tls-verify and a certificate-authority",
        ),
        pytest.param(
            {"user": {"client-key": "a", "client-key-data": data(b"b")}},
            "user 'u': client-key and client-key-data: leave out one of them",
        ),
        pytest.param(
            {"user": {"client-certificate-data": data(PAIR.certificate)}},
            "user 'u': client-key is missing",
        ),
        pytest.param(
            {"user": {"client-key-data": data(PAIR.key)}}, "user 'u': client-certificate is missing"
        ),
        pytest.param(
            {
                "user": {
                    "client-certificate-data": data(PAIR.certificate),
                    "client-key-data": data(OTHER.key),
                }
            },
            "user 'u': client-certificate: .* no matching PEM pair",
        ),
        pytest.param(
            {"user": {"tokenFile": "gone"}}, "user 'u': tokenFile: .*/gone cannot be read"
        ),
        pytest.param(
            {"user": {"token": "t", "username": "me"}}, "user 'u': a token and a username"
        ),
        pytest.param(
            {"user": {"as-groups": ["x"]}},
            "user 'u': as-uid, as-groups and as-user-extra need a user",
        ),
        pytest.param(
            {"user": {"auth-provider": {"name": "gcp"}}},
            "user 'u': auth-provider 'gcp' is not supported: use an exec plugin",
        ),
        pytest.param(
            {"user": {"exec": PLUGIN | {"command": ""}}}, "user 'u': exec: command is missing"
        ),
        pytest.param(
            {"user": {"exec": PLUGIN | {"apiVersion": "client.authentication.k8s.io/v1alpha1"}}},
            "user 'u': exec: expected apiVersion client.authentication.k8s.io/v1 or .*, got '.*v1alpha1'",
        ),
        pytest.param(
            {"user": {"exec": PLUGIN | {"interactiveMode": ""}}},
            "user 'u': exec: expected interactiveMode Never, IfAvailable, Always, got ''",
        ),
        pytest.param(
            {"user": {"exec": PLUGIN | {"env": [{"value": "x"}]}}},
            "user 'u': exec: env has a variable without a name",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, config: dict[str, Any], problem: str
) -> None:
    file = make_kubeconfig(tmp_path / "config", **config)
    with pytest.raises(AccessError, match=f"^{file}: {problem}"):
        access(file)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"a: [", "line 2: "),
        (b"\xff\xfe\x00", "expected text"),
        (b"- a list", "expected `object`, got `array`"),
        (b"", "current-context: no context is chosen: there are none"),
        (b"clusters: {}", "clusters: expected `array`, got `object`"),
    ],
)
def test_what_is_no_kubeconfig(tmp_path: Path, text: bytes, problem: str) -> None:
    file = tmp_path / "config"
    file.write_bytes(text)
    with pytest.raises(AccessError, match=f"^{file}: {problem}"):
        access(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="config: cannot be read: No such file or directory"):
        access(tmp_path / "config")


def test_a_file_that_is_empty_where_it_should_not_be(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("\n")
    file = make_kubeconfig(tmp_path / "config", cluster={"certificate-authority": "ca.pem"})
    with pytest.raises(AccessError, match=r"certificate-authority: .*/ca.pem is empty"):
        access(file)


def test_secrets_are_in_no_message(tmp_path: Path) -> None:
    file = make_kubeconfig(tmp_path / "config", user={"token": "s3cret", "password": "s3cret"})
    with pytest.raises(AccessError) as caught:
        access(file)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(Certificate(b"s3cret", b"s3cret"))
