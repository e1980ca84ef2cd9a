"""PreFilter and PreScore: whom to ask about a pod, when most have the same answer for all replicas.

A plugin that goes by the pod alone and only sits out, or lets the pod pass, is asked once per kind
of pod.  For a plain pod that leaves two plugins of a dozen to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

from berthing.api.pod_info import PodInfo
from berthing.framework import PreFilterPlugin, PreScorePlugin
from berthing.scheduler.asking import asked

A = TypeVar("A")


class Open(NamedTuple, Generic[A]):
    """Plugins by name whose answer may be another one each time.

    skipped  plugins that always sit out for pods of this kind
    """

    methods: Sequence[tuple[str, Callable[..., A]]]
    skipped: frozenset[str]


class Preliminaries(Generic[A]):
    """The plugins of one of the two points, in running order.

    all  what is open about a pod of a kind not seen before: everything
    """

    def __init__(
        self,
        point: str,
        plugins: Sequence[tuple[PreFilterPlugin | PreScorePlugin, Callable[..., A]]],
    ) -> None:
        self._point = point
        self._plugins = [plugin for plugin, _ in plugins]
        self.all = Open([(plugin.name, method) for plugin, method in plugins], frozenset())

    def left_open(
        self, pod: PodInfo, skipped: Collection[str], speaking: Collection[str] = ()
    ) -> Open[A]:
        """What is open from now on about pods of this kind.

        skipped   the plugins that sat out when all were asked
        speaking  those that had something to say, which must be heard each time
        """
        settled = {
            plugin.name
            for plugin in self._plugins
            if plugin.name not in speaking
            and asked(plugin.name, self._point, _is_pod_local, plugin, pod)
        }
        methods = [each for each in self.all.methods if each[0] not in settled]
        return Open(methods, frozenset(settled.intersection(skipped)))


def _is_pod_local(plugin: PreFilterPlugin | PreScorePlugin, pod: PodInfo) -> bool:
    # Whatever it answers is taken for yes or no where a failure is the plugin's own.
    return bool(plugin.is_pod_local(pod))
