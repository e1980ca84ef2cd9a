"""What plugin authors may rely on: additions are news for the changelog, removals break them."""

from __future__ import annotations

import berthing.testing

PROMISED = """
HOSTNAME ZONE make_affinity_term make_container make_node make_node_term make_owner make_pod
make_selector make_spread_constraint make_taint make_toleration tolerate
"""


def test_all_is_what_was_promised() -> None:
    assert sorted(berthing.testing.__all__) == sorted(PROMISED.split())


def test_every_promised_name_is_there_and_explained() -> None:
    for name in PROMISED.split():
        assert hasattr(berthing.testing, name)
        if name.islower():
            assert getattr(berthing.testing, name).__doc__
