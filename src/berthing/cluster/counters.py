"""How many pods of some kind run on each node, kept up to date as pods come and go.

Pods that scheduling cannot tell apart by namespace and labels form a *class*; a cluster has few,
however many pods it runs.  A *counter* asks for some classes: those that a spread constraint or an
affinity term selects.  It is decided once per class, never per pod:

    pod comes -> its class -> the counters that want the class -> counts[row] += 1
                                                               -> domain sums[zone of row] += 1
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec
import numpy as np

from berthing.api.labels import Selector
from berthing.cluster.arrays import wider
from berthing.cluster.labels import ABSENT, DomainSums
from berthing.cluster.node_table import NodeTable
from berthing.framework.columns import Int64Column

# More than a scheduler meets at a time; what has not been asked for longest goes first.
_MOST_COUNTERS = 4096


class PodClass(msgspec.Struct, frozen=True, cache_hash=True):
    """What counters can tell about a pod."""

    namespace: str
    labels: Mapping[str, str]
    is_terminating: bool = False


class PodSelector(msgspec.Struct, frozen=True, cache_hash=True):
    """Some pods: by namespace, named or selected by its labels, and by their own labels."""

    selector: Selector
    namespaces: frozenset[str] = frozenset()
    namespace_selector: Selector | None = None

    def selects(self, pod: PodClass, namespace_labels: Mapping[str, str]) -> bool:
        """Whether such a pod is meant."""
        in_namespace = pod.namespace in self.namespaces or (
            self.namespace_selector is not None
            and self.namespace_selector.matches(namespace_labels)
        )
        return in_namespace and self.selector.matches(pod.labels)


class CounterKey(msgspec.Struct, frozen=True, cache_hash=True):
    """Pods that every one of some selectors selects."""

    selectors: tuple[PodSelector, ...]
    # Spreading does not count pods that are on their way out; affinity does.
    counts_terminating: bool = True


class RowCounter:
    """A count per row, and its sums per value of any label.

    counts  (capacity,)
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self.counts: Int64Column = np.zeros(table.capacity, np.int64)
        self.total = 0
        self._sums: dict[str, DomainSums] = {}
        table.join(self)

    def add(self, row: int, amount: int) -> None:
        """So many more on a row."""
        self.counts[row] += amount
        self.total += amount
        for sums in self._sums.values():
            sums.add(row, amount)

    def sums(self, key: str) -> DomainSums:
        """The counts summed up per value of a label."""
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = DomainSums(self._table.labels(key), self.counts)
        return sums

    def has_any_with(self, key: str) -> bool:
        """Whether some of what is counted is on nodes that have the label."""
        return self.total != int(self.sums(key).totals[ABSENT])

    def sum_where(self, key: str, value: str) -> int:
        """The sum over the nodes whose label has this value."""
        sums = self.sums(key)
        code = sums.label.values.find(value)
        return 0 if code is None else int(sums.per_value[code])

    @property
    def summed_over(self) -> Collection[str]:
        """The labels for which there are sums by now."""
        return self._sums.keys()

    def close(self) -> None:
        """Nobody will ask any more; from now on the numbers go stale."""
        self._table.leave(self)
        for sums in self._sums.values():
            sums.close()

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.counts = wider(self.counts, capacity)
        for sums in self._sums.values():
            sums.counts_are(self.counts)


class _Class:
    """Running pods that are alike to every counter: how many on each row, and who counts them."""

    __slots__ = ("counters", "per_row", "pod")

    def __init__(self, pod: PodClass) -> None:
        self.pod = pod
        self.per_row: dict[int, int] = {}
        self.counters: list[RowCounter] = []


class Counters:
    """All classes of running pods, and the counters that somebody asked for lately."""

    def __init__(
        self, table: NodeTable, namespace_labels: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._table = table
        self._namespace_labels = namespace_labels
        self._classes: dict[PodClass, _Class] = {}
        self._counters: OrderedDict[CounterKey, RowCounter] = OrderedDict()

    def add_pod(self, pod: PodClass, row: int) -> None:
        """A pod of this class came to a row."""
        class_ = self._classes.get(pod)
        if class_ is None:
            class_ = self._classes[pod] = _Class(pod)
            class_.counters = [
                counter for key, counter in self._counters.items() if self._wants(key, pod)
            ]
        class_.per_row[row] = class_.per_row.get(row, 0) + 1
        for counter in class_.counters:
            counter.add(row, 1)

    def remove_pod(self, pod: PodClass, row: int) -> None:
        """A pod of this class left a row."""
        class_ = self._classes[pod]
        left = class_.per_row[row] - 1
        if left:
            class_.per_row[row] = left
        else:
            del class_.per_row[row]
        for counter in class_.counters:
            counter.add(row, -1)
        if not class_.per_row:
            del self._classes[pod]

    def counter(self, key: CounterKey) -> RowCounter:
        """The pods that `key` means, counted per row; kept up to date from here on."""
        counter = self._counters.get(key)
        if counter is not None:
            self._counters.move_to_end(key)
            return counter
        counter = self._counters[key] = RowCounter(self._table)
        self._count(key, counter)
        if len(self._counters) > _MOST_COUNTERS:
            _, idle = self._counters.popitem(last=False)
            self._drop(idle)
        return counter

    def all(self) -> Mapping[CounterKey, RowCounter]:
        """Every counter that is kept up to date."""
        return self._counters

    def classes(self) -> Iterator[tuple[PodClass, Mapping[int, int], Collection[RowCounter]]]:
        """Every class of running pods: how many on which rows, and who counts them."""
        for class_ in self._classes.values():
            yield class_.pod, class_.per_row, class_.counters

    def namespace_changed(self, namespace: str) -> None:
        """A namespace has other labels: whoever selects namespaces by them counts anew."""
        for key, counter in self._counters.items():
            if any(each.namespace_selector is not None for each in key.selectors):
                for class_ in self._classes.values():
                    if class_.pod.namespace == namespace:
                        self._count_again(key, counter, class_)

    def _count(self, key: CounterKey, counter: RowCounter) -> None:
        for class_ in self._classes.values():
            if self._wants(key, class_.pod):
                self._enlist(counter, class_)

    def _count_again(self, key: CounterKey, counter: RowCounter, class_: _Class) -> None:
        wanted = self._wants(key, class_.pod)
        if wanted and counter not in class_.counters:
            self._enlist(counter, class_)
        elif not wanted and counter in class_.counters:
            class_.counters.remove(counter)
            for row, count in class_.per_row.items():
                counter.add(row, -count)

    def _enlist(self, counter: RowCounter, class_: _Class) -> None:
        class_.counters.append(counter)
        for row, count in class_.per_row.items():
            counter.add(row, count)

    def _wants(self, key: CounterKey, pod: PodClass) -> bool:
        if pod.is_terminating and not key.counts_terminating:
            return False
        labels = self._namespace_labels(pod.namespace)
        return all(selector.selects(pod, labels) for selector in key.selectors)

    def _drop(self, counter: RowCounter) -> None:
        for class_ in self._classes.values():
            if counter in class_.counters:
                class_.counters.remove(counter)
        counter.close()
