"""What plugins remember from one extension point to the next, for one pod and one attempt.

A plugin declares a typed key once and reads what it wrote:

    _PORTS = StateKey[frozenset[HostPort]]("NodePorts")
    state.write(_PORTS, wanted)
    wanted = state.read(_PORTS)

Upstream: staging kube-scheduler/framework/cycle_state.go (v1.36.4).
Differs:  keys carry the type of their value; no lock, for nothing else runs during a cycle.
"""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar, cast, runtime_checkable

from berthing.api.pod import Pod

T = TypeVar("T")


@runtime_checkable
class StateData(Protocol):
    """A value that AddPod and RemovePod change, and so must be copied with the state."""

    def clone(self) -> Self:
        """A copy that may change without changing this one; share what never changes."""
        ...


class StateKey(Generic[T]):
    """The name under which a plugin keeps a value of one type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StateKey({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateKey) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class StateNotFoundError(KeyError):
    """Nothing was written under this key, mostly because the plugin's PreFilter did not run."""

    def __init__(self, key: StateKey[T]) -> None:
        super().__init__(key.name)
        self.key_name = key.name

    def __str__(self) -> str:
        return f"nothing was written under {self.key_name!r} in this cycle"


class CycleState:
    """One attempt's memory: values by key, and which plugins sit out the rest of the attempt."""

    __slots__ = (
        "_values",
        "parallel_pre_bind_plugins",
        "pods_to_activate",
        "record_plugin_metrics",
        "skip_all_post_filter_plugins",
        "skip_filter_plugins",
        "skip_pre_bind_plugins",
        "skip_score_plugins",
    )

    def __init__(self) -> None:
        self._values: dict[StateKey[object], object] = {}
        # The rest belongs to the runtime; plugins seldom look at it.
        self.skip_filter_plugins: frozenset[str] = frozenset()
        self.skip_score_plugins: frozenset[str] = frozenset()
        self.skip_pre_bind_plugins: frozenset[str] = frozenset()
        self.parallel_pre_bind_plugins: frozenset[str] = frozenset()
        self.skip_all_post_filter_plugins = False
        self.record_plugin_metrics = False
        # Pods by key that leave the unschedulable pool once this attempt succeeds; any plugin
        # may add some (upstream's reserved key kubernetes.io/pods-to-activate).
        self.pods_to_activate: dict[str, Pod] = {}

    def write(self, key: StateKey[T], value: T) -> None:
        """Keep a value for the rest of the attempt, in place of an earlier one."""
        self._values[cast("StateKey[object]", key)] = value

    def read(self, key: StateKey[T]) -> T:
        """What was written under `key`; StateNotFoundError if nothing was."""
        try:
            return cast("T", self._values[cast("StateKey[object]", key)])
        except KeyError:
            raise StateNotFoundError(key) from None

    def get(self, key: StateKey[T]) -> T | None:
        """What was written under `key`, or None."""
        return cast("T | None", self._values.get(cast("StateKey[object]", key)))

    def delete(self, key: StateKey[T]) -> None:
        """Forget what was written under `key`, if anything was."""
        self._values.pop(cast("StateKey[object]", key), None)

    def clone(self) -> CycleState:
        """A copy for a what-if: values with a `clone` are copied, all others shared.

        What the runtime keeps, and the pods to activate, are shared as well.
        """
        copy = CycleState()
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy._values = {
            key: value.clone() if isinstance(value, StateData) else value
            for key, value in self._values.items()
        }
        return copy
