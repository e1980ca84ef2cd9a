"""What a plugin is: a class with a name, and one base class per extension point it takes part in.

    class NearData(FilterPlugin, ScorePlugin):
        name = "NearData"

        def filter(self, state, pod, node): ...
        def score(self, state, pod, node): ...

Filter and Score come in two forms.  One node at a time, as above, is what most plugins write;
the runtime asks it only about nodes that are still in play.  All rows at once (`filter_nodes`,
`score_nodes`) computes with columns and is what built-in plugins write.  A plugin offers either.

PreEnqueue to Permit run inside a cycle, in which no event changes the cluster: they are plain
functions, do no I/O and return at once.  PostFilter, PreBind, Bind and PostBind may wait and are
coroutines.

Upstream: staging kube-scheduler/framework/interface.go (v1.36.4).
Differs:  PreFilter, Permit and PostFilter return one value in place of a pair; what upstream
          returns as an Error status is raised here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from operator import index
from typing import ClassVar

import msgspec
import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.framework.cluster_events import ClusterEventWithHint
from berthing.framework.columns import Int64Column
from berthing.framework.cycle_state import CycleState
from berthing.framework.handle import Handle
from berthing.framework.nodes import NodeInfo, Nodes, NodeToStatus
from berthing.framework.queued_pod import QueuedPodInfo
from berthing.framework.status import Status
from berthing.framework.verdicts import Verdicts

MIN_SCORE = 0
MAX_SCORE = 100


class ExtensionPoint(StrEnum):
    """Where plugins take part, in the order of a pod's path; the values are the config's keys."""

    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    PRE_SCORE = "preScore"
    SCORE = "score"
    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"

    @property
    def label(self) -> str:
        """Upstream's name in metrics, logs and messages: PreFilter."""
        return self.value[0].upper() + self.value[1:]


class Plugin:
    """The base of every plugin: made once per profile, with its args and a Handle.

    `name` is what configurations call it.  `args_type` names a msgspec Struct if the plugin takes
    args: defaults and constraints (`msgspec.Meta`) are honoured, and a method
    `validate(self, problems)` on the Struct may add what types cannot say.  `reads` names the kinds
    of objects that the plugin looks up, beside pods and nodes and the kinds it registered events
    for: a live scheduler watches no others.
    """

    name: ClassVar[str]
    args_type: ClassVar[type[msgspec.Struct] | None] = None
    reads: ClassVar[tuple[type, ...]] = ()

    def __init__(self, args: msgspec.Struct | None, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    async def close(self) -> None:
        """Let go of whatever the plugin holds; called once, when the scheduler stops."""


def _require_one_form(cls: type[Plugin], base: type[Plugin], one: str, all_: str) -> None:
    """Refuse a named plugin that offers neither form; classes without a name are bases."""
    if hasattr(cls, "name") and all(
        getattr(cls, form) is getattr(base, form) for form in (one, all_)
    ):
        raise TypeError(f"{cls.__name__} is a {base.__name__} and defines neither {one} nor {all_}")


class _AskedFirst(Plugin):
    """What PreFilter and PreScore have in common."""

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Promise that PreFilter and PreScore go by what the pod itself says, and write nothing.

        Then what they answer for one replica holds for all of them, and the runtime asks once.
        """
        return False


class PreEnqueuePlugin(Plugin):
    """Decides whether a pod may enter the queue at all."""

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """None lets the pod in; any other status gates it until one of our events comes."""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    """Orders the queue; a profile has exactly one, and all profiles the same."""

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        """Whether `first` leaves the queue before `second`."""
        raise NotImplementedError

    def sort_key(self, pod: QueuedPodInfo) -> object:
        """What stands for the pod in comparisons: `less` by default.

        A tuple of numbers orders the queue much faster; it must tell the same order.
        """
        return _ByLess(self.less, pod)


class _ByLess:
    """A pod that is compared by a plugin."""

    __slots__ = ("_less", "_pod")

    def __init__(self, less: Callable[[QueuedPodInfo, QueuedPodInfo], bool], pod: QueuedPodInfo):
        self._less = less
        self._pod = pod

    def __lt__(self, other: _ByLess) -> bool:
        return self._less(self._pod, other._pod)


class EnqueueExtensions(Plugin):
    """For plugins that reject pods: which events may change their mind."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Asked once at start.  Nothing means that no event ever wakes the pods we reject."""
        raise NotImplementedError


class PreFilterResult(msgspec.Struct, frozen=True):
    """The only nodes worth looking at, found without looking at all of them."""

    node_names: frozenset[str]


class PreFilterPlugin(_AskedFirst):
    """Looks at the pod, and at the cluster as a whole, before any node is looked at."""

    def pre_filter(
        self, state: CycleState, pod: PodInfo, nodes: Nodes
    ) -> PreFilterResult | Status | None:
        """None goes on with all nodes, a result narrows them.

        `Status.skip()` leaves out this plugin's Filter; an unresolvable status ends the attempt.
        """
        raise NotImplementedError


class PreFilterExtensions(PreFilterPlugin):
    """For plugins whose PreFilter computes what other pods' comings and goings change.

    The runtime calls these on a cloned state when it asks what would be if.
    """

    def add_pod(
        self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Bring what PreFilter kept up to date: `added` now runs on `node`."""
        raise NotImplementedError

    def remove_pod(
        self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Bring what PreFilter kept up to date: `removed` no longer runs on `node`."""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Says which nodes can run the pod.  Offers `filter` or `filter_nodes`.

    `row_local` promises that the verdict about a node depends on that node and the pod alone;
    the runtime then asks again only about nodes that changed.  `reads_pods = False` promises that
    the pods on the node make no difference either.
    """

    row_local: ClassVar[bool] = False
    reads_pods: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _require_one_form(cls, FilterPlugin, "filter", "filter_nodes")

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status | None:
        """None if the node can run the pod, else why it cannot."""
        raise NotImplementedError

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """A verdict for each row of `nodes`."""
        return Verdicts.of(self.filter(state, pod, node) for node in nodes)

    @classmethod
    def filters_columns(cls) -> bool:
        """True if the plugin judges all rows at once."""
        return cls.filter_nodes is not FilterPlugin.filter_nodes


class PostFilterResult(msgspec.Struct, frozen=True):
    """What a PostFilter plugin achieved for a pod that fits nowhere.

    A status of None or success says that the pod can be made to fit, an unschedulable one that
    it cannot.  `nominated_node_name` says where: None leaves an earlier nomination alone, the
    empty text takes it back.
    """

    status: Status | None = None
    nominated_node_name: str | None = None


class PostFilterPlugin(Plugin):
    """Tries to make room for a pod that fits nowhere; preemption is one."""

    async def post_filter(
        self, state: CycleState, pod: PodInfo, filtered: NodeToStatus
    ) -> PostFilterResult:
        """Called when no node passed; `filtered` tells why each did not."""
        raise NotImplementedError


class PreScorePlugin(_AskedFirst):
    """Computes once what this plugin's Score needs for every node."""

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """`nodes` are those that passed; `Status.skip()` leaves out this plugin's Score."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    """Ranks the nodes that passed.  Offers `score` or `score_nodes`.

    Scores lie within MIN_SCORE and MAX_SCORE once normalised; see ScoreExtensions.
    `row_local` and `reads_pods` as for a FilterPlugin.
    """

    row_local: ClassVar[bool] = False
    reads_pods: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _require_one_form(cls, ScorePlugin, "score", "score_nodes")

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """How good the node is; higher is better."""
        raise NotImplementedError

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """(n_rows,) a score for each row of `nodes`."""
        # A score is a whole number: one that is not must not be cut off in silence.
        return np.fromiter(
            (index(self.score(state, pod, node)) for node in nodes), np.int64, count=len(nodes)
        )

    def score_basis(self, nodes: Nodes) -> object:
        """What row-local scores rest on besides the pod and the row: how many nodes there are, say.

        Scores of all rows are asked for again when it is no longer equal to what it was.
        """
        return None

    @classmethod
    def scores_columns(cls) -> bool:
        """True if the plugin scores all rows at once."""
        return cls.score_nodes is not ScorePlugin.score_nodes


class ScoreExtensions(ScorePlugin):
    """For plugins whose scores only mean something beside each other."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Int64Column) -> Int64Column:
        """(n_rows,) the raw scores of all nodes that passed, brought to 0..100."""
        raise NotImplementedError


class ReservePlugin(Plugin):
    """Keeps account of something that the pod takes once its node is chosen."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None if it could be reserved; anything else turns the pod back."""
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Give it back.  May come without `reserve`, and twice."""
        raise NotImplementedError


class Wait(msgspec.Struct, frozen=True):
    """A Permit plugin's wish that the pod wait to be allowed, for so long at most."""

    timeout_seconds: float


class PermitPlugin(Plugin):
    """The last word before binding: go, no, or wait."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> Wait | Status | None:
        """None lets the pod be bound; `Wait` holds it until `WaitingPod.allow` or the timeout."""
        raise NotImplementedError


class PreBindPreFlightResult(msgspec.Struct, frozen=True):
    """What PreBind would like: to run beside its neighbours if they like it too."""

    allow_parallel: bool = False


class PreBindPlugin(Plugin):
    """Does what must be done before the pod is bound: attach a volume, say."""

    def pre_bind_pre_flight(
        self,
        state: CycleState,
        pod: PodInfo,
        node_name: str,
    ) -> PreBindPreFlightResult | Status | None:
        """`Status.skip()` says that there is nothing to do for this pod.  Quick, no I/O."""
        return None

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None once it is done; anything else turns the pod back."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Tells the API server where the pod goes."""

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """None once the pod is bound; `Status.skip()` leaves it to the next Bind plugin."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Hears of pods that were bound."""

    async def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """The pod is bound; nothing said here changes that."""
        raise NotImplementedError


class SignPlugin(Plugin):
    """For plugins that look at pods: what of a pod they look at."""

    def sign_pod(self, pod: PodInfo) -> Mapping[str, object] | Status:
        """Fragments, equal for pods that this plugin treats alike; a status refuses to sign."""
        raise NotImplementedError


# The two placement points come with pod groups and have no plugin of this kind yet.
_CLASS_OF_POINT: Mapping[ExtensionPoint, type[Plugin]] = {
    ExtensionPoint.PRE_ENQUEUE: PreEnqueuePlugin,
    ExtensionPoint.QUEUE_SORT: QueueSortPlugin,
    ExtensionPoint.PRE_FILTER: PreFilterPlugin,
    ExtensionPoint.FILTER: FilterPlugin,
    ExtensionPoint.POST_FILTER: PostFilterPlugin,
    ExtensionPoint.PRE_SCORE: PreScorePlugin,
    ExtensionPoint.SCORE: ScorePlugin,
    ExtensionPoint.RESERVE: ReservePlugin,
    ExtensionPoint.PERMIT: PermitPlugin,
    ExtensionPoint.PRE_BIND: PreBindPlugin,
    ExtensionPoint.BIND: BindPlugin,
    ExtensionPoint.POST_BIND: PostBindPlugin,
}


def points_of(plugin: type[Plugin]) -> tuple[ExtensionPoint, ...]:
    """The extension points a plugin class takes part in, in the order of a pod's path."""
    return tuple(point for point, base in _CLASS_OF_POINT.items() if issubclass(plugin, base))
