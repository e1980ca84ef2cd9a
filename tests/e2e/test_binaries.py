"""The programs are built once for what is pinned, and a failed build leaves nothing that looks built."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.binaries import BuildError, NoGoError, build

# Leaves a line in a log, and the four programs where `-o` wants them.
GO = """#!/bin/sh
echo "$1" >> "$GO_LOG"
[ "$1" = version ] && echo go version go1.0 && exit
while [ "$1" != -o ]; do shift; done
for name in server kube-apiserver kube-scheduler kubectl; do /bin/mkdir -p "$2"; : > "$2/$name"; done
"""
BROKEN_GO = "#!/bin/sh\n[ $1 = version ] || { echo no such module >&2; exit 1; }\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BERTHING_E2E_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "cache"


def test_what_was_built_is_found_again(tmp_path: Path) -> None:
    install_go(tmp_path, GO)
    said: list[str] = []
    first, second = build(said.append), build(said.append)
    assert first == second
    assert first.etcd.exists()
    assert (tmp_path / "log").read_text().split().count("build") == 1
    assert len(said) == 1


def test_another_go_builds_anew(tmp_path: Path) -> None:
    install_go(tmp_path, GO)
    old = build(print)
    install_go(tmp_path, GO.replace("go1.0", "go1.1"))
    assert build(print) != old


def test_a_build_that_failed_says_why_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    install_go(tmp_path, BROKEN_GO)
    with pytest.raises(BuildError, match="no such module"):
        build(print)
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_without_go_there_are_none() -> None:
    with pytest.raises(NoGoError, match="no Go toolchain"):
        build(print)


def install_go(directory: Path, script: str) -> None:
    go = directory / "bin" / "go"
    go.parent.mkdir(exist_ok=True)
    go.write_text(script)
    go.chmod(0o755)
