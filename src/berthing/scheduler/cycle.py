"""One pod's scheduling cycle, from PreFilter to the chosen node.

    prefilter -> filter -> (filter again with nominated pods) -> prescore -> score -> pick

Nothing here waits, does I/O or reads a clock: the cluster does not change under a cycle.  What was
decided, and all that led to it, is a `Decision`.

Upstream: pkg/scheduler/schedule_one.go, framework/runtime/framework.go (v1.36.4).
Differs:  all feasible nodes are scored, unless the profile has Filter plugins that look at one
          node at a time and a percentage is configured; ties are broken by a seeded choice; a
          plugin that raises, or answers what it must not, fails this attempt with its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.cluster.cluster import Cluster
from berthing.cluster.rows import Rows
from berthing.framework import (
    BoolColumn,
    Code,
    CycleState,
    ExtensionPoint,
    FilterPlugin,
    Int64Column,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
    Status,
    Verdicts,
)
from berthing.scheduler.asking import (
    PluginFailureError,
    answers,
    asked,
    check_extended,
    check_range,
    checked_result,
    checked_scores,
    checked_verdicts,
    misbehaved,
    normalized_scores,
    rejection,
)
from berthing.scheduler.decision import Decision, Narrowing, PluginScores
from berthing.scheduler.decisions import Decisions
from berthing.scheduler.evaluation import Evaluation, Remembered
from berthing.scheduler.preliminaries import Preliminaries
from berthing.scheduler.profile import Profile

T = TypeVar("T")

# Below so many nodes all of them are looked at, whatever percentage is configured.
_LEAST_NODES = 100

Nominations = Mapping[str, Sequence[PodInfo]]


class Cycle:
    """Decides for one profile where pods go."""

    def __init__(
        self,
        cluster: Cluster,
        profile: Profile,
        *,
        random: Random,
        percentage_of_nodes_to_score: int = 100,
    ) -> None:
        self.decisions = Decisions()
        self._cluster = cluster
        self._random = random
        self._percentage = percentage_of_nodes_to_score
        self._next_start = 0
        points = profile.points
        self._pre_filters = Preliminaries(
            "PreFilter",
            [
                (plugin, plugin.pre_filter)
                for plugin in _typed(points[ExtensionPoint.PRE_FILTER], PreFilterPlugin)
            ],
        )
        self._pre_filter_extensions = profile.pre_filter_extensions
        self._filters = _typed(points[ExtensionPoint.FILTER], FilterPlugin)
        self._filter_order = [plugin.name for plugin in self._filters]
        local = [each for each in self._filters if each.row_local and each.filters_columns()]
        self._other_filters = [each for each in self._filters if each not in local]
        self._pre_scorers = Preliminaries(
            "PreScore",
            [
                (plugin, plugin.pre_score)
                for plugin in _typed(points[ExtensionPoint.PRE_SCORE], PreScorePlugin)
            ],
        )
        self._scorers = _typed(points[ExtensionPoint.SCORE], ScorePlugin)
        self._weights = profile.score_weights
        self._evaluation = Evaluation(
            cluster,
            local,
            [each for each in self._scorers if each.row_local and each.scores_columns()],
            self._weights,
        )

    def schedule(
        self, pod: PodInfo, state: CycleState, nominations: Nominations, *, rank_all: bool = False
    ) -> Decision:
        """Find the node for a pod; the decision says why not where there is none.

        A single feasible node needs no ranking; `rank_all` scores it all the same, to explain it.
        """
        nodes = self._cluster.nodes
        decision = Decision(pod, nodes.names_now(), nodes.alive_now())
        known = self._evaluation.remembered(pod)
        try:
            self._find_feasible(known, pod, state, nominations, decision)
            if len(decision.feasible) > 1 or (rank_all and len(decision.feasible)):
                self._rank(known, pod, state, decision)
            self._pick(decision)
        except PluginFailureError as failure:
            decision.error = failure.status
        self.decisions.keep(decision)
        return decision

    # Which nodes can run the pod.

    def _find_feasible(
        self,
        known: Remembered,
        pod: PodInfo,
        state: CycleState,
        nominations: Nominations,
        decision: Decision,
    ) -> None:
        self._pre_filter(known, pod, state, decision)
        if decision.pre_filter is not None:
            return
        fits = self._filter(known, pod, state, decision)
        if nominations:
            fits = self._filter_with_nominated(pod, state, nominations, fits, decision)
        self._try_own_nomination(pod, fits, decision)
        if decision.narrowing is not None:
            fits = self._narrowed(fits, decision.narrowing)
        # Mostly the very same nodes as for the last pod of the kind: then nothing is looked up.
        decision.feasible = known.feasible if fits is known.fits else fits.nonzero()[0]

    def _pre_filter(
        self, known: Remembered, pod: PodInfo, state: CycleState, decision: Decision
    ) -> None:
        rows = self._cluster.rows()
        open_ = known.pre_filters or self._pre_filters.all
        skipped: list[str] = []
        narrowing: Narrowing | None = None
        for name, answer in answers("PreFilter", open_.methods, state, pod, rows):
            if answer is None:
                continue
            if isinstance(answer, PreFilterResult):
                narrowing = _merged(narrowing, name, checked_result(name, answer))
                if not narrowing.node_names:
                    decision.narrowing = narrowing
                    decision.pre_filter = _empty_status(narrowing)
                    break
            elif not isinstance(answer, Status):
                raise misbehaved(name, f"PreFilter returned {answer!r}, not a Status")
            elif answer.code is Code.SKIP:
                skipped.append(name)
            elif answer.is_rejected:
                # Of several that preemption may help the last is told; one that it cannot help
                # ends the attempt here.
                decision.pre_filter = answer.by(name)
                if answer.code is Code.PENDING:
                    raise misbehaved(name, "PreFilter must not answer Pending")
                if answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    break
            elif not answer.is_success:
                raise misbehaved(name, f"PreFilter answered {answer.code}: {answer}")
        state.skip_filter_plugins = open_.skipped.union(skipped)
        if decision.pre_filter is None:
            decision.narrowing = narrowing
            if known.pre_filters is None:
                speaking = narrowing.plugins if narrowing else ()
                known.pre_filters = self._pre_filters.left_open(pod, skipped, speaking)

    def _filter(
        self, known: Remembered, pod: PodInfo, state: CycleState, decision: Decision
    ) -> BoolColumn:
        """(n_rows,) the nodes that every Filter plugin passes."""
        self._evaluation.filter(known, state, pod)
        fits, verdicts = known.fits, known.verdicts
        others = [
            plugin for plugin in self._other_filters if plugin.name not in state.skip_filter_plugins
        ]
        if others:
            verdicts = dict(verdicts)
            fits = self._filter_others(others, pod, state, fits, verdicts)
        decision.verdicts, decision.filter_order = verdicts, self._filter_order
        return fits

    def _filter_others(
        self,
        plugins: Sequence[FilterPlugin],
        pod: PodInfo,
        state: CycleState,
        fits: BoolColumn,
        verdicts: dict[str, Verdicts],
    ) -> BoolColumn:
        """Ask plugins of which no answers are remembered; adds to the verdicts."""
        rows = self._cluster.rows()
        one_at_a_time: list[FilterPlugin] = []
        for plugin in plugins:
            if plugin.filters_columns():
                answer = verdicts[plugin.name] = checked_verdicts(plugin, state, pod, rows)
                if answer.statuses:
                    fits = fits & (answer.codes == 0)
            else:
                one_at_a_time.append(plugin)
        if one_at_a_time:
            fits = self._filter_one_at_a_time(one_at_a_time, pod, state, fits, verdicts)
        return fits

    def _filter_one_at_a_time(
        self,
        plugins: Sequence[FilterPlugin],
        pod: PodInfo,
        state: CycleState,
        fits: BoolColumn,
        verdicts: dict[str, Verdicts],
    ) -> BoolColumn:
        """Ask about nodes that are still in play, in turn, until enough have passed."""
        candidates = np.flatnonzero(fits)
        wanted = nodes_to_find(len(candidates), self._percentage)
        codes = {plugin.name: np.zeros(len(fits), np.intp) for plugin in plugins}
        statuses: dict[str, list[Status]] = {plugin.name: [] for plugin in plugins}
        passed = np.zeros(len(fits), np.bool_)
        found = 0
        for position in range(len(candidates)):
            row = int(candidates[(self._next_start + position) % len(candidates)])
            status = self._ask_about(plugins, pod, state, row)
            if status is None:
                passed[row] = True
                found += 1
                if found == wanted:
                    break
            else:
                known = statuses[status.plugin]
                if status not in known:
                    known.append(status)
                codes[status.plugin][row] = known.index(status) + 1
        looked_at = position + 1 if len(candidates) else 0
        self._next_start = (self._next_start + looked_at) % max(len(candidates), 1)
        for name, column in codes.items():
            verdicts[name] = Verdicts(column, statuses[name])
        return passed

    def _ask_about(
        self, plugins: Sequence[FilterPlugin], pod: PodInfo, state: CycleState, row: int
    ) -> Status | None:
        (node,) = Rows.some(self._cluster, (row,))
        for plugin in plugins:
            answer: object = asked(plugin.name, "Filter", plugin.filter, state, pod, node)
            if answer is None or (isinstance(answer, Status) and answer.is_success):
                continue
            return rejection(plugin.name, answer).by(plugin.name)
        return None

    def _filter_with_nominated(
        self,
        pod: PodInfo,
        state: CycleState,
        nominations: Nominations,
        fits: BoolColumn,
        decision: Decision,
    ) -> BoolColumn:
        """(n_rows,) the same, with the final word about nodes that hold nominations.

        What counts are nominations of pods as important as this one.  Such a node must pass with
        these pods on it, so that the pod does not take their room, and without them, since they may
        end up elsewhere.
        """
        final: dict[int, Status | None] = {}
        for node_name, nominated in nominations.items():
            row = self._cluster.nodes.row(node_name)
            added = [
                each for each in nominated if each.priority >= pod.priority and each.uid != pod.uid
            ]
            if row is None or not added:
                continue
            status = self._status_with(added, row, pod, state)
            if status is not None:
                final[row] = status
            elif not fits[row]:
                final[row] = self._status_with((), row, pod, state)
        decision.with_nominated = final
        fits = fits.copy()
        for row, status in final.items():
            fits[row] = status is None
        return fits

    def _status_with(
        self, added: Sequence[PodInfo], row: int, pod: PodInfo, state: CycleState
    ) -> Status | None:
        """What one node is told if some more pods ran there."""
        what_if = state.clone()
        node_name = self._cluster.nodes.names[row]
        with self._cluster.with_pods(added, node_name):
            rows = Rows.some(self._cluster, (row,))
            (node,) = rows
            for each in added:
                for extension in self._pre_filter_extensions:
                    name = extension.name
                    if name not in state.skip_filter_plugins:
                        told = asked(name, "AddPod", extension.add_pod, what_if, pod, each, node)
                        check_extended(name, "AddPod", told)
            for plugin in self._filters:
                if plugin.name in state.skip_filter_plugins:
                    continue
                status = checked_verdicts(plugin, what_if, pod, rows)[0]
                if status is not None:
                    return status.by(plugin.name)
        return None

    def _try_own_nomination(self, pod: PodInfo, fits: BoolColumn, decision: Decision) -> None:
        name = pod.pod.status.nominated_node_name
        if name:
            row = self._cluster.nodes.row(name)
            decision.nominated_node = name
            decision.nominated_passed = row is not None and bool(fits[row])

    def _narrowed(self, fits: BoolColumn, narrowing: Narrowing) -> BoolColumn:
        named = np.zeros(len(fits), np.bool_)
        for name in narrowing.node_names:
            row = self._cluster.nodes.row(name)
            if row is not None:
                named[row] = True
        return fits & named

    # Which of them is best.

    def _rank(self, known: Remembered, pod: PodInfo, state: CycleState, decision: Decision) -> None:
        feasible = decision.feasible
        everything = len(feasible) == self._cluster.nodes.n_rows
        rows = self._cluster.rows() if everything else Rows(self._cluster, feasible)
        self._pre_score(known, pod, state, rows)
        self._evaluation.score(known, state, pod)
        total = known.total if everything else known.total.take(feasible)
        scores: list[PluginScores] = []
        for plugin in self._scorers:
            name = plugin.name
            if name in state.skip_score_plugins:
                continue
            weight = self._weights[name]
            raw = known.scores.get(name)
            if raw is None:
                raw, normalized = self._scored(plugin, state, pod, rows)
                scores.append(PluginScores(name, weight, raw, normalized))
                total = total + normalized * weight
            elif isinstance(plugin, ScoreExtensions):
                last = self._evaluation.normalized(known, plugin, state, pod, feasible)
                scores.append(PluginScores(name, weight, raw, last.normalized, feasible))
                total = total + last.weighted
            else:
                # In the total already.
                if name in known.suspects:
                    check_range(name, raw.take(feasible))
                scores.append(PluginScores(name, weight, raw, None, feasible))
        decision.scores = scores
        # Without anybody to judge, all nodes are alike.
        decision.total = total if self._scorers else np.ones(len(feasible), np.int64)

    def _pre_score(self, known: Remembered, pod: PodInfo, state: CycleState, rows: Rows) -> None:
        open_ = known.pre_scorers or self._pre_scorers.all
        skipped: list[str] = []
        for name, answer in answers("PreScore", open_.methods, state, pod, rows):
            if answer is None:
                continue
            if not isinstance(answer, Status):
                raise misbehaved(name, f"PreScore returned {answer!r}, not a Status")
            if answer.code is Code.SKIP:
                skipped.append(name)
            elif not answer.is_success:
                raise misbehaved(name, f"PreScore answered {answer.code}: {answer}")
        state.skip_score_plugins = open_.skipped.union(skipped)
        if known.pre_scorers is None:
            known.pre_scorers = self._pre_scorers.left_open(pod, skipped)

    def _scored(
        self, plugin: ScorePlugin, state: CycleState, pod: PodInfo, rows: Rows
    ) -> tuple[Int64Column, Int64Column]:
        """(n_rows,) raw and normalised scores of a plugin of which nothing is remembered."""
        raw = checked_scores(plugin, state, pod, rows)
        if isinstance(plugin, ScoreExtensions):
            return raw, normalized_scores(plugin, state, pod, raw)
        check_range(plugin.name, raw)
        return raw, raw

    def _pick(self, decision: Decision) -> None:
        total = decision.total
        if decision.nominated_passed:
            decision.chosen = decision.nominated_node
        elif total is not None:
            best = (total == total[total.argmax()]).nonzero()[0]
            choice = 0 if len(best) == 1 else self._random.randrange(len(best))
            decision.chosen = decision.node_names[decision.feasible[best[choice]]]
        elif len(decision.feasible):
            decision.chosen = decision.node_names[decision.feasible[0]]


def nodes_to_find(node_count: int, percentage: int) -> int:
    """How many feasible nodes are enough: 0 per cent stands for upstream's adaptive share."""
    if node_count < _LEAST_NODES:
        return node_count
    share = percentage or max(5, 50 - node_count // 125)
    return max(_LEAST_NODES, node_count * share // 100)


def _typed(plugins: Sequence[object], type_: type[T]) -> tuple[T, ...]:
    """The plugins of a point, as what their point makes them."""
    return tuple(plugin for plugin in plugins if isinstance(plugin, type_))


def _merged(before: Narrowing | None, plugin: str, result: PreFilterResult) -> Narrowing:
    if before is None:
        return Narrowing((plugin,), result.node_names)
    plugins = tuple(sorted({*before.plugins, plugin}))
    return Narrowing(plugins, before.node_names & result.node_names)


def _empty_status(narrowing: Narrowing) -> Status:
    if len(narrowing.plugins) == 1:
        return Status.unresolvable(f"node(s) didn't satisfy plugin {narrowing.plugins[0]}")
    plugins = " ".join(narrowing.plugins)
    return Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{plugins}] simultaneously")
