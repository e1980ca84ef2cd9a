"""Plugins whose work is not done in this version: volumes, and resource claims.

They are on by default, so a profile has them.  For pods that do not concern them they do what
upstream's do, which is next to nothing.  A pod that does concern them fails its attempt, with the
plugin's name, rather than being placed without a look at its volumes.

Upstream: plugins/{volumerestrictions,nodevolumelimits,volumebinding,volumezone,dynamicresources}.
Differs:  pods with volumes or claims that these plugins look at are refused.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from berthing.api.pod_info import PodInfo
from berthing.api.resource import DeviceClass
from berthing.cluster.rows import as_rows
from berthing.config import args
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Int64Column,
    Nodes,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
)


class UnsupportedError(Exception):
    """This version cannot decide about such a pod."""


class _VolumePlugin(PreFilterPlugin, FilterPlugin):
    """Skips pods without volumes that volume plugins look at."""

    row_local = True
    reads_pods = False

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Sit out, or refuse."""
        if pod.facts.volumes or pod.facts.ephemeral_claims:
            raise UnsupportedError("this version does not place pods with such volumes yet")
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Nobody asks: PreFilter skips or refuses."""
        return Verdicts.all_pass(len(nodes))


class VolumeRestrictions(_VolumePlugin):
    """Keeps apart pods that cannot share a disk."""

    name: ClassVar[str] = "VolumeRestrictions"


class NodeVolumeLimits(_VolumePlugin):
    """Heeds how many volumes a node can attach."""

    name: ClassVar[str] = "NodeVolumeLimits"


class VolumeZone(_VolumePlugin):
    """Keeps pods in the zones of their volumes."""

    name: ClassVar[str] = "VolumeZone"


class VolumeBinding(_VolumePlugin, PreScorePlugin, ScorePlugin):
    """Finds volumes for claims."""

    name: ClassVar[str] = "VolumeBinding"
    args_type = args.VolumeBindingArgs

    def pre_score(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Without storage capacity scoring there is nothing to score."""
        return Status.skip()

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Nobody asks: PreScore skips."""
        return np.zeros(len(nodes), np.int64)


class DynamicResources(PreFilterPlugin, FilterPlugin, ScorePlugin):
    """Allocates devices for resource claims."""

    name: ClassVar[str] = "DynamicResources"
    args_type = args.DynamicResourcesArgs
    row_local = True
    reads_pods = False

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Sit out, or refuse."""
        facts = pod.facts
        if facts.resource_claims or facts.extended_resource_claim:
            raise UnsupportedError("this version does not place pods with resource claims yet")
        asked = {name for amounts in facts.asked.extended for name in amounts}
        if asked and asked & self._backed_by_devices(nodes):
            raise UnsupportedError(
                "this version does not place pods with devices behind extended resources yet"
            )
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Nobody asks: PreFilter skips or refuses."""
        return Verdicts.all_pass(len(nodes))

    def score_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Int64Column:
        """Without claims all nodes are alike."""
        return np.zeros(len(nodes), np.int64)

    def _backed_by_devices(self, nodes: Nodes) -> set[str]:
        classes = as_rows(nodes).cluster.objects.list(DeviceClass)
        return {each.spec.extended_resource_name or "" for each in classes}
