"""/healthz, /livez and /readyz: named checks, and the words that upstream answers with.

    GET /readyz            ok
    GET /readyz?verbose    [+]ping ok
                           [+]informer-sync ok
                           readyz check passed
    GET /readyz/ping       ok

A failed check makes it 500, with every check told.  Why it failed stands at the check's own path
and in the log: the page of them all is open to everybody.

Upstream: apiserver/pkg/server/healthz/healthz.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

import msgspec

from berthing.serving.http import Handler, Request, Response
from berthing.telemetry import logs

log = logs.get("serving")


class Check(msgspec.Struct, frozen=True):
    """Something that must be well; `find_fault` says what is not, or None."""

    name: str
    find_fault: Callable[[], str | None]


# Well as long as it answers at all.
PING = Check("ping", lambda: None)


def health_routes(path: str, checks: Sequence[Check]) -> Mapping[str, Handler]:
    """The page of all checks, and one for each of them below it."""
    pages: dict[str, Handler] = {f"{path}/{check.name}": _page_of(check) for check in checks}
    return {path: _page_of_all(path.strip("/"), checks), **pages}


def _page_of(check: Check) -> Handler:
    def page(_: Request) -> Response:
        fault = check.find_fault()
        if fault is None:
            return Response(b"ok")
        return _failed(f"internal server error: {fault}")

    return page


def _page_of_all(name: str, checks: Sequence[Check]) -> Handler:
    def page(request: Request) -> Response:
        excluded = set(request.query.get("exclude", ()))
        faults = {check.name: check.find_fault() for check in checks if check.name not in excluded}
        lines = [_line(check.name, faults) for check in checks]
        if unknown := sorted(excluded.difference(check.name for check in checks)):
            names = ",".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}")
        failed = {check: fault for check, fault in faults.items() if fault is not None}
        if failed:
            log.v2("Health check failed", page=name, faults=failed)
            return _failed("\n".join([*lines, f"{name} check failed"]))
        if "verbose" not in request.query:
            return Response(b"ok")
        return Response("\n".join([*lines, f"{name} check passed", ""]).encode())

    return page


def _line(check: str, faults: Mapping[str, str | None]) -> str:
    if check not in faults:
        return f"[+]{check} excluded: ok"
    return f"[+]{check} ok" if faults[check] is None else f"[-]{check} failed: reason withheld"


def _failed(text: str) -> Response:
    return Response(f"{text}\n".encode(), HTTPStatus.INTERNAL_SERVER_ERROR)
