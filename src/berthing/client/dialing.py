"""Opening connections to an API server: straight, or through a proxy, with TLS on top.

Through a proxy, of whatever kind, we ask for a tunnel and talk to the server in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
from typing import Final

from berthing.api.errors import ClientError, NotSentError
from berthing.client.endpoint import Address, Endpoint, parse_address, tls_context
from berthing.client.identity import Certificate
from berthing.client.proxy import PROXY_SCHEMES, TunnelProtocol, open_tunnel

_CONNECT_SECONDS: Final = 15.0
# A server that is gone without a word is found out within a minute.
_KEEPALIVE: Final = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


class Dialer:
    """Opens connections to one API server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.address = parse_address(endpoint.server, schemes=("https", "http"))
        self._proxy = (
            parse_address(endpoint.proxy_url, schemes=PROXY_SCHEMES) if endpoint.proxy_url else None
        )
        self._server_name = endpoint.tls_server_name or self.address.host
        self._certificate: Certificate | None = None
        self._context: ssl.SSLContext | None = None

    async def dial(self, protocol: asyncio.Protocol, certificate: Certificate | None) -> None:
        """Connect a protocol to the server; raises NotSentError if that cannot be done."""
        context = self._tls_context(certificate)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                if self._proxy is None:
                    transport = await self._connected(protocol, context)
                else:
                    transport = await self._tunnelled(self._proxy, protocol, context)
        except ClientError:
            raise
        except TimeoutError as error:
            raise self._failure(f"no connection in {_CONNECT_SECONDS:g} s") from error
        except OSError as error:
            raise self._failure(_reason(error)) from error
        _keep_alive(transport)

    def _tls_context(self, certificate: Certificate | None) -> ssl.SSLContext | None:
        if self.address.scheme != "https":
            return None
        if self._context is None or certificate != self._certificate:
            self._context = tls_context(self._endpoint, certificate)
            self._certificate = certificate
        return self._context

    async def _connected(
        self, protocol: asyncio.Protocol, context: ssl.SSLContext | None
    ) -> asyncio.BaseTransport:
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: protocol,
            self.address.host,
            self.address.port,
            ssl=context,
            server_hostname=self._server_name if context else None,
        )
        return transport

    async def _tunnelled(
        self, proxy: Address, protocol: asyncio.Protocol, context: ssl.SSLContext | None
    ) -> asyncio.BaseTransport:
        loop = asyncio.get_running_loop()
        tunnel: asyncio.Transport
        tunnel, handshake = await loop.create_connection(
            TunnelProtocol,
            proxy.host,
            proxy.port,
            ssl=ssl.create_default_context() if proxy.scheme == "https" else None,
        )
        try:
            await open_tunnel(handshake, proxy, self.address)
            transport = await self._through(tunnel, protocol, context)
        except BaseException:
            tunnel.abort()
            raise
        protocol.connection_made(transport)
        return transport

    async def _through(
        self, tunnel: asyncio.Transport, protocol: asyncio.Protocol, context: ssl.SSLContext | None
    ) -> asyncio.BaseTransport:
        if context is None:
            tunnel.set_protocol(protocol)
            return tunnel
        transport = await asyncio.get_running_loop().start_tls(
            tunnel, protocol, context, server_hostname=self._server_name
        )
        if transport is None:
            raise ConnectionResetError("the connection broke off during the TLS handshake")
        return transport

    def _failure(self, why: str) -> NotSentError:
        through = f" through proxy {self._proxy.host_and_port}" if self._proxy else ""
        return NotSentError(f"cannot connect to {self._endpoint.server}{through}: {why}")


def _reason(error: OSError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"the TLS handshake failed: {error.reason or error}"
        case OSError(errno=int(number)) if number in errno.errorcode:
            # asyncio puts a text of its own in the place of the system's.
            return os.strerror(number)
        case _:
            return error.strerror or str(error) or type(error).__name__


def _keep_alive(transport: asyncio.BaseTransport) -> None:
    sock = transport.get_extra_info("socket")
    if sock is None:
        return
    # Not every system has, or grants, all of them.
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
