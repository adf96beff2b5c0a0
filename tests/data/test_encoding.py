"""Mixed columns as points: every column weighs the same, what is missing stands at the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from coterie.data.encoding import (
    ColumnCode,
    Levels,
    Measure,
    Steps,
    encode,
    learn_levels,
    learn_measure,
    learn_steps,
)

WORDS = np.array(["a", "b", "c", "a", "a", "c", "a", "b"], dtype=object)


def learn(column: Any, levels: Any = None, ordered: bool = False) -> ColumnCode:
    if levels is None:
        return learn_measure("x", column)
    return (learn_steps if ordered else learn_levels)("x", column, levels)


def test_numbers_are_standardised_as_scikit_learn_does() -> None:
    column = np.random.RandomState(0).gamma(2, 100, size=50)
    ours = learn(column).encode(column)
    np.testing.assert_allclose(
        ours, StandardScaler().fit_transform(column[:, None])[:, 0], rtol=1e-12
    )


@pytest.mark.parametrize("ordered", [False, True])
def test_a_column_of_levels_has_a_total_variance_of_one(ordered: bool) -> None:
    points = learn(WORDS, "abc", ordered).encode(WORDS).reshape(len(WORDS), -1)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-15)
    assert points.var(axis=0).sum() == pytest.approx(1)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=6))
def test_different_levels_are_equally_far_apart(counts: list[int]) -> None:
    column = np.repeat(np.arange(len(counts)), counts).astype(object)
    levels = list(range(len(counts)))
    points = learn(column, levels).encode(np.array(levels, dtype=object))
    lengths = np.linalg.norm(points[:, None] - points, axis=2)[np.triu_indices(len(counts), 1)]
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-12)
    shares = np.array(counts) / sum(counts)
    assert lengths[0] ** 2 == pytest.approx(2 / (1 - np.square(shares).sum()))


def test_two_levels_are_as_far_apart_as_standardised_truths() -> None:
    truths = np.array([0, 1, 1, 1, 0, 1, 1], dtype=object)
    points = learn(truths, [0, 1]).encode(truths)
    number = learn(truths.astype(float)).encode(truths)
    apart = np.linalg.norm(points[0] - points[1])
    assert apart == pytest.approx(abs(number[0] - number[1]))


def test_what_is_not_known_stands_at_the_mean() -> None:
    holes = np.array(["a", None, "new"], dtype=object)
    assert not learn(WORDS, "abc").encode(holes)[1:].any()
    assert not learn(WORDS, "abc", True).encode(holes)[1:].any()
    numbers = np.array([1.0, np.nan, np.inf, 3.0])
    code = learn(numbers)
    assert code == Measure("x", 2.0, 1.0)
    assert code.encode(numbers).tolist() == [-1, 0, 0, 1]
    assert code.encode(np.array([3, "three", None], dtype=object)).tolist() == [1, 0, 0]


def test_logs_of_counts() -> None:
    counts = np.array([0, 1, 10, 100, 1000])
    code = learn_measure("x", counts, logs=True)
    values = np.log1p(counts)
    np.testing.assert_allclose(code.encode(counts), (values - values.mean()) / values.std())
    assert code.encode(np.array([-1.0])) == 0  # no count


@pytest.mark.parametrize("unit", [1e-300, 1e30, 1e300])
def test_scales_at_the_ends_of_float64(unit: float) -> None:
    column = np.array([1.0, 2.0, 3.0, 4.0])
    points = learn(column * unit).encode(column * unit)
    np.testing.assert_allclose(points, learn(column).encode(column), rtol=1e-12)


def test_columns_stand_side_by_side() -> None:
    coded: list[ColumnCode] = [
        Measure("length", 1.0, 2.0),
        Levels("kind", ("a", "b"), (0.5, 0.5)),
        Steps("size", ("S", "L"), 0.5, 0.5),
    ]
    assert [place for code in coded for place in code.places] == [
        "length", "kind=a", "kind=b", "size",
    ]  # fmt: skip
    columns: list[Any] = [
        np.array([3.0, 1.0]),
        np.array(["a", "b"], dtype=object),
        np.array(["L", "S"], dtype=object),
    ]
    half = 0.5 / np.sqrt(0.5)
    np.testing.assert_allclose(encode(columns, coded), [[1, half, -half, 1], [0, -half, half, -1]])


def test_constant_and_empty_columns_are_zeros() -> None:
    for column in (np.full(3, 5.0), np.full(3, np.nan)):
        assert not learn(column).encode(column).any()
    assert not learn(np.array(["a", "a"], dtype=object), "a").encode(WORDS[:1]).any()
