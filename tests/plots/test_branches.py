"""The branches run where SciPy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy

import coterie
from coterie.plots._branches import (
    draw_above,
    draw_last,
    draw_levels,
    lay_branches,
    shared_labels,
)

METHODS = ["single", "complete", "average", "centroid", "ward"]


def table(n: int, method: str, seed: int = 0) -> Any:
    return coterie.linkage(np.random.default_rng(seed).normal(size=(n, 3)), method)


def in_one_order(across: Any, heights: Any) -> Any:
    brackets = np.hstack([across, heights])
    return brackets[np.lexsort(brackets.T)]


def assert_scipys(Z: Any, drawn: Any, **truncation: Any) -> None:
    theirs = hierarchy.dendrogram(Z, no_plot=True, **truncation)
    mine = lay_branches(Z, drawn)
    assert mine.leaves.tolist() == theirs["leaves"]
    # SciPy's leaves are ten apart, from 5 on.
    expected = in_one_order((np.array(theirs["icoord"]) - 5) / 10, np.array(theirs["dcoord"]))
    np.testing.assert_allclose(in_one_order(mine.across, mine.heights), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 10, 77])
def test_scipys_branches(method: str, n: int) -> None:
    Z = table(n, method)
    assert_scipys(Z, np.ones(len(Z), dtype=bool))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", [2, 3, 9, 40])
def test_scipys_truncations(method: str, p: int) -> None:
    Z = table(40, method)
    assert_scipys(Z, draw_last(Z, p), truncate_mode="lastp", p=p)
    drawn = draw_levels(Z, p)
    # SciPy never contracts the first merge (it tests `i > n`): ours is drawn with its parent.
    drawn[0] |= drawn[np.flatnonzero((Z[:, :2] == len(Z) + 1).any(axis=1))[0]]
    assert_scipys(Z, drawn, truncate_mode="level", p=p)


def test_only_merges_above_a_height() -> None:
    Z = table(50, "average")
    height = Z[30, 2]
    branches = lay_branches(Z, draw_above(Z, height))
    assert branches.merges.tolist() == list(range(30, 49))
    assert len(branches.leaves) == 20


def test_a_merge_below_a_drawn_one_stays_attached_where_heights_invert() -> None:
    # {0, 1} joins at 1, and its centre is nearer to 2; 3 and 4 join at 0.5.
    Z = np.array([[0, 1, 1, 2], [2, 5, 0.9, 3], [3, 4, 0.5, 2], [6, 7, 2, 5.0]])
    assert draw_above(Z, 1.0).tolist() == [True, True, False, True]
    assert lay_branches(Z, draw_above(Z, 1.0)).leaves.tolist() == [2, 0, 1, 7]


def test_a_chain_as_deep_as_it_is_long() -> None:
    n = 100_000
    heads = np.r_[0, np.arange(n, 2 * n - 2)]
    Z = np.column_stack([heads, np.arange(1, n), np.arange(1, n), np.arange(2, n + 1)]).astype(
        float
    )
    branches = lay_branches(Z, np.ones(n - 1, dtype=bool))
    np.testing.assert_array_equal(branches.leaves, np.arange(n))
    assert draw_levels(Z, 5).sum() == 6


def test_labels_that_all_rows_below_share() -> None:
    Z = np.array([[0, 1, 1, 2], [2, 3, 2, 2], [4, 5, 3, 4.0]])
    assert shared_labels(Z, np.array([1, 1, 0, 0])).tolist() == [1, 1, 0, 0, 1, 0, -1]
    assert shared_labels(Z, np.array([1, 2, 0, 0])).tolist() == [1, 2, 0, 0, -1, 0, -1]
