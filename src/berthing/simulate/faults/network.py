"""The way between a client and the API server, on which a request may come to any harm.

    client --- sent ---> (lost, twice, late) ---> carried out ---> (lost, late) --- answer ---> client

A request that is on its way does not depend on its client any more: one that gave up on it, or
died, may still get what it asked for.  Nothing is carried out later than half a minute after it
was sent, for an API server gives up on a request after that time.

Each watch has a lag of its own, so that news of one kind overtake those of another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable
from contextlib import aclosing, asynccontextmanager
from random import Random
from typing import Final, Protocol

import msgspec

from berthing.api.errors import NoAnswerError, NotSentError
from berthing.api.frozen import EMPTY
from berthing.api.meta import Status
from berthing.client.transport import Request, Response, Stream
from berthing.embedded import refusals
from berthing.embedded.pods import PODS
from berthing.embedded.server import ApiServer
from berthing.embedded.watching import Watch
from berthing.simulate.faults.trace import Trace
from berthing.simulate.faults.troubles import Troubles

_LONGEST_SECONDS: Final = 30.0
# How many lines of a watch may be told again.
_REMEMBERED: Final = 10
# Kinds of which there are no objects, or of which nothing changes, have their part in the start of
# a process alone.  There are many of them, and some runs would be over before it had started.
_QUIET: Final = 0.1
_BUSY: Final = ("/pods", "/nodes", "/namespaces", "/events")


class Observer(Protocol):
    """Is told what becomes of requests."""

    def sent(self, call: Call) -> None:
        """A client has sent a request."""
        ...

    def carried_out(self, call: Call, response: Response) -> None:
        """The server has done with it what it does; that may come twice."""
        ...


class Network:
    """Everything between one API server and its clients."""

    def __init__(
        self,
        api: ApiServer,
        *,
        troubles: Troubles,
        chance: Random,
        trace: Trace,
        observer: Observer,
    ) -> None:
        self.api = api
        # None once all is well.
        self.troubles: Troubles | None = troubles
        self.chance = chance
        self.trace = trace
        self.observer = observer
        self.is_up = True
        # Dicts for their order.
        self.calls: dict[Call, None] = {}
        self.lines: dict[Line, None] = {}

    def happens(self, share: float) -> bool:
        """Roll the dice."""
        return share > 0 and self.chance.random() < share

    def latency(self) -> float:
        """How long a message takes."""
        return 0.0005 + 0.02 * self.chance.random() ** 2

    def restart(self, *, seconds: float, forgets: bool) -> None:
        """The server goes down for a while; what is stored stays, what happened may be forgotten."""
        self.trace.tell(f"API server down for {seconds:.1f} s, {'forgets' if forgets else 'keeps'}")
        self.is_up = False
        for call in tuple(self.calls):
            call.break_off()
        for line in tuple(self.lines):
            line.cut()
        self.api.close_watches()
        if forgets:
            self.api.store.compact()
        asyncio.get_running_loop().call_later(seconds, self._up)

    def _up(self) -> None:
        self.trace.tell("API server up")
        self.is_up = True

    def heal(self) -> None:
        """From now on nothing goes wrong; who waits for what does not come learns that."""
        self.troubles = None
        for call in tuple(self.calls):
            if call.is_never_answered:
                call.break_off()
        for line in tuple(self.lines):
            if line.is_silent:
                line.cut()

    def begin(self, transport: FaultyTransport, request: Request) -> Call:
        """A request goes out: decide what becomes of it."""
        call = Call(self, transport, request)
        self.calls[call] = None
        self.observer.sent(call)
        self._decide(call)
        return call

    def _decide(self, call: Call) -> None:
        there, back = self.latency(), self.latency()
        troubles = self.troubles
        weight = _QUIET if call.is_about_little else 1.0

        def happens(share: float) -> bool:
            return self.happens(weight * share)

        if not self.is_up:
            call.fail(there, NotSentError("connection refused"))
        elif troubles is None:
            call.carry_out(there)
            call.answer(there + back)
        elif happens(troubles.refused):
            call.fail(there, NotSentError("connection refused"))
        elif happens(troubles.lost):
            call.fail(there + back, NoAnswerError("connection reset, nothing done"))
        elif happens(troubles.turned_away):
            seconds = self.chance.choice([0, 1, 3])
            call.refuse(there + back, refusals.too_many_requests(retry_after_seconds=seconds))
        elif happens(troubles.failed):
            call.refuse(there + back, self._failure())
        elif call.may_conflict and happens(troubles.conflict):
            refused = refusals.conflict(PODS, call.name, refusals.MODIFIED)
            call.refuse(there + back, refused)
        elif happens(troubles.answer_lost):
            call.carry_out(there)
            call.fail(there + back, NoAnswerError("connection reset, done"))
        elif happens(troubles.carried_out_late):
            call.carry_out(there + self.chance.random())
            call.fail(there, NoAnswerError("connection reset, to be done"))
        elif happens(troubles.failed_and_done):
            call.carry_out(there)
            call.refuse(there + back, self._failure())
        elif happens(troubles.never_answered):
            if happens(0.5):
                call.carry_out(_LONGEST_SECONDS * self.chance.random())
            call.never_answer()
        elif happens(troubles.request_late):
            late = there + 10 * self.chance.random() ** 2
            call.carry_out(late)
            call.answer(late + back)
        elif happens(troubles.answer_late):
            call.carry_out(there)
            call.answer(there + 10 * self.chance.random() ** 2)
        elif call.request.method != "GET" and happens(troubles.duplicated):
            again = there + self.chance.random()
            call.carry_out(there)
            call.carry_out(again)
            # Either answer may be the one that comes through.
            call.answer((again if happens(0.5) else there) + back)
        else:
            call.carry_out(there)
            call.answer(there + back)

    def _failure(self) -> refusals.Refused:
        if self.happens(0.5):
            return refusals.internal_error("etcdserver: leader changed")
        status = Status(status="Failure", code=503, reason="ServiceUnavailable", message="away")
        return refusals.Refused(status)


class FaultyTransport:
    """What one client sends its requests over."""

    def __init__(self, network: Network, owner: str) -> None:
        self._network = network
        self.owner = owner
        self.is_dead = False

    async def send(self, request: Request) -> Response:
        """Send a request and wait for the whole answer."""
        return await self._begin(request).answered

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Stream]:
        """Send a request and read the answer while it comes."""
        call = self._begin(request)
        try:
            whole = await call.answered
        except BaseException:
            call.close_watch()
            raise
        if call.watch is None:
            yield _Whole(whole)
            return
        line = Line(self._network, call.watch, call.what)
        self._network.lines[line] = None
        try:
            async with aclosing(line.reading):
                yield line
        finally:
            call.watch.close()
            del self._network.lines[line]

    async def close(self) -> None:
        """Nothing is kept open that would have to be closed."""

    def die(self) -> None:
        """The client is no more: what it has sent may arrive, and nothing else will come."""
        self.is_dead = True
        for call in tuple(self._network.calls):
            if call.transport is self:
                call.lose_client()

    def _begin(self, request: Request) -> Call:
        if self.is_dead:
            raise NotSentError("this process is dead")
        return self._network.begin(self, request)


class Call:
    """A request on its way."""

    def __init__(self, network: Network, transport: FaultyTransport, request: Request) -> None:
        self._network = network
        self.transport = transport
        self.request = request
        self.binding = _read_binding(request)
        self.answered: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.watch: Watch | None = None
        self.is_never_answered = False
        self._response: Response | None = None
        # When it will be carried out, and when it will be answered.
        self._to_do: deque[asyncio.TimerHandle] = deque()
        self._to_answer: asyncio.TimerHandle | None = None

    @property
    def what(self) -> str:
        """What is asked for, in short."""
        path, _, query = self.request.path.partition("?")
        path = path.removeprefix("/api/v1/").removeprefix("/apis/")
        watches = " (watch)" if "watch=true" in query else ""
        to = f" to {self.binding.target.name}" if self.binding else ""
        return f"{self.transport.owner}: {self.request.method} {path}{watches}{to}"

    @property
    def name(self) -> str:
        """The name of the pod that is written about."""
        return self.request.path.split("/")[6]

    @property
    def is_about_little(self) -> bool:
        """Whether it reads what hardly matters."""
        return not any(kind in self.request.path for kind in _BUSY)

    @property
    def may_conflict(self) -> bool:
        """Whether it writes to what others write to as well."""
        return self.request.path.endswith(("/binding", "/status"))

    @property
    def may_be_carried_out(self) -> bool:
        """Whether it is still on its way to the server."""
        return bool(self._to_do)

    def carry_out(self, seconds: float) -> None:
        """It will reach the server after so many seconds."""
        loop = asyncio.get_running_loop()
        self._to_do.append(loop.call_later(seconds, self._carry_out_next))

    def answer(self, seconds: float) -> None:
        """What the server says will reach the client after so many seconds."""
        self._to_answer = asyncio.get_running_loop().call_later(seconds, self._answer)

    def fail(self, seconds: float, error: Exception) -> None:
        """No answer will come, as the client will know after so many seconds."""
        self._network.trace.tell(f"{self.what}: {error}")
        loop = asyncio.get_running_loop()
        self._to_answer = loop.call_later(seconds, self._finish, error)

    def refuse(self, seconds: float, refused: refusals.Refused) -> None:
        """The server will say no, whatever it does."""
        self._network.trace.tell(f"{self.what}: answered {refused.status.code}")
        response = Response(status=refused.status.code, headers=refused.headers, body=refused.body)
        loop = asyncio.get_running_loop()
        self._to_answer = loop.call_later(seconds, self._finish, response)

    def never_answer(self) -> None:
        """The client will wait for ever, if it wants to."""
        self._network.trace.tell(f"{self.what}: never answered")
        self.is_never_answered = True

    def break_off(self) -> None:
        """The connection breaks off: what has not been done by now may be done at once, or never."""
        while self._to_do:
            self._to_do[0].cancel()
            if self._network.happens(0.5):
                self._carry_out_next()
            else:
                self._to_do.popleft()
        self._finish(NoAnswerError("connection reset"))

    def lose_client(self) -> None:
        """Nobody waits for the answer any more; what is on its way arrives, or does not."""
        if self._network.happens(0.5):
            for timer in self._to_do:
                timer.cancel()
            self._to_do.clear()
        self._finish(NoAnswerError("this process is dead"))

    def close_watch(self) -> None:
        """Nobody reads it."""
        if self.watch is not None:
            self.watch.close()
            self.watch = None

    def _carry_out_next(self) -> None:
        self._to_do.popleft()
        answer = self._network.api.answer(self.request)
        if isinstance(answer, Watch):
            self.watch = answer
            if self.answered.done():
                self.close_watch()
            response = Response(status=200)
        else:
            response = Response(status=answer.status, headers=answer.headers, body=answer.body)
        if self.request.method != "GET":
            self._network.trace.tell(f"{self.what}: {response.status}")
        self._response = response
        self._network.observer.carried_out(self, response)
        self._leave()

    def _answer(self) -> None:
        assert self._response is not None, "what is answered was carried out before"
        self._finish(self._response)

    def _finish(self, outcome: Response | Exception) -> None:
        if self._to_answer is not None:
            self._to_answer.cancel()
            self._to_answer = None
        self.is_never_answered = False
        if outcome is not self._response:
            self.close_watch()
        if not self.answered.done():
            if isinstance(outcome, Exception):
                self.answered.set_exception(outcome)
                # Somebody may have given up waiting in this very moment.
                self.answered.exception()
            else:
                self.answered.set_result(outcome)
        self._leave()

    def _leave(self) -> None:
        is_open = self._to_do or self._to_answer is not None or self.is_never_answered
        if not is_open:
            self._network.calls.pop(self, None)


class Line:
    """A watch as it comes over the network."""

    status = 200
    headers = EMPTY

    def __init__(self, network: Network, watch: Watch, what: str) -> None:
        self._network = network
        self._watch = watch
        self._what = what
        self._is_cut = asyncio.Event()
        self.is_silent = False
        troubles = network.troubles
        self._lag = troubles.lag_seconds * network.chance.random() ** 2 if troubles else 0.0
        self.reading = self._read()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Its pieces; raises NoAnswerError if it breaks off."""
        return self.reading

    def cut(self) -> None:
        """Break off the connection."""
        self._is_cut.set()

    async def _read(self) -> AsyncGenerator[bytes, None]:
        said: deque[bytes] = deque(maxlen=_REMEMBERED)
        async with aclosing(self._watch.__aiter__()) as chunks:
            async for chunk in chunks:
                await self._pause()
                pieces, goes_on = self._harmed(chunk, said)
                for piece in pieces:
                    yield piece
                    await asyncio.sleep(0)
                said.extend(chunk.splitlines(keepends=True))
                if self.is_silent:
                    await self._is_cut.wait()
                self._break_if_cut()
                if not goes_on:
                    return
        self._break_if_cut()

    def _harmed(self, chunk: bytes, said: Collection[bytes]) -> tuple[Iterable[bytes], bool]:
        """What arrives of a piece, and whether anything comes after it."""
        network, troubles = self._network, self._network.troubles
        cut = network.chance.randrange(len(chunk))
        if troubles is None:
            return [chunk], True
        if network.happens(troubles.broken_off):
            self._tell("breaks off")
            self.cut()
            return [chunk[:cut]], False
        if network.happens(troubles.ended):
            self._tell("ends")
            return [chunk[: chunk.rfind(b"\n", 0, cut) + 1]], False
        if network.happens(troubles.silent):
            self._tell("goes silent")
            self.is_silent = True
            return [chunk[:cut]], False
        if network.happens(troubles.repeated):
            self._tell("repeats itself")
            again = network.chance.choices(tuple(said), k=2) if said else ()
            return [chunk, *again], True
        return [chunk[:cut], chunk[cut:]], True

    async def _pause(self) -> None:
        lag = self._lag if self._network.troubles else 0.0
        try:
            async with asyncio.timeout(self._network.latency() + lag):
                await self._is_cut.wait()
        except TimeoutError:
            return
        self._break_if_cut()

    def _break_if_cut(self) -> None:
        if self._is_cut.is_set():
            raise NoAnswerError("connection reset")

    def _tell(self, what: str) -> None:
        self._network.trace.tell(f"{self._what}: {what}")


class _Whole:
    """An answer that came in one piece."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.headers = response.headers
        self._body = response.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body


class _Metadata(msgspec.Struct):
    name: str
    namespace: str
    uid: str = ""


class _Target(msgspec.Struct):
    name: str


class Binding(msgspec.Struct):
    """What a binding asks for."""

    metadata: _Metadata
    target: _Target


def _read_binding(request: Request) -> Binding | None:
    if request.method != "POST" or not request.path.endswith("/binding"):
        return None
    return msgspec.json.decode(request.body, type=Binding)
