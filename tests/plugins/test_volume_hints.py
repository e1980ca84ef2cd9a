"""What wakes pods that a volume plugin turned down."""

from __future__ import annotations

import pytest

from berthing.api.core import TopologySelectorTerm
from berthing.api.meta import ApiObject, ObjectMeta
from berthing.api.pod import Pod
from berthing.api.pod_info import PodInfo
from berthing.api.quantity import parse_quantity
from berthing.api.storage import (
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIStorageCapacity,
    StorageClass,
    VolumeAttachment,
    VolumeAttachmentSpec,
    VolumeNodeResources,
)
from berthing.api.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    CSIVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    RBDVolumeSource,
    Volume,
)
from berthing.config.args import VolumeBindingArgs
from berthing.framework import QueueingHint
from berthing.plugins.node_volume_limits import NodeVolumeLimits
from berthing.plugins.volume_binding import MIGRATED_PLUGINS, VolumeBinding
from berthing.plugins.volume_restrictions import VolumeRestrictions, conflicts
from berthing.plugins.volume_zone import VolumeZone
from berthing.testing import make_pod
from plugins.harness import fake_handle

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP

RESTRICTIONS = VolumeRestrictions(None, fake_handle())
LIMITS = NodeVolumeLimits(None, fake_handle())
BINDING = VolumeBinding(VolumeBindingArgs(), fake_handle())
ZONE = VolumeZone(None, fake_handle())

EPHEMERAL = Volume(name="scratch", ephemeral=EphemeralVolumeSource())
INLINE = Volume(name="inline", csi=CSIVolumeSource(driver="csi.example.com"))
CLAIMING = make_pod("waiting", claims=["data"])
WITH_SCRATCH = make_pod("waiting", volumes=[EPHEMERAL])


def claim(name: str = "data", namespace: str = "default") -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace))


def disk(name: str, *, read_only: bool = False) -> Volume:
    return Volume(
        gce_persistent_disk=GCEPersistentDiskVolumeSource(pd_name=name, read_only=read_only)
    )


def amazon(volume_id: str) -> Volume:
    return Volume(aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=volume_id))


def iscsi(iqn: str, *, read_only: bool = False) -> Volume:
    return Volume(iscsi=ISCSIVolumeSource(iqn=iqn, read_only=read_only))


def ceph(*monitors: str, image: str = "i", read_only: bool = False) -> Volume:
    return Volume(rbd=RBDVolumeSource(monitors=monitors, image=image, read_only=read_only))


# Claims.


@pytest.mark.parametrize(
    ("pod", "new", "expected"),
    [
        pytest.param(CLAIMING, claim(), QUEUE, id="the pod names it"),
        pytest.param(CLAIMING, claim("other"), SKIP, id="of another name"),
        pytest.param(CLAIMING, claim(namespace="team"), SKIP, id="elsewhere"),
    ],
)
def test_a_claim_wakes_the_pod_that_names_it(
    pod: Pod, new: PersistentVolumeClaim, expected: QueueingHint
) -> None:
    for plugin in (RESTRICTIONS, LIMITS, BINDING, ZONE):
        assert plugin.after_claim(PodInfo.of(pod), None, new) is expected, plugin.name


def test_a_claim_for_an_ephemeral_volume_matters_to_limits_and_binding_alone() -> None:
    pod, made = PodInfo.of(WITH_SCRATCH), claim("waiting-scratch")
    hints = [each.after_claim(pod, None, made) for each in (RESTRICTIONS, LIMITS, BINDING, ZONE)]
    assert hints == [SKIP, QUEUE, QUEUE, SKIP]


# VolumeRestrictions.


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        pytest.param(disk("d"), disk("d"), True, id="one disk"),
        pytest.param(disk("d"), disk("e"), False, id="two disks"),
        pytest.param(disk("d", read_only=True), disk("d", read_only=True), False, id="readers"),
        pytest.param(disk("d", read_only=True), disk("d"), True, id="a reader and a writer"),
        pytest.param(amazon("v"), amazon("v"), True, id="Amazon's are never shared"),
        pytest.param(iscsi("q"), iscsi("q"), True, id="iSCSI"),
        pytest.param(iscsi("q", read_only=True), iscsi("q", read_only=True), False, id="read"),
        pytest.param(ceph("a", "b"), ceph("b", "c"), True, id="Ceph, a monitor in common"),
        pytest.param(ceph("a"), ceph("b"), False, id="Ceph, no monitor in common"),
        pytest.param(ceph("a"), ceph("a", image="j"), False, id="Ceph, another image"),
        pytest.param(disk("d"), amazon("d"), False, id="two kinds"),
    ],
)
def test_which_volumes_no_node_can_have_both(
    mine: Volume, theirs: Volume, *, expected: bool
) -> None:
    assert conflicts(mine, theirs) == conflicts(theirs, mine) == expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(make_pod(volumes=[disk("d")]), QUEUE, id="had the disk"),
        pytest.param(make_pod(claims=["data"]), QUEUE, id="had the claim"),
        pytest.param(make_pod(volumes=[disk("e")], claims=["other"]), SKIP, id="had others"),
        pytest.param(make_pod(claims=["data"], namespace="team"), SKIP, id="of another namespace"),
    ],
)
def test_a_pod_that_let_go_of_its_disk(gone: Pod, expected: QueueingHint) -> None:
    waiting = PodInfo.of(make_pod("waiting", claims=["data"], volumes=[disk("d")]))
    assert RESTRICTIONS.after_pod_deletion(waiting, gone, None) is expected


# NodeVolumeLimits.


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(make_pod(node_name="n", claims=["x"]), QUEUE, id="with a claim"),
        pytest.param(
            make_pod(node_name="n", volumes=[EPHEMERAL]), QUEUE, id="with an ephemeral one"
        ),
        pytest.param(make_pod(node_name="n", volumes=[disk("d")]), QUEUE, id="with a disk"),
        pytest.param(make_pod(node_name="n", volumes=[INLINE]), SKIP, id="with an inline volume"),
        pytest.param(make_pod(node_name="n"), SKIP, id="without volumes"),
        pytest.param(make_pod(claims=["x"]), SKIP, id="that was nowhere"),
        pytest.param(
            make_pod(claims=["x"], nominated_node_name="n"), QUEUE, id="that had room kept"
        ),
    ],
)
def test_a_pod_whose_volumes_were_attached(gone: Pod, expected: QueueingHint) -> None:
    assert LIMITS.after_pod_deletion(PodInfo.of(CLAIMING), gone, None) is expected


def csi_node(annotation: str = "", **limits: int | None) -> CSINode:
    drivers = tuple(
        CSINodeDriver(name=name, allocatable=VolumeNodeResources(count=count))
        for name, count in limits.items()
    )
    annotations = {MIGRATED_PLUGINS: annotation} if annotation else {}
    return CSINode(metadata=ObjectMeta(annotations=annotations), spec=CSINodeSpec(drivers=drivers))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(csi_node(a=1), csi_node(a=2), QUEUE, id="higher"),
        pytest.param(csi_node(a=2), csi_node(a=1), SKIP, id="lower"),
        pytest.param(csi_node(), csi_node(a=1), QUEUE, id="a new driver"),
        pytest.param(csi_node(), csi_node(a=None), SKIP, id="a new driver without a limit"),
        pytest.param(csi_node(a=1, b=1), csi_node(b=2), QUEUE, id="one gone, one higher"),
    ],
)
def test_a_limit_of_a_node(old: CSINode, new: CSINode, expected: QueueingHint) -> None:
    assert LIMITS.after_csi_node_change(PodInfo.of(CLAIMING), old, new) is expected


def detached(attacher: str) -> VolumeAttachment:
    return VolumeAttachment(spec=VolumeAttachmentSpec(attacher=attacher))


@pytest.mark.parametrize(
    ("pod", "attacher", "expected"),
    [
        pytest.param(CLAIMING, "any", QUEUE, id="a pod with a claim"),
        pytest.param(WITH_SCRATCH, "any", SKIP, id="a pod with an ephemeral volume"),
        pytest.param(
            make_pod(volumes=[disk("d")]), "pd.csi.storage.gke.io", QUEUE, id="its driver"
        ),
        pytest.param(make_pod(volumes=[disk("d")]), "any", SKIP, id="another driver"),
        pytest.param(
            make_pod(volumes=[amazon("aws://zone/vol-1")]), "ebs.csi.aws.com", QUEUE, id="Amazon's"
        ),
    ],
)
def test_a_volume_was_detached(pod: Pod, attacher: str, expected: QueueingHint) -> None:
    assert LIMITS.after_detachment(PodInfo.of(pod), detached(attacher), None) is expected


@pytest.mark.parametrize(
    "volume",
    [
        pytest.param(amazon("aws://zone/oddly named"), id="Amazon's with an odd name"),
        pytest.param(
            Volume(azure_disk=AzureDiskVolumeSource(disk_name="d", kind="Shared")),
            id="Azure's of an old kind",
        ),
    ],
)
def test_a_disk_that_no_driver_takes_breaks_the_hint(volume: Volume) -> None:
    with pytest.raises(ValueError, match=r"oddly named|not supported in csi migration"):
        LIMITS.after_detachment(PodInfo.of(make_pod(volumes=[volume])), detached("any"), None)


# VolumeBinding.


def capacity(total: str = "", largest: str = "") -> CSIStorageCapacity:
    return CSIStorageCapacity(
        capacity=parse_quantity(total) if total else None,
        maximum_volume_size=parse_quantity(largest) if largest else None,
    )


def driver(*, minds_capacity: bool | None) -> CSIDriver:
    return CSIDriver(
        metadata=ObjectMeta(name="csi.example.com"),
        spec=CSIDriverSpec(storage_capacity=minds_capacity),
    )


ANYWHERE = StorageClass()
SOMEWHERE = StorageClass(allowed_topologies=(TopologySelectorTerm(),))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, ANYWHERE, QUEUE, id="new"),
        pytest.param(SOMEWHERE, ANYWHERE, QUEUE, id="now anywhere"),
        pytest.param(ANYWHERE, ANYWHERE, SKIP, id="as it was"),
    ],
)
def test_a_storage_class(old: StorageClass | None, new: StorageClass, expected: object) -> None:
    assert BINDING.after_storage_class(PodInfo.of(CLAIMING), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, capacity(), QUEUE, id="new"),
        pytest.param(capacity("1Gi"), capacity("2Gi"), QUEUE, id="more"),
        pytest.param(capacity("2Gi"), capacity("1Gi"), SKIP, id="less"),
        pytest.param(capacity(), capacity("1Gi"), QUEUE, id="known now"),
        pytest.param(capacity("1Gi"), capacity(), SKIP, id="unknown now"),
        pytest.param(
            capacity("1Gi", "1Gi"), capacity("9Gi", "1Gi"), SKIP, id="more, but none larger"
        ),
    ],
)
def test_storage_capacity(
    old: CSIStorageCapacity | None, new: CSIStorageCapacity, expected: QueueingHint
) -> None:
    assert BINDING.after_storage_capacity(PodInfo.of(CLAIMING), old, new) is expected


@pytest.mark.parametrize(
    ("pod", "before", "after", "expected"),
    [
        pytest.param(make_pod(volumes=[INLINE]), True, False, QUEUE, id="ceased to mind"),
        pytest.param(make_pod(volumes=[INLINE]), True, None, QUEUE, id="ceased to say"),
        pytest.param(make_pod(volumes=[INLINE]), None, False, SKIP, id="did not mind"),
        pytest.param(CLAIMING, True, False, SKIP, id="not the pod's driver"),
    ],
)
def test_a_driver_and_capacity(
    pod: Pod, *, before: bool | None, after: bool | None, expected: QueueingHint
) -> None:
    old, new = driver(minds_capacity=before), driver(minds_capacity=after)
    assert BINDING.after_csi_driver(PodInfo.of(pod), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, csi_node(), QUEUE, id="new"),
        pytest.param(csi_node(), csi_node("kubernetes.io/gce-pd"), QUEUE, id="took over disks"),
        pytest.param(csi_node("x"), csi_node("x", a=9), SKIP, id="otherwise"),
    ],
)
def test_a_nodes_drivers(old: CSINode | None, new: CSINode, expected: QueueingHint) -> None:
    assert BINDING.after_csi_node(PodInfo.of(CLAIMING), old, new) is expected


# VolumeZone.


def volume(**labels: str) -> PersistentVolume:
    keys = {"zone": "topology.kubernetes.io/zone", "other": "example.com/rack"}
    return PersistentVolume(
        metadata=ObjectMeta(labels={keys[name]: value for name, value in labels.items()})
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, volume(), QUEUE, id="new"),
        pytest.param(volume(zone="a"), volume(zone="b"), QUEUE, id="moved"),
        pytest.param(volume(zone="a__b"), volume(zone="b__a"), SKIP, id="said otherwise"),
        pytest.param(volume(zone="a"), volume(zone="a", other="r"), SKIP, id="another label"),
        pytest.param(volume(zone="a__"), volume(zone="__b"), SKIP, id="no zones either time"),
    ],
)
def test_a_volumes_zone(
    old: PersistentVolume | None, new: PersistentVolume, expected: QueueingHint
) -> None:
    assert ZONE.after_volume(PodInfo.of(CLAIMING), old, new) is expected


@pytest.mark.parametrize(
    ("mode", "expected"), [("WaitForFirstConsumer", QUEUE), ("Immediate", SKIP), (None, SKIP)]
)
def test_only_classes_that_bind_late_matter(mode: str | None, expected: QueueingHint) -> None:
    new: ApiObject = StorageClass(volume_binding_mode=mode)
    assert ZONE.after_new_storage_class(PodInfo.of(CLAIMING), None, new) is expected
