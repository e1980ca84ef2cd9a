"""Changes that can make a pod fit, and that upstream's hints sleep through: ours wake the pod.

Each rule knows when upstream sleeps, from the pod and the change alone.  A recording that is met
exactly once our hints sleep by these rules too differs on purpose, by the rules that were needed.

    affinity-hint-knows-namespaces      InterPodAffinity asks a namespaceSelector about no labels at
                                        all, and so a selector for labels never finds a pod
    anti-affinity-hint-asks-for-one     InterPodAffinity wants a pod that leaves to have matched all
                                        anti-affinity terms, though each by itself keeps a pod away
    affinity-hint-knows-running-pods    InterPodAffinity looks only at the pod's own terms when a node
                                        comes or changes, though running pods' anti-affinity may be
                                        all that keeps the pod away elsewhere
    affinity-hint-hears-of-namespaces   InterPodAffinity is not asked when the labels of a namespace
                                        change, for there are no such events
    node-affinity-hint-knows-added      NodeAffinity thinks that a node could take the pod before if
                                        it matched the pod's affinity, addedAffinity or not
    fit-hint-ignores-what-is-ignored    NodeResourcesFit wants nodes to offer even those resources
                                        that the configuration ignores
    spread-hint-knows-node-affinity     PodTopologySpread looks at topology keys and taints of a node
                                        that changed, though by its other labels it may begin or
                                        cease to count
    spread-hint-knows-own-labels        PodTopologySpread asks only whether the pod itself is counted
                                        otherwise than before, though its constraints may select
                                        other pods than before

Upstream: isSchedulableAfter... in plugins/{interpodaffinity/plugin,nodeaffinity/node_affinity,
          noderesources/fit,podtopologyspread/plugin}.go (v1.36.4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from msgspec.structs import replace

from berthing.api.core import Namespace
from berthing.api.frozen import EMPTY
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.pod_terms import AffinityTerm, SpreadConstraint, affinity_terms
from berthing.cluster.cluster import Cluster
from berthing.framework import ClusterEventWithHint, Plugin, QueueingHint, QueueingHintFn
from berthing.plugins.inter_pod_affinity import InterPodAffinity
from berthing.plugins.node_affinity import NodeAffinity
from berthing.plugins.node_resources_fit import NodeResourcesFit
from berthing.plugins.pod_topology_spread import PodTopologySpread
from berthing.queue.scheduling_queue import QueueingProfile
from berthing.scheduler.profile import Profile

KNOWS_NAMESPACES = "affinity-hint-knows-namespaces"
ASKS_FOR_ONE = "anti-affinity-hint-asks-for-one"
KNOWS_RUNNING = "affinity-hint-knows-running-pods"
HEARS_OF_NAMESPACES = "affinity-hint-hears-of-namespaces"
KNOWS_ADDED = "node-affinity-hint-knows-added"
IGNORES_IGNORED = "fit-hint-ignores-what-is-ignored"
KNOWS_NODE_AFFINITY = "spread-hint-knows-node-affinity"
KNOWS_OWN_LABELS = "spread-hint-knows-own-labels"

# (pod, old, new) -> the rules by which upstream sleeps; none where it wakes the pod as ours does.
_Sleeps = Callable[[PodInfo, object | None, object | None], Collection[str]]


class SleepingHints:
    """Our hints, made to sleep where upstream's do; knows which rules came up."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.rules: set[str] = set()

    def of(self, profile: Profile) -> QueueingProfile:
        """What of the profile concerns the queue, with hints that sleep."""
        ours = profile.queueing()
        events = {
            name: tuple(map(self._sleeper(profile.plugins[name]), registered))
            for name, registered in ours.events.items()
        }
        return replace(ours, events=events)

    def _sleeper(self, plugin: Plugin) -> Callable[[ClusterEventWithHint], ClusterEventWithHint]:
        sleeps = self._sleeps(plugin)

        def with_sleep(registered: ClusterEventWithHint) -> ClusterEventWithHint:
            if sleeps is None or registered.hint is None:
                return registered
            return replace(registered, hint=self._drowsy(registered.hint, sleeps))

        return with_sleep

    def _drowsy(self, hint: QueueingHintFn, sleeps: _Sleeps) -> QueueingHintFn:
        def drowsy(pod: PodInfo, old: object | None, new: object | None) -> QueueingHint:
            answer = hint(pod, old, new)
            rules = sleeps(pod, old, new) if answer is QueueingHint.QUEUE else ()
            self.rules.update(rules)
            return QueueingHint.SKIP if rules else answer

        return drowsy

    def _sleeps(self, plugin: Plugin) -> _Sleeps | None:
        match plugin:
            case InterPodAffinity():
                return self._by_affinity
            case NodeAffinity():
                return _by_added_affinity
            case NodeResourcesFit():
                return partial(_by_ignored_resources, plugin)
            case PodTopologySpread():
                return partial(_by_spreading, plugin)
            case _:
                return None

    def _by_affinity(self, pod: PodInfo, old: object | None, new: object | None) -> Collection[str]:
        if isinstance(old, Namespace) or isinstance(new, Namespace):
            return (HEARS_OF_NAMESPACES,)
        if isinstance(new, Node):
            return _by_domains(pod, old if isinstance(old, Node) else None, new)
        before, after = (each if isinstance(each, Pod) else None for each in (old, new))
        if pod.terms.error or (before is None and after is None):
            return ()
        if before is not None and after is not None and after.metadata.uid == pod.uid:
            return ()
        change = _PodChange(self._cluster, pod, before, after)
        if change.wakes(knows_namespaces=False, asks_for_one=False):
            return ()
        names = change.wakes(knows_namespaces=True, asks_for_one=False)
        one = change.wakes(knows_namespaces=False, asks_for_one=True)
        if names or one:
            return [
                rule for rule, holds in ((KNOWS_NAMESPACES, names), (ASKS_FOR_ONE, one)) if holds
            ]
        both = change.wakes(knows_namespaces=True, asks_for_one=True)
        return (KNOWS_NAMESPACES, ASKS_FOR_ONE) if both else ()


class _PodChange:
    """A pod with a place came, changed or left, while another waits that has terms."""

    def __init__(
        self, cluster: Cluster, waiting: PodInfo, before: Pod | None, after: Pod | None
    ) -> None:
        self._cluster = cluster
        self._waiting = waiting
        self._before = before
        self._after = after

    def wakes(self, *, knows_namespaces: bool, asks_for_one: bool) -> bool:
        """Upstream's answer, with the labels of namespaces and with any term for all, if so told."""
        terms, before, after = self._waiting.terms, self._before, self._after

        def all_match(terms: Collection[AffinityTerm], pod: Pod | None) -> bool:
            return bool(terms) and all(
                self._matches(term, pod, knows_namespaces=knows_namespaces) for term in terms
            )

        def left(terms: Collection[AffinityTerm], was: Pod, now_is: Pod | None) -> bool:
            groups: Iterable[Collection[AffinityTerm]] = (
                [(term,) for term in terms] if asks_for_one else [terms]
            )
            return any(all_match(group, was) and not all_match(group, now_is) for group in groups)

        came = all_match(terms.required, after) and not all_match(terms.required, before)
        if came or before is None:
            return came
        if left(terms.required_anti, before, after):
            return True
        others = affinity_terms(before.spec.affinity, before.namespace)
        return after is None and left(others.required_anti, self._waiting.pod, None)

    def _matches(self, term: AffinityTerm, pod: Pod | None, *, knows_namespaces: bool) -> bool:
        if pod is None:
            return False
        labels = pod.metadata.labels
        return term.matches(pod.namespace, labels, EMPTY) or (
            knows_namespaces
            and term.matches(pod.namespace, labels, self._cluster.namespace_labels(pod.namespace))
        )


def _by_domains(pod: PodInfo, old: Node | None, new: Node) -> Collection[str]:
    terms, is_ = pod.terms, new.metadata.labels
    wanted = {term.topology_key for term in terms.required}
    unwanted = {term.topology_key for term in terms.required_anti}
    if old is None:
        wakes = bool(unwanted) or any(key in is_ for key in wanted)
    else:
        was = old.metadata.labels
        wakes = any(key in is_ and was.get(key) != is_[key] for key in wanted) or any(
            key in was and was[key] != is_.get(key) for key in unwanted
        )
    return () if terms.error or wakes else (KNOWS_RUNNING,)


def _by_added_affinity(pod: PodInfo, old: object | None, _new: object | None) -> Collection[str]:
    if not isinstance(old, Node):
        return ()
    matched = pod.shape.required_node_affinity.matches(old.name, old.metadata.labels)
    return (KNOWS_ADDED,) if matched else ()


def _by_ignored_resources(
    plugin: NodeResourcesFit, pod: PodInfo, _old: object | None, new: object | None
) -> Collection[str]:
    # Whatever is lacking though ours wakes the pod is ignored.
    return (IGNORES_IGNORED,) if isinstance(new, Node) and plugin.lacking(pod, new) else ()


def _by_spreading(
    plugin: PodTopologySpread, pod: PodInfo, old: object | None, new: object | None
) -> Collection[str]:
    if isinstance(old, Node) and isinstance(new, Node):
        keys = [each.topology_key for each in plugin.hard_constraints(pod)]
        return () if _moved(keys, old, new) else (KNOWS_NODE_AFFINITY,)
    if isinstance(old, Pod) and isinstance(new, Pod) and new.metadata.uid == pod.uid:
        constraints = plugin.hard_constraints(pod)
        return () if _is_counted_otherwise(constraints, old, new) else (KNOWS_OWN_LABELS,)
    return ()


def _moved(keys: Collection[str], old: Node, new: Node) -> bool:
    """Whether the node has all keys only before or only after, or other values or taints."""
    was, is_ = old.metadata.labels, new.metadata.labels
    has_all = all(key in is_ for key in keys)
    if all(key in was for key in keys) != has_all:
        return True
    other_values = any(was.get(key) != is_.get(key) for key in keys)
    return has_all and (other_values or old.spec.taints != new.spec.taints)


def _is_counted_otherwise(constraints: Collection[SpreadConstraint], old: Pod, new: Pod) -> bool:
    """Whether a constraint selects the pod only before or only after, or it tolerates more."""
    if old.spec.tolerations != new.spec.tolerations and any(
        each.honors_node_taints for each in constraints
    ):
        return True
    was, is_ = old.metadata.labels, new.metadata.labels
    return any(each.selector.matches(was) != each.selector.matches(is_) for each in constraints)
