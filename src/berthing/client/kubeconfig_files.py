"""Kubeconfig files as they are written, and several of them as one.

Of two files that say the same thing, the first one counts: whole clusters, users and contexts by
name, and the current context.  Relative paths in a file start at its folder.

Upstream: client-go/tools/clientcmd/api/v1/types.go, loader.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from berthing.api.nulls import without_nulls
from berthing.api.yaml_values import YamlError, read_yaml
from berthing.client.cluster_access import AccessError

# The part of a cluster that is meant for exec plugins.
EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """A part of a kubeconfig."""


class Extension(_Part, frozen=True, kw_only=True):
    """Something that somebody else understands."""

    name: str = ""
    extension: object = None


class Cluster(_Part, frozen=True, kw_only=True):
    """An API server."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[Extension, ...] = ()


class ExecEnvVar(_Part, frozen=True, kw_only=True):
    """A variable for a plugin's environment."""

    name: str = ""
    value: str = ""


class ExecConfig(_Part, frozen=True, kw_only=True, rename="camel"):
    """A command that tells who we are."""

    api_version: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecEnvVar, ...] = ()
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(_Part, frozen=True, kw_only=True):
    """What exec plugins have replaced."""

    name: str = ""


class User(_Part, frozen=True, kw_only=True):
    """Who we are."""

    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = b""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_extra: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict, name="as-user-extra"
    )
    username: str = ""
    password: str = ""
    auth_provider: AuthProvider | None = None
    exec: ExecConfig | None = None


class Context(_Part, frozen=True, kw_only=True):
    """A cluster, and who we are there."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class Kubeconfig(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or several, have to say."""

    files: tuple[Path, ...]
    current_context: str
    clusters: Mapping[str, Cluster]
    users: Mapping[str, User]
    contexts: Mapping[str, Context]

    @property
    def place(self) -> str:
        """Where to look, in messages."""
        return ", ".join(map(str, self.files))


def read_kubeconfig(files: Iterable[Path]) -> Kubeconfig:
    """Read files and merge them; raises AccessError with file and place of what is wrong."""
    parts = [_read(file) for file in files]
    return Kubeconfig(
        files=tuple(file for part in parts for file in part.files),
        current_context=next((each for part in parts if (each := part.current_context)), ""),
        clusters=_first_of_each([part.clusters for part in parts]),
        users=_first_of_each([part.users for part in parts]),
        contexts=_first_of_each([part.contexts for part in parts]),
    )


T = TypeVar("T")


def _first_of_each(mappings: list[Mapping[str, T]]) -> dict[str, T]:
    merged: dict[str, T] = {}
    for mapping in reversed(mappings):
        merged.update(mapping)
    return merged


class _NamedCluster(_Part, frozen=True, kw_only=True):
    name: str
    cluster: Cluster = Cluster()


class _NamedUser(_Part, frozen=True, kw_only=True):
    name: str
    user: User = User()


class _NamedContext(_Part, frozen=True, kw_only=True):
    name: str
    context: Context = Context()


class _File(_Part, frozen=True, kw_only=True):
    clusters: tuple[_NamedCluster, ...] = ()
    users: tuple[_NamedUser, ...] = ()
    contexts: tuple[_NamedContext, ...] = ()
    current_context: str = ""


def _read(path: Path) -> Kubeconfig:
    file = _decoded(path)
    folder = path.absolute().parent
    return Kubeconfig(
        files=(path,),
        current_context=file.current_context,
        clusters=_by_name(
            path, "clusters", [(e.name, _located_cluster(e.cluster, folder)) for e in file.clusters]
        ),
        users=_by_name(
            path, "users", [(e.name, _located_user(e.user, folder)) for e in file.users]
        ),
        contexts=_by_name(path, "contexts", [(e.name, e.context) for e in file.contexts]),
    )


def _decoded(path: Path) -> _File:
    try:
        documents = [each for each in read_yaml(path.read_text()) if each is not None]
    except OSError as error:
        raise AccessError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AccessError(f"{path}: expected text, this is none: {error}") from error
    except YamlError as error:
        raise AccessError(f"{path}: {error}") from error
    try:
        # An empty file is a kubeconfig that says nothing.
        return msgspec.convert(without_nulls(documents[0] if documents else {}, _File), _File)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$.")
        where = f"{path}: {place.rstrip('`')}" if place else f"{path}"
        raise AccessError(f"{where}: {message[:1].lower()}{message[1:]}") from error


def _by_name(path: Path, place: str, entries: list[tuple[str, T]]) -> dict[str, T]:
    named: dict[str, T] = {}
    for name, entry in entries:
        if name in named:
            raise AccessError(f"{path}: {place}: the name {name!r} is there twice")
        named[name] = entry
    return named


def _located_cluster(cluster: Cluster, folder: Path) -> Cluster:
    return replace(cluster, certificate_authority=_located(cluster.certificate_authority, folder))


def _located_user(user: User, folder: Path) -> User:
    plugin = user.exec
    # A bare name is looked up on the PATH.
    if plugin is not None and "/" in plugin.command:
        plugin = replace(plugin, command=_located(plugin.command, folder))
    return replace(
        user,
        client_certificate=_located(user.client_certificate, folder),
        client_key=_located(user.client_key, folder),
        token_file=_located(user.token_file, folder),
        exec=plugin,
    )


def _located(path: str, folder: Path) -> str:
    return str(folder / path) if path else ""
