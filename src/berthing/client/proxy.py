"""Asking a proxy for a tunnel: CONNECT of HTTP proxies, and SOCKS5 (RFC 1928, 1929)."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import Final, cast

from berthing.api.errors import NotSentError
from berthing.client.endpoint import Address

PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
# A proxy that says more than this before it opens the tunnel is none.
_MAX_ANSWER_BYTES: Final = 65536
_OPENED: Final = re.compile(rb"HTTP/1\.[01] 2\d\d\b")


class TunnelProtocol(asyncio.Protocol):
    """What is said with the proxy until the tunnel is open."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._is_over = False
        self._news = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The proxy has accepted the connection."""
        # Of uvloop's transports, those with TLS are no instances of it.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep what the proxy says."""
        self._received += data
        self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        """The proxy says no more."""
        self._is_over = True
        self._news.set()

    def write(self, data: bytes) -> None:
        """Send to the proxy."""
        assert self._transport is not None, "it has been connected"
        self._transport.write(data)

    async def read_until(self, end: bytes) -> bytes:
        """What the proxy says, up to and with `end`."""
        while (at := self._received.find(end)) < 0:
            await self._more()
        return self._take(at + len(end))

    async def read(self, count: int) -> bytes:
        """So many bytes of what the proxy says."""
        while len(self._received) < count:
            await self._more()
        return self._take(count)

    async def _more(self) -> None:
        if self._is_over or len(self._received) > _MAX_ANSWER_BYTES:
            raise NotSentError("the proxy does not answer as a proxy does")
        self._news.clear()
        await self._news.wait()

    def _take(self, count: int) -> bytes:
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


async def open_tunnel(tunnel: TunnelProtocol, proxy: Address, server: Address) -> None:
    """Ask for a tunnel; raises NotSentError with the proxy's reason if there is none."""
    try:
        if proxy.scheme in ("http", "https"):
            await _connect(tunnel, proxy, server)
        else:
            await _socks5(tunnel, proxy, server)
    except NotSentError as error:
        message = (
            f"cannot reach {server.host_and_port} through proxy {proxy.host_and_port}: {error}"
        )
        raise NotSentError(message) from error


async def _connect(tunnel: TunnelProtocol, proxy: Address, server: Address) -> None:
    lines = [f"CONNECT {server.host_and_port} HTTP/1.1", f"Host: {server.host_and_port}"]
    if proxy.username:
        plain = f"{proxy.username}:{proxy.password}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(plain).decode()}")
    tunnel.write("\r\n".join((*lines, "\r\n")).encode("latin-1"))
    answer = await tunnel.read_until(b"\r\n\r\n")
    if not _OPENED.match(answer):
        raise NotSentError(f"it answers {answer.splitlines()[0].decode(errors='replace')!r}")


_VERSION: Final = 5
_NO_LOGIN, _LOGIN = 0, 2
_CONNECT: Final = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REASONS: Final = {
    1: "it failed",
    2: "its rules forbid it",
    3: "it cannot reach the network",
    4: "it cannot reach the host",
    5: "the host refused the connection",
    6: "the host did not answer in time",
}


async def _socks5(tunnel: TunnelProtocol, proxy: Address, server: Address) -> None:
    methods = (_NO_LOGIN, _LOGIN) if proxy.username else (_NO_LOGIN,)
    tunnel.write(bytes((_VERSION, len(methods), *methods)))
    version, method = await tunnel.read(2)
    if version != _VERSION or method not in methods:
        raise NotSentError("it is no SOCKS5 proxy, or wants another kind of login")
    if method == _LOGIN:
        username, password = proxy.username.encode(), proxy.password.encode()
        tunnel.write(b"\x01" + _counted(username) + _counted(password))
        if (await tunnel.read(2))[1] != 0:
            raise NotSentError("it does not accept the user name and password")
    # By name, so that the proxy resolves it: often nobody else can.
    name = _counted(server.host.encode("idna"))
    tunnel.write(bytes((_VERSION, _CONNECT, 0, _NAME)) + name + server.port.to_bytes(2, "big"))
    _, reply, _, kind = await tunnel.read(4)
    if reply != 0:
        raise NotSentError(_REASONS.get(reply, f"it answers with code {reply}"))
    length = {_IPV4: 4, _IPV6: 16}.get(kind) or (await tunnel.read(1))[0]
    await tunnel.read(length + 2)


def _counted(text: bytes) -> bytes:
    return bytes((len(text),)) + text
