"""Bags of words, their weights and distances, against the definitions written out.

Covers coterie.quantize._bags, coterie.quantize._tree_words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie import HierarchicalKMeans
from coterie.quantize._bags import bag_distances, inverse_frequencies, weigh_bags

tables = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).poisson(0.7, size=(5, 6))
)


@given(tables)
def test_inverse_frequencies(table: Any) -> None:
    found = inverse_frequencies(sp.csr_matrix(table))
    for word in range(6):
        n_with = np.count_nonzero(table[:, word])
        assert found[word] == pytest.approx(np.log(5 / n_with) if n_with else 0.0)


@given(tables, tables, st.sampled_from(["l1", "l2"]))
def test_distances_are_those_of_dense_vectors(queries: Any, documents: Any, norm: str) -> None:
    weights = inverse_frequencies(sp.csr_matrix(documents))
    order = 1 if norm == "l1" else 2

    def unit(table: Any) -> Any:
        weighed = table * weights
        lengths = np.linalg.norm(weighed, order, axis=1, keepdims=True)
        return weighed / np.where(lengths > 0, lengths, 1)

    mine, theirs = (weigh_bags(sp.csr_matrix(t), weights, norm) for t in (queries, documents))
    np.testing.assert_allclose(mine.toarray(), unit(queries), atol=1e-14)
    found = bag_distances(mine, theirs, norm)
    exact = np.linalg.norm(unit(queries)[:, None] - unit(documents), order, axis=2)
    empty = (unit(queries) == 0).all(axis=1)[:, None] | (unit(documents) == 0).all(axis=1)
    np.testing.assert_allclose(found[~empty], exact[~empty], atol=1e-7)
    assert (found[empty] == (2 if norm == "l1" else np.sqrt(2))).all()


def documents() -> tuple[Any, Any]:
    """Six documents of 40 rows, two each about the same three of nine places."""
    rng = np.random.default_rng(0)
    places = rng.normal(scale=20, size=(9, 4))
    topics = [places[3 * (document // 2) : 3 * (document // 2) + 3] for document in range(6)]
    X = np.concatenate([topic[rng.integers(3, size=40)] for topic in topics])
    return X + rng.normal(size=X.shape), np.repeat(list("fedcba"), 40)


def test_documents_about_the_same_are_near() -> None:
    X, groups = documents()
    model = HierarchicalKMeans(3, 2, random_state=0).fit(X)
    bags = model.bag_of_words(X, groups)
    assert bags.shape == (6, model.n_leaves_)
    np.testing.assert_array_equal(np.asarray(bags.sum(axis=0)).ravel(), model.counts_)
    np.testing.assert_array_equal(np.asarray(bags.sum(axis=1)).ravel(), np.full(6, 40))
    words = model.predict(X[groups == "a"])
    np.testing.assert_array_equal(
        bags[0].toarray().ravel(), np.bincount(words, minlength=model.n_leaves_)
    )
    for norm in ("l1", "l2"):
        distances = model.learn_idf(bags).document_distances(bags, bags, norm=norm)
        np.testing.assert_allclose(np.diag(distances), 0, atol=1e-7)
        np.fill_diagonal(distances, np.inf)
        assert distances.argmin(axis=1).tolist() == [1, 0, 3, 2, 5, 4]


def test_what_is_missing_or_odd_is_said() -> None:
    X, groups = documents()
    model = HierarchicalKMeans(3, 2, random_state=0).fit(X)
    bags = model.bag_of_words(X, groups)
    with pytest.raises(ValueError, match=r"idf_ is not known; call learn_idf"):
        model.tf_idf(bags)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\) and X has 240 rows"):
        model.bag_of_words(X, [1, 2, 3])
    with pytest.raises(ValueError, match=r"bags has shape \(6, 2\) and the tree has"):
        model.learn_idf(bags[:, :2])
    with pytest.raises(ValueError, match="norm='max'"):
        model.learn_idf(bags).tf_idf(bags, norm="max")
    with (
        coterie.options(max_memory="1MB"),
        pytest.raises(
            MemoryError, match=r"distances of 6 to 60000 documents need .* ask for fewer"
        ),
    ):
        model.document_distances(bags, sp.vstack([bags] * 10_000))
