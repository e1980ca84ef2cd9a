"""Whatever a file holds, reading it gives a value or findings, and every finding a place in it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from berthing.config.decode import decode
from berthing.config.document import parse_document
from berthing.config.durations import Duration
from berthing.config.findings import Findings

TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    # Beyond 2**53 the text of a float may end in zeros that the float does not have.
    | st.floats(-(2**53), 2**53)
    | st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('ab" \\:é')), inner),
)
SIGNS = " \n\t:-?,[]{}#&*!|>'\"%@`~<=\\/\r\u2028\ufeff\x00é"
WORDS = ["\n  ", "<<: ", "---\n", "&a ", "*a ", "!!int ", "a", "b: 1", "010", "yes", "1e3", '"x"']
PIECES = st.sampled_from([*SIGNS, *WORDS])


@given(st.dictionaries(st.text(), TREES))
def test_json_is_read_as_python_reads_it(tree: dict[str, object]) -> None:
    text = json.dumps(tree)
    document = parse_document(text)
    assert repr(document.value) == repr(json.loads(text))
    assert list(document.findings) == []


@given(TREES)
def test_yaml_of_a_json_text_is_the_same_value(tree: object) -> None:
    document = parse_document("--- " + json.dumps(tree, ensure_ascii=False))
    assert document.value == tree
    assert document.findings.errors == [] or tree is None


@given(st.lists(PIECES).map("".join) | st.text() | st.binary())
def test_no_text_breaks_the_reader(text: str | bytes) -> None:
    document = parse_document(text)
    length = len(text)
    for finding in document.findings:
        assert 0 <= finding.line <= length + 1
        assert 0 <= finding.column <= length + 1
    assert document.value is not None or document.findings.errors


@given(st.lists(PIECES).map("".join))
def test_every_value_has_a_place(text: str) -> None:
    document = parse_document(text)
    if isinstance(document.value, dict):
        for key in document.value:
            assert document.position((key,)) >= (1, 1)


@given(TREES)
def test_no_tree_breaks_the_decoder(tree: object) -> None:
    findings = Findings()
    built = decode(tree, dict[str, tuple[Duration, ...]], findings)
    assert built is not None or findings.errors


@given(st.integers(-(2**63), 2**63 - 1).map(Duration))
def test_the_text_of_a_duration_is_read_as_the_same(duration: Duration) -> None:
    assert Duration.parse(str(duration)) == duration


@given(st.text("0123456789.hmsunµ-+ "))
def test_a_duration_is_read_or_refused(text: str) -> None:
    try:
        nanoseconds = Duration.parse(text).nanoseconds
    except ValueError:
        return
    assert -(2**63) <= nanoseconds < 2**63
