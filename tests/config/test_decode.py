"""Trees to typed values: what is built, what is wrong, and where."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NewType

import msgspec
import pytest
from msgspec import Meta, field

from berthing.api.quantity import Quantity
from berthing.config.decode import Float32, Int32, Int64, decode
from berthing.config.document import parse_document
from berthing.config.durations import Duration
from berthing.config.findings import Findings, format_path

Found = tuple[str, str, str]


class Item(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    max_weight: Int32 = 3


class Strategy(enum.StrEnum):
    LEAST = "LeastAllocated"
    MOST = "MostAllocated"


class Named(msgspec.Struct, frozen=True):
    name: str
    alias: str | None


class Checked(msgspec.Struct, frozen=True):
    low: int = 0
    high: int = 10

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low must not be above high, got {self.low} and {self.high}")


class Apple(msgspec.Struct, tag="apple"):
    red: bool = True


class Pear(msgspec.Struct, tag="pear"):
    green: bool = True


class Tree(msgspec.Struct, frozen=True):
    branches: tuple[Tree, ...] = ()


# Half way between the largest float32 and the next power of two.
END = 2.0**128 - 2.0**103

Percentage = NewType("Percentage", int)


class Everything(msgspec.Struct, frozen=True, rename="camel"):
    number: int = 1
    small: Int32 = 1
    large: Int64 = 1
    ratio: float = 0.5
    single: Float32 = 0.5
    flag: bool = True
    text: str = "default"
    secret: bytes = b""
    period: Duration = Duration.seconds(15)
    patience: Duration | None = None
    memory: Quantity | None = None
    item: Item = Item()
    maybe_item: Item | None = None
    items: tuple[Item, ...] = ()
    names: list[str] = []
    sequence: Sequence[int] = ()
    labels: dict[str, str] = {}
    weights: Mapping[str, Annotated[int, Meta(ge=0, le=100)]] = {}
    strategy: Strategy = Strategy.LEAST
    effect: Literal["NoSchedule", "NoExecute"] | None = None
    raw: object = None
    anything: Any = None
    share: Percentage = Percentage(50)
    either: int | str = 0
    since: dt.date | None = None
    pair: tuple[int, str] = (1, "a")
    zones: frozenset[str] = frozenset()
    by_number: dict[int, str] = {}
    fruit: Apple | Pear | None = None
    code: Annotated[str, Meta(pattern="^[a-z]+$", min_length=2, max_length=4)] = "abc"
    even: Annotated[int, Meta(multiple_of=2)] = 2
    positive: Annotated[float, Meta(gt=0)] = 1.0
    few: Annotated[tuple[int, ...], Meta(max_length=2)] = ()
    checked: Checked = Checked()
    named: Named | None = None
    tree: Tree = Tree()
    pod_ip: str = field(default="", name="podIP")


def found(findings: Findings) -> list[Found]:
    return [
        (format_path(finding.path), finding.message, finding.suggestion) for finding in findings
    ]


def everything(value: object) -> tuple[Everything | None, list[Found]]:
    findings = Findings()
    built = decode(value, Everything, findings)
    return built, found(findings)


@pytest.mark.parametrize(
    ("name", "value", "built"),
    [
        pytest.param("number", 12345678901234567890, 12345678901234567890, id="any whole number"),
        pytest.param("small", -(2**31), -(2**31), id="the smallest int32"),
        pytest.param("large", 2**63 - 1, 2**63 - 1, id="the largest int64"),
        pytest.param("ratio", 2, 2.0, id="a whole number as float"),
        pytest.param("single", 0.1, 0.1, id="a float32 keeps its short text"),
        pytest.param("single", 16777217, 16777216.0, id="a float32 has 24 bits"),
        pytest.param("single", 3.4028235e38, 3.4028235e38, id="the largest float32"),
        pytest.param("flag", False, False, id="false"),
        pytest.param("text", "", "", id="an empty text"),
        pytest.param("secret", "aGk=", b"hi", id="bytes in base64"),
        pytest.param("secret", "aG\nk=\n", b"hi", id="bytes over several lines"),
        pytest.param("secret", [104, 105], b"hi", id="bytes as numbers"),
        pytest.param("period", "1m30s", Duration.seconds(90), id="a duration"),
        pytest.param("patience", "0", Duration(), id="an optional duration"),
        pytest.param("memory", "2Gi", Quantity(2 * 2**30), id="a quantity"),
        pytest.param("memory", 1.5, Quantity(1500, -3), id="a quantity without quotes"),
        pytest.param("item", {"maxWeight": 7}, Item(max_weight=7), id="a struct"),
        pytest.param("item", {}, Item(), id="a struct without fields"),
        pytest.param("maybeItem", {"name": "a"}, Item("a"), id="an optional struct"),
        pytest.param("items", [{"name": "a"}, {}], (Item("a"), Item()), id="a tuple"),
        pytest.param("names", ["a"], ["a"], id="a list"),
        pytest.param("sequence", [1], [1], id="a sequence"),
        pytest.param("labels", {"a": "b"}, {"a": "b"}, id="a mapping"),
        pytest.param("weights", {"cpu": 100}, {"cpu": 100}, id="a mapping with limits"),
        pytest.param("strategy", "MostAllocated", Strategy.MOST, id="an enum"),
        pytest.param("effect", "NoExecute", "NoExecute", id="a literal"),
        pytest.param("raw", {"a": [None, 1.5]}, {"a": [None, 1.5]}, id="a raw value"),
        pytest.param("anything", [1], [1], id="a value of any type"),
        pytest.param("share", 7, 7, id="a new type"),
        pytest.param("either", "x", "x", id="a union"),
        pytest.param("since", "2026-01-01", dt.date(2026, 1, 1), id="a date"),
        pytest.param("pair", [2, "b"], (2, "b"), id="a tuple of fixed length"),
        pytest.param("zones", ["a", "b"], frozenset({"a", "b"}), id="a set"),
        pytest.param("byNumber", {"1": "a"}, {1: "a"}, id="a mapping by number"),
        pytest.param("fruit", {"type": "pear"}, Pear(), id="a tagged struct"),
        pytest.param("code", "ab", "ab", id="a text within its limits"),
        pytest.param("few", [1, 2], (1, 2), id="a list within its limits"),
        pytest.param("checked", {"low": 5}, Checked(5), id="a struct that checks itself"),
        pytest.param("named", {"name": "a", "alias": None}, Named("a", None), id="required fields"),
        pytest.param("tree", {"branches": [{}]}, Tree((Tree(),)), id="a struct within itself"),
        pytest.param("podIP", "::1", "::1", id="an odd name"),
    ],
)
def test_builds(name: str, value: object, built: object) -> None:
    whole, findings = everything({name: value})
    assert findings == []
    assert whole is not None
    assert msgspec.structs.asdict(whole)[_attribute(name)] == built


def _attribute(name: str) -> str:
    fields = msgspec.structs.fields(Everything)
    return next(field.name for field in fields if field.encode_name == name)


@pytest.mark.parametrize(
    "name",
    [field.encode_name for field in msgspec.structs.fields(Everything) if field.name != "period"],
)
def test_null_is_unset(name: str) -> None:
    assert everything({name: None}) == (Everything(), [])


def test_null_is_no_duration() -> None:
    assert everything({"period": None}) == (
        Everything(),
        [("period", "null is no duration", "leave the field out")],
    )


@pytest.mark.parametrize(
    ("name", "value", "built"),
    [
        pytest.param("items", [None], (Item(),), id="a struct"),
        pytest.param("names", [None, "a"], ["", "a"], id="a text"),
        pytest.param("sequence", [None], [0], id="a number"),
        pytest.param("labels", {"a": None}, {"a": ""}, id="a text in a mapping"),
        pytest.param("weights", {"a": None}, {"a": 0}, id="a number in a mapping"),
        pytest.param("raw", [None], [None], id="a raw value"),
    ],
)
def test_null_in_a_list_is_the_zero_value(name: str, value: object, built: object) -> None:
    test_builds(name, value, built)


@pytest.mark.parametrize(
    ("value", "type_", "built"),
    [
        pytest.param(None, Item, Item(), id="a struct"),
        pytest.param(None, list[str], [], id="a list"),
        pytest.param(None, tuple[int, ...], (), id="a tuple"),
        pytest.param(None, dict[str, int], {}, id="a mapping"),
        pytest.param([None], list[list[int]], [[]], id="a list in a list"),
        pytest.param([None], list[int | None], [None], id="an optional number in a list"),
        pytest.param([None], list[bool], [False], id="true or false in a list"),
        pytest.param([None], list[Quantity], [Quantity()], id="a quantity in a list"),
    ],
)
def test_null_at_the_top(value: object, type_: type[object], built: object) -> None:
    findings = Findings()
    assert decode(value, type_, findings) == built
    assert found(findings) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"number": "16"},
            ("number", 'expected a whole number, got "16"', "write 16 without quotes"),
            id="a number in quotes",
        ),
        pytest.param(
            {"number": "many"}, ("number", 'expected a whole number, got "many"', ""), id="a text"
        ),
        pytest.param(
            {"number": 1.5}, ("number", "expected a whole number, got 1.5", ""), id="a fraction"
        ),
        pytest.param(
            {"number": 16.0},
            ("number", "expected a whole number, got 16.0", "write 16"),
            id="a float of JSON",
        ),
        pytest.param(
            {"number": True}, ("number", "expected a whole number, got true", ""), id="a word"
        ),
        pytest.param(
            {"number": []}, ("number", "expected a whole number, got a list", ""), id="[]"
        ),
        pytest.param(
            {"small": 2**31},
            ("small", "must be between -2147483648 and 2147483647, got 2147483648", ""),
            id="beyond int32",
        ),
        pytest.param(
            {"large": -(2**63) - 1},
            (
                "large",
                f"must be between {-(2**63)} and {2**63 - 1}, got {-(2**63) - 1}",
                "",
            ),
            id="beyond int64",
        ),
        pytest.param(
            {"ratio": "1.5"},
            ("ratio", 'expected a number, got "1.5"', "write 1.5 without quotes"),
            id="a float in quotes",
        ),
        pytest.param(
            {"ratio": False}, ("ratio", "expected a number, got false", ""), id="no float"
        ),
        pytest.param(
            {"single": 1e39},
            (
                "single",
                f"must be more than {-END} and less than {END}, got 1e+39",
                "",
            ),
            id="beyond float32",
        ),
        pytest.param(
            {"flag": "true"},
            ("flag", 'expected true or false, got "true"', "write true without quotes"),
            id="true in quotes",
        ),
        pytest.param({"flag": 1}, ("flag", "expected true or false, got 1", ""), id="one for true"),
        pytest.param(
            {"flag": ["a"]},
            ("flag", "expected true or false, got a list", ""),
            id="a list for true",
        ),
        pytest.param(
            {"text": 1234}, ("text", "expected a text, got 1234", "put it in quotes"), id="digits"
        ),
        pytest.param(
            {"text": True}, ("text", "expected a text, got true", "put it in quotes"), id="a bool"
        ),
        pytest.param(
            {"text": {}}, ("text", "expected a text, got a mapping", ""), id="{} for text"
        ),
        pytest.param(
            {"secret": "not base64!"},
            ("secret", 'expected a text in base64, got "not base64!"', ""),
            id="no base64",
        ),
        pytest.param(
            {"secret": [256]}, ("secret", "expected a text in base64, got a list", ""), id="no byte"
        ),
        pytest.param(
            {"period": 41},
            (
                "period",
                'expected a duration like "15s", got 41',
                'write a unit with it, as in "41s"',
            ),
            id="a duration without a unit",
        ),
        pytest.param(
            {"period": "1d"},
            ("period", 'time: unknown unit "d" in duration "1d"', "write 24h"),
            id="a duration in days",
        ),
        pytest.param(
            {"period": "41"},
            (
                "period",
                'time: missing unit in duration "41"',
                'write a unit with it, as in "41s"',
            ),
            id="a duration that is a number in quotes",
        ),
        pytest.param(
            {"patience": "soon"},
            ("patience", 'time: invalid duration "soon"', 'write it like "1m30s" or "500ms"'),
            id="no duration",
        ),
        pytest.param(
            {"item": []}, ("item", "expected a mapping, got a list", ""), id="a list for a struct"
        ),
        pytest.param(
            {"items": ["NodeAffinity"]},
            ("items[0]", 'expected a mapping, got "NodeAffinity"', "write name: NodeAffinity"),
            id="a bare name for a struct",
        ),
        pytest.param(
            {"items": {"name": "a"}},
            ("items", "expected a list, got a mapping", 'start each item with "- "'),
            id="a mapping for a list",
        ),
        pytest.param(
            {"names": ["a", 2]},
            ("names[1]", "expected a text, got 2", "put it in quotes"),
            id="a number among texts",
        ),
        pytest.param(
            {"labels": {"app": 1}},
            ("labels.app", "expected a text, got 1", "put it in quotes"),
            id="a number in a mapping of texts",
        ),
        pytest.param(
            {"labels": ["a"]}, ("labels", "expected a mapping, got a list", ""), id="no mapping"
        ),
        pytest.param(
            {"weights": {"cpu": 101}},
            ("weights.cpu", "must be between 0 and 100, got 101", ""),
            id="beyond a limit in a mapping",
        ),
        pytest.param(
            {"strategy": "mostAllocated"},
            (
                "strategy",
                'expected one of "LeastAllocated", "MostAllocated"; got "mostAllocated"',
                "did you mean MostAllocated?",
            ),
            id="no member of an enum",
        ),
        pytest.param(
            {"effect": 5},
            ("effect", 'expected one of "NoSchedule", "NoExecute"; got 5', ""),
            id="no literal",
        ),
        pytest.param(
            {"either": 1.5}, ("either", "expected int | str, got float", ""), id="none of a union"
        ),
        pytest.param(
            {"since": "today"}, ("since", "invalid RFC3339 encoded date", ""), id="no date"
        ),
        pytest.param(
            {"pair": [1, 2]}, ("pair[1]", "expected str, got int", ""), id="within a fixed tuple"
        ),
        pytest.param(
            {"fruit": {"type": "plum"}},
            ("fruit.type", "invalid value 'plum'", ""),
            id="an unknown tag",
        ),
        pytest.param(
            {"code": "A1"},
            ("code", 'expected a text that matches ^[a-z]+$, got "A1"', ""),
            id="no match",
        ),
        pytest.param(
            {"code": "a"}, ("code", "must have a length of at least 2, got 1", ""), id="too short"
        ),
        pytest.param(
            {"few": [1, 2, 3]}, ("few", "must have a length of at most 2, got 3", ""), id="too long"
        ),
        pytest.param({"even": 3}, ("even", "must be a multiple of 2, got 3", ""), id="odd"),
        pytest.param(
            {"positive": 0}, ("positive", "must be more than 0, got 0.0", ""), id="on the limit"
        ),
        pytest.param(
            {"checked": {"low": 11}},
            ("checked", "low must not be above high, got 11 and 10", ""),
            id="a struct that refuses itself",
        ),
        pytest.param(
            {"named": {"alias": "b"}},
            ("named", 'the field "name" is required', ""),
            id="a required field left out",
        ),
        pytest.param(
            {"named": {"name": None, "alias": "b"}},
            ("named", 'the field "name" is required', ""),
            id="a required field that is null",
        ),
        pytest.param(
            {"numbr": 1}, ("numbr", 'unknown field "numbr"', "did you mean number?"), id="misspelt"
        ),
        pytest.param(
            {"item": {"MaxWeight": 1}},
            ("item.MaxWeight", 'unknown field "MaxWeight"', "did you mean maxWeight?"),
            id="in another case",
        ),
        pytest.param(
            {"item": {"max_weight": 1}},
            ("item.max_weight", 'unknown field "max_weight"', "did you mean maxWeight?"),
            id="by the name it has here",
        ),
        pytest.param({"zzz": 1}, ("zzz", 'unknown field "zzz"', ""), id="unlike any field"),
        pytest.param(
            {"tree": {"branches": [{"branches": [{"leaf": 1}]}]}},
            ("tree.branches[0].branches[0].leaf", 'unknown field "leaf"', ""),
            id="deep inside",
        ),
        pytest.param(
            {"x" * 1000: 1},
            ("x" * 1000, f'unknown field "{"x" * 57}..."', ""),
            id="a very long name",
        ),
        pytest.param([], ("", "expected a mapping, got a list", ""), id="a list for the whole"),
        pytest.param("x", ("", 'expected a mapping, got "x"', ""), id="a text for the whole"),
    ],
)
def test_is_wrong(value: object, expected: Found) -> None:
    _, findings = everything(value)
    assert findings == [expected]


def test_a_wrong_quantity_is_told_in_upstreams_words() -> None:
    _, (finding,) = everything({"memory": "2 GB"})
    assert finding[0] == "memory"
    assert "quantities must match the regular expression" in finding[1]


def test_all_mistakes_are_told_in_the_order_of_the_file() -> None:
    _, findings = everything(
        {
            "items": [{"nam": "a"}, {"maxWeight": "1"}, 3],
            "flag": "no",
            "bogus": {"number": "never looked at"},
            "number": None,
            "labels": {"a": 1, "b": []},
        }
    )
    assert [path for path, _, _ in findings] == [
        "items[0].nam",
        "items[1].maxWeight",
        "items[2]",
        "flag",
        "bogus",
        "labels.a",
        "labels.b",
    ]


def test_fields_with_mistakes_keep_their_defaults() -> None:
    built, findings = everything({"number": "x", "text": "y", "item": {"bogus": 1, "name": "z"}})
    assert built == Everything(text="y", item=Item("z"))
    assert len(findings) == 2


def test_a_list_with_an_item_that_cannot_be_built_is_left_out() -> None:
    built, _ = everything({"items": [{"name": "a"}, "b"], "text": "y"})
    assert built == Everything(text="y")


def test_a_required_field_with_a_mistake_takes_its_struct_along() -> None:
    findings = Findings()
    assert decode({"name": 1, "alias": "b"}, Named, findings) is None
    assert found(findings) == [("name", "expected a text, got 1", "put it in quotes")]


def test_a_view_puts_its_path_in_front() -> None:
    findings = Findings()
    assert decode({"x": 1}, Item, findings.under("profiles", 0, "args")) == Item()
    assert found(findings)[0][0] == "profiles[0].args.x"


def test_suggestions_end_before_they_take_long() -> None:
    _, findings = everything({f"number{n}": n for n in range(1000)})
    suggested = [suggestion for _, _, suggestion in findings if suggestion]
    assert len(findings) == 1000
    assert len(suggested) == 100


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        pytest.param(
            "number: 1\nitems:\n- name: a\n- name: 5\n", (4, 3), "expected a text, got 5", id="YAML"
        ),
        pytest.param(
            '{"number": 1,\n "items": [{"name": "a"},\n  {"name": 5}]}',
            (3, 4),
            "expected a text, got 5",
            id="JSON",
        ),
        pytest.param(
            "item: &i {maxWeight: x}\nitems: [*i]\n",
            (1, 11),
            'expected a whole number, got "x"',
            id="behind an alias",
        ),
        pytest.param("item:\n  bogus: 1\n", (2, 3), 'unknown field "bogus"', id="an unknown field"),
        pytest.param(
            '{"number": 1e3}', (1, 2), "expected a whole number, got 1000.0", id="a float in JSON"
        ),
        pytest.param("named:\n  alias: b\n", (1, 1), 'the field "name" is required', id="missing"),
    ],
)
def test_findings_have_places(text: str, place: tuple[int, int], message: str) -> None:
    document = parse_document(text)
    decode(document.value, Everything, document.findings)
    first = document.located(document.findings)[0]
    assert ((first.line, first.column), first.message) == (place, message)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("number: 16.0\n", 16, id="a float without a fraction"),
        pytest.param("number: 1e3\n", 1000, id="an exponent"),
        pytest.param("number: 010\n", 8, id="an octal number"),
        pytest.param('{"number": -0}', 0, id="minus zero"),
    ],
)
def test_numbers_that_are_whole_after_all(text: str, number: int) -> None:
    document = parse_document(text)
    assert decode(document.value, Everything, document.findings) == Everything(number=number)
    assert document.findings.errors == []


class Fragile(msgspec.Struct):
    low: int = 0

    def __post_init__(self) -> None:
        if self.low > 0:
            raise LookupError("no such price list")


def test_a_type_that_breaks_is_named() -> None:
    findings = Findings()
    assert decode({"low": 1}, Fragile, findings) is None
    assert found(findings) == [("", "Fragile cannot be made: LookupError: no such price list", "")]
