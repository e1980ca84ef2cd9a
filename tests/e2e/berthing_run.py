"""`berthing run` in a process of its own, as users run it, with the rights that we ship."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from e2e.kube_scheduler import Config
from e2e.processes import Process
from e2e.waiting import wait_until

# What no log may have, whatever happens.
MISTAKES: Final = ("Traceback", "never retrieved", "never awaited")


class Metrics:
    """What /metrics says."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        self._samples = [sample for family in families for sample in family.samples]

    def sum(self, name: str, **labels: str) -> float:
        """The sum of all samples of a name that have these labels."""
        return sum(
            sample.value
            for sample in self._samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    @property
    def bindings(self) -> int:
        """How many bindings are under way."""
        return int(self.sum("scheduler_goroutines", operation="binding"))


class Berthing:
    """A scheduler: started by `start`, then ready for pods."""

    def __init__(
        self, *, kubeconfig: Path, config: Config, directory: Path, name: str = "berthing"
    ) -> None:
        file = directory / f"{name}.yaml"
        file.write_bytes(msgspec.json.encode(_complete(config)))
        options = (f"--config={file}", f"--kubeconfig={kubeconfig}", "--v=4")
        command = (sys.executable, "-m", "berthing", "run", *options)
        self.process = Process(
            name, (*command, "--http-bind-address=127.0.0.1:0"), log=directory / f"{name}.log"
        )
        self._address = ""

    def start(self) -> None:
        """Start, and wait until all objects have been seen."""
        self.begin()
        self.wait_ready()

    def begin(self) -> None:
        """Start without waiting for the API server."""
        self.process.start()
        wait_until(self._is_serving, meanwhile=self.process.check)

    def wait_ready(self) -> None:
        """Wait until all objects have been seen."""
        wait_until(lambda: self._answers("/readyz"), meanwhile=self.process.check)

    @property
    def is_healthy(self) -> bool:
        """What /healthz says."""
        return self._answers("/healthz")

    def metric(self, name: str, **labels: str) -> float:
        """The sum of all samples of a name that have these labels."""
        return self.metrics().sum(name, **labels)

    def metrics(self) -> Metrics:
        """All numbers of one moment."""
        return Metrics(self._get("/metrics"))

    def wait_metric(self, name: str, at_least: float, **labels: str) -> None:
        """Wait until a number has become so high."""
        wait_until(lambda: self.metric(name, **labels) >= at_least, meanwhile=self.process.check)

    def log(self) -> str:
        """All that it has logged so far."""
        return self.process.log.read_text(errors="replace")

    def wait_logged(self, text: str) -> None:
        """Wait until the log has a text."""
        wait_until(lambda: text in self.log())

    def _is_serving(self) -> bool:
        told = re.findall(r'"Serving health and metrics" address="([^"]+)"', self.log())
        self._address = told[-1] if told else ""
        return bool(told)

    def _answers(self, path: str) -> bool:
        try:
            self._get(path)
        except URLError:
            return False
        return True

    def _get(self, path: str) -> str:
        with urlopen(f"http://{self._address}{path}", timeout=10) as answer:
            body: bytes = answer.read()
        return body.decode()


def _complete(config: Config) -> Config:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": -1},
        **config,
    }
