"""Scores by pairs of rows. Covers coterie.evaluate._pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as reference
import sklearn.metrics.cluster as cluster_reference
from evaluate_twins import LABELLINGS, pairs_of
from hypothesis import given
from hypothesis import strategies as st
from test_information import COUNTS, JOINT

import coterie.evaluate as ev


@given(LABELLINGS, st.sampled_from([0.5, 1.0, 2.0]))
def test_pair_by_pair(labellings: Any, beta: float) -> None:
    true, pred = labellings
    both, class_only, cluster_only, neither = pairs_of(true, pred)
    found = ev.pair_confusion_matrix(true, pred)
    assert found.tolist() == [[2 * neither, 2 * cluster_only], [2 * class_only, 2 * both]]
    precision = both / (both + cluster_only) if both + cluster_only else 1.0
    recall = both / (both + class_only) if both + class_only else 1.0
    assert ev.pair_precision_score(true, pred) == precision
    assert ev.pair_recall_score(true, pred) == recall
    either = both + class_only + cluster_only
    assert ev.pair_jaccard_score(true, pred) == (both / either if either else 1.0)
    if both:
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        assert ev.pair_f_score(true, pred, beta=beta) == pytest.approx(f, rel=1e-14)
        expected = np.sqrt(precision * recall)
        assert ev.fowlkes_mallows_score(true, pred) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["rand_score", "adjusted_rand_score", "fowlkes_mallows_score"])
@given(labellings=LABELLINGS)
def test_values_are_those_of_scikit_learn(name: str, labellings: Any) -> None:
    found = getattr(ev, name)(*labellings)
    assert found == pytest.approx(getattr(reference, name)(*labellings), abs=1e-12)
    np.testing.assert_array_equal(
        ev.pair_confusion_matrix(*labellings),
        cluster_reference.pair_confusion_matrix(*labellings),
    )


@pytest.mark.parametrize(
    "labellings",
    [([], []), ([0], [0]), ([0, 0], [0, 0]), ([0, 1], [0, 1]), ([0, 0], [0, 1]), ([0, 1], [0, 0])],
)
@pytest.mark.parametrize("name", ["rand_score", "adjusted_rand_score", "fowlkes_mallows_score"])
def test_edges_are_those_of_scikit_learn(name: str, labellings: Any) -> None:
    assert getattr(ev, name)(*labellings) == getattr(reference, name)(*labellings)


def test_cat_dog_parrot() -> None:
    assert ev.adjusted_rand_score(contingency=COUNTS) == pytest.approx(0.468146591177, abs=1e-12)
    assert ev.rand_score(contingency=COUNTS) == pytest.approx(0.746868686869, abs=1e-12)
    assert ev.fowlkes_mallows_score(contingency=COUNTS) == pytest.approx(0.675699582671, abs=1e-12)
    found = ev.pair_confusion_matrix(contingency=COUNTS)
    assert found.tolist() == [[4784, 1202], [1304, 2610]]


def test_probabilities_are_the_limit_of_many_rows() -> None:
    many = np.array(COUNTS) * 1_000_000
    names = ["rand_score", "adjusted_rand_score", "fowlkes_mallows_score", "pair_precision_score",
             "pair_recall_score", "pair_f_score", "pair_jaccard_score"]  # fmt: skip
    for name in names:
        score = getattr(ev, name)
        assert score(contingency=JOINT) == pytest.approx(score(contingency=many), rel=1e-7)
    assert ev.pair_confusion_matrix(contingency=JOINT).sum() == pytest.approx(1)


def test_squares_of_huge_tables_do_not_overflow() -> None:
    table = np.array([[2**40, 1], [1, 2**40]])
    assert ev.adjusted_rand_score(contingency=table) == pytest.approx(1, abs=1e-11)
    assert ev.rand_score(contingency=table) <= 1
