"""Older scheduler configurations as kubescheduler.config.k8s.io/v1: same plugins, weights and args.

    v1beta1, v1beta2, v1beta3 ---+
        v1beta.py                |                replacements.py     today.py
                                 +---> Draft ---> plugins that ---> today's ---> profile.py ---> v1
    Policy                       |     draft.py   are gone          defaults
        policy.py ---------------+

A draft is a profile in terms of what the file says at each extension point.  On the way to v1
every part keeps its origin, so that what is wrong with the result is told at the user's own
line, and every loss or change of meaning leaves a note.
"""

from __future__ import annotations

from berthing.config.document import Document
from berthing.config.findings import Findings
from berthing.config.legacy.conversion import Converted
from berthing.config.legacy.policy import convert_policy
from berthing.config.legacy.v1beta import convert_configuration
from berthing.config.legacy.versions import POLICY_KIND, is_legacy

__all__ = ["Converted", "convert", "is_legacy"]


def convert(document: Document, findings: Findings) -> Converted | None:
    """The v1 equivalent of a document that `is_legacy`, or None with the mistakes in `findings`.

    What the rules of v1 will find in the result is left to them.
    """
    if isinstance(document.value, dict) and document.value.get("kind") == POLICY_KIND:
        return convert_policy(document, findings)
    return convert_configuration(document, findings)
