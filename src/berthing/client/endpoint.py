"""Where an API server is, how to reach it, and how to know that it is the right one."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from berthing.api.errors import CredentialsError
from berthing.client.identity import Certificate


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An address, and what is needed to trust whoever answers there."""

    # https://10.0.0.1:6443, perhaps with a path that all requests begin with.
    server: str
    # PEM; empty for the authorities that the system trusts.
    certificate_authority: bytes = b""
    insecure_skip_tls_verify: bool = False
    # The name in the server's certificate, if it is not the one in its URL.
    tls_server_name: str = ""
    # http://, https:// or socks5://, perhaps with user:password; empty for none.
    proxy_url: str = ""


class Address(msgspec.Struct, frozen=True):
    """The parts of a URL that matter to whoever opens a connection."""

    scheme: str
    host: str
    port: int
    path: str
    username: str
    password: str

    @property
    def host_and_port(self) -> str:
        """As in a Host header: `[::1]:6443`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


def parse_address(url: str, *, schemes: tuple[str, ...]) -> Address:
    """Take a URL apart; raises ValueError with what is wrong about it."""
    expected = " or ".join(f"{scheme}://" for scheme in schemes)
    # As client-go does, take host:port for a URL without its scheme.
    parts = urlsplit(url if "://" in url else f"{schemes[0]}://{url}")
    if parts.scheme not in schemes:
        raise ValueError(f"expected a URL that begins with {expected}, got {url!r}")
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r}: {error}") from error
    if not parts.hostname:
        raise ValueError(f"{url!r} names no host")
    return Address(
        parts.scheme,
        parts.hostname,
        port or _PORTS[parts.scheme],
        parts.path.rstrip("/"),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def tls_context(endpoint: Endpoint, certificate: Certificate | None) -> ssl.SSLContext:
    """How to greet the server, and whom to take for it; raises ValueError for what is no PEM."""
    # Comments beside the certificates may be in any language.
    authority = endpoint.certificate_authority.decode("ascii", errors="ignore")
    try:
        context = ssl.create_default_context(cadata=authority or None)
    except ssl.SSLError as error:
        raise ValueError(f"it is no PEM certificate: {error.reason or error}") from error
    # We speak nothing else, and some balancers want to hear it.
    context.set_alpn_protocols(["http/1.1"])
    if endpoint.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _show(certificate, context)
    return context


def _show(certificate: Certificate, context: ssl.SSLContext) -> None:
    # OpenSSL takes the two from files only.
    with tempfile.TemporaryDirectory(prefix="berthing-") as folder:
        files = Path(folder, "certificate"), Path(folder, "key")
        for file, text in zip(files, (certificate.certificate, certificate.key), strict=True):
            file.touch(mode=0o600)
            file.write_bytes(text)
        try:
            context.load_cert_chain(*files, password=_no_password)
        except (ssl.SSLError, OSError) as error:
            message = f"the client certificate and its key are no matching PEM pair: {error}"
            raise CredentialsError(message) from error


def _no_password() -> str:
    # Or OpenSSL asks for one at the terminal.
    raise OSError("the key has a password")
