"""Log lines, as people and machines read them."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from berthing.serving.logs import LogFormat, configure, set_verbosity
from berthing.telemetry import logs
from berthing.testing import make_node, make_pod

log = logs.get("tests")


@contextmanager
def written(log_format: LogFormat = LogFormat.TEXT, *, verbosity: int = 0) -> Iterator[io.StringIO]:
    """Everything that is logged, in place of pytest's own handlers."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure(log_format, verbosity=verbosity, stream=stream)
    try:
        yield stream
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def line_of(stream: io.StringIO) -> str:
    """The line without severity, time, process and place."""
    return stream.getvalue().rstrip("\n").split("] ", maxsplit=1)[1]


def test_a_line_of_text_is_klogs() -> None:
    with written() as stream:
        log.info("Pod bound", pod="default/web", node="n1", score=7)
    assert re.fullmatch(
        r"I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\]"
        r' "Pod bound" pod="default/web" node="n1" score=7\n',
        stream.getvalue(),
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("a b", '="a b"', id="words"),
        pytest.param('say "hi"', '="say \\"hi\\""', id="quotation marks"),
        pytest.param("", '=""', id="nothing"),
        pytest.param("é", '="é"', id="letters beyond ASCII"),
        pytest.param(3.5, "=3.5", id="number"),
        pytest.param(None, "=null", id="none"),
        pytest.param(["a", 1], '=["a",1]', id="list"),
        pytest.param({"a": (1, 2)}, '={"a":[1,2]}', id="mapping"),
        pytest.param("one\ntwo\n", "=<\n\tone\n\ttwo\n >", id="several lines"),
        pytest.param(make_pod("web", namespace="shop"), '="shop/web"', id="object"),
        pytest.param(make_node("n1"), '="n1"', id="object without namespace"),
        pytest.param(ValueError("too big"), '="too big"', id="error"),
        pytest.param(TimeoutError(), '="TimeoutError"', id="error without text"),
        pytest.param("\ud800", '="\\ud800"', id="half a surrogate pair"),
        pytest.param(object, "=\"<class 'object'>\"", id="anything else"),
    ],
)
def test_values_in_text(value: object, text: str) -> None:
    with written() as stream:
        log.info("Said", key=value)
    assert line_of(stream) == f'"Said" key{text}'


def test_an_error_is_a_value() -> None:
    with written() as stream:
        log.error(OSError("refused"), "Cannot bind", pod="default/web")
    assert stream.getvalue().startswith("E")
    assert line_of(stream) == '"Cannot bind" err="refused" pod="default/web"'


def test_a_failure_without_an_error() -> None:
    with written() as stream:
        log.error(None, "Cannot bind")
    assert line_of(stream) == '"Cannot bind"'


def test_verbosity_decides_what_is_written() -> None:
    with written(verbosity=2) as stream:
        log.v2("told")
        log.v4("not told")
        set_verbosity(4)
        log.v4("told as well")
        assert (log.is_on(4), log.is_on(5)) == (True, False)
    assert re.findall(r'"(.*)"', stream.getvalue()) == ["told", "told as well"]


def test_any_name_may_be_given_to_a_value() -> None:
    with written() as stream:
        log.info("Said", message="a", name="b", msg="c", args="d")
    assert line_of(stream) == '"Said" message="a" name="b" msg="c" args="d"'


def test_a_line_of_json_is_upstreams() -> None:
    with written(LogFormat.JSON, verbosity=2) as stream:
        log.v2("Pod bound", pod=make_pod("web", namespace="shop"), node=make_node("n1"), score=7)
    line = json.loads(stream.getvalue())
    assert list(line) == ["ts", "caller", "msg", "v", "pod", "node", "score"]
    assert re.fullmatch(r"serving/test_logs\.py:\d+", line["caller"])
    assert line["ts"] > 1e12
    assert (line["msg"], line["v"], line["score"]) == ("Pod bound", 2, 7)
    assert line["pod"] == {"name": "web", "namespace": "shop"}
    assert line["node"] == {"name": "n1"}


def test_an_error_in_json_has_no_verbosity() -> None:
    with written(LogFormat.JSON) as stream:
        log.error(ValueError("too big"), "Cannot bind")
    line = json.loads(stream.getvalue())
    assert "v" not in line
    assert line["err"] == "too big"


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_records_of_other_libraries_have_the_same_form(log_format: LogFormat) -> None:
    with written(log_format) as stream:
        logging.getLogger("elsewhere").warning("Lost %d of %d", 1, 2, extra={"host": "a"})
    if log_format is LogFormat.TEXT:
        assert stream.getvalue().startswith("W")
        assert line_of(stream) == '"Lost 1 of 2" host="a"'
    else:
        line = json.loads(stream.getvalue())
        assert (line["msg"], line["host"], line["v"]) == ("Lost 1 of 2", "a", 0)


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_a_traceback_is_kept(log_format: LogFormat) -> None:
    with written(log_format) as stream:
        try:
            int("many")
        except ValueError:
            logging.getLogger("elsewhere").exception("Broke")
    assert "Traceback (most recent call last)" in stream.getvalue()
    if log_format is LogFormat.JSON:
        assert "ValueError: invalid literal" in json.loads(stream.getvalue())["stacktrace"]
