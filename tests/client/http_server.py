"""An HTTP server on loopback, with TLS, that says byte for byte what a test wants it to say."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from berthing.client.endpoint import Endpoint
from berthing.client.http_transport import HttpTransport
from berthing.client.identity import Certificate, Credentials, Identity
from client.certificates import authority, server_certificate


class Talk:
    """One connection, from the server's side."""

    def __init__(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # The first connection is 1.
        self.number = number
        self.reader = reader
        self.writer = writer

    async def request(self) -> str:
        """Wait for a request; its head and body."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return head + body.decode()

    async def say(self, text: str | bytes) -> None:
        self.writer.write(text.encode() if isinstance(text, str) else text)
        await self.writer.drain()

    async def answer(self, body: str = "{}", *, status: int = 200, headers: str = "") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        await self.say(head + body)

    async def closed(self) -> None:
        """Wait until the client has closed its side."""
        while await self.reader.read(1 << 16):
            pass

    def user(self) -> str:
        """The common name in the client's certificate."""
        shown: Any = self.writer.get_extra_info("peercert") or {"subject": ()}
        names: dict[str, str] = dict(part[0] for part in shown["subject"])
        return names.get("commonName", "")


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that shows in no event, such as what the system tells of a socket."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


Story = Callable[[Talk], Awaitable[None]]


class Server:
    """What a test needs to know of the server."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def endpoint(self, **fields: Any) -> Endpoint:
        trusted = {"server": self.url, "certificate_authority": authority().pem}
        return Endpoint(**(trusted | fields))


@asynccontextmanager
async def serving(story: Story, *, tls: bool = True) -> AsyncIterator[Server]:
    """Serve each connection with the story; it ends with the story."""
    server = Server()
    failures: list[BaseException] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        server.writers.append(writer)
        try:
            await story(Talk(server.connections, reader, writer))
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # The client has left.
        except AssertionError as error:
            failures.append(error)
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    context = server_context() if tls else None
    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for writer in server.writers:
            writer.transport.abort()
        await listening.wait_closed()
    assert not failures, failures


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = server_certificate()
    with tempfile.TemporaryDirectory() as folder:
        chain, key = Path(folder, "chain"), Path(folder, "key")
        chain.write_bytes(certificate.certificate)
        key.write_bytes(certificate.key)
        context.load_cert_chain(chain, key)
    context.load_verify_locations(cadata=authority().pem.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


class Users:
    """Credentials that are one user after the other, as they are refused."""

    def __init__(self, *identities: Identity) -> None:
        self.identities = list(identities) or [Identity()]

    async def identity(self) -> Identity:
        return self.identities[0]

    def refused(self, identity: Identity) -> bool:
        if len(self.identities) > 1:
            self.identities.remove(identity)
            return True
        return False


def bearer(token: str, certificate: Certificate | None = None) -> Identity:
    return Identity((("authorization", f"Bearer {token}"),), certificate)


@asynccontextmanager
async def transport_to(
    endpoint: Endpoint, credentials: Credentials | None = None
) -> AsyncIterator[HttpTransport]:
    transport = HttpTransport(endpoint, credentials or Users(), user_agent="test")
    try:
        yield transport
    finally:
        await transport.close()
