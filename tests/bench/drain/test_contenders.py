"""Schedulers as processes."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from berthing.bench.drain.contenders import Contender, Running, running, write_config
from berthing.bench.drain.errors import DrainError

UPSTREAM = Path("/opt/kube-scheduler")


@pytest.mark.parametrize(
    ("text", "name", "command"),
    [
        pytest.param(
            "berthing",
            "berthing",
            [
                *(sys.executable, "-m", "berthing", "run", "--config={config}"),
                *("--kubeconfig={kubeconfig}", "--v=0", "--http-bind-address="),
            ],
            id="berthing",
        ),
        pytest.param(
            "kube-scheduler",
            "kube-scheduler",
            ["/opt/kube-scheduler", "--config={config}", "--secure-port=0"],
            id="upstream",
        ),
        pytest.param(
            "'/opt/my scheduler' --config={config}",
            "my scheduler",
            ["/opt/my scheduler", "--config={config}"],
            id="a command",
        ),
    ],
)
def test_who_is_meant(text: str, name: str, command: list[str]) -> None:
    assert Contender.of(text, kube_scheduler=UPSTREAM) == Contender(name, tuple(command))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("kube-scheduler", "must have {config}", id="upstream, but where"),
        pytest.param("my-scheduler", "must have {config}", id="without the configuration"),
        pytest.param("'my {config}", "No closing quotation", id="no command"),
    ],
)
def test_what_cannot_be_meant(text: str, why: str) -> None:
    with pytest.raises(DrainError, match=why):
        Contender.of(text, kube_scheduler=None)


def test_all_read_the_same_configuration(tmp_path: Path) -> None:
    config = json.loads(write_config(tmp_path, Path("/a/kubeconfig")).read_text())
    assert config["clientConnection"] == {"kubeconfig": "/a/kubeconfig", "qps": -1}
    assert config["profiles"] == [{"schedulerName": "drain"}]


def python(script: str, *words: str) -> Contender:
    return Contender("fake", (sys.executable, "-c", script, *words))


async def run(contender: Contender, directory: Path, *, until_exit: bool = False) -> Running:
    paths = {"config": Path("/a/config"), "kubeconfig": Path("/a/kubeconfig")}
    async with running(contender, **paths, log=directory / "log") as scheduler:
        if until_exit:
            await scheduler.wait_exit()
        else:
            assert scheduler.usage().peak_bytes >= 0
    return scheduler


def test_one_that_ends_by_itself_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    ended = python("import sys; print(sys.argv[1:])", "--config={config}", "{kubeconfig}")
    scheduler = asyncio.run(run(ended, tmp_path, until_exit=True))
    with pytest.raises(DrainError, match="fake: it ended by itself; the end of its log:") as told:
        scheduler.usage()
    assert str(["--config=/a/config", "/a/kubeconfig"]) in str(told.value)


def test_none_outlives_its_block(tmp_path: Path) -> None:
    scheduler = asyncio.run(run(python("import signal; signal.pause()"), tmp_path))
    with pytest.raises(DrainError, match="ended by itself"):
        scheduler.usage()


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DrainError, match="cannot start /no/such/program: No such file"):
        asyncio.run(run(Contender("fake", ("/no/such/program",)), tmp_path))
