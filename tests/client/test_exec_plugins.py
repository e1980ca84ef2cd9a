"""Commands that say who we are: what they are told, what they may answer, when they are asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from berthing.api.errors import CredentialsError
from berthing.client.endpoint import Endpoint
from berthing.client.exec_plugin import ExecCredentials
from berthing.client.identity import Certificate, Identity
from berthing.client.kubeconfig_files import ExecConfig, ExecEnvVar
from client.kubeconfigs import access, make_kubeconfig

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


class Plugin:
    """A shell script that writes down how it was called, and answers."""

    def __init__(self, folder: Path, *, script: str = "", api_version: str = V1) -> None:
        self.folder = folder
        self.api_version = api_version
        self.path = folder / "plugin"
        self.path.write_text(
            "#!/bin/sh\n"
            f'echo "$KUBERNETES_EXEC_INFO" >> {folder}/calls\n'
            f'echo "$*:$COLOUR" > {folder}/arguments\n'
            f"{script}\n"
            f"cat {folder}/answer\n"
        )
        self.path.chmod(0o755)
        self.answers(token="one")

    def answers(self, **status: Any) -> None:
        self.says({"apiVersion": self.api_version, "kind": "ExecCredential", "status": status})

    def says(self, answer: object) -> None:
        (self.folder / "answer").write_text(json.dumps(answer))

    @property
    def calls(self) -> list[dict[str, Any]]:
        calls = self.folder / "calls"
        return (
            [json.loads(call) for call in calls.read_text().splitlines()] if calls.exists() else []
        )

    def credentials(self, clock: Clock | None = None, **config: Any) -> ExecCredentials:
        given = {
            "api_version": self.api_version,
            "command": str(self.path),
            "interactive_mode": "Never",
        }
        return ExecCredentials(
            ExecConfig(**(given | config)),
            endpoint=Endpoint(server="https://api", certificate_authority=b"CA"),
            now=clock or Clock(),
            cluster_config={"audience": "here"},
            headers=[("impersonate-user", "alice")],
        )


class Clock:
    def __init__(self) -> None:
        self.time = 1_767_225_600.0  # 2026-01-01T00:00:00Z

    def __call__(self) -> float:
        return self.time


def identity(credentials: ExecCredentials) -> Identity:
    return asyncio.run(credentials.identity())


def test_a_token(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    who = identity(
        plugin.credentials(args=("get", "it"), env=(ExecEnvVar(name="COLOUR", value="red"),))
    )
    assert who == Identity((("authorization", "Bearer one"), ("impersonate-user", "alice")))
    assert plugin.calls == [
        {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False}}
    ]
    assert (tmp_path / "arguments").read_text() == "get it:red\n"


def test_a_certificate(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    plugin.answers(clientCertificateData="PEM", clientKeyData="KEY")
    assert identity(plugin.credentials()).certificate == Certificate(b"PEM", b"KEY")


def test_the_beta_version_needs_no_mode(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path, api_version=V1BETA1)
    credentials = plugin.credentials(interactive_mode="")
    credentials.check()
    assert identity(credentials).headers[0] == ("authorization", "Bearer one")
    assert plugin.calls[0]["apiVersion"] == V1BETA1


def test_a_plugin_may_be_told_of_the_cluster(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    identity(plugin.credentials(provide_cluster_info=True))
    assert plugin.calls[0]["spec"]["cluster"] == {
        "server": "https://api",
        "certificate-authority-data": "Q0E=",
        "config": {"audience": "here"},
    }


def test_a_kubeconfig_with_a_plugin_beside_it(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)
    file = make_kubeconfig(
        tmp_path / "config",
        cluster={
            "extensions": [
                {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "there"}}
            ]
        },
        user={
            "exec": {
                "apiVersion": V1,
                "command": "./plugin",
                "args": None,
                "env": None,
                "interactiveMode": "IfAvailable",
                "provideClusterInfo": True,
            }
        },
    )
    who = asyncio.run(access(file).credentials.identity())
    assert who.headers == (("authorization", "Bearer one"),)
    assert plugin.calls[0]["spec"]["cluster"]["config"] == {"audience": "there"}


def test_what_a_plugin_says_holds_until_it_expires(tmp_path: Path) -> None:
    plugin, clock = Plugin(tmp_path), Clock()
    plugin.answers(token="one", expirationTimestamp="2026-01-01T01:00:00Z")

    async def story() -> None:
        credentials = plugin.credentials(clock)
        first = await credentials.identity()
        clock.time += 3600
        assert await credentials.identity() is first
        plugin.answers(token="two")
        clock.time += 1
        assert (await credentials.identity()).headers[0] == ("authorization", "Bearer two")
        clock.time += 1e9
        await credentials.identity()

    asyncio.run(story())
    assert len(plugin.calls) == 2


def test_a_plugin_is_asked_again_when_the_server_refuses_what_it_said(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)

    async def story() -> None:
        credentials = plugin.credentials()
        first = await credentials.identity()
        assert credentials.refused(first)
        second = await credentials.identity()
        assert credentials.refused(first)
        assert await credentials.identity() is second

    asyncio.run(story())
    assert len(plugin.calls) == 2


def test_a_plugin_runs_once_for_all_who_wait(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path)

    async def story() -> None:
        credentials = plugin.credentials()
        await asyncio.gather(*(credentials.identity() for _ in range(20)))

    asyncio.run(story())
    assert len(plugin.calls) == 1


def test_a_failure_is_told_to_all_who_wait_and_tried_again_later(tmp_path: Path) -> None:
    plugin, clock = Plugin(tmp_path, script="exit 7"), Clock()

    async def story() -> None:
        credentials = plugin.credentials(clock)
        asked = (credentials.identity() for _ in range(20))
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(outcome, CredentialsError) for outcome in outcomes)
        assert len(plugin.calls) == 1
        clock.time += 1
        with pytest.raises(CredentialsError):
            await credentials.identity()
        assert len(plugin.calls) == 2

    asyncio.run(story())


def test_a_plugin_that_is_not_there_is_told_with_the_hint(tmp_path: Path) -> None:
    credentials = Plugin(tmp_path).credentials(
        command="no-such-plugin", install_hint="apt install no-such-plugin"
    )
    with pytest.raises(
        CredentialsError,
        match=r"exec plugin no-such-plugin: it cannot be run: No such file.*\napt install",
    ):
        identity(credentials)


def test_a_plugin_that_fails_is_quoted(tmp_path: Path) -> None:
    credentials = Plugin(tmp_path, script="echo log in first >&2; exit 3").credentials()
    with pytest.raises(CredentialsError, match="it fails with code 3: log in first"):
        identity(credentials)


def test_a_plugin_that_must_ask_something_needs_a_terminal(tmp_path: Path) -> None:
    credentials = Plugin(tmp_path).credentials(interactive_mode="Always")
    with pytest.raises(CredentialsError, match="standard input is not a terminal"):
        identity(credentials)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("text", "does not answer with an ExecCredential: "),
        ({"apiVersion": V1, "kind": "Pod", "status": {}}, "answers with Pod of .*v1 instead of"),
        ({"apiVersion": V1BETA1, "kind": "ExecCredential"}, "of .*v1beta1 instead of .*v1$"),
        ({"apiVersion": V1, "kind": "ExecCredential"}, "answers without a status"),
        (
            {"apiVersion": V1, "kind": "ExecCredential", "status": {}},
            "neither a token nor a certificate",
        ),
        (
            {"apiVersion": V1, "kind": "ExecCredential", "status": {"clientKeyData": "K"}},
            "a certificate or a key, and not both",
        ),
        (
            {
                "apiVersion": V1,
                "kind": "ExecCredential",
                "status": {"token": "t", "expirationTimestamp": "soon"},
            },
            "status.expirationTimestamp",
        ),
    ],
)
def test_answers_that_make_no_sense(tmp_path: Path, answer: object, problem: str) -> None:
    plugin = Plugin(tmp_path)
    plugin.says(answer)
    with pytest.raises(CredentialsError, match=problem):
        identity(plugin.credentials())


def test_whoever_gives_up_waiting_leaves_no_plugin_behind(tmp_path: Path) -> None:
    plugin = Plugin(tmp_path, script=f"echo $$ > {tmp_path}/pid; exec sleep 1000")

    async def story() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await plugin.credentials().identity()

    asyncio.run(story())
    pid = tmp_path / "pid"
    assert not pid.exists() or not Path("/proc", pid.read_text().strip(), "cmdline").exists()
