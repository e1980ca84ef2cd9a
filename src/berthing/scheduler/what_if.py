"""Runs a profile's plugins for plugins that ask what would be if, preemption above all.

Upstream: PluginsRunner in framework/interface.go, framework/runtime/framework.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Row, Rows, as_rows
from berthing.framework import (
    CycleState,
    ExtensionPoint,
    FilterPlugin,
    Int64Column,
    NodeInfo,
    Nodes,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.asking import (
    asked,
    check_range,
    checked_scores,
    checked_verdicts,
    normalized_scores,
)
from berthing.scheduler.cycle import Nominations
from berthing.scheduler.profile import Profile


class WhatIf:
    """The plugins of one profile, for whoever wants to know what they would say."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        self._extensions = profile.pre_filter_extensions
        self._filters = profile.at(ExtensionPoint.FILTER, FilterPlugin)
        self._pre_scorers = profile.at(ExtensionPoint.PRE_SCORE, PreScorePlugin)
        self._scorers = profile.at(ExtensionPoint.SCORE, ScorePlugin)
        self._weights = profile.score_weights

    def add_pod(
        self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """AddPod of all PreFilter plugins; the first that objects ends it."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter_plugins:
                status = asked(plugin.name, "AddPod", plugin.add_pod, state, pod, added, node)
                if status is not None and not status.is_success:
                    return status.by(plugin.name)
        return None

    def remove_pod(
        self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """RemovePod of all PreFilter plugins; the first that objects ends it."""
        for plugin in self._extensions:
            if plugin.name not in state.skip_filter_plugins:
                status = asked(
                    plugin.name, "RemovePod", plugin.remove_pod, state, pod, removed, node
                )
                if status is not None and not status.is_success:
                    return status.by(plugin.name)
        return None

    def filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """All Filter plugins in order on these rows; who rejects a row first owns it."""
        rows = as_rows(nodes)
        merged = Verdicts.all_pass(len(rows))
        for plugin in self._filters:
            if plugin.name not in state.skip_filter_plugins:
                merged = merged.then(checked_verdicts(plugin, state, pod, rows).by(plugin.name))
        return merged

    def filter_with_nominated(
        self, state: CycleState, pod: PodInfo, nodes: Nodes, nominations: Nominations
    ) -> Verdicts:
        """The same, with and without the pods nominated to these nodes; both must pass."""
        alone = self.filter(state, pod, nodes)
        return Verdicts.of(
            self._with(nominations.get(node.name, ()), state, pod, node) or alone[at]
            for at, node in enumerate(as_rows(nodes))
        )

    def _with(
        self, nominated: Sequence[PodInfo], state: CycleState, pod: PodInfo, node: Row
    ) -> Status | None:
        """What a node is told if its nominated pods ran there, as far as they come first."""
        added = [
            each for each in nominated if each.priority >= pod.priority and each.uid != pod.uid
        ]
        if not added:
            return None
        state = state.clone()
        with self._cluster.with_pods(added, node.name):
            for each in added:
                self.add_pod(state, pod, each, node)
            return self.filter(state, pod, Rows(self._cluster, np.array([node.row], np.intp)))[0]

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """All PreScore plugins."""
        skipped: list[str] = []
        for plugin in self._pre_scorers:
            status = asked(plugin.name, "PreScore", plugin.pre_score, state, pod, nodes)
            if status is None or status.is_success:
                continue
            if not status.is_skip:
                return status.by(plugin.name)
            skipped.append(plugin.name)
        state.skip_score_plugins = frozenset(skipped)
        return None

    def score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Mapping[str, Int64Column]:
        """Weighted, normalised scores by plugin."""
        rows = as_rows(nodes)
        weighted: dict[str, Int64Column] = {}
        for plugin in self._scorers:
            if plugin.name in state.skip_score_plugins:
                continue
            scores = checked_scores(plugin, state, pod, rows)
            if isinstance(plugin, ScoreExtensions):
                scores = normalized_scores(plugin, state, pod, scores)
            elif len(scores):
                check_range(plugin.name, scores)
            weighted[plugin.name] = scores * self._weights[plugin.name]
        return weighted
