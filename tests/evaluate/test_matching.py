"""Scores by matched classes and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evaluate_twins import LABELLINGS, best_matching, table_of
from hypothesis import given

import coterie.evaluate as ev


@given(LABELLINGS)
def test_all_matchings_are_tried(labellings: Any) -> None:
    true, pred = labellings
    table = table_of(true, pred)
    n, most = table.sum(), max(table.shape)
    sizes, others = table.sum(axis=1), table.sum(axis=0)
    purity = table.max(axis=0).sum() / n
    assert ev.purity_score(true, pred) == pytest.approx(purity, rel=1e-14)
    accuracy = best_matching(table) / n
    assert ev.matched_accuracy_score(true, pred) == pytest.approx(accuracy, rel=1e-14)
    nca = psi = 1.0
    if most > 1:
        recall = best_matching(table / sizes[:, np.newaxis]) / len(sizes)
        nca = (recall - 1 / most) / (1 - 1 / most)
        matched = best_matching(table / np.maximum(sizes[:, np.newaxis], others))
        sorted_sizes = zip(sorted(sizes)[::-1], sorted(others)[::-1], strict=False)
        chance = sum(a * b / n / max(a, b) for a, b in sorted_sizes)
        psi = max(0.0, (matched - chance) / (most - chance))
    assert ev.normalized_clustering_accuracy(true, pred) == pytest.approx(nca, abs=1e-12)
    assert ev.pair_sets_index(true, pred) == pytest.approx(psi, abs=1e-12)


def test_by_hand() -> None:
    # Two classes of 6 and 4: clusters hold 5 + 1 and 1 + 3 of them.
    table = [[5, 1], [1, 3]]
    assert ev.purity_score(contingency=table) == 0.8
    assert ev.matched_accuracy_score(contingency=table) == 0.8
    expected = ((5 / 6 + 3 / 4) / 2 - 1 / 2) / (1 / 2)
    assert ev.normalized_clustering_accuracy(contingency=table) == pytest.approx(expected)
    chance = 36 / 10 / 6 + 16 / 10 / 4
    expected = (5 / 6 + 3 / 4 - chance) / (2 - chance)
    assert ev.pair_sets_index(contingency=table) == pytest.approx(expected)


def test_even_spreading_is_worth_nothing() -> None:
    assert ev.normalized_clustering_accuracy(contingency=np.ones((3, 3))) == pytest.approx(0)
    assert ev.pair_sets_index(contingency=np.ones((3, 3))) == 0
    assert ev.normalized_clustering_accuracy(contingency=np.ones((2, 4))) == pytest.approx(0)


@pytest.mark.parametrize(
    "name",
    [
        "purity_score",
        "matched_accuracy_score",
        "normalized_clustering_accuracy",
        "pair_sets_index",
    ],
)
def test_equal_partitions_are_perfect(name: str) -> None:
    score = getattr(ev, name)
    for labels in ([0, 0, 1, 2], [0, 1, 2, 3], [5, 5, 5], [7], []):
        assert score(labels, [-3 * label for label in labels]) == 1


def test_clusters_left_over_are_wrong() -> None:
    assert ev.matched_accuracy_score([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5
    assert ev.purity_score([0, 0, 0, 0], [0, 0, 1, 2]) == 1
