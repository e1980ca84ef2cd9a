"""What goes wrong in a run, and how often: drawn once, from the seed.

Each kind of trouble is there in about half of all runs, so that some runs have much of one kind
and nothing of the others: what only shows undisturbed shows there.
"""

from __future__ import annotations

from random import Random

import msgspec


class Troubles(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of requests and pieces of watches, where nothing else is said."""

    # Of requests.
    refused: float
    lost: float
    answer_lost: float
    # No answer, and carried out all the same, moments after that is known.
    carried_out_late: float
    request_late: float
    answer_late: float
    never_answered: float
    duplicated: float
    turned_away: float
    failed: float
    # Failed as far as the answer says, and carried out.
    failed_and_done: float
    conflict: float
    # Of pieces of watches.
    broken_off: float
    ended: float
    silent: float
    repeated: float
    # How many seconds a watch may lag behind the others.
    lag_seconds: float
    # Happenings per second.
    server_restarts: float
    history_lost: float
    our_crashes: float
    our_stops: float
    other_scheduler: float
    nodes_change: float
    nodes_come_and_go: float
    pods_replaced: float


def drawn(chance: Random) -> Troubles:
    """The troubles of one run."""

    def some(most: float) -> float:
        return most * chance.random() if chance.random() < 0.5 else 0.0

    return Troubles(
        refused=some(0.2),
        lost=some(0.2),
        answer_lost=some(0.3),
        carried_out_late=some(0.2),
        request_late=some(0.3),
        answer_late=some(0.3),
        never_answered=some(0.05),
        duplicated=some(0.3),
        turned_away=some(0.3),
        failed=some(0.3),
        failed_and_done=some(0.2),
        conflict=some(0.2),
        broken_off=some(0.2),
        ended=some(0.2),
        silent=some(0.03),
        repeated=some(0.3),
        lag_seconds=some(8.0),
        server_restarts=some(0.1),
        history_lost=some(0.2),
        our_crashes=some(0.1),
        our_stops=some(0.05),
        other_scheduler=some(0.3),
        nodes_change=some(0.5),
        nodes_come_and_go=some(0.2),
        pods_replaced=some(0.2),
    )
