"""What spreading means for a kind of pod: which constraints, whom they count, over which domains.

A plan follows from the pod's facts; replicas share it.  Plans of pods that are spread by default
follow from Services and the pod's owner as well, and are made anew when these say something else.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from berthing.api.core import Service
from berthing.api.labels import Selector
from berthing.api.node_selector import RequiredNodeAffinity
from berthing.api.pod_info import PodFacts, PodInfo, PodShape
from berthing.api.pod_terms import NO_CONSTRAINTS, SpreadConstraint
from berthing.cluster.cluster import Cluster
from berthing.cluster.counters import CounterKey, PodSelector
from berthing.cluster.objects import Objects
from berthing.plugins.topology_domains import Grouping, Inclusion, Topology
from berthing.plugins.topology_spread_defaults import (
    DefaultConstraints,
    narrowed_by_owner,
    owner_of,
    selected_by_services,
)

# Kinds of pods that come in turns; what came first goes first.
_MOST_PLANS = 1024

_ANY_NODE = RequiredNodeAffinity()


class Counted:
    """A constraint of a kind of pod, and the pods that it counts.

    `pods` is None where nobody is counted: upstream counts nobody for a selector that selects all.
    """

    __slots__ = ("constraint", "counts_itself", "namespace", "pods")

    def __init__(self, constraint: SpreadConstraint, pod: PodFacts) -> None:
        self.constraint = constraint
        self.namespace = pod.namespace
        self.counts_itself = int(constraint.selector.matches(pod.labels))
        self.pods: CounterKey | None = None
        if not (constraint.selector.is_everything or constraint.selector.is_nothing):
            pods = PodSelector(constraint.selector, frozenset((pod.namespace,)))
            self.pods = CounterKey((pods,), counts_terminating=False)

    def selects(self, pod: PodInfo) -> bool:
        """Whether the constraint speaks of a pod, leaving aside that it may be on its way out."""
        return pod.namespace == self.namespace and self.constraint.selector.matches(pod.labels)


class Group:
    """The hard constraints of a kind of pod, or the soft ones, with the nodes they mean."""

    __slots__ = ("constraints", "topology")

    def __init__(self, constraints: tuple[Counted, ...], topology: Topology) -> None:
        self.constraints = constraints
        self.topology = topology


class Plan:
    """What there is to do for a kind of pod; an error is told when its group is needed."""

    __slots__ = ("_belonging", "hard", "hard_error", "soft", "soft_error")

    def __init__(
        self,
        hard: Group | None,
        soft: Group | None,
        *,
        hard_error: str = "",
        soft_error: str = "",
        belonging: Belonging | None = None,
    ) -> None:
        # Either is None if there are no such constraints.
        self.hard = hard
        self.soft = soft
        self.hard_error = hard_error
        self.soft_error = soft_error
        self._belonging = belonging

    def holds(self, objects: Objects) -> bool:
        """Whether what the plan was made from is still so."""
        return self._belonging is None or self._belonging.holds(objects)


class Belonging:
    """What a kind of pod belongs to, as far as Services and owners tell."""

    __slots__ = ("_facts", "_owner", "_services_version", "selector")

    def __init__(self, facts: PodFacts, objects: Objects) -> None:
        self._facts = facts
        self._services_version = objects.version(Service)
        self._owner = owner_of(facts, objects)
        self.selector = self._deduced(objects)

    def holds(self, objects: Objects) -> bool:
        """Look again if a Service or the owner has changed; False if it comes to something else.

        A replica set changes with each of its pods, but its selector does not.
        """
        version, owner = objects.version(Service), owner_of(self._facts, objects)
        if version == self._services_version and owner is self._owner:
            return True
        self._services_version, self._owner = version, owner
        before, self.selector = self.selector, self._deduced(objects)
        return self.selector == before

    def _deduced(self, objects: Objects) -> Selector:
        return narrowed_by_owner(selected_by_services(self._facts, objects), self._owner)


class Plans:
    """The plans for one cluster."""

    def __init__(
        self, cluster: Cluster, defaults: DefaultConstraints, *, comparison_operators: bool
    ) -> None:
        self.cluster = cluster
        self._defaults = defaults
        self._comparison_operators = comparison_operators
        self._plans: dict[PodShape, Plan] = {}
        # Kinds of pods that spread alike share what is known of the nodes.
        self._topologies: WeakValueDictionary[Grouping, Topology] = WeakValueDictionary()

    def of(self, pod: PodInfo) -> Plan:
        """The plan for a pod."""
        plan = self._plans.get(pod.shape)
        if plan is None:
            if len(self._plans) >= _MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            plan = self._plans[pod.shape] = self._made(pod.shape)
        elif not plan.holds(self.cluster.objects):
            plan = self._plans[pod.shape] = self._made(pod.shape)
        return plan

    def _made(self, shape: PodShape) -> Plan:
        spread = shape.facts.spread
        if spread != NO_CONSTRAINTS:
            return Plan(
                self._group(spread.hard, shape),
                self._group(spread.soft, shape),
                hard_error=spread.hard_error,
                soft_error=spread.soft_error,
            )
        defaults = self._defaults
        if not defaults:
            return Plan(None, None)
        belonging = Belonging(shape.facts, self.cluster.objects)
        return Plan(
            self._group(defaults.hard(belonging.selector), shape),
            # Nodes without a zone are still good for spreading over hostnames.
            self._group(
                defaults.soft(belonging.selector), shape, needs_all_keys=not defaults.are_system
            ),
            belonging=belonging,
        )

    def _group(
        self,
        constraints: tuple[SpreadConstraint, ...],
        shape: PodShape,
        *,
        needs_all_keys: bool = True,
    ) -> Group | None:
        if not constraints:
            return None
        grouping = Grouping(
            tuple(each.topology_key for each in constraints),
            tuple(self._inclusion(each, shape) for each in constraints),
            needs_all_keys,
        )
        topology = self._topologies.get(grouping)
        if topology is None:
            topology = self._topologies[grouping] = Topology(self.cluster, grouping)
        return Group(tuple(Counted(each, shape.facts) for each in constraints), topology)

    def _inclusion(self, constraint: SpreadConstraint, shape: PodShape) -> Inclusion:
        affinity = shape.required_node_affinity
        return Inclusion(
            affinity if constraint.honors_node_affinity and affinity != _ANY_NODE else None,
            shape.facts.tolerations if constraint.honors_node_taints else None,
            self._comparison_operators,
        )
