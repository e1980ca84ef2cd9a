from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, cast

import numpy as np
import pytest

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    CycleState,
    ExtensionPoint,
    FilterPlugin,
    Handle,
    Int64Column,
    NodeInfo,
    Nodes,
    PermitPlugin,
    Plugin,
    PreFilterExtensions,
    PreFilterPlugin,
    ReservePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
    points_of,
)
from berthing.testing import make_pod

FULL = Status.unschedulable("full")


class Row:
    """Enough of a NodeInfo for the plugins below."""

    def __init__(self, name: str) -> None:
        self.name = name


class Rows:
    """Enough of Nodes for the plugins below."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Row]:
        return map(Row, self.names)


class OneAtATime(FilterPlugin, ScorePlugin):
    name: ClassVar[str] = "OneAtATime"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        return FULL if node.name == "full" else None

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        return len(node.name)


class AllRows(FilterPlugin, ScorePlugin):
    name: ClassVar[str] = "AllRows"

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        return Verdicts.reject(np.array([name == "full" for name in nodes.names]), FULL)

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        return np.array([len(name) for name in nodes.names], np.int64)


def made(plugin: type[Plugin]) -> Plugin:
    return plugin(None, cast("Handle", None))


@pytest.mark.parametrize("plugin", [OneAtATime, AllRows])
def test_both_forms_answer_for_all_rows(plugin: type[OneAtATime | AllRows]) -> None:
    state, pod = CycleState(), PodInfo.of(make_pod())
    nodes = cast("Nodes", Rows(["a", "full", "bcd"]))
    instance = plugin(None, cast("Handle", None))
    verdicts = instance.filter_nodes(state, pod, nodes)
    assert [verdicts[row] for row in range(3)] == [None, FULL, None]
    scores = instance.score_nodes(state, pod, nodes)
    assert scores.tolist() == [1, 4, 3]
    assert scores.dtype == np.int64


def test_which_form_a_plugin_offers() -> None:
    assert not OneAtATime.filters_columns()
    assert not OneAtATime.scores_columns()
    assert AllRows.filters_columns()
    assert AllRows.scores_columns()


def test_a_filter_in_neither_form_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="Empty is a FilterPlugin and defines neither filter nor"):

        class Empty(FilterPlugin):
            name: ClassVar[str] = "Empty"


def test_a_base_class_without_a_name_may_leave_the_form_to_others() -> None:
    class Base(ScorePlugin):
        pass

    class Concrete(Base):
        name: ClassVar[str] = "Concrete"

        def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
            return 1

    assert points_of(Concrete) == (ExtensionPoint.SCORE,)


class Everything(PreFilterExtensions, OneAtATime, ScoreExtensions, ReservePlugin, PermitPlugin):
    name: ClassVar[str] = "Everything"


def test_points_are_told_from_the_base_classes_in_the_order_of_a_pods_path() -> None:
    assert points_of(Everything) == (
        ExtensionPoint.PRE_FILTER,
        ExtensionPoint.FILTER,
        ExtensionPoint.SCORE,
        ExtensionPoint.RESERVE,
        ExtensionPoint.PERMIT,
    )
    assert issubclass(Everything, PreFilterPlugin)


def test_a_plugin_has_its_args_and_handle() -> None:
    handle = cast("Handle", object())
    assert OneAtATime(None, handle).handle is handle
    assert made(OneAtATime).args is None


@pytest.mark.parametrize(
    ("point", "label"),
    [
        (ExtensionPoint.PRE_ENQUEUE, "PreEnqueue"),
        (ExtensionPoint.FILTER, "Filter"),
        (ExtensionPoint.PLACEMENT_GENERATE, "PlacementGenerate"),
    ],
)
def test_points_have_upstreams_names(point: ExtensionPoint, label: str) -> None:
    assert point.label == label
