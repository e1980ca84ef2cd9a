"""Affinity terms that running pods carry, by distinct term.

A thousand replicas carry one term a thousand times: it is kept once, with a count per row of the
pods that carry it.  Whether a term speaks of a pod that is to be placed is decided once per kind
of pod and remembered, as long as the term is carried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum

import msgspec

from berthing.cluster.counters import PodClass, PodSelector, RowCounter
from berthing.cluster.node_table import NodeTable

# Kinds of pods to be placed of which it is remembered which terms speak of them.
_MOST_REMEMBERED = 4096


class TermKind(IntEnum):
    """What a running pod's term means for a pod that comes to its domain."""

    REQUIRED_AFFINITY = 0
    REQUIRED_ANTI_AFFINITY = 1
    PREFERRED_AFFINITY = 2
    PREFERRED_ANTI_AFFINITY = 3


class CarriedTerm(msgspec.Struct, frozen=True, cache_hash=True):
    """A term as running pods carry it; `weight` only where it is preferred."""

    kind: TermKind
    pods: PodSelector
    topology_key: str
    weight: int = 0


class CarriedTerms:
    """The terms of all running pods."""

    def __init__(
        self, table: NodeTable, namespace_labels: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._table = table
        self._namespace_labels = namespace_labels
        self._carriers: dict[CarriedTerm, RowCounter] = {}
        self._speaking_of: dict[PodClass, dict[CarriedTerm, RowCounter]] = {}

    def add(self, term: CarriedTerm, row: int) -> None:
        """A pod that carries the term came to a row."""
        carriers = self._carriers.get(term)
        if carriers is None:
            carriers = self._carriers[term] = RowCounter(self._table)
            for pod, terms in self._speaking_of.items():
                if self._speaks_of(term, pod):
                    terms[term] = carriers
        carriers.add(row, 1)

    def remove(self, term: CarriedTerm, row: int) -> None:
        """A pod that carries the term left a row."""
        carriers = self._carriers[term]
        carriers.add(row, -1)
        if not carriers.total:
            del self._carriers[term]
            carriers.close()
            for terms in self._speaking_of.values():
                terms.pop(term, None)

    def speaking_of(self, pod: PodClass) -> Mapping[CarriedTerm, RowCounter]:
        """The terms that select such a pod, each with the running pods that carry it."""
        terms = self._speaking_of.get(pod)
        if terms is None:
            if len(self._speaking_of) >= _MOST_REMEMBERED:
                del self._speaking_of[next(iter(self._speaking_of))]
            terms = self._speaking_of[pod] = {
                term: carriers
                for term, carriers in self._carriers.items()
                if self._speaks_of(term, pod)
            }
        return terms

    def namespace_changed(self, namespace: str) -> None:
        """A namespace has other labels: for its pods, all is decided anew."""
        for pod in [pod for pod in self._speaking_of if pod.namespace == namespace]:
            del self._speaking_of[pod]

    def all(self) -> Mapping[CarriedTerm, RowCounter]:
        """Every term that is carried."""
        return self._carriers

    def remembered(self) -> Mapping[PodClass, Mapping[CarriedTerm, RowCounter]]:
        """The kinds of pods for which it is known by now which terms speak of them."""
        return self._speaking_of

    def _speaks_of(self, term: CarriedTerm, pod: PodClass) -> bool:
        return term.pods.selects(pod, self._namespace_labels(pod.namespace))
