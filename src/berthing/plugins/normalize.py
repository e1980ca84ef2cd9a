"""Bring raw scores to the scale of the framework, by what the best node has.

Upstream: plugins/helper/normalize_score.go (v1.36.4).
"""

from __future__ import annotations

import numpy as np

from berthing.framework import MAX_SCORE, Int64Column


def normalized(scores: Int64Column, *, reverse: bool = False) -> Int64Column:
    """(n_rows,) 100 for the highest score and 0 for none; the other way round if `reverse`.

    scores  (n_rows,)  raw, none of them negative; left as it is
    """
    highest = int(scores.max(initial=0))
    if not highest:
        return np.full(len(scores), MAX_SCORE, np.int64) if reverse else scores
    shares = scores * MAX_SCORE // highest
    return MAX_SCORE - shares if reverse else shares
