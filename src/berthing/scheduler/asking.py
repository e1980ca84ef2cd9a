"""Asking plugins: whatever goes wrong in one becomes a failure that carries its name.

Plugins are foreign code.  One that raises, returns a wrong type or a wrong shape, or answers with a
code that its point does not know, fails the attempt at hand and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
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
    PreFilterResult,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.framework.status import error_text

T = TypeVar("T")

_INT64 = np.dtype(np.int64)
_INTP = np.dtype(np.intp)

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

# What breaks in foreign code.  One that wants the process to end has no say in that.
_BREAKS = (Exception, SystemExit)


class PluginFailureError(Exception):
    """A plugin broke, or answered what it must not; the attempt fails with its name."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def asked(plugin: str, point: str, method: Callable[..., T], *args: object) -> T:
    """What a plugin answers; if it raises, the attempt fails with its name."""
    try:
        return method(*args)
    except _BREAKS as error:
        raise _failure(plugin, point, error) from error


def answers(
    point: str, methods: Iterable[tuple[str, Callable[..., T]]], *args: object
) -> Iterator[tuple[str, T]]:
    """What each of some plugins answers to the same question, asked as one goes along."""
    for plugin, method in methods:
        try:
            answer = method(*args)
        except _BREAKS as error:
            raise _failure(plugin, point, error) from error
        yield plugin, answer


async def awaited(plugin: str, point: str, method: Callable[..., Awaitable[T]], *args: object) -> T:
    """What a plugin answers that may wait.

    A plugin that is cancelled by something of its own has failed; who is cancelled by us goes.
    """
    try:
        return await method(*args)
    except _BREAKS as error:
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
    codes: object = answer.codes
    if not isinstance(codes, np.ndarray) or codes.dtype != _INTP:
        raise misbehaved(plugin.name, f"verdicts with codes {codes!r}, not an intp array")
    if codes.shape != (len(rows),):
        raise misbehaved(plugin.name, f"{len(codes)} verdicts for {len(rows)} nodes")
    for status in answer.statuses:
        rejection(plugin.name, status)
    if len(codes) and not _is_within(codes, 0, len(answer.statuses)):
        known = len(answer.statuses)
        raise misbehaved(plugin.name, f"verdicts with codes beyond 0 to {known}, its statuses")
    return answer


def rejection(plugin: str, answer: object) -> Status:
    """What a Filter plugin has against a node, if that is what it answered."""
    if not isinstance(answer, Status):
        raise misbehaved(plugin, f"Filter returned {answer!r}, not a Status")
    if not answer.is_rejected:
        raise misbehaved(plugin, f"Filter answered {answer.code}: {answer}")
    return answer


def checked_result(plugin: str, result: PreFilterResult) -> PreFilterResult:
    """The nodes to which a PreFilter plugin narrowed the search, if they are names of nodes."""
    names: object = result.node_names
    if not isinstance(names, AbstractSet) or not all(isinstance(each, str) for each in names):
        raise misbehaved(plugin, f"PreFilter named the nodes {names!r}, not a frozenset of names")
    return result


def check_extended(plugin: str, point: str, status: object) -> None:
    """Fail a plugin that could not bring up to date what its PreFilter found."""
    if status is None or (isinstance(status, Status) and status.is_success):
        return
    if not isinstance(status, Status):
        raise misbehaved(plugin, f"{point} returned {status!r}, not a Status")
    raise _failure(plugin, point, RuntimeError(status.message))


def checked_scores(plugin: ScorePlugin, state: CycleState, pod: PodInfo, rows: Rows) -> Int64Column:
    """A plugin's raw score of each row."""
    answer = asked(plugin.name, "Score", plugin.score_nodes, state, pod, rows)
    return _scores(plugin.name, "score_nodes", answer, len(rows))


def normalized_scores(
    plugin: ScoreExtensions, state: CycleState, pod: PodInfo, raw: Int64Column
) -> Int64Column:
    """A plugin's scores of the nodes that passed, brought to what scores may be."""
    point = "NormalizeScore"
    answer = asked(plugin.name, point, plugin.normalize_score, state, pod, raw)
    scores = _scores(plugin.name, "normalize_score", answer, len(raw))
    check_range(plugin.name, scores)
    return scores


def _scores(plugin: str, method: str, answer: object, count: int) -> Int64Column:
    if not isinstance(answer, np.ndarray) or answer.dtype != _INT64:
        raise misbehaved(plugin, f"{method} returned {answer!r}, not an int64 array")
    if answer.shape != (count,):
        raise misbehaved(plugin, f"scores of shape {answer.shape} for {count} nodes")
    return answer


def check_range(plugin: str, scores: Int64Column) -> None:
    """Fail a plugin whose scores, normalised if it does that, are not what scores may be."""
    if not is_in_range(scores):
        lowest, highest = int(scores.min()), int(scores.max())
        wrong = lowest if lowest < MIN_SCORE else highest
        raise misbehaved(plugin, f"a score of {wrong}, not within {MIN_SCORE} to {MAX_SCORE}")


def is_in_range(scores: Int64Column) -> bool:
    """Whether scores, of which there are some, are what normalised scores may be."""
    return _is_within(scores, MIN_SCORE, MAX_SCORE)


def _is_within(numbers: Int64Column, least: int, most: int) -> bool:
    if len(numbers) < _FEW:
        few: list[int] = numbers.tolist()
        return min(few) >= least and max(few) <= most
    return bool(numbers.min() >= least and numbers.max() <= most)
