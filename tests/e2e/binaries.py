"""The real etcd, kube-apiserver, kube-scheduler and kubectl, built from the modules pinned in go.mod.

    go.mod + go.sum + flags + Go's version --hash--> <cache>/<hash>/kube-apiserver, ...

The first build takes minutes and some 300 MB; after that the hash leads to what is there.  Two
test runs that start at once build once: the other waits.  The cache is outside the tree, in
$BERTHING_E2E_CACHE if that is set.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

MODULE: Final = Path(__file__).parent

# What packages are called by `go build`, where that is not what they are.
_NAMES: Final = {"server": "etcd"}


class NoGoError(Exception):
    """There is no Go toolchain on the PATH."""


class BuildError(Exception):
    """Go did not build the servers; the message is what it said."""


class Binaries(msgspec.Struct, frozen=True):
    """Where the programs are."""

    etcd: Path
    kube_apiserver: Path
    kube_scheduler: Path
    kubectl: Path

    @classmethod
    def found_in(cls, directory: Path) -> Binaries:
        """The programs under their own names in a directory."""
        names = (name.replace("_", "-") for name in cls.__struct_fields__)
        return cls(*(directory / name for name in names))


def build(announce: Callable[[str], None]) -> Binaries:
    """The programs, built now unless they are there; `announce` is told of what takes long."""
    go = shutil.which("go")
    if go is None:
        raise NoGoError("found no Go toolchain on the PATH, which builds the servers to test with")
    command = [go, "build", *_flags()]
    built = _cache() / _key(go, command[1:])
    with _lock(built.with_suffix(".lock")):
        if not built.exists():
            announce(f"Building etcd and Kubernetes {kubernetes_version()}: once, some minutes.")
            _build(command, built)
    return Binaries.found_in(built)


def kubernetes_version() -> str:
    """The pinned version of Kubernetes, as v1.36.4."""
    pinned = re.search(r"k8s\.io/kubernetes (v[\d.]+)", (MODULE / "go.mod").read_text())
    assert pinned, "go.mod pins k8s.io/kubernetes"
    return pinned[1]


def _flags() -> list[str]:
    version = kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".")
    facts = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    # Kubernetes' own build tells both packages; unset they say v0.0.0, and kubectl refuses skew.
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    stamps = (f"-X {package}.{name}={fact}" for package in packages for name, fact in facts.items())
    return ["-trimpath", "-buildvcs=false", "-ldflags", " ".join(("-s", "-w", *stamps))]


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("BERTHING_E2E_CACHE") or Path(home, "berthing", "e2e"))
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def _key(go: str, arguments: list[str]) -> str:
    parts = (
        (MODULE / "go.mod").read_bytes(),
        (MODULE / "go.sum").read_bytes(),
        "\0".join(arguments).encode(),
        _run([go, "version"]).encode(),
    )
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _build(command: list[str], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        # `tool` stands for the four programs: what they share is compiled once.
        _run([*command, "-o", f"{unfinished}/bin/", "tool"])
        programs = Path(unfinished, "bin")
        for name, wanted in _NAMES.items():
            (programs / name).rename(programs / wanted)
        # Only now, so that a build that was cut off leaves nothing that looks finished.
        programs.rename(target)


def _run(command: list[str]) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    done = subprocess.run(
        command, check=False, cwd=MODULE, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout
