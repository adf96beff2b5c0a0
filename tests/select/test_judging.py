"""Covers coterie.select._judging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from select_rows import four_clusters
from sklearn.neighbors import NearestNeighbors

from coterie.evaluate import adjusted_rand_score
from coterie.neighbors import spanning_tree
from coterie.select._judging import Judge, agreements, border, log_lengths, shape, valley


def naive_border(near: np.ndarray, labels: np.ndarray) -> float:
    worst = 0.0
    for c in set(labels.tolist()):
        cut = ends = 0
        for i, ids in enumerate(near):
            for j in ids:
                ends += int(labels[i] == c) + int(labels[j] == c)
                cut += (labels[i] != labels[j]) and c in (labels[i], labels[j])
        worst = max(worst, cut / ends)
    return worst


def naive_valley(rows: np.ndarray, labels: np.ndarray) -> float:
    tree = spanning_tree(rows)
    depths = []
    for c in set(labels.tolist()):
        within, leaving = [], []
        for a, b, length in zip(tree.heads, tree.tails, tree.lengths, strict=True):
            n_ends = int(labels[a] == c) + int(labels[b] == c)
            if n_ends:
                (within if n_ends == 2 else leaving).append(np.log(length))
        if leaving:
            depth = np.mean(leaving) - np.mean(within) if within else -3.0
            depths.append(max(depth, -3.0))
    return float(np.mean(depths))


@given(st.integers(0, 1000))
def test_border_and_valley_are_those_of_their_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 2))
    labels = np.concatenate([[0, 1, 2], rng.integers(3, size=27)])
    near = NearestNeighbors(n_neighbors=5).fit(rows).kneighbors(return_distance=False)
    assert border(near, labels, 3) == pytest.approx(naive_border(near, labels))
    tree = spanning_tree(rows)
    found = valley(tree, log_lengths(tree), labels, 3)
    assert found == pytest.approx(naive_valley(rows, labels))


def test_the_true_clusters_are_judged_better_than_shuffled_ones() -> None:
    rows = four_clusters()
    truth = np.repeat(np.arange(4), 40)
    judge = Judge(rows, 1)
    good = judge.judge(truth, 4)
    bad = judge.judge(np.random.default_rng(0).permutation(truth), 4)
    assert good.border < bad.border
    assert good.valley > bad.valley
    assert good.shape > bad.shape


def test_clusters_of_one_row_and_copies_are_judged() -> None:
    rows = np.array([[0.0, 0], [0, 0], [0, 0], [5, 5], [5, 5], [9, 0]])
    judge = Judge(rows, 1)
    for labels in ([0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5], [0] * 6):
        parts = judge.judge(np.array(labels), max(labels) + 1)
        assert np.isfinite([parts.border, parts.valley, parts.shape]).all()
    assert judge.judge(np.zeros(6, np.int64), 1).valley == 0
    assert judge.judge(np.arange(6), 6).valley == -3


def test_agreement_is_the_mean_adjusted_rand_index_with_the_others() -> None:
    truth = np.repeat([0, 1], 50)
    strewn = np.tile([0, 1], 50)
    found = agreements([truth, 1 - truth, strewn])
    between = adjusted_rand_score(truth, strewn)
    assert found == pytest.approx([(1 + between) / 2, (1 + between) / 2, between])
    np.testing.assert_array_equal(agreements([truth]), [1.0])


def test_elongated_gaussians_are_described_better_along_than_across() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal((0, y), (5, 0.3), (200, 2)) for y in (0, 3)])
    spread = np.cov(rows.T, ddof=0)
    along, across = np.repeat([0, 1], 200), (rows[:, 0] > 0).astype(np.int64)
    assert shape(rows, along, 2, spread) > shape(rows, across, 2, spread)
