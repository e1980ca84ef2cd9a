"""The JSON Schema for editors: complete, closed, and in step with what is really read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, inspect

from berthing.config.default_plugins import IN_TREE, IN_TREE_ARGS, INVALID_PLUGINS
from berthing.config.durations import Duration
from berthing.config.findings import format_path
from berthing.config.load import load_text
from berthing.config.schema import Schema, schema
from berthing.config.schema_fields import FIELDS, RULES
from berthing.config.v1 import EXTENSION_POINTS, KubeSchedulerConfiguration


def nodes(value: object) -> Iterator[Mapping[str, object]]:
    """Every object within a schema."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes(inner)


def definition(whole: Schema, name: str) -> dict[str, dict[str, object]]:
    """The properties of a definition."""
    definitions = whole["definitions"]
    assert isinstance(definitions, dict)
    properties: dict[str, dict[str, object]] = definitions[name]["properties"]
    return properties


def struct_types(*roots: type) -> set[type]:
    """All struct types of a configuration."""
    found: set[type] = set()
    waiting: list[object] = [inspect.type_info(root) for root in roots]
    while waiting:
        match waiting.pop():
            case inspect.StructType(cls=cls, fields=fields) if cls not in {*found, Duration}:
                found.add(cls)
                waiting += [field.type for field in fields]
            case inspect.UnionType(types=types):
                waiting += types
            case inspect.VarTupleType(item_type=item) | inspect.Metadata(type=item):
                waiting.append(item)
    return found


TYPES = struct_types(KubeSchedulerConfiguration, *IN_TREE_ARGS.values())


@pytest.mark.parametrize("type_", sorted(TYPES, key=str))
def test_every_field_is_described_and_nothing_else(type_: type[msgspec.Struct]) -> None:
    assert list(FIELDS[type_]) == list(type_.__struct_encode_fields__)
    for words in FIELDS[type_].values():
        assert str(words["description"]).endswith(".")


def test_no_type_is_described_that_is_not_read() -> None:
    assert FIELDS.keys() == TYPES
    assert RULES.keys() <= TYPES


def test_it_is_plain_json_in_draft_07() -> None:
    whole = schema()
    assert whole["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert json.loads(json.dumps(whole)) == whole


def test_all_references_lead_somewhere_and_all_definitions_are_used() -> None:
    whole = schema()
    definitions = whole["definitions"]
    assert isinstance(definitions, dict)
    used = {str(node["$ref"]) for node in nodes(whole) if "$ref" in node}
    assert used == {f"#/definitions/{name}" for name in definitions}
    # In draft 07 nothing counts beside a reference.
    assert all(len(node) == 1 for node in nodes(whole) if "$ref" in node)


def test_every_object_is_closed_and_every_property_described() -> None:
    objects = [node for node in nodes(schema()) if "additionalProperties" in node]
    assert len(objects) > len(EXTENSION_POINTS)
    for node in objects:
        assert node["additionalProperties"] is False
        properties = node["properties"]
        assert isinstance(properties, dict)
        assert properties
        assert all(each["description"] for each in properties.values())


def test_version_and_kind_are_asked_for() -> None:
    whole = schema()
    assert whole["required"] == ["apiVersion", "kind"]
    properties = whole["properties"]
    assert isinstance(properties, dict)
    assert properties["apiVersion"]["const"] == "kubescheduler.config.k8s.io/v1"
    assert properties["kind"]["const"] == "KubeSchedulerConfiguration"


def test_defaults_are_written_as_in_a_file() -> None:
    whole = schema()
    election = definition(whole, "LeaderElectionConfiguration")
    assert election["leaseDuration"]["default"] == "15s"
    assert election["leaderElect"]["default"] is True
    balanced = definition(whole, "NodeResourcesBalancedAllocationArgs")
    assert balanced["resources"]["default"] == [
        {"name": "cpu", "weight": 1},
        {"name": "memory", "weight": 1},
    ]
    assert "default" not in definition(whole, "KubeSchedulerProfile")["schedulerName"]


def test_args_follow_from_the_name_of_the_plugin() -> None:
    whole = schema()
    definitions = whole["definitions"]
    assert isinstance(definitions, dict)
    conditions = {
        condition["if"]["properties"]["name"]["const"]: condition["then"]["properties"]["args"]
        for condition in definitions["PluginConfig"]["allOf"]
    }
    assert conditions == {
        plugin: {"anyOf": [{"$ref": f"#/definitions/{plugin}Args"}, {"type": "null"}]}
        for plugin in IN_TREE_ARGS
    }
    for plugin, type_ in IN_TREE_ARGS.items():
        args = definition(whole, f"{plugin}Args")
        assert list(args) == ["apiVersion", "kind", *type_.__struct_encode_fields__]
        assert args["kind"]["enum"] == [f"{plugin}Args", "", None]


@pytest.mark.parametrize("point", [*EXTENSION_POINTS, "multiPoint"])
def test_points_propose_who_takes_part_and_refuse_who_cannot(point: str) -> None:
    item = definition(schema(), f"{point}Plugins")["enabled"]["items"]
    assert isinstance(item, dict)
    name = item["properties"]["name"]
    proposed, anything = name["anyOf"]
    assert anything == {"type": ["string", "null"]}
    assert proposed["enum"] == [
        plugin for plugin in IN_TREE if point == "multiPoint" or point in IN_TREE[plugin].points
    ]
    assert {*name["not"]["enum"]} == {*INVALID_PLUGINS, *IN_TREE} - {*proposed["enum"]}


def test_everything_but_durations_may_be_null() -> None:
    whole = schema()
    for name, each in definition(whole, "Extender").items():
        text = json.dumps(each)
        assert ("null" in text) is (name != "httpTimeout")


class Inner(msgspec.Struct):
    """Something within."""

    count: Annotated[int, Meta(ge=1, description="How many.")]
    level: Literal["low", "high"] = "low"


class TopologySpreadConstraint(msgspec.Struct, rename="camel"):
    """Named as a type of ours is."""

    wait_time: Duration = Duration.seconds(5)


class MineArgs(msgspec.Struct, rename="camel"):
    """What Mine is told.

    At length.
    """

    inner_parts: list[Inner]
    by_name: dict[str, int] = {}
    either: int | str | None = None
    data: bytes = b""
    anything: object = None
    constraint: TopologySpreadConstraint | None = None


def test_args_of_plugins_from_elsewhere() -> None:
    whole = schema({"Mine": MineArgs})
    definitions = whole["definitions"]
    assert isinstance(definitions, dict)
    mine = definitions["MineArgs"]
    assert mine["description"] == "What Mine is told."
    assert mine["required"] == ["innerParts"]
    args = mine["properties"]
    assert args["innerParts"]["items"]["anyOf"] == [
        {"$ref": "#/definitions/Inner"},
        {"type": "null"},
    ]
    assert args["byName"]["additionalProperties"] == {"type": ["integer", "null"]}
    assert args["either"]["anyOf"] == [{"type": "integer"}, {"type": "string"}, {"type": "null"}]
    assert args["data"] == {"type": ["string", "null"], "contentEncoding": "base64"}
    assert args["anything"] == {}
    inner = definitions["Inner"]
    assert inner["properties"]["count"] == {
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "How many.",
    }
    assert inner["properties"]["level"] == {"enum": ["high", "low", None], "default": "low"}
    # Two types of one name stay apart.
    other = args["constraint"]["anyOf"][0]["$ref"].removeprefix("#/definitions/")
    assert definitions[other]["description"] == "Named as a type of ours is."
    assert definitions[other]["properties"]["waitTime"]["default"] == "5s"
    assert other != "TopologySpreadConstraint"
    assert "maxSkew" in definitions["TopologySpreadConstraint"]["properties"]


def test_plugins_from_elsewhere_are_proposed_everywhere() -> None:
    whole = schema({"Mine": MineArgs})
    for point in (*EXTENSION_POINTS, "multiPoint"):
        for key in ("enabled", "disabled"):
            item = definition(whole, f"{point}Plugins")[key]["items"]
            assert isinstance(item, dict)
            assert "Mine" in item["properties"]["name"]["anyOf"][0]["enum"]


@pytest.mark.parametrize(
    "text",
    [
        *("15s", "1h2m3.5s", "-1.5h", "+1ms", ".5s", "5.s", "0", "-0", "1µs", "1μs", "1us1ns"),
        *("", "5", "s", "5 s", "1d", ".s", "1h ", "--1s", "1,5s", "0x1s", "+"),
    ],
)
def test_durations_are_those_that_can_be_read(text: str) -> None:
    pattern = str(definition(schema(), "Extender")["httpTimeout"]["pattern"])
    try:
        Duration.parse(text)
    except ValueError:
        assert not re.search(pattern, text)
    else:
        assert re.search(pattern, text)


def configuration(fields: str) -> str:
    return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + fields


def arguments(plugin: str, fields: str) -> str:
    return configuration(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {{{fields}}}}}]}}]")


SPREAD = "topologyKey: zone, whenUnsatisfiable: DoNotSchedule"


@pytest.mark.parametrize(
    ("name", "field", "text"),
    [
        ("", "parallelism", configuration("parallelism: VALUE")),
        ("", "percentageOfNodesToScore", configuration("percentageOfNodesToScore: VALUE")),
        ("", "podInitialBackoffSeconds", configuration("podInitialBackoffSeconds: VALUE")),
        (
            "ClientConnectionConfiguration",
            "burst",
            configuration("clientConnection: {burst: VALUE}"),
        ),
        (
            "KubeSchedulerProfile",
            "percentageOfNodesToScore",
            configuration("profiles: [{percentageOfNodesToScore: VALUE}]"),
        ),
        (
            "InterPodAffinityArgs",
            "hardPodAffinityWeight",
            arguments("InterPodAffinity", "hardPodAffinityWeight: VALUE"),
        ),
        (
            "DefaultPreemptionArgs",
            "minCandidateNodesPercentage",
            arguments("DefaultPreemption", "minCandidateNodesPercentage: VALUE"),
        ),
        (
            "DefaultPreemptionArgs",
            "minCandidateNodesAbsolute",
            arguments("DefaultPreemption", "minCandidateNodesAbsolute: VALUE"),
        ),
        (
            "VolumeBindingArgs",
            "bindTimeoutSeconds",
            arguments("VolumeBinding", "bindTimeoutSeconds: VALUE"),
        ),
        (
            "TopologySpreadConstraint",
            "maxSkew",
            arguments(
                "PodTopologySpread",
                f"defaultingType: List, defaultConstraints: [{{maxSkew: VALUE, {SPREAD}}}]",
            ),
        ),
        (
            "ResourceSpec",
            "weight",
            arguments(
                "NodeResourcesFit",
                "scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: VALUE}]}",
            ),
        ),
        *(
            (
                "UtilizationShapePoint",
                field,
                arguments(
                    "NodeResourcesFit",
                    "scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
                    f"{{shape: [{{{field}: VALUE}}]}}}}",
                ),
            )
            for field in ("utilization", "score")
        ),
    ],
)
def test_limits_are_those_of_validation(name: str, field: str, text: str) -> None:
    whole = schema()
    properties = definition(whole, name) if name else whole["properties"]
    assert isinstance(properties, dict)
    lowest, highest = properties[field]["minimum"], properties[field]["maximum"]
    assert not refused(text, field, lowest)
    assert refused(text, field, lowest - 1)
    # Where validation has no upper limit, that of the type is not worth a look.
    if highest < 2**31 - 1:
        assert not refused(text, field, highest)
        assert refused(text, field, highest + 1)


def refused(text: str, field: str, value: int) -> bool:
    findings = load_text(text.replace("VALUE", str(value))).findings
    return any(
        finding.is_error and format_path(finding.path).endswith(field) for finding in findings
    )
