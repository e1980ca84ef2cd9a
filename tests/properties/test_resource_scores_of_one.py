"""For one node, plain Python comes to what the columns come to, and overflows where they do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berthing.config.args import UtilizationShapePoint
from berthing.plugins import resource_scores as kernels
from berthing.plugins import resource_scores_of_one as of_one

# Up to the end of 64 bits: shares of such amounts overflow, as upstream's do.
AMOUNTS = (
    st.integers(0, 6)
    | st.integers(0, 2**63 - 1)
    | st.builds(lambda shift: 1 << shift, st.integers(40, 62))
)
SHAPE = tuple(
    UtilizationShapePoint(utilization=at, score=score) for at, score in ((0, 3), (60, 10), (90, 0))
)


def lists(count: int, each: st.SearchStrategy[int]) -> st.SearchStrategy[list[int]]:
    return st.lists(each, min_size=count, max_size=count)


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(*[lists(n, AMOUNTS)] * 3)))
def test_shares_and_balance(amounts: tuple[list[int], list[int], list[int]]) -> None:
    used, offered, asked = amounts
    columns = kernels.column_of(used), kernels.column_of(offered)
    for many, one in (
        (kernels.least_allocated, of_one.least_allocated),
        (kernels.most_allocated, of_one.most_allocated),
    ):
        points = many(columns[0].copy(), columns[1])
        assert points.ravel().tolist() == list(map(one, used, offered))

    (score,) = kernels.balanced(columns[0].copy(), kernels.column_of(asked), columns[1])
    assert score == of_one.balanced(used, asked, offered)


@given(AMOUNTS, AMOUNTS)
def test_points_on_a_curve(used: int, offered: int) -> None:
    column = kernels.column_of([used])
    (points,) = kernels.requested_to_capacity_ratio(SHAPE)(column, kernels.column_of([offered]))
    assert points == of_one.requested_to_capacity_ratio(SHAPE)(used, offered)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.tuples(
            lists(n, st.integers(-500, 500)), lists(n, st.integers(1, 100)), lists(n, AMOUNTS)
        )
    )
)
def test_averages(given_lists: tuple[list[int], list[int], list[int]]) -> None:
    points, weights, offered = given_lists
    # What is not offered has no points.
    points = [each if there else 0 for each, there in zip(points, offered, strict=True)]
    columns = list(map(kernels.column_of, (points, weights, offered)))
    for many, one in (
        (kernels.weighted_mean, of_one.weighted_mean),
        (kernels.weighted_mean_of_scoring, of_one.weighted_mean_of_scoring),
    ):
        (score,) = many(*columns)
        assert score == one(points, weights, offered)
