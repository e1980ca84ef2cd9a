"""Dynamic resource allocation: devices, who offers them, who claims them.

Upstream: api/resource/v1/types.go (v1.36.4).
Differs:  what a driver reports back about an allocated device is kept only as far as a scheduler
          waits for it (conditions).  Names are upstream's, so there is a `ResourceClaim` here and
          a `pod.PodResourceClaim` that leads to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from berthing.api.frozen import FrozenDict
from berthing.api.meta import ApiObject, Condition, Int64, Time, Value
from berthing.api.node_selector import NodeSelector
from berthing.api.quantity import Quantity
from berthing.api.resource_list import EMPTY_LIST, ResourceList

# An extended resource of this prefix and the name of a device class asks for devices of the class.
DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


class Counter(Value, frozen=True, kw_only=True):
    """An amount that devices share."""

    value: Quantity = Quantity()


_NO_COUNTERS: Final[FrozenDict[str, Counter]] = FrozenDict()


class CounterSet(Value, frozen=True, kw_only=True):
    """Amounts that the devices of a pool share, as the memory of a card cut into pieces."""

    name: str = ""
    counters: Mapping[str, Counter] = _NO_COUNTERS


class DeviceCounterConsumption(Value, frozen=True, kw_only=True):
    """What a device takes from a counter set when it is allocated."""

    counter_set: str = ""
    counters: Mapping[str, Counter] = _NO_COUNTERS


class CapacityRequestPolicyRange(Value, frozen=True, kw_only=True):
    """Between which bounds, and in which steps, a share of a device may be asked for."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Value, frozen=True, kw_only=True):
    """Which shares of a device may be asked for."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Value, frozen=True, kw_only=True):
    """How much of something a device has."""

    value: Quantity = Quantity()
    request_policy: CapacityRequestPolicy | None = None


class DeviceAttribute(Value, frozen=True, kw_only=True):
    """A fact about a device; exactly one is set."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: tuple[Int64, ...] = msgspec.field(default=(), name="ints")
    bool_values: tuple[bool, ...] = msgspec.field(default=(), name="bools")
    string_values: tuple[str, ...] = msgspec.field(default=(), name="strings")
    version_values: tuple[str, ...] = msgspec.field(default=(), name="versions")


class DeviceTaint(Value, frozen=True, kw_only=True):
    """What keeps claims that do not tolerate it off a device."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class DeviceToleration(Value, frozen=True, kw_only=True):
    """Which device taints a request puts up with."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class NodeAllocatableResourceMapping(Value, frozen=True, kw_only=True):
    """What of a node's own resources a device takes."""

    capacity_key: str | None = None
    allocation_multiplier: Quantity | None = None


_NO_ATTRIBUTES: Final[FrozenDict[str, DeviceAttribute]] = FrozenDict()
_NO_CAPACITY: Final[FrozenDict[str, DeviceCapacity]] = FrozenDict()
_NO_MAPPINGS: Final[FrozenDict[str, NodeAllocatableResourceMapping]] = FrozenDict()


class Device(Value, frozen=True, kw_only=True):
    """A device that can be claimed."""

    name: str = ""
    attributes: Mapping[str, DeviceAttribute] = _NO_ATTRIBUTES
    capacity: Mapping[str, DeviceCapacity] = _NO_CAPACITY
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: Mapping[str, NodeAllocatableResourceMapping] = _NO_MAPPINGS


class ResourcePool(Value, frozen=True, kw_only=True):
    """The pool that a slice is a part of; of a pool, only the newest generation counts."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Value, frozen=True, kw_only=True):
    """Some devices of a pool, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(ApiObject, frozen=True, kw_only=True):
    """What a driver offers."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class CELDeviceSelector(Value, frozen=True, kw_only=True):
    """An expression that says whether a device will do."""

    expression: str = ""


class DeviceSelector(Value, frozen=True, kw_only=True):
    """Says whether a device will do."""

    cel: CELDeviceSelector | None = None


class CapacityRequirements(Value, frozen=True, kw_only=True):
    """How much of a device is asked for."""

    requests: ResourceList = EMPTY_LIST


class ExactDeviceRequest(Value, frozen=True, kw_only=True):
    """Devices of one class."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(Value, frozen=True, kw_only=True):
    """Devices of one class, as one of several ways to fill a request."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(Value, frozen=True, kw_only=True):
    """Devices that are asked for, in one way or the first of several that works."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(Value, frozen=True, kw_only=True):
    """What devices of several requests must have in common, or must not."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueDeviceConfiguration(Value, frozen=True, kw_only=True):
    """Parameters that only the driver understands: handed on as they came."""

    driver: str = ""
    parameters: msgspec.Raw = msgspec.Raw()

    def __post_init__(self) -> None:
        # Decoding leaves a view, which would keep the whole text alive that it was read from.
        msgspec.structs.force_setattr(self, "parameters", self.parameters.copy())


class DeviceClaimConfiguration(Value, frozen=True, kw_only=True):
    """Parameters for the devices of some requests, or of all."""

    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Value, frozen=True, kw_only=True):
    """Devices that are claimed together."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Value, frozen=True, kw_only=True):
    """What is claimed."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Value, frozen=True, kw_only=True):
    """A device that was chosen for a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: ResourceList = EMPTY_LIST


class DeviceAllocationConfiguration(Value, frozen=True, kw_only=True):
    """Parameters that came with a claim or a class, for the devices that were chosen."""

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(Value, frozen=True, kw_only=True):
    """All devices that were chosen."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(Value, frozen=True, kw_only=True):
    """The chosen devices, and the nodes that can use them."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None


class ResourceClaimConsumerReference(Value, frozen=True, kw_only=True):
    """Who may use the devices of a claim."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(Value, frozen=True, kw_only=True):
    """What a driver says about a device it was told to prepare."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(Value, frozen=True, kw_only=True):
    """What a claim got, and who uses it."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(ApiObject, frozen=True, kw_only=True):
    """A claim to devices, which pods refer to by name."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class DeviceClassConfiguration(Value, frozen=True, kw_only=True):
    """Parameters for every device of a class."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Value, frozen=True, kw_only=True):
    """Which devices are of the class, and the extended resource they stand for, if any."""

    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(ApiObject, frozen=True, kw_only=True):
    """A kind of device, as an administrator defines it."""

    spec: DeviceClassSpec = DeviceClassSpec()
