"""Contingency tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics.cluster as reference
from evaluate_twins import LABELLINGS, table_of
from hypothesis import given
from hypothesis import strategies as st

import coterie.evaluate as ev
from coterie.evaluate import contingency_matrix, mutual_info_score, rand_score
from coterie.evaluate._contingency import read_table


@given(LABELLINGS)
def test_counts_are_those_of_the_definition(labellings: Any) -> None:
    true, pred = labellings
    found = contingency_matrix(true, pred)
    np.testing.assert_array_equal(found, table_of(true, pred))
    np.testing.assert_array_equal(found, reference.contingency_matrix(true, pred))
    assert found.dtype == np.int64
    np.testing.assert_array_equal(contingency_matrix(true, pred, sparse=True).toarray(), found)
    words = np.array(["none", *"abcdef"])
    named = contingency_matrix(words[np.array(true) + 1], words[np.array(pred) + 1])
    assert sorted(named.ravel()) == sorted(found.ravel())


@given(LABELLINGS, st.data())
def test_weights_are_repeated_rows(labellings: Any, data: st.DataObject) -> None:
    true, pred = (np.array(labels) for labels in labellings)
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(true), max_size=len(true))))
    if not times.any():
        return
    expected = contingency_matrix(np.repeat(true, times), np.repeat(pred, times))
    np.testing.assert_array_equal(contingency_matrix(true, pred, sample_weight=times), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_clusters_are_counted_by_sorting(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 4000, (2, 5000))
    weights = rng.random(5000) if weighted else None
    found = contingency_matrix(true, pred, sparse=True, sample_weight=weights)
    expected = np.zeros((4000, 4000))
    np.add.at(expected, (true, pred), 1.0 if weights is None else weights)
    expected = expected[expected.any(axis=1)][:, expected.any(axis=0)]
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-14)


def test_noise() -> None:
    true, pred = [0, 0, 1, 1, -1], [-1, 0, 0, 1, 1]
    assert contingency_matrix(true, pred).tolist() == [[0, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert contingency_matrix(true, pred, noise="drop").tolist() == [[1, 0], [1, 1]]
    alone = contingency_matrix(true, pred, noise="singletons")
    assert alone.tolist() == [[1, 0, 1], [1, 1, 0], [0, 1, 0]]


def test_options_of_scikit_learn() -> None:
    true, pred = [0, 0, 1], [0, 1, 1]
    np.testing.assert_array_equal(
        contingency_matrix(true, pred, eps=0.5), reference.contingency_matrix(true, pred, eps=0.5)
    )
    assert contingency_matrix(true, pred, dtype=np.float32).dtype == np.float32
    assert contingency_matrix([], []).shape == (0, 0)
    with pytest.raises(ValueError, match="Cannot set 'eps' when sparse=True"):
        contingency_matrix(true, pred, eps=1.0, sparse=True)


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.coo_matrix, sp.csc_array, list])
def test_a_table_stands_for_both_labellings(kind: Any) -> None:
    table = [[3, 0, 1], [0, 0, 0], [1, 5, 0]]
    given_table = read_table("who", None, None, kind(table))
    assert given_table.shape == (2, 3)
    assert given_table.total == 10
    assert given_table.whole
    assert given_table.dense("who").tolist() == [[3, 0, 1], [1, 5, 0]]
    assert given_table.class_sizes.tolist() == [4, 6]
    true, pred = np.repeat([0, 0, 2, 2], [3, 1, 1, 5]), np.repeat([0, 2, 0, 1], [3, 1, 1, 5])
    assert mutual_info_score(contingency=kind(table)) == mutual_info_score(true, pred)


def test_probabilities_and_counts_are_told_apart() -> None:
    assert read_table("who", None, None, [[2.0, 1.0]]).counts.dtype == np.int64
    assert not read_table("who", None, None, [[0.5, 0.5]]).whole
    assert read_table("who", [0, 1], [0, 1], None, [2.0, 3.0]).whole


def test_errors() -> None:
    for table, words in (
        ([[1, -1]], "negative values"),
        ([[0, 0]], "all zeros"),
        ([[np.nan, 1]], "NaN"),
        ([["a", "b"]], "could not convert|holds|dtype"),
    ):
        with pytest.raises(ValueError, match=words):
            read_table("who", None, None, table)
    with pytest.raises(ValueError, match="who: labels and contingency were given"):
        read_table("who", [0], [0], [[1]])
    with pytest.raises(ValueError, match="one is None"):
        read_table("who", [0], None)
    with pytest.raises(ValueError, match="sample_weight or noise='drop'"):
        read_table("who", None, None, [[1]], noise="drop")
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[3, 2\]"):
        contingency_matrix([0, 1, 2], [0, 1])
    with pytest.raises(ValueError, match="negative values"):
        contingency_matrix([0, 1], [0, 1], sample_weight=[1, -1])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([["a", "b"]], "contingency holds <U1; pass counts or probabilities"),
        ([[np.nan, 1.0]], "contingency has cells that are NaN or infinite; .* 0 in their cell"),
        (sp.csr_matrix([[np.inf, 1.0]]), "contingency has cells that are NaN or infinite"),
    ],
)
def test_tables_that_hold_no_counts_are_told(table: object, words: str) -> None:
    with pytest.raises(ValueError, match=f"^rand_score: {words}"):
        rand_score(contingency=table)


SCORES = [name for name in ev.external.__all__ if name[0].islower()]
BY_CHANCE = ("adjusted_mutual_info_score", "expected_mutual_info")


@pytest.mark.parametrize("large", [2**53, 2**62, 1e300])
@pytest.mark.parametrize("name", SCORES)
def test_more_rows_than_float64_counts_are_shares(name: str, large: Any) -> None:
    if name in ("contingency_matrix", "entropy"):
        return
    score, table = getattr(ev, name), [[3, 1, 0], [0, 1, 4]]
    many = [[cell * large for cell in row] for row in table]
    if large == 2**62:
        many = [[2**62, 2**61, 0], [0, 2**61, 2**62]]  # their sum is beyond int64
        table = [[2, 1, 0], [0, 1, 2]]
    if name in BY_CHANCE:
        with pytest.raises(ValueError, match=r"more than 2\*\*53 of them"):
            score(contingency=many)
    else:
        wanted = score(contingency=np.array(table) / np.sum(table))
        np.testing.assert_allclose(score(contingency=many), wanted, rtol=1e-12)


def test_sums_that_overflow_are_told() -> None:
    with pytest.raises(ValueError, match=r"rand_score: .* so large that their sum overflows"):
        rand_score(contingency=[[1e308, 1e308], [1.0, 1.0]])
    with pytest.raises(ValueError, match=r"rand_score: .* divide them by a constant"):
        rand_score([0, 1, 1], [0, 1, 0], sample_weight=[1e308, 1e308, 1.0])
