"""What plugins have in common whose work is not done in this version: volumes, and resource claims.

They are on by default, so a profile has them.  For pods that do not concern them they do what
upstream's do, which is next to nothing, and their hints are complete.  A pod that does concern
them fails its attempt, with the plugin's name, rather than being placed without a look at its
volumes.
"""

from __future__ import annotations

from berthing.api.pod_info import PodInfo
from berthing.framework import (
    CycleState,
    FilterPlugin,
    Nodes,
    PreFilterPlugin,
    Status,
    Verdicts,
)


class UnsupportedError(Exception):
    """This version cannot decide about such a pod."""


class UnsupportedVolumes(PreFilterPlugin, FilterPlugin):
    """Skips pods without volumes that volume plugins look at."""

    row_local = True
    reads_pods = False

    def is_pod_local(self, pod: PodInfo) -> bool:
        """Nothing but the pod counts."""
        return True

    def pre_filter(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Status:
        """Sit out, or refuse."""
        if pod.facts.volumes or pod.facts.ephemeral_claims:
            raise UnsupportedError("this version does not place pods with such volumes yet")
        return Status.skip()

    def filter_nodes(self, state: CycleState, pod: PodInfo, nodes: Nodes) -> Verdicts:
        """Nobody asks: PreFilter skips or refuses."""
        return Verdicts.all_pass(len(nodes))
