"""Merges of a spanning tree against SciPy's single linkage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage, linkage

from coterie.neighbors import merge_tree, spanning_tree


def as_table(merges: Any) -> Any:
    low = np.minimum(merges.left, merges.right)
    high = np.maximum(merges.left, merges.right)
    return np.column_stack([low, high, merges.height, merges.size])


@pytest.mark.parametrize("n", [2, 3, 50, 700])
def test_merges_are_scipys(n: int) -> None:
    X = np.random.default_rng(n).standard_normal((n, 3))
    tree = spanning_tree(X)
    merges = merge_tree(tree.heads, tree.tails, tree.lengths)
    np.testing.assert_allclose(as_table(merges), linkage(X, "single"), rtol=1e-12)


def test_ties_give_a_valid_table_with_the_same_heights() -> None:
    X = np.random.default_rng(0).integers(0, 5, size=(80, 2)).astype(float)
    tree = spanning_tree(X)
    table = as_table(merge_tree(tree.heads, tree.tails, tree.lengths))
    assert is_valid_linkage(table)
    np.testing.assert_allclose(table[:, 2], linkage(X, "single")[:, 2])


def test_left_has_the_head_and_right_the_tail() -> None:
    heads, tails = np.array([3, 1, 2], dtype=np.int32), np.array([0, 2, 0], dtype=np.int32)
    merges = merge_tree(heads, tails, np.array([1.0, 1.0, 2.0]))
    assert merges.left.tolist() == [3, 1, 5]
    assert merges.right.tolist() == [0, 2, 4]
    assert merges.size.tolist() == [2, 2, 4]


def test_one_row_merges_nothing() -> None:
    empty = np.empty(0, dtype=np.int32)
    assert merge_tree(empty, empty, np.empty(0)).size.size == 0


@pytest.mark.parametrize("row", [-1, 3])
def test_edges_join_rows_that_there_are(row: int) -> None:
    heads = np.array([0, row], dtype=np.int32)
    with pytest.raises(ValueError, match="join rows of the tree"):
        merge_tree(heads, np.ones(2, dtype=np.int32), np.ones(2))


def test_every_build_merges_alike(isa_kernels: Any) -> None:
    X = np.random.default_rng(1).standard_normal((90, 2))
    tree = spanning_tree(X)
    left, right, size = (np.empty(89, dtype=np.int32) for _ in range(3))
    isa_kernels.merge_tree(tree.heads, tree.tails, left, right, size)
    merges = merge_tree(tree.heads, tree.tails, tree.lengths)
    np.testing.assert_array_equal([left, right, size], [merges.left, merges.right, merges.size])
