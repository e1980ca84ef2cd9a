"""Mistakes that the rules of v1 would not find any more, once plugins have become others."""

from __future__ import annotations

from collections.abc import Sequence

from berthing.config.findings import Finding, Findings
from berthing.config.legacy.draft import Draft, LabelRule


def check_labels(draft: Draft, findings: Findings) -> None:
    """Refuse labels that a node should have and not have."""
    for rules in (draft.required_labels, draft.preferred_labels):
        _check_conflict(rules, findings)


def _check_conflict(rules: Sequence[LabelRule], findings: Findings) -> None:
    absent = {rule.label for rule in rules if not rule.present}
    for rule in rules:
        if rule.present and rule.label in absent:
            findings.add(
                Finding(f"label {rule.label} cannot be both present and absent", rule.origin)
            )
