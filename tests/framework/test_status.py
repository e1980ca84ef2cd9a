from __future__ import annotations

import pytest

from berthing.framework import SUCCESS, Code, Status


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (Code.SUCCESS, "Success"),
        (Code.ERROR, "Error"),
        (Code.UNSCHEDULABLE, "Unschedulable"),
        (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "UnschedulableAndUnresolvable"),
        (Code.WAIT, "Wait"),
        (Code.SKIP, "Skip"),
        (Code.PENDING, "Pending"),
    ],
)
def test_codes_have_upstreams_names(code: Code, text: str) -> None:
    assert str(code) == text


def test_codes_have_upstreams_numbers() -> None:
    assert [int(code) for code in Code] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("status", "rejected"),
    [
        pytest.param(SUCCESS, False, id="success"),
        pytest.param(Status.skip(), False, id="skip"),
        pytest.param(Status.from_error(ValueError("x")), False, id="an error is no rejection"),
        pytest.param(Status.unschedulable("x"), True, id="unschedulable"),
        pytest.param(Status.unresolvable("x"), True, id="unresolvable"),
        pytest.param(Status.pending("x"), True, id="pending"),
    ],
)
def test_is_rejected(status: Status, rejected: bool) -> None:
    assert status.is_rejected is rejected


def test_message_joins_the_reasons() -> None:
    assert Status.unschedulable("Insufficient cpu", "Too many pods").message == (
        "Insufficient cpu, Too many pods"
    )


def test_message_of_an_error_starts_with_its_text() -> None:
    status = Status(Code.ERROR, ("while looking",), error=ValueError("no such claim"))
    assert status.message == "no such claim, while looking"


def test_an_error_without_words_tells_its_type() -> None:
    assert Status.from_error(ZeroDivisionError()).message == "ZeroDivisionError"


def test_by_stamps_the_plugin_and_keeps_the_rest() -> None:
    status = Status.unresolvable("x")
    assert status.by("NodeName") == Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("x",), plugin="NodeName"
    )
    assert status.plugin == ""
