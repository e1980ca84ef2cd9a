"""A cluster as its API server shows it now, for explanations without any files."""

from __future__ import annotations

from collections import Counter
from typing import Final

import msgspec

from berthing.api.apps import ReplicaSet, StatefulSet
from berthing.api.core import Namespace, ReplicationController, Service
from berthing.api.errors import ApiError, ClientError, ForbiddenError, NotFoundError
from berthing.api.kinds import kind_of
from berthing.api.meta import ApiObject
from berthing.api.node import Node
from berthing.api.pod import Pod
from berthing.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from berthing.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    StorageClass,
    VolumeAttachment,
)
from berthing.api.volumes import PersistentVolume, PersistentVolumeClaim
from berthing.client.api_client import ApiClient
from berthing.client.lists import list_all
from berthing.explain.cluster_files import ClusterFiles, Found
from berthing.explain.problems import InputError

# Without these there is nothing to decide about.
_NEEDED: Final[tuple[type[ApiObject], ...]] = (Node, Pod)
# What else built-in plugins look at.
_READ: Final[tuple[type[ApiObject], ...]] = (
    Namespace,
    Service,
    ReplicationController,
    ReplicaSet,
    StatefulSet,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
    ResourceClaim,
    ResourceSlice,
    DeviceClass,
)
_SOURCE: Final = "the cluster"


class LiveCluster(msgspec.Struct, frozen=True):
    """What an API server showed, and what it would not show."""

    cluster: ClusterFiles
    notes: tuple[str, ...]


async def read_cluster(client: ApiClient, server: str) -> LiveCluster:
    """List all that a decision may lean on; InputError if nodes or pods cannot be had."""
    found: list[Found] = []
    notes: list[str] = []
    for kind in (*_NEEDED, *_READ):
        resource = kind_of(kind).resource
        try:
            found += [Found(obj, _SOURCE) for obj in await list_all(client, kind)]
        except (ForbiddenError, NotFoundError) as error:
            # Few may list everything, and older servers do not have every kind.
            if kind in _NEEDED:
                raise InputError(f"{server}: cannot list {resource}: {error}") from error
            if isinstance(error, ForbiddenError):
                notes.append(f"decided without {resource}, which may not be listed: {error}")
        except ApiError as error:
            raise InputError(f"{server}: cannot list {resource}: {error}") from error
        except ClientError as error:
            raise InputError(f"{server}: {error}") from error
    return LiveCluster(ClusterFiles(tuple(found), Counter()), tuple(notes))
