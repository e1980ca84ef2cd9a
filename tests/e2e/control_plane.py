"""A real etcd and kube-apiserver on this machine, and a scheduler's identity there.

    etcd <--unix socket-- kube-apiserver <--TLS--  admin (client certificate, system:masters)
                             | RBAC                scheduler (token of the service account that
                             |                     deploy/rbac.yaml makes, with its rights alone)
                          deploy/rbac.yaml

There is no controller manager and no kubelet: `add_nodes` and `add_namespace` do what those would
have done, and a pod that is bound stays as it is.  Both servers can be stopped, killed and started
again; they keep their data and their addresses.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from berthing.api.core import Namespace, Service
from berthing.api.kinds import KINDS
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.node import Node
from e2e.api_client import MERGE, Access, ApiClient, RefusedError, path
from e2e.binaries import Binaries
from e2e.certificates import Authority, write_signing_key
from e2e.kubeconfigs import write_kubeconfig
from e2e.processes import Process
from e2e.proxy import Proxy
from e2e.waiting import wait_until

RBAC: Final = Path(__file__).parents[2] / "deploy" / "rbac.yaml"
# As RBAC names it.
SERVICE_ACCOUNT: Final = "berthing"

_START_SECONDS: Final = 120.0
# What is not wiped: namespaces would need a controller to end, the last two are in alpha and not served.
_KEPT: Final = frozenset({"Namespace", "Lease", "PodGroup", "Workload"})


class KubectlError(Exception):
    """kubectl failed; the message is what it said."""


class ControlPlane:
    """The servers, and what tests and schedulers need to talk to them.

    kubeconfig            for an administrator
    scheduler_kubeconfig  for a scheduler, with its token in `token_file`
    access, client        the administrator's
    """

    def __init__(self, binaries: Binaries) -> None:
        self.binaries = binaries
        # As short as can be: the path of a unix socket has little room.
        self.directory = Path(tempfile.mkdtemp(prefix="berthing-"))
        self._port = _hold_free_port()
        self._authority = authority = Authority(self.directory)
        admin = authority.client("admin", group="system:masters")
        self._nobody = Access("127.0.0.1", self._port.getsockname()[1], authority.certificate)
        self.access = msgspec.structs.replace(self._nobody, pair=admin)
        self.client = ApiClient(self.access)
        self.kubeconfig = write_kubeconfig(self.directory / "admin.kubeconfig", self.access)
        self.token_file = self.directory / "scheduler.token"
        self.scheduler_kubeconfig = write_kubeconfig(
            self.directory / "scheduler.kubeconfig", self._nobody, token_file=self.token_file
        )
        self._tokens = 0
        self.etcd = Process("etcd", self._etcd(), log=self.directory / "etcd.log")
        self.api_server = Process(
            "kube-apiserver",
            self._api_server(),
            log=self.directory / "kube-apiserver.log",
        )

    def __enter__(self) -> Self:
        try:
            self.start()
            self._prepare()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def start(self) -> None:
        """Start what does not run, and wait until the API server is ready."""
        for process in (self.etcd, self.api_server):
            if not process.is_running:
                process.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the API server says that it is ready."""
        self._wait_for_answer(self.client, "/readyz")

    def kubectl(
        self, *arguments: str | Path, stdin: str = "", kubeconfig: Path | None = None
    ) -> str:
        """What kubectl prints; the administrator's, unless another kubeconfig is given."""
        done = subprocess.run(
            [self.binaries.kubectl, *arguments],
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            # Its caches go to its home.
            env={"HOME": str(self.directory), "KUBECONFIG": str(kubeconfig or self.kubeconfig)},
        )
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def scheduler_client(self) -> ApiClient:
        """A client with the rights of a scheduler, by the token of this moment."""
        token = self.token_file.read_text()
        return ApiClient(msgspec.structs.replace(self._nobody, token=token))

    def proxy(self) -> Proxy:
        """A proxy to the API server, not yet listening, that clients trust as they trust the server."""
        return Proxy(self._nobody, self._authority.server("proxy"))

    def kubeconfig_through(self, proxy: Proxy) -> Path:
        """The scheduler's kubeconfig, but for the way: through a proxy that listens."""
        file = self.directory / "scheduler-proxy.kubeconfig"
        return write_kubeconfig(file, proxy.access, token_file=self.token_file)

    def rotate_token(self) -> None:
        """Replace the token in the file; the API server forgets the old one within seconds.

        A token is good as long as the secret that it is bound to: how the old one is taken back.
        """
        self._tokens += 1
        secret = f"{SERVICE_ACCOUNT}-{self._tokens}"
        self.kubectl("create", "secret", "generic", secret, "-n", "kube-system")
        token = self.kubectl(
            *("create", "token", SERVICE_ACCOUNT, "-n", "kube-system", "--duration=24h"),
            *("--bound-object-kind=Secret", f"--bound-object-name={secret}"),
        )
        # In one step, as kubelets do it: nobody reads half a token.
        new = self.token_file.with_suffix(".new")
        new.write_text(token.strip())
        new.replace(self.token_file)
        if self._tokens > 1:
            old = f"{SERVICE_ACCOUNT}-{self._tokens - 1}"
            self.kubectl("delete", "secret", old, "-n", "kube-system")

    def add_nodes(self, *nodes: Node) -> None:
        """Make nodes that are as they say; admission taints new ones until a controller looks."""
        self.client.create_all(nodes)
        taints = ((path(Node, name=node.name), _taints(node)) for node in nodes)
        self.client.request_all("PATCH", taints, content_type=MERGE)

    def add_namespace(self, name: str, **labels: str) -> None:
        """Make a namespace that takes pods: with the service account that they run as."""
        self.client.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
        self._add_default_account(name)

    def wipe(self) -> None:
        """Take away all that a test can have made, but for namespaces, which nobody would end."""
        for kind in KINDS:
            if kind.kind not in _KEPT:
                self._wipe(
                    kind.type, [obj for obj in self.client.list(kind.type) if _is_of_a_test(obj)]
                )

    def _wipe(self, type_: type[ApiObject], objects: Sequence[ApiObject]) -> None:
        places = {path(type_, obj.namespace, obj.name): obj for obj in objects}
        self.client.request_all("DELETE", ((f"{p}?gracePeriodSeconds=0", b"") for p in places))
        # Whoever was to take the finalizers off is not there.
        held = (place for place, obj in places.items() if obj.metadata.finalizers)
        bare = b'{"metadata":{"finalizers":null}}'
        self.client.request_all("PATCH", ((place, bare) for place in held), content_type=MERGE)

    def _etcd(self) -> list[str | Path]:
        return [
            self.binaries.etcd,
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls={self._etcd_url}",
            # It must look like an address; nobody uses it, for there are no other members.
            "--advertise-client-urls=http://127.0.0.1:0",
            "--listen-peer-urls=http://127.0.0.1:0",
            "--log-level=warn",
            "--unsafe-no-fsync",
            f"--quota-backend-bytes={8 << 30}",
        ]

    def _api_server(self) -> list[str | Path]:
        serving = self._authority.server("kube-apiserver")
        signing_key = write_signing_key(self.directory / "service-accounts.key")
        return [
            self.binaries.kube_apiserver,
            f"--etcd-servers={self._etcd_url}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._nobody.port}",
            "--permit-port-sharing",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            f"--client-ca-file={self._authority.certificate}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={signing_key}",
            f"--service-account-key-file={signing_key}",
            "--service-cluster-ip-range=10.0.0.0/16",
            # A service cannot have an endpoint on loopback.
            "--endpoint-reconciler-type=none",
        ]

    @property
    def _etcd_url(self) -> str:
        return f"unix://{self.directory}/etcd.sock"

    def _prepare(self) -> None:
        needed = {"default", "kube-system"}
        self.client.wait_for(Namespace, lambda found: needed <= found.keys())
        self._add_default_account("default")
        self.kubectl("apply", "-f", RBAC)
        self.rotate_token()
        # The authorizer learns of new bindings by a watch of its own.
        self._wait_for_answer(self.scheduler_client(), path(Node))

    def _wait_for_answer(self, client: ApiClient, where: str) -> None:
        wait_until(
            lambda: _answers(client, where), timeout=_START_SECONDS, meanwhile=self._check_servers
        )

    def _check_servers(self) -> None:
        self.etcd.check()
        self.api_server.check()

    def _add_default_account(self, namespace: str) -> None:
        self.kubectl("create", "serviceaccount", "default", "-n", namespace)

    def _leave(self) -> None:
        # Nobody will read their data: no need to ask nicely.
        for process in (self.api_server, self.etcd):
            if process.is_running:
                process.kill()
        self._port.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def _hold_free_port() -> socket.socket:
    """A port that stays ours while the server on it is down; the server shares it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("127.0.0.1", 0))
    return held


def _answers(client: ApiClient, where: str) -> bool:
    try:
        client.request("GET", where)
    except (OSError, HTTPException, RefusedError):
        return False
    return True


def _taints(node: Node) -> bytes:
    return msgspec.json.encode({"spec": {"taints": node.spec.taints}})


def _is_of_a_test(obj: ApiObject) -> bool:
    is_ours_to_keep = isinstance(obj, Service) and obj.key == "default/kubernetes"
    return not is_ours_to_keep and not obj.name.startswith("system-")
