"""Policy files, which schedulers up to v1.22 read: predicates, priorities, extenders.

Every predicate and priority stood for plugins already.  A file without a list of them took the
default ones, which run today too; a file with a list gets just what the list asks for.

Upstream: pkg/scheduler/factory.go createFromPolicy, framework/plugins/legacy_registry.go,
          apis/config/validation ValidatePolicy (v1.22).
Differs:  the order of filters is that of today; it decides who is blamed, not what fits.
"""

from __future__ import annotations

from collections.abc import Mapping

from berthing.config.decode import decode
from berthing.config.default_plugins import IN_TREE
from berthing.config.defaults import DEFAULT_SCHEDULER_NAME
from berthing.config.document import Document
from berthing.config.findings import Findings, Path, did_you_mean
from berthing.config.legacy.checks import check_labels
from berthing.config.legacy.conversion import Converted, Notes, Origin
from berthing.config.legacy.draft import Draft
from berthing.config.legacy.policy_extenders import convert_extenders
from berthing.config.legacy.predicates import add_predicates
from berthing.config.legacy.priorities import add_priorities
from berthing.config.legacy.profile import write_profile
from berthing.config.legacy.replacements import replace_removed
from berthing.config.legacy.shapes import Policy
from berthing.config.legacy.today import settle
from berthing.config.legacy.tree import as_list, as_object
from berthing.config.legacy.versions import OLD_DEFAULTS, V1BETA1
from berthing.config.v1 import API_VERSION, KIND

# In the messages, as Policy had no versions that tell anything.
_LAST_RELEASE = "v1.22"


def convert_policy(document: Document, findings: Findings) -> Converted | None:
    """The v1 equivalent of a Policy; None if there are mistakes in it."""
    old = as_object(document.value)
    notes = Notes(document)
    origins: dict[Path, Origin] = {(): Origin((), same_below=False)}
    mistakes_before = len(findings.errors)
    _check_version(old, findings, notes)
    policy = decode(old, Policy, findings) or Policy()
    draft = Draft(OLD_DEFAULTS[V1BETA1], ())
    if policy.predicates is not None:
        add_predicates(draft, policy.predicates, findings.under("predicates"), notes)
    if policy.priorities is not None:
        add_priorities(draft, policy.priorities, findings.under("priorities"), notes)
    _weigh_hard_affinity(draft, policy, findings, notes)
    extenders = convert_extenders(as_list(old.get("extenders")), findings, origins)
    check_labels(draft, findings)
    if len(findings.errors) > mistakes_before:
        return None
    if policy.always_check_all_predicates:
        notes.add(
            "alwaysCheckAllPredicates has no equivalent: the first plugin that rejects a node "
            "is the one that is told about; what fits is the same",
            ("alwaysCheckAllPredicates",),
        )
    replace_removed(draft, notes)
    _prepare(draft, "filter", "preFilter")
    _prepare(draft, "score", "preScore")
    settle(draft, _LAST_RELEASE, notes)
    profile = write_profile(draft, DEFAULT_SCHEDULER_NAME, ("profiles", 0), origins)
    value: dict[str, object] = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    if extenders:
        value["extenders"] = extenders
    return Converted(value, notes.in_order(), origins)


def _check_version(old: Mapping[str, object], findings: Findings, notes: Notes) -> None:
    version = old.get("apiVersion")
    if version is None or version == "":
        notes.add("apiVersion is missing: this is read as a Policy of v1", ("apiVersion",))
    elif isinstance(version, str) and version not in {"v1", API_VERSION}:
        findings.error(
            f"a Policy has the apiVersion v1 or {API_VERSION}, got {version}",
            "apiVersion",
            suggestion=did_you_mean(version, ["v1", API_VERSION]),
        )


def _weigh_hard_affinity(draft: Draft, policy: Policy, findings: Findings, notes: Notes) -> None:
    weight = policy.hard_pod_affinity_symmetric_weight
    here: Path = ("hardPodAffinitySymmetricWeight",)
    if not 0 <= weight <= 100:
        findings.error(f"must be 0 to 100, got {weight}", *here)
    elif weight and draft.find("score", "InterPodAffinity"):
        args = draft.make_args("InterPodAffinity", here)
        args.value = {"hardPodAffinityWeight": weight}
        args.parts["hardPodAffinityWeight",] = Origin(here, same_below=False)
    elif weight:
        notes.add("it had no effect without InterPodAffinityPriority: it is left out", here)


def _prepare(draft: Draft, point: str, earlier: str) -> None:
    """Let what the file lists for a point take part in the point that prepares it, too."""
    if draft.stands_alone(point):
        draft.at(earlier).enabled = [
            entry.unweighted()
            for entry in draft.at(point).enabled
            if earlier in IN_TREE[entry.name].points
        ]
