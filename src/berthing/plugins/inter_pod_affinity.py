"""InterPodAffinity places pods near others that they, or those others, want near, or far apart.

    required affinity        of the pod            the node's domain has pods that match all terms
    required anti-affinity   of the pod            it has none that match any
    required anti-affinity   of running pods       it has none whose terms speak of the pod
    preferred terms          of both, and the required affinity of running pods: scores

A *domain* is all nodes that share a value of a term's topology key.  Nothing here looks at running
pods one by one: `Counters` knows how many pods that match a term each domain has, `CarriedTerms`
how many that carry one.  What is found out about each value of a key becomes a small table, and a
row's answer is what the table says of its value.

Both are read anew each time, so pods that are added or taken away for a what-if count at once.

Upstream: plugins/interpodaffinity/{plugin,filtering,scoring}.go (v1.36.4).
Differs:  the hint for pods knows the labels of namespaces (upstream matches a namespaceSelector
          against no labels), and of several required anti-affinity terms one is enough to wake
          the pod, as one is enough to reject it (upstream wants all of them to match).  The hint
          for nodes knows the anti-affinity of running pods, and there is one for namespaces whose
          labels change.  Each only ever wakes pods that upstream lets sleep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np
from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.frozen import EMPTY
from berthing.api.labels import EVERYTHING
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import AffinityTerm, AffinityTerms, affinity_terms
from berthing.cluster.carried_terms import CarriedTerm, TermKind
from berthing.cluster.cluster import Cluster, pod_class, pod_selector
from berthing.cluster.counters import CounterKey, PodClass, PodSelector, RowCounter
from berthing.cluster.labels import ABSENT
from berthing.cluster.rows import Rows, as_rows
from berthing.config.args import InterPodAffinityArgs
from berthing.framework import (
    MAX_SCORE,
    ActionType,
    BoolColumn,
    ClusterEvent,
    ClusterEventWithHint,
    CodeColumn,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    Int64Column,
    Nodes,
    PreFilterPlugin,
    PreScorePlugin,
    QueueingHint,
    ScoreExtensions,
    StateKey,
    Status,
    Verdicts,
)

# Users read these in events and pod conditions: upstream's wording, byte for byte.
AFFINITY_REASON = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_REASON = "node(s) didn't match pod anti-affinity rules"
EXISTING_ANTI_AFFINITY_REASON = "node(s) didn't satisfy existing pods anti-affinity rules"

# Of several objections to a node upstream tells the one that it checks first; here that is the one
# with the greatest verdict code.
_EXISTING_ANTI_AFFINITY, _ANTI_AFFINITY, _AFFINITY = 1, 2, 3
_STATUSES = (
    Status.unschedulable(EXISTING_ANTI_AFFINITY_REASON),
    Status.unschedulable(ANTI_AFFINITY_REASON),
    Status.unresolvable(AFFINITY_REASON),
)

# By topology key: what is found out about each value of it.
_CodesByKey = dict[str, CodeColumn]
_WorthByKey = dict[str, Int64Column]

_WORTH = StateKey[_WorthByKey]("PreScoreInterPodAffinity")

# Replicas bring the same terms again and again.
_CACHED = 8192


class InterPodAffinity(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScoreExtensions, EnqueueExtensions
):
    """Required and preferred terms, of the pod and of those that run."""

    name = "InterPodAffinity"
    args_type = InterPodAffinityArgs
    reads = (Namespace,)

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignores_existing = args.ignore_preferred_terms_of_existing_pods
        self._required_weight = args.hard_pod_affinity_weight

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods that come near or go away, nodes that change their domain, namespaces their labels."""
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        namespaces = ClusterEvent(EventResource.NAMESPACE, ActionType.ALL)
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, pods), self.after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, nodes), self.after_node_change),
            ClusterEventWithHint(namespaces, self.after_namespace_change),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Sit out if no required term, of the pod or of a running one, concerns it."""
        if pod.terms.error:
            return Status.unresolvable(f"parsing pod: {pod.terms.error}")
        if pod.terms.required or pod.terms.required_anti:
            return None
        for term, carriers in _existing_anti_affinity(as_rows(nodes).cluster, pod):
            if carriers.has_any_with(term.topology_key):
                return None
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Ask each domain for the gravest objection to it."""
        rows = as_rows(nodes)
        objections: _CodesByKey = {}
        _object_for_existing_pods(objections, pod, rows.cluster)
        _object_for_anti_affinity(objections, pod, rows.cluster)
        _object_for_affinity(objections, pod, rows.cluster)
        return _verdicts(objections, rows)

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Work out what each domain is worth; sit out if there is nothing to prefer."""
        wishes = _wishes(pod.terms)
        if self._ignores_existing and not wishes.preferred:
            return Status.skip()
        if pod.terms.error:
            raise ValueError(f"failed to parse pod: {pod.terms.error}")
        worth = self._worth(wishes, pod, as_rows(nodes).cluster)
        if not worth:
            return Status.skip()
        state.write(_WORTH, worth)
        return None

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Add up what a row's domains are worth."""
        rows = as_rows(nodes)
        columns = [
            table.take(rows.cluster.nodes.labels(key).codes[rows.index])
            for key, table in state.read(_WORTH).items()
        ]
        total = columns[0]
        for column in columns[1:]:
            total += column
        return total

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        """Stretch the scores over 0..100; all alike score 0."""
        if not len(scores):
            return scores
        lowest = scores.min()
        spread = scores.max() - lowest
        if not spread:
            return np.zeros(len(scores), np.int64)
        # In floating point and in this order, as upstream: 100*x/spread would round differently.
        shares = (scores - lowest) / spread
        shares *= float(MAX_SCORE)
        stretched: Int64Column = shares.astype(np.int64)
        return stretched

    def _worth(self, wishes: _Wishes, pod: PodInfo, cluster: Cluster) -> _WorthByKey:
        """What the values of each topology key are worth to the pod, and the pod to them."""
        worth: _WorthByKey = {}
        for wish in wishes.preferred:
            counter = cluster.counters.counter(wish.pods)
            _add_worth(worth, counter, wish.topology_key, wish.weight)
        for term, carriers in cluster.terms.speaking_of(pod_class(pod)).items():
            weight = self._weight(term)
            if weight is not None:
                _add_worth(worth, carriers, term.topology_key, weight)
        for table in worth.values():
            table[ABSENT] = 0
        return worth

    def _weight(self, term: CarriedTerm) -> int | None:
        """What each pod that carries the term adds to its domain; None if it has no say."""
        match term.kind:
            case TermKind.PREFERRED_AFFINITY:
                return term.weight
            case TermKind.PREFERRED_ANTI_AFFINITY:
                return -term.weight
            case TermKind.REQUIRED_AFFINITY:
                return self._required_weight if self._required_weight > 0 else None
            case TermKind.REQUIRED_ANTI_AFFINITY:
                return None

    # Hints.

    def after_pod_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Wake the pod for one that came to where it is wanted, or left where it was not."""
        before = old if isinstance(old, Pod) else None
        after = new if isinstance(new, Pod) else None
        if before is not None and after is not None and after.metadata.uid == pod.uid:
            # Its labels changed, so running pods may think better of it.
            return QueueingHint.QUEUE
        if any(each is not None and not _is_placed(each) for each in (before, after)):
            return QueueingHint.SKIP
        helps = pod.terms.error or self._helps(pod, before, after)
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def after_node_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Wake the pod for a node that came to a domain it wants, or left one it must avoid."""
        if pod.terms.error:
            return QueueingHint.QUEUE
        after = new.metadata.labels if isinstance(new, Node) else EMPTY
        wanted = {term.topology_key for term in pod.terms.required}
        unwanted = {term.topology_key for term in pod.terms.required_anti}
        others = self._kept_away_by(pod)
        if not isinstance(old, Node):
            # Without its key a node suits anti-affinity; with it, its domain may be a new one.
            helps = bool(unwanted) or any(key in after for key in wanted)
            helps = helps or (bool(others) and not any(_are_with(each, after) for each in others))
        else:
            before = old.metadata.labels
            unwanted.update(term.topology_key for term, _ in others)
            helps = any(key in after and before.get(key) != after[key] for key in wanted) or any(
                key in before and before[key] != after.get(key) for key in unwanted
            )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def _kept_away_by(self, pod: PodInfo) -> Sequence[tuple[CarriedTerm, RowCounter]]:
        """Running pods' anti-affinity to the pod, as far as it keeps the pod from anywhere."""
        existing = _existing_anti_affinity(as_rows(self.handle.snapshot.nodes).cluster, pod)
        return [each for each in existing if each[1].has_any_with(each[0].topology_key)]

    def after_namespace_change(
        self, pod: PodInfo, old: object | None, new: object | None
    ) -> QueueingHint:
        """Wake the pod for other labels of a namespace that its terms select by labels, or its own."""
        changed = [each for each in (old, new) if isinstance(each, Namespace)]
        if any(each.name == pod.namespace for each in changed):
            # Running pods may think better of it, or its first-pod rule may come to hold.
            return QueueingHint.QUEUE
        before, after = (
            each.metadata.labels if isinstance(each, Namespace) else EMPTY for each in (old, new)
        )
        terms = (*pod.terms.required, *pod.terms.required_anti)
        helps = pod.terms.error or any(
            each.namespace_selector.matches(before) != each.namespace_selector.matches(after)
            for each in terms
        )
        return QueueingHint.QUEUE if helps else QueueingHint.SKIP

    def _helps(self, pod: PodInfo, before: Pod | None, after: Pod | None) -> bool:
        wishes = _wishes(pod.terms)
        if after is not None and wishes.together is not None:
            # Only a pod that matches all terms brings the pod nearer to any of them.
            together = wishes.together.selectors
            if self._all_select(together, after) and not self._all_select(together, before):
                return True
        if before is None:
            return False
        if any(
            self._all_select(wish.pods.selectors, before)
            and not self._all_select(wish.pods.selectors, after)
            for wish in wishes.apart
        ):
            return True
        return after is None and self._was_kept_away_by(before, pod)

    def _all_select(self, selectors: Iterable[PodSelector], pod: Pod | None) -> bool:
        if pod is None:
            return False
        class_ = PodClass(pod.namespace, pod.metadata.labels)
        namespace_labels = self.handle.namespace_labels(pod.namespace)
        return all(each.selects(class_, namespace_labels) for each in selectors)

    def _was_kept_away_by(self, gone: Pod, pod: PodInfo) -> bool:
        terms = affinity_terms(gone.spec.affinity, gone.namespace)
        return bool(terms.error) or any(
            self._all_select((_pods_meant(term),), pod.pod) for term in terms.required_anti
        )


# Filter.


def _object_for_existing_pods(objections: _CodesByKey, pod: PodInfo, cluster: Cluster) -> None:
    carriers_by_key: dict[str, Int64Column] = {}
    for term, carriers in _existing_anti_affinity(cluster, pod):
        key = term.topology_key
        carriers_there = carriers.sums(key).per_value
        known = carriers_by_key.get(key)
        carriers_by_key[key] = carriers_there if known is None else known + carriers_there
    for key, carriers_there in carriers_by_key.items():
        _object(objections, key, carriers_there > 0, _EXISTING_ANTI_AFFINITY)


def _object_for_anti_affinity(objections: _CodesByKey, pod: PodInfo, cluster: Cluster) -> None:
    for wish in _wishes(pod.terms).apart:
        counter = cluster.counters.counter(wish.pods)
        if counter.total:
            unwanted = counter.sums(wish.topology_key).per_value > 0
            _object(objections, wish.topology_key, unwanted, _ANTI_AFFINITY)


def _object_for_affinity(objections: _CodesByKey, pod: PodInfo, cluster: Cluster) -> None:
    wishes = _wishes(pod.terms)
    if wishes.together is None:
        return
    counter = cluster.counters.counter(wishes.together)
    is_first = not any(map(counter.has_any_with, wishes.together_on)) and _selects_itself(
        wishes.together, pod, cluster
    )
    for key in wishes.together_on:
        matching = counter.sums(key).per_value
        # The first of a series that wants to be together may be anywhere, or none ever came to be.
        lacking = np.zeros(len(matching), np.bool_) if is_first else matching <= 0
        _object(objections, key, lacking, _AFFINITY, without_key=True)


def _selects_itself(pods: CounterKey, pod: PodInfo, cluster: Cluster) -> bool:
    class_ = pod_class(pod)
    namespace_labels = cluster.namespace_labels(pod.namespace)
    return all(each.selects(class_, namespace_labels) for each in pods.selectors)


def _object(
    objections: _CodesByKey,
    key: str,
    objected: BoolColumn,
    code: int,
    *,
    without_key: bool = False,
) -> None:
    """Note an objection to some values of a key, and maybe to nodes that do not have it.

    objected  (n_values,)
    """
    objected[ABSENT] = without_key
    codes = np.multiply(objected, code, dtype=np.intp)
    known = objections.get(key)
    objections[key] = codes if known is None else np.maximum(known, codes)


def _verdicts(objections: _CodesByKey, rows: Rows) -> Verdicts:
    gravest: CodeColumn | None = None
    for key, codes in objections.items():
        here = codes.take(rows.cluster.nodes.labels(key).codes[rows.index])
        gravest = here if gravest is None else np.maximum(gravest, here)
    return Verdicts.all_pass(len(rows)) if gravest is None else Verdicts(gravest, _STATUSES)


def _existing_anti_affinity(
    cluster: Cluster, pod: PodInfo
) -> Sequence[tuple[CarriedTerm, RowCounter]]:
    speaking = cluster.terms.speaking_of(pod_class(pod))
    return [
        (term, carriers)
        for term, carriers in speaking.items()
        if term.kind is TermKind.REQUIRED_ANTI_AFFINITY
    ]


# Score.


def _add_worth(worth: _WorthByKey, counter: RowCounter, key: str, weight: int) -> None:
    # Upstream sits out only if nothing at all contributes, though it should add up to nothing.
    if not counter.has_any_with(key):
        return
    weighted = counter.sums(key).per_value * weight
    known = worth.get(key)
    if known is None:
        worth[key] = weighted
    else:
        known += weighted


# What the pod itself asks for.


class _Wish(msgspec.Struct, frozen=True):
    """Some pods, to be near or not; `weight` only where it is preferred, less than 0 for "not"."""

    pods: CounterKey
    topology_key: str
    weight: int = 0


class _Wishes(msgspec.Struct, frozen=True):
    """A pod's own terms, as counters to ask for."""

    # Upstream takes the required affinity terms together: only pods that match all of them count.
    together: CounterKey | None
    together_on: tuple[str, ...]
    apart: tuple[_Wish, ...]
    preferred: tuple[_Wish, ...]


@lru_cache(maxsize=_CACHED)
def _wishes(terms: AffinityTerms) -> _Wishes:
    required = terms.required
    return _Wishes(
        together=CounterKey(_distinct(map(_pods_meant, required))) if required else None,
        together_on=tuple(dict.fromkeys(term.topology_key for term in required)),
        apart=tuple(_wish(term) for term in terms.required_anti),
        preferred=(
            *(_wish(each.term, each.weight) for each in terms.preferred),
            *(_wish(each.term, -each.weight) for each in terms.preferred_anti),
        ),
    )


def _wish(term: AffinityTerm, weight: int = 0) -> _Wish:
    return _Wish(CounterKey((_pods_meant(term),)), term.topology_key, weight)


def _distinct(selectors: Iterable[PodSelector]) -> tuple[PodSelector, ...]:
    return tuple(dict.fromkeys(selectors))


def _pods_meant(term: AffinityTerm) -> PodSelector:
    """The pods that a term of the pod to be placed means.

    Upstream lists the namespaces that the namespaceSelector selects, and then asks it about no
    labels at all as well: one that is content with those (`env notin (prod)`) means every
    namespace.
    """
    pods = pod_selector(term)
    if pods.namespace_selector is None or not pods.namespace_selector.matches(EMPTY):
        return pods
    return replace(pods, namespace_selector=EVERYTHING)


# Hints.


def _is_placed(pod: Pod) -> bool:
    return bool(pod.spec.node_name or pod.status.nominated_node_name)


def _are_with(carried: tuple[CarriedTerm, RowCounter], labels: Mapping[str, str]) -> bool:
    """Whether pods that carry a term are in the domain of a node with these labels."""
    term, carriers = carried
    value = labels.get(term.topology_key)
    return value is not None and carriers.sum_where(term.topology_key, value) > 0
