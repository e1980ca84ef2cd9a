"""A report for people: what was decided, then the numbers, then what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from berthing.cli.tables import table
from berthing.explain.report import NodeInTheWay, Ranked, Report

# Without -v: so many nodes, and so many changes.
_NODES = 10
_CHANGES = 12
_HINT = "; -v shows all"


def report_text(report: Report, *, all_nodes: bool) -> str:
    """The whole report; without `all_nodes` only the nodes that matter most."""
    return "\n\n".join(_parts(report, all_nodes=all_nodes))


def short_text(report: Report, *, most_nodes: int) -> str:
    """Of a pod that fits nowhere: why, how close some nodes came, and what would place it."""
    return "\n\n".join(
        (
            report.decision.message,
            _in_the_way(report, most=most_nodes, hint=""),
            _changes(report, all_changes=False),
        )
    )


def _parts(report: Report, *, all_nodes: bool) -> Iterator[str]:
    if report.decision.error is not None:
        yield f"{report.pod_key} could not be decided about: a plugin failed."
    elif report.fits:
        yield _chosen(report)
        if report.ranking:
            yield _ranking(report, all_nodes=all_nodes)
        if report.fallen:
            yield _fallen(report)
        if all_nodes and report.in_the_way:
            yield _in_the_way(report)
    else:
        yield f"{report.pod_key} fits on none of {_nodes(report.decision.node_count)}."
        yield report.decision.message
        yield _fallen(report)
        if report.decision.pre_filter is None:
            yield _in_the_way(report, most=None if all_nodes else _NODES)
        yield _changes(report, all_changes=all_nodes)


def _chosen(report: Report) -> str:
    decision = report.decision
    head = (
        f"{report.pod_key} fits on {len(decision.feasible)} of {_nodes(decision.node_count)} "
        f"and goes to {decision.chosen}"
    )
    if decision.nominated_passed:
        return f"{head}, which it was nominated for."
    best = decision.best()
    if len(best) > 1:
        others = len(best) - 1
        return f"{head}: by lot, as {_others(others)} the same score."
    if len(report.ranking) < 2:
        return f"{head}."
    first, second = report.ranking[:2]
    return f"{head}: {first.total - second.total} ahead of {second.name}."


def _others(count: int) -> str:
    return "another one has" if count == 1 else f"{count} others have"


def _ranking(report: Report, *, all_nodes: bool) -> str:
    ranking = report.ranking if all_nodes else report.ranking[:_NODES]
    text = table(
        (_ranked(each, report.scorers) for each in ranking),
        header=("NODE", "TOTAL", *report.scorers),
    )
    left_out = len(report.ranking) - len(ranking)
    more = f"\n... and {_nodes(left_out)} more{_HINT}" if left_out else ""
    return f"Scores, weighted:\n{text}{more}"


def _ranked(each: Ranked, scorers: Iterable[str]) -> tuple[str, ...]:
    return each.name, str(each.total), *(str(each.by_plugin[plugin]) for plugin in scorers)


def _fallen(report: Report) -> str:
    return table(
        ((each.plugin, str(each.count), "; ".join(each.reasons)) for each in report.fallen),
        header=("FELL TO", "NODES", "REASONS"),
    )


def _in_the_way(report: Report, *, most: int | None = None, hint: str = _HINT) -> str:
    nodes = report.in_the_way[:most]
    text = table(
        (row for node in nodes for row in _obstacles(node)),
        header=("NODE", "PLUGIN", "IN THE WAY"),
    )
    left_out = len(report.in_the_way) - len(nodes)
    head = "Closest nodes first"
    more = f"\n... and {_nodes(left_out)} more{hint}" if left_out else ""
    return f"{head}:\n{text}{more}"


def _obstacles(node: NodeInTheWay) -> Iterator[tuple[str, str, str]]:
    for number, each in enumerate(node.obstacles):
        yield node.name if number == 0 else "", each.plugin, each.text


def _changes(report: Report, *, all_changes: bool) -> str:
    if not report.changes:
        return "No single change to the pod that was tried would place it."
    changes = report.changes if all_changes else report.changes[:_CHANGES]
    lines = table(((f"on {_nodes(len(each.nodes))}", each.text) for each in changes), indent="  ")
    left_out = len(report.changes) - len(changes)
    more = f"\n  ... and {left_out} more{_HINT}" if left_out else ""
    return f"It would fit (each of these was decided again):\n{lines}{more}"


def _nodes(count: int) -> str:
    return f"{count} node" if count == 1 else f"{count} nodes"
