"""Asking plugins: whatever goes wrong in one becomes a failure that carries its name.

Plugins are foreign code.  One that raises, returns a wrong type or a wrong shape, or answers with a
code that its point does not know, fails the attempt at hand and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.cluster.rows import Rows
from berthing.framework import (
    MAX_SCORE,
    MIN_SCORE,
    CycleState,
    FilterPlugin,
    Int64Column,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.framework.status import error_text

T = TypeVar("T")

_INT64 = np.dtype(np.int64)

# Upstream's words; where a point is not listed they are as for PreFilter.
_TEXTS: Mapping[str, str] = {
    "AddPod": 'running AddPod on PreFilter plugin "{plugin}": {text}',
    "RemovePod": 'running RemovePod on PreFilter plugin "{plugin}": {text}',
    "Filter": 'running "{plugin}" filter plugin: {text}',
    "Score": 'running Score plugins: plugin "{plugin}" failed with: {text}',
    "NormalizeScore": ('running Normalize on Score plugins: plugin "{plugin}" failed with: {text}'),
    "PreBindPreFlight": 'running PreBindPreFlight "{plugin}": {text}',
    # What these say is told without anything before it.
    "PostFilter": "{text}",
}
_TEXT = 'running {point} plugin "{plugin}": {text}'

# Of so few numbers Python itself finds the least sooner than numpy gets going.
_FEW = 32


class PluginFailureError(Exception):
    """A plugin broke, or answered what it must not; the attempt fails with its name."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def asked(plugin: str, point: str, method: Callable[..., T], *args: object) -> T:
    """What a plugin answers; if it raises, the attempt fails with its name."""
    try:
        return method(*args)
    except Exception as error:
        raise _failure(plugin, point, error) from error


def answers(
    point: str, methods: Iterable[tuple[str, Callable[..., T]]], *args: object
) -> Iterator[tuple[str, T]]:
    """What each of some plugins answers to the same question, asked as one goes along."""
    for plugin, method in methods:
        try:
            answer = method(*args)
        except Exception as error:
            raise _failure(plugin, point, error) from error
        yield plugin, answer


async def awaited(plugin: str, point: str, method: Callable[..., Awaitable[T]], *args: object) -> T:
    """What a plugin answers that may wait.

    A plugin that is cancelled by something of its own has failed; who is cancelled by us goes.
    """
    try:
        return await method(*args)
    except Exception as error:
        raise _failure(plugin, point, error) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise _failure(plugin, point, error) from error


def _failure(plugin: str, point: str, error: BaseException) -> PluginFailureError:
    if isinstance(error, PluginFailureError):
        return error
    text = _TEXTS.get(point, _TEXT).format(point=point, plugin=plugin, text=error_text(error))
    return PluginFailureError(Status.from_error(RuntimeError(text), plugin=plugin))


def misbehaved(plugin: str, text: str) -> PluginFailureError:
    """The failure of a plugin that answered what it must not."""
    error = TypeError(f'plugin "{plugin}": {text}')
    return PluginFailureError(Status.from_error(error, plugin=plugin))


def checked_verdicts(plugin: FilterPlugin, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts:
    """A plugin's verdict about each row."""
    answer: object = asked(plugin.name, "Filter", plugin.filter_nodes, state, pod, rows)
    if not isinstance(answer, Verdicts):
        raise misbehaved(plugin.name, f"filter_nodes returned {answer!r}, not Verdicts")
    if len(answer) != len(rows):
        raise misbehaved(plugin.name, f"{len(answer)} verdicts for {len(rows)} nodes")
    for status in answer.statuses:
        if not status.is_rejected:
            raise misbehaved(plugin.name, f"Filter answered {status.code}: {status}")
    return answer


def checked_scores(plugin: ScorePlugin, state: CycleState, pod: PodInfo, rows: Rows) -> Int64Column:
    """A plugin's raw score of each row."""
    answer: object = asked(plugin.name, "Score", plugin.score_nodes, state, pod, rows)
    if not isinstance(answer, np.ndarray) or answer.dtype != _INT64:
        raise misbehaved(plugin.name, f"score_nodes returned {answer!r}, not an int64 array")
    if answer.shape != (len(rows),):
        raise misbehaved(plugin.name, f"scores of shape {answer.shape} for {len(rows)} nodes")
    return answer


def check_range(plugin: str, scores: Int64Column, count: int) -> None:
    """Fail a plugin whose scores, normalised if it does that, are not what scores may be."""
    if scores.shape != (count,):
        raise misbehaved(plugin, f"scores of shape {scores.shape} for {count} nodes")
    if not is_in_range(scores):
        lowest, highest = int(scores.min()), int(scores.max())
        wrong = lowest if lowest < MIN_SCORE else highest
        raise misbehaved(plugin, f"a score of {wrong}, not within {MIN_SCORE} to {MAX_SCORE}")


def is_in_range(scores: Int64Column) -> bool:
    """Whether scores, of which there are some, are what normalised scores may be."""
    if len(scores) < _FEW:
        few: list[int] = scores.tolist()
        return min(few) >= MIN_SCORE and max(few) <= MAX_SCORE
    return bool(scores.min() >= MIN_SCORE and scores.max() <= MAX_SCORE)
