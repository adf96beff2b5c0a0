"""Trees of tables and of graphs, and the order in which Prim's algorithm meets their rows."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest

import twins
from coterie.neighbors import merge_tree, spanning_tree
from coterie.neighbors.spanning import by_ends, by_length, graph_tree, prim


def table(seed: int, n: int) -> Any:
    """Distances of rows of small integers, many of them equal."""
    X = np.random.default_rng(seed).integers(0, 4, size=(n, 2)).astype(float)
    return twins.lengths(X, X, "euclidean")


def edges(tree: Any) -> list[tuple[float, int, int]]:
    return list(zip(tree.lengths.tolist(), tree.heads.tolist(), tree.tails.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_a_table_and_the_graph_of_all_its_pairs_have_one_least_tree(seed: int) -> None:
    dists = table(seed, 30)
    heads, tails = np.triu_indices(30, 1)
    mixed = np.random.default_rng(seed).permutation(heads.size)  # in whatever order they are listed
    heads, tails = heads[mixed], tails[mixed]
    expected = twins.spanning_tree(dists)
    assert edges(prim(30, lambda i: dists[i])) == expected
    assert edges(graph_tree(30, heads, tails, dists[heads, tails])) == expected
    loose = graph_tree(30, heads, tails, dists[heads, tails], ranks=by_length)
    assert loose.lengths.tolist() == [length for length, _, _ in expected]


def test_a_graph_in_pieces_has_a_tree_of_each() -> None:
    tree = graph_tree(5, np.array([2, 0]), np.array([3, 1]), np.array([2.0, 0.0]))
    assert edges(tree) == [(0.0, 0, 1), (2.0, 2, 3)]
    none = graph_tree(2, np.empty(0, int), np.empty(0, int), np.empty(0))
    assert edges(none) == []


def test_ranks_have_their_lengths() -> None:
    heads, tails, lengths = np.array([1, 0, 0]), np.array([2, 2, 1]), np.array([1.0, 0.0, 1.0])
    for ranks in (by_ends, by_length):
        rank, length_of_rank = ranks(heads, tails, lengths)
        np.testing.assert_array_equal(length_of_rank[rank.astype(int) - 1], lengths)
    assert by_ends(heads, tails, lengths)[0].tolist() == [3, 1, 2]
    assert by_length(heads, tails, lengths)[0].tolist() == [2, 1, 2]


def met_by_prim(tree: Any) -> list[int]:
    """The place of every row when Prim's algorithm walks along the tree from row 0."""
    n = tree.lengths.size + 1
    near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for rank, (i, j) in enumerate(zip(tree.heads.tolist(), tree.tails.tolist(), strict=True)):
        near[i].append((rank, j))
        near[j].append((rank, i))
    met, queue = [-1] * n, [(0, 0)]
    for place in range(n):
        row = heappop(queue)[1]
        met[row] = place
        for rank, other in near[row]:
            if met[other] < 0:
                heappush(queue, (rank, other))
    return met


@pytest.mark.parametrize("seed", range(6))
def test_the_part_of_the_head_is_met_first(seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, 6, size=(80, 2)).astype(float)
    tree = spanning_tree(X)
    turned = tree.from_first_row()
    pairs, turned_pairs = (
        np.sort(np.column_stack([t.heads, t.tails]), axis=1) for t in (tree, turned)
    )
    np.testing.assert_array_equal(turned_pairs, pairs)
    met = met_by_prim(tree)
    merges = merge_tree(turned.heads, turned.tails, turned.lengths)
    for left, right in zip(merges.left.tolist(), merges.right.tolist(), strict=True):
        assert met[left] < met[right]
        met.append(met[left])
