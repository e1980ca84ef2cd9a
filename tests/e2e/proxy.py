"""Stands between a scheduler and the real API server, and makes the network as bad as a test wants it.

    scheduler --TLS--> Proxy --TLS--> kube-apiserver
                         |
                       rules: hold a request back, answer in the server's place, keep an answer for
                              itself, cut a stream in the middle of a line

What no rule asks for passes as it came, tokens included.  The proxy runs in a thread of its own; rules
come and go while it runs, each for as long as its `with` block.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from e2e.api_client import Access
from e2e.certificates import Pair
from e2e.waiting import wait_until

R = TypeVar("R", bound="Rule")
T = TypeVar("T")

_LARGEST: Final = 64 << 20
_PIECE: Final = 1 << 16
_LAST_CHUNK: Final = b"0\r\n\r\n"


class Request(msgspec.Struct, frozen=True):
    """What is asked: a method, and a path with its query."""

    method: str
    target: str

    @property
    def path(self) -> str:
        """The path alone."""
        return self.target.partition("?")[0]

    @property
    def is_watch(self) -> bool:
        """Whether the answer is one that goes on."""
        return "watch=true" in self.target


class Answer(msgspec.Struct, frozen=True):
    """An answer that no API server gave."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b"{}"

    def encoded(self) -> bytes:
        """The answer as it is sent."""
        headers = {"Content-Length": str(len(self.body)), **self.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 {self.status} X\r\n{lines}\r\n".encode() + self.body


Wanted = Callable[[Request], bool]


def is_binding(request: Request) -> bool:
    """Whether a pod is to be bound by it."""
    return request.method == "POST" and request.path.endswith("/binding")


def is_pod_watch(request: Request) -> bool:
    """Whether pods are watched by it."""
    return request.is_watch and request.path == "/api/v1/pods"


class Rule:
    """What is done with the requests that it wants; this one does nothing but count them."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.count = 0

    async def asked(self, request: Request) -> Answer | None:
        """Before the server hears of it: an answer in its place, or None."""
        self.count += 1
        return None

    def answered(self, status: int) -> bool:
        """Whether the server's answer is handed on; if not, the connection breaks."""
        return True

    def passes(self, piece: bytes) -> int:
        """How much of a piece of the answer is handed on before the connection breaks."""
        return len(piece)


class Held(Rule):
    """Requests that wait until the rule ends, but for the first so many."""

    def __init__(self, wanted: Wanted, but_for: int) -> None:
        super().__init__(wanted)
        self._left = but_for
        self.released = asyncio.Event()

    async def asked(self, request: Request) -> None:
        """Wait."""
        if self._left:
            self._left -= 1
            return
        self.count += 1
        await self.released.wait()

    def wait_for(self, count: int) -> None:
        """Return once so many requests wait here."""
        wait_until(lambda: self.count >= count)


class Answered(Rule):
    """Requests that the server never sees; each is answered so the first `times`, or always."""

    def __init__(self, wanted: Wanted, answer: Answer, times: int | None) -> None:
        super().__init__(wanted)
        self._answer = answer
        self._times = times
        self._asked: dict[tuple[str, str], int] = {}

    async def asked(self, request: Request) -> Answer | None:
        """The answer, unless this was asked often enough."""
        what = (request.method, request.path)
        self._asked[what] = self._asked.get(what, 0) + 1
        if self._times is not None and self._asked[what] > self._times:
            return None
        self.count += 1
        return self._answer


class Lost(Rule):
    """Requests that the server carries out, and whose answers nobody hears: one for each path."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__(wanted)
        self._lost: set[str] = set()
        self._is_new = False

    async def asked(self, request: Request) -> None:
        """Note whether it is the first of its path."""
        self._is_new = request.path not in self._lost
        self._lost.add(request.path)

    def answered(self, status: int) -> bool:
        """Keep the answer."""
        self.count += self._is_new
        return not self._is_new


class Cut(Rule):
    """Streams that break in the middle of what comes next, and all that are opened after that."""

    def passes(self, piece: bytes) -> int:
        """Half of it."""
        return len(piece) // 2


class Seen(msgspec.Struct, frozen=True):
    """A request and how it was answered."""

    request: Request
    status: int


class Proxy:
    """Listens on a free port of loopback as long as its `with` block lasts.

    seen  what was asked and how it was answered, in the order of answers
    """

    def __init__(self, server: Access, pair: Pair) -> None:
        self._server = server
        self._to_server = server.context()
        self._serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._serving.load_cert_chain(pair.certificate, pair.key)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._rules: list[Rule] = []
        self._talks: set[asyncio.Task[None]] = set()
        self._streams: dict[asyncio.StreamWriter, Request] = {}
        self.seen: list[Seen] = []
        # Where clients find it.
        self.access = server

    def __enter__(self) -> Self:
        self._thread.start()
        port = self._run(self._listen())
        self.access = msgspec.structs.replace(self._server, port=port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def holding(self, wanted: Wanted, *, but_for: int = 0) -> Iterator[Held]:
        """Hold such requests back until the end of the block, all or all but the first so many."""
        held = Held(wanted, but_for)
        try:
            with self._rule(held):
                yield held
        finally:
            self._loop.call_soon_threadsafe(held.released.set)

    @contextmanager
    def answering(
        self, wanted: Wanted, answer: Answer, *, times: int | None = None
    ) -> Iterator[Answered]:
        """Answer such requests; with `times`, only so many of each method and path."""
        with self._rule(Answered(wanted, answer, times)) as rule:
            yield rule

    @contextmanager
    def losing_answers(self, wanted: Wanted) -> Iterator[Lost]:
        """Have such requests carried out, and break the connection in place of the first answers."""
        with self._rule(Lost(wanted)) as rule:
            yield rule

    @contextmanager
    def cutting(self, wanted: Wanted) -> Iterator[Cut]:
        """Break such streams in the middle of the next line, as often as they are opened anew."""
        with self._rule(Cut(wanted)) as rule:
            yield rule

    def break_off(self, wanted: Wanted) -> int:
        """Break such streams now, and tell how many there were."""
        return self._run(self._break_off(wanted))

    def statuses(self, wanted: Wanted) -> list[int]:
        """How such requests were answered."""
        return [each.status for each in list(self.seen) if wanted(each.request)]

    @contextmanager
    def _rule(self, rule: R) -> Iterator[R]:
        self._rules.append(rule)
        try:
            yield rule
        finally:
            self._rules.remove(rule)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _listen(self) -> int:
        self._listening = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, ssl=self._serving, limit=_LARGEST
        )
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        self._listening.close()
        # Who was shaking hands when we closed comes in yet.
        while self._talks:
            for talk in self._talks:
                talk.cancel()
            await asyncio.wait(self._talks)

    async def _break_off(self, wanted: Wanted) -> int:
        broken = [writer for writer, request in self._streams.items() if wanted(request)]
        for writer in broken:
            writer.transport.abort()
        return len(broken)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not a coroutine, so that the task is ours to cancel.
        talk = self._loop.create_task(self._talk(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client, and ours to the server for it."""
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        try:
            while True:
                head, headers = await _read_head(reader)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, target, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
                request = Request(method, target)
                rules = [rule for rule in self._rules if rule.wanted(request)]
                if answer := await _first_answer(rules, request):
                    self.seen.append(Seen(request, answer.status))
                    writer.write(answer.encoded())
                    continue
                server = server or await self._connect()
                server[1].write(head + body)
                await self._hand_on(request, rules, server[0], writer)
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # Either side has gone; so will the other.
        finally:
            self._streams.pop(writer, None)
            for each in (writer, *(server or ())[1:]):
                if isinstance(each, asyncio.StreamWriter):
                    each.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        server = self._server
        return await asyncio.open_connection(
            server.host, server.port, ssl=self._to_server, limit=_LARGEST
        )

    async def _hand_on(
        self,
        request: Request,
        rules: list[Rule],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        head, headers = await _read_head(reader)
        status = int(head.split(b" ", 2)[1])
        self.seen.append(Seen(request, status))
        if not all(rule.answered(status) for rule in rules):
            raise EOFError
        writer.write(head)
        if request.is_watch:
            self._streams[writer] = request
        async for piece in _body(reader, headers):
            # A rule may have come since the stream was opened.
            rules = [rule for rule in self._rules if rule.wanted(request)]
            part = min([rule.passes(piece) for rule in rules], default=len(piece))
            writer.write(piece[:part])
            await writer.drain()
            if part < len(piece):
                for rule in rules:
                    rule.count += isinstance(rule, Cut)
                # What was handed on has to get there.
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
                raise EOFError
        self._streams.pop(writer, None)


async def _first_answer(rules: list[Rule], request: Request) -> Answer | None:
    for rule in rules:
        if answer := await rule.asked(request):
            return answer
    return None


async def _read_head(reader: asyncio.StreamReader) -> tuple[bytes, dict[str, str]]:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")[1:]
    fields = (line.partition(":") for line in lines if line)
    return head, {name.lower(): value.strip() for name, _, value in fields}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """The body of an answer in pieces as they came."""
    if headers.get("transfer-encoding") == "chunked":
        piece = b""
        while piece != _LAST_CHUNK:
            size = await reader.readuntil(b"\r\n")
            piece = size + await reader.readexactly(int(size, 16) + len(b"\r\n"))
            yield piece
        return
    left = int(headers.get("content-length", 0))
    while left:
        piece = await reader.readexactly(min(left, _PIECE))
        left -= len(piece)
        yield piece
