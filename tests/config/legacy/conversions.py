"""Short ways to convert a text and look at what came of it."""

from __future__ import annotations

from berthing.config.document import parse_document
from berthing.config.findings import Finding, Findings, format_path
from berthing.config.legacy import Converted, convert
from berthing.config.load import EffectiveProfile, load_text

GROUP = "kubescheduler.config.k8s.io"


def configuration(version: str, body: str = "") -> str:
    """A KubeSchedulerConfiguration; its body starts on line 3."""
    return f"apiVersion: {GROUP}/{version}\nkind: KubeSchedulerConfiguration\n{body}"


def profile(version: str, body: str) -> str:
    """A configuration with one profile; its body starts on line 5, indented by two."""
    indented = "".join(f"  {line}\n" for line in body.splitlines())
    return configuration(version, f"profiles:\n- schedulerName: main\n{indented}")


def policy(body: str = "") -> str:
    """A Policy; its body starts on line 3."""
    return f"apiVersion: v1\nkind: Policy\n{body}"


def converted(text: str) -> Converted:
    """What a text without mistakes becomes."""
    findings = Findings()
    result = convert(parse_document(text), findings)
    assert result is not None, [finding.message for finding in findings]
    assert findings.errors == []
    return result


def converted_profile(text: str) -> dict[str, object]:
    """The one profile of it."""
    profiles = converted(text).value["profiles"]
    assert isinstance(profiles, list)
    assert len(profiles) == 1
    written: dict[str, object] = profiles[0]
    return written


def plugins(text: str) -> object:
    """What that profile says about plugins; None if nothing."""
    return converted_profile(text).get("plugins")


def args(text: str) -> dict[str, object]:
    """What it says under pluginConfig, by plugin."""
    config = converted_profile(text).get("pluginConfig", [])
    assert isinstance(config, list)
    return {each["name"]: each.get("args") for each in config}


def running(text: str) -> EffectiveProfile:
    """What runs in the only profile, once the result has been read as v1."""
    loaded = load_text(text, convert=True)
    assert loaded.ok, [finding.message for finding in loaded.findings]
    (only,) = loaded.profiles
    return only


def names(text: str, point: str) -> list[str]:
    """Which plugins run at a point, in order."""
    return [plugin.name for plugin in running(text).plugins[point]]


def weights(text: str) -> dict[str, int | None]:
    """Which plugins score, and what that counts for."""
    return {plugin.name: plugin.weight for plugin in running(text).plugins["score"]}


def notes(text: str) -> list[tuple[int, str]]:
    """Line and message of every note."""
    return [(note.line, note.message) for note in converted(text).notes]


def notes_at(text: str, line: int) -> list[str]:
    """The messages of all notes at one line."""
    return [message for at, message in notes(text) if at == line]


def mistakes(text: str) -> list[tuple[int, str, str, str]]:
    """Line, path, message and suggestion of everything that keeps a text from being converted."""
    document = parse_document(text)
    assert document.findings.errors == []
    findings = Findings()
    assert convert(document, findings) is None
    return [_told(finding) for finding in document.located(findings) if finding.is_error]


def _told(finding: Finding) -> tuple[int, str, str, str]:
    return finding.line, format_path(finding.path), finding.message, finding.suggestion
