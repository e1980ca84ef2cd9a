"""The demo on paper: its nodes at a glance while it runs, and in the end what came of it."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from berthing.cli.tables import table
from berthing.cli.terminal import Look
from berthing.demo.checks import Check
from berthing.demo.machines import POOL
from berthing.demo.outcome import Outcome
from berthing.demo.witness import NodeSeen, PodSeen, Witness, share, used_by

_STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "general": ("green",),
    "payments": ("yellow",),
    "batch": ("cyan",),
    "gpu": ("magenta",),
}
_BAR: Final = 20
_HISTOGRAM_BAR: Final = 40
_SHARES: Final = (0.5, 0.9, 0.99)


def snapshot(witness: Witness, look: Look, *, seconds: float, width: int) -> Sequence[str]:
    """The cluster now: a sign per node for how much of its CPU is taken, then all pods in a line."""
    used = witness.used()
    zones = _by_zone(witness.nodes)
    lines = [""]
    for zone, names in zones.items():
        nodes = {name: witness.nodes[name] for name in names}
        taken = _share(nodes, used, "cpu")
        signs = _signs(nodes, used, look, width - len(f"  {zone}  ") - len("  100% cpu"))
        lines.append(f"  {zone}  {signs}  {taken:4.0%} cpu")
    pods = witness.pods.values()
    placed = sum(each.is_live and bool(each.placements) for each in pods)
    waiting = sum(each.waits for each in pods)
    gated = sum(each.is_live and each.let_go_at is None for each in pods)
    over = sum(each.over_at is not None for each in pods)
    lines.append(_legend(look, width))
    text = f"  {seconds:4.1f} s  {placed} placed, {waiting} waiting, {gated} gated, {over} ended"
    lines.append(look.paint(text[:width], "bold"))
    return lines


def _legend(look: Look, width: int) -> str:
    """What the signs mean; the pools where their colours can be told apart."""
    words = "- cordoned, ! silent, x gone"
    plain = f"  CPU by node: {', '.join(_STYLES)}; {words}"
    if not look.has_colours or len(plain) > width:
        return f"  CPU by node; {words}"[:width]
    pools = ", ".join(look.paint(pool, *styles) for pool, styles in _STYLES.items())
    return f"  CPU by node: {pools}; {words}"


def _signs(
    nodes: Mapping[str, NodeSeen], used: Mapping[str, Counter[str]], look: Look, width: int
) -> str:
    """A sign per node; where there are too many, as many nodes for each sign as it takes."""
    names = sorted(nodes)
    each = -(-len(names) // max(width, 1)) or 1
    signs = ""
    for start in range(0, len(names), each):
        group = {name: nodes[name] for name in names[start : start + each]}
        some = next(iter(group.values()))
        if any(seen.gone_at is not None for seen in group.values()):
            signs += look.paint("x", "red", "bold")
        elif all(_is_unready(seen) for seen in group.values()):
            signs += look.paint("!", "red", "bold")
        elif all(seen.node.spec.unschedulable for seen in group.values()):
            signs += look.paint("-", "dim")
        else:
            pool = some.node.metadata.labels.get(POOL, "")
            signs += look.paint(look.level(_share(group, used, "cpu")), *_STYLES.get(pool, ()))
    return signs


def _is_unready(seen: NodeSeen) -> bool:
    return any(
        each.type == "Ready" and each.status != "True" for each in seen.node.status.conditions
    )


def summary(outcome: Outcome, checks: Sequence[Check], look: Look, *, width: int) -> str:
    """What came of it, for a person to read at a glance."""
    parts = (
        _placement(outcome, look),
        _histogram(outcome, look),
        _waits(outcome, look),
        _checked(checks, look, width),
    )
    return "\n\n".join(parts)


def _placement(outcome: Outcome, look: Look) -> str:
    used = used_by(outcome.pods)
    rows: list[tuple[str, ...]] = []
    for zone, names in _by_zone(outcome.living_nodes).items():
        nodes = {name: outcome.nodes[name] for name in names}
        pods = sum(used.get(name, Counter())["pods"] for name in names)
        cells = [f"{look.bar(part, _BAR)} {part:4.0%}" for part in _shares(nodes, used)]
        rows.append((f"  {zone}", str(len(names)), str(pods), *cells))
    header = ("  ZONE", "NODES", "PODS", "CPU", "MEMORY")
    return _titled(look, "Placement in the end") + table(rows, header=header)


def _histogram(outcome: Outcome, look: Look) -> str:
    """How full the nodes are that pods may come to."""
    used = used_by(outcome.pods)
    counts: Counter[int] = Counter()
    for name, seen in outcome.living_nodes.items():
        if not seen.node.spec.unschedulable:
            counts[min(int(_share({name: seen}, used, "cpu") * 10), 9)] += 1
    most = max(counts.values(), default=1)
    rows = [
        f"  {f'{tenth * 10}-{tenth * 10 + 10} %':>8}  {_solid(look, counts[tenth] / most)} {counts[tenth]}"
        for tenth in range(10)
        if counts[tenth]
    ]
    return _titled(look, "Nodes by share of CPU taken") + "\n".join(rows)


def _solid(look: Look, part: float) -> str:
    return look.glyphs.full * max(round(part * _HISTOGRAM_BAR), 1)


def _waits(outcome: Outcome, look: Look) -> str:
    at_once = [each for each in outcome.placed if each.refused_at is None]
    refused = [each for each in outcome.placed if each.refused_at is not None]
    rows = [
        (f"  {name}", f"{len(pods):,}", *_spread(pods))
        for name, pods in (("placed at first try", at_once), ("waited for room", refused))
        if pods
    ]
    header = ("  FROM CREATED OR LET GO TO PLACED", "PODS", "P50", "P90", "P99", "MAX")
    count = len(at_once) + len(refused)
    busiest = _busiest_second(place.at for each in outcome.placed for place in each.placements)
    line = f"  {count:,} pods in {outcome.seconds:.1f} s; {busiest:,} in the busiest second"
    return f"{_titled(look, 'How long pods waited')}{table(rows, header=header)}\n{line}"


def _spread(pods: Iterable[PodSeen]) -> Iterator[str]:
    waits = sorted(each.waited for each in pods if each.waited is not None)
    for part in _SHARES:
        yield _time(waits[min(int(part * len(waits)), len(waits) - 1)])
    yield _time(waits[-1])


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _busiest_second(moments: Iterable[float]) -> int:
    ordered = sorted(moments)
    most = start = 0
    for end, moment in enumerate(ordered):
        while moment - ordered[start] > 1.0:
            start += 1
        most = max(most, end - start + 1)
    return most


def _checked(checks: Sequence[Check], look: Look, width: int) -> str:
    lines: list[str] = []
    glyphs = look.glyphs
    width_of_names = max(len(check.name) for check in checks)
    mark = max(len(glyphs.yes), len(glyphs.no))
    for check in checks:
        sign, style = (glyphs.yes, "green") if check.passed else (glyphs.no, "red")
        found = check.figure if check.passed else _few(check.faults)
        line = wrapped(f"{check.name:{width_of_names}}  {found}", width - mark - 3)
        hanging = line.replace("\n", f"\n{' ' * (mark + 3)}")
        lines.append(f"  {look.paint(sign.ljust(mark), style)} {hanging}")
    return _titled(look, "Checked, without asking the scheduler") + "\n".join(lines)


def _few(faults: Sequence[str]) -> str:
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}"


def verdict(checks: Sequence[Check], look: Look) -> str:
    """The last line."""
    failed = sum(not check.passed for check in checks)
    if failed:
        return look.paint(f"{failed} of {len(checks)} checks failed.", "red", "bold")
    return look.paint(f"All {len(checks)} checks passed.", "green", "bold")


def wrapped(text: str, width: int) -> str:
    """Long lines broken; of a table's, the last column goes on below itself."""
    return "\n".join(
        line if len(line) <= width else _broken(line, width) for line in text.splitlines()
    )


def _broken(line: str, width: int) -> str:
    in_columns = re.fullmatch(r"(.*\s\s)(\S.*)", line)
    indent, rest = (in_columns[1], in_columns[2]) if in_columns else ("", line)
    parts = textwrap.wrap(rest, max(width - len(indent), 20), break_long_words=False)
    return f"\n{' ' * len(indent)}".join((indent + parts[0], *parts[1:]))


def _titled(look: Look, title: str) -> str:
    return look.paint(title, "bold") + "\n"


def _by_zone(nodes: Mapping[str, NodeSeen]) -> dict[str, list[str]]:
    zones: dict[str, list[str]] = {}
    for name, seen in nodes.items():
        zones.setdefault(seen.zone, []).append(name)
    return dict(sorted(zones.items()))


def _shares(nodes: Mapping[str, NodeSeen], used: Mapping[str, Counter[str]]) -> Iterator[float]:
    for resource in ("cpu", "memory"):
        yield _share(nodes, used, resource)


def _share(nodes: Mapping[str, NodeSeen], used: Mapping[str, Counter[str]], resource: str) -> float:
    there = [name for name, seen in nodes.items() if seen.gone_at is None]
    return share(
        [used.get(name, Counter()) for name in there],
        [nodes[name].offers for name in there],
        resource,
    )
