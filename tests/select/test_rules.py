"""Rules say of rows exactly what the tree does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie.select._described import coded_table, describe_columns, scale_table
from coterie.select._rules import Rule, find_rule


def rule_for(X: Any, inside: Any, max_depth: int = 3) -> Rule:
    table, places = coded_table(describe_columns("test", X))
    return find_rule(scale_table(table), places, np.asarray(inside), max_depth)


def test_one_bound() -> None:
    X = np.column_stack([np.arange(20.0) + 1e6, np.tile([3.0, 1.0, 2.0, 5.0], 5)])
    found = rule_for(X, np.arange(20) < 8)
    assert found.conditions == ("x0 <= 1000007.5",)
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_both_bounds_are_one_condition() -> None:
    X = np.arange(30.0)[:, np.newaxis]
    found = rule_for(X, (X[:, 0] >= 10) & (X[:, 0] < 20))
    assert found.conditions == ("9.5 < x0 <= 19.5",)
    assert str(found) == "9.5 < x0 <= 19.5"


def test_categories_and_truths() -> None:
    cells = np.empty((12, 2), dtype=object)
    cells[:, 0] = ["red", "green", "blue"] * 4
    cells[:, 1] = [True] * 6 + [False] * 6
    red = cells[:, 0] == "red"
    assert rule_for(cells, red).conditions == ("x0 is red",)
    assert rule_for(cells, ~red).conditions == ("x0 is not red",)
    both = red & (cells[:, 1] == True)  # noqa: E712
    assert set(rule_for(cells, both).conditions) == {"x0 is red", "x1 is True"}


def test_missing_cells_are_told_where_they_fit() -> None:
    X = np.array([[1.0], [2], [np.nan], [np.nan], [8], [9]])
    assert rule_for(X, [True, True, True, True, False, False]).conditions == (
        "(x0 <= 5 or missing)",
    )
    assert rule_for(X, [True, True, False, False, False, False]).conditions == ("x0 <= 5",)


@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_a_bound_may_part_known_cells_from_missing_ones(kind: str) -> None:
    cells = np.tile([1.0, 2.0, 3.0, np.nan], 10)[:, np.newaxis]
    known = ~np.isnan(cells[:, 0])
    if kind == "words":
        words = np.array(["a", "b", "c", None], dtype=object)
        cells = np.tile(words, 10)[:, np.newaxis]
    assert rule_for(cells, known).conditions == ("x0 is known",)
    assert rule_for(cells, ~known).conditions == ("x0 is missing",)


def test_nothing_to_go_by() -> None:
    found = rule_for(np.ones((6, 2)), np.arange(6) < 3)
    assert str(found) == "any row"
    assert (found.precision, found.recall) == (0.5, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_those_of_the_rows_that_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(200, 1)), 1)
    inside = X[:, 0] + rng.normal(size=200) > 0.5
    found = rule_for(X, inside, max_depth=1)
    column, sign, bound = found.conditions[0].split()
    fits = X[:, 0] > float(bound) if sign == ">" else X[:, 0] <= float(bound)
    assert column == "x0"
    assert found.precision == pytest.approx(inside[fits].mean())
    assert found.recall == pytest.approx(fits[inside].mean())
