"""The form of log lines: klog's text, or JSON as `--logging-format json` makes it upstream.

    I1119 02:03:04.567890   12345 schedule_one.py:123] "Pod bound" pod="default/web" node="n1"
    {"ts":1795053784567.89,"caller":"scheduler/schedule_one.py:123","msg":"Pod bound","v":0,"pod":
     {"name":"web","namespace":"default"},"node":"n1"}

A record of another library has the same form: what it passed as `extra` are its values.

Upstream: klog/v2/internal/serialize, component-base/logs/json (v1.36.4).
Differs:  a traceback, where a record has one, follows in lines of its own (text) or as `stacktrace`.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, TextIO

import msgspec

from berthing.telemetry.logs import VALUES, level_of


class LogFormat(StrEnum):
    """What `--logging-format` may be."""

    TEXT = "text"
    JSON = "json"


def configure(log_format: LogFormat, *, verbosity: int = 0, stream: TextIO | None = None) -> None:
    """Write all logs of this process to a stream (standard error), in place of what was set up."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format is LogFormat.JSON else KlogFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    set_verbosity(verbosity)


def set_verbosity(verbosity: int) -> None:
    """Write records up to this verbosity from now on."""
    logging.getLogger().setLevel(level_of(verbosity))


class KlogFormatter(logging.Formatter):
    """Lines as klog writes them."""

    def format(self, record: logging.LogRecord) -> str:
        """Make the line of a record."""
        values = "".join(f" {key}{_as_text(value)}" for key, value in _values(record).items())
        line = f"{_klog_header(record)} {_quoted(record.getMessage())}{values}"
        trace = _traceback(self, record)
        return f"{line}\n{trace}" if trace else line


class JsonFormatter(logging.Formatter):
    """An object of JSON per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Make the line of a record."""
        line: dict[str, object] = {
            "ts": round(record.created * 1e3, 3),
            "caller": f"{Path(record.pathname).parent.name}/{record.filename}:{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno < logging.ERROR:
            line["v"] = _verbosity(record)
        line.update((key, _as_json(value)) for key, value in _values(record).items())
        if trace := _traceback(self, record):
            line["stacktrace"] = trace
        return _encoded(line)


# What every record has; anything else came as `extra`.
_OWN_ATTRIBUTES: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    VALUES,
}


def _values(record: logging.LogRecord) -> dict[str, object]:
    named: Mapping[str, object] = getattr(record, VALUES, {})
    extra = {key: value for key, value in vars(record).items() if key not in _OWN_ATTRIBUTES}
    return {**named, **extra}


def _verbosity(record: logging.LogRecord) -> int:
    return max(logging.INFO - record.levelno, 0)


def _klog_header(record: logging.LogRecord) -> str:
    moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
    microseconds = int(record.created % 1 * 1e6)
    return (
        f"{_severity(record)}{moment}.{microseconds:06} {record.process:7}"
        f" {record.filename}:{record.lineno}]"
    )


def _severity(record: logging.LogRecord) -> str:
    if record.levelno >= logging.ERROR:
        return "E"
    return "W" if record.levelno >= logging.WARNING else "I"


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info else ""


def _as_text(value: object) -> str:
    """`="value"`; text of several lines stands between brackets, each line behind a tab."""
    reference = _reference(value)
    if reference is not None:
        return f"={_quoted('/'.join(filter(None, reference)))}"
    if isinstance(value, BaseException):
        value = _told(value)
    if isinstance(value, str) and "\n" in value:
        lines = "".join(f"\t{line}\n" for line in value.removesuffix("\n").split("\n"))
        return f"=<\n{lines} >"
    return f"={_encoded(value)}"


def _as_json(value: object) -> object:
    reference = _reference(value)
    if reference is None:
        return _told(value) if isinstance(value, BaseException) else value
    namespace, name = reference
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def _reference(value: object) -> tuple[str, str] | None:
    """Namespace and name of an API object; None for anything else."""
    metadata = getattr(value, "metadata", None)
    name = getattr(metadata, "name", None)
    return (getattr(metadata, "namespace", ""), name) if isinstance(name, str) else None


def _told(error: BaseException) -> str:
    # Timeouts and the like have no text of their own.
    return str(error) or type(error).__name__


def _encoded(value: object) -> str:
    """A value as JSON; whatever JSON has no form for, as text."""
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        return json.dumps(value, default=str, skipkeys=True)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
