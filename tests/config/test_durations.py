import pytest

from berthing.config.durations import Duration

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        pytest.param("15s", 15 * SECOND, id="seconds"),
        pytest.param("1h2m3s4ms5us6ns", 3723 * SECOND + 4_005_006, id="every unit once"),
        pytest.param("1h1h", 7200 * SECOND, id="a unit twice adds up"),
        pytest.param("5s1h", 3605 * SECOND, id="units in any order"),
        pytest.param("1.5h", 5400 * SECOND, id="a fraction"),
        pytest.param(".5s", SECOND // 2, id="nothing before the point"),
        pytest.param("5.s", 5 * SECOND, id="nothing after the point"),
        pytest.param("-1.5s", -3 * SECOND // 2, id="negative"),
        pytest.param("+1s", SECOND, id="a plus sign"),
        pytest.param("0", 0, id="zero needs no unit"),
        pytest.param("-0", 0, id="nor does minus zero"),
        pytest.param("1µs", 1000, id="the micro sign"),
        pytest.param("1μs", 1000, id="the Greek letter mu"),
        pytest.param("1.9ns", 1, id="parts of a nanosecond are cut off"),
        pytest.param("0.100000000000000000000h", 360 * SECOND, id="more digits than count"),
        pytest.param("0.9223372036854775809s", 922337203, id="a fraction beyond int64"),
        pytest.param("9223372036854775807ns", 2**63 - 1, id="the longest"),
        pytest.param("-9223372036854775808ns", -(2**63), id="the longest back"),
        pytest.param("0000000000000000000000000000001s", SECOND, id="leading zeros"),
    ],
)
def test_reads(text: str, nanoseconds: int) -> None:
    assert Duration.parse(text) == Duration(nanoseconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", 'invalid duration ""', id="nothing"),
        pytest.param("-", 'invalid duration "-"', id="a sign only"),
        pytest.param("1", 'missing unit in duration "1"', id="no unit"),
        pytest.param("1h30", 'missing unit in duration "1h30"', id="no unit at the end"),
        pytest.param("1d", 'unknown unit "d" in duration "1d"', id="days"),
        pytest.param("1S", 'unknown unit "S" in duration "1S"', id="units are case-sensitive"),
        pytest.param("1 s", 'unknown unit " s" in duration "1 s"', id="a blank before the unit"),
        pytest.param("1s ", 'unknown unit "s " in duration "1s "', id="a blank at the end"),
        pytest.param("s", 'invalid duration "s"', id="a unit only"),
        pytest.param(".s", 'invalid duration ".s"', id="a point only"),
        pytest.param("--1s", 'invalid duration "--1s"', id="two signs"),
        pytest.param("1h-5m", 'unknown unit "h-" in duration "1h-5m"', id="a sign inside"),
        pytest.param("1e3s", 'unknown unit "e" in duration "1e3s"', id="an exponent"),
        pytest.param("٣s", 'invalid duration "\\xd9\\xa3s"', id="digits of another script"),
        pytest.param('1"', 'unknown unit "\\"" in duration "1\\""', id="quotes"),
        pytest.param(
            "9223372036854775808ns",
            'invalid duration "9223372036854775808ns"',
            id="one nanosecond too long",
        ),
        pytest.param("2562048h", 'invalid duration "2562048h"', id="too many hours"),
        pytest.param("1" * 5000 + "s", f'invalid duration "{"1" * 5000}s"', id="too many digits"),
        pytest.param(
            "9223372036854775808ns9223372036854775808ns",
            'invalid duration "9223372036854775808ns9223372036854775808ns"',
            id="parts that would wrap around",
        ),
    ],
)
def test_refuses_in_the_words_of_go(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^time: ") as caught:
        Duration.parse(text)
    assert str(caught.value) == f"time: {message}"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        pytest.param(0, "0s", id="nothing"),
        pytest.param(1, "1ns", id="a nanosecond"),
        pytest.param(1100, "1.1µs", id="microseconds"),
        pytest.param(-287_000_000, "-287ms", id="milliseconds back"),
        pytest.param(2_200_000, "2.2ms", id="milliseconds and a fraction"),
        pytest.param(15 * SECOND, "15s", id="seconds"),
        pytest.param(1_500_000_000, "1.5s", id="seconds and a fraction"),
        pytest.param(60 * SECOND, "1m0s", id="a minute"),
        pytest.param(600 * SECOND, "10m0s", id="minutes"),
        pytest.param(3600 * SECOND + 1, "1h0m0.000000001s", id="an hour and a nanosecond"),
        pytest.param(90_000 * SECOND, "25h0m0s", id="there are no days"),
        pytest.param(2**63 - 1, "2562047h47m16.854775807s", id="the longest"),
        pytest.param(-(2**63), "-2562047h47m16.854775808s", id="the longest back"),
    ],
)
def test_prints_as_go_does(nanoseconds: int, text: str) -> None:
    assert str(Duration(nanoseconds)) == text


def test_is_made_from_seconds_minutes_and_milliseconds() -> None:
    assert Duration.seconds(0.5) == Duration.milliseconds(500) == Duration.parse("500ms")
    assert Duration.minutes(10) == Duration.parse("10m")


def test_tells_its_seconds() -> None:
    assert Duration.parse("1m0.25s").total_seconds == 60.25


def test_no_time_is_false() -> None:
    assert not Duration()
    assert Duration(-1)


def test_is_ordered_by_length() -> None:
    assert Duration.parse("-1h") < Duration.parse("1ns") < Duration.parse("1us")
