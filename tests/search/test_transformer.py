"""Neighbours in a scikit-learn pipeline, held to scikit-learn's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import coterie.data
from coterie import ProductQuantizer
from coterie.errors import ParameterError
from coterie.search import FlatIndex, IVFPQIndex, NeighborsTransformer, PQIndex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))


@parametrize_with_checks([NeighborsTransformer(n_neighbors=2)])
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_its_graph_is_scikit_learns() -> None:
    ours = NeighborsTransformer(4).fit(X).transform(X[:50])
    theirs = KNeighborsTransformer(n_neighbors=4).fit(X).transform(X[:50])
    assert ours.shape == theirs.shape == (50, 300)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_allclose(ours.data, theirs.data, atol=1e-7)


def test_its_neighbours_are_scikit_learns() -> None:
    model, theirs = NeighborsTransformer(4).fit(X), NearestNeighbors(n_neighbors=4).fit(X)
    for k in (None, 7):
        dists, ids = model.kneighbors(X[:9], k)
        np.testing.assert_array_equal(ids, theirs.kneighbors(X[:9], k)[1])
        np.testing.assert_allclose(dists, theirs.kneighbors(X[:9], k)[0], atol=1e-7)
    assert model.kneighbors(X[:9], 400, return_distance=False).shape == (9, 300)  # type: ignore[union-attr]


@pytest.mark.parametrize("k", [None, 7, 400])
def test_rows_of_the_fit_are_not_their_own_neighbours(k: int | None) -> None:
    theirs = NearestNeighbors(n_neighbors=4).fit(X)
    dists, ids = theirs.kneighbors(n_neighbors=None if k is None else min(k, 299))
    lists = IVFPQIndex(5, 2, 4, nprobe=5, rerank=300, dtype="float64", random_state=0)
    for index in (None, lists):
        model = NeighborsTransformer(4, index=index).fit(X)
        found = model.kneighbors(n_neighbors=k)
        np.testing.assert_array_equal(found[1], ids)
        np.testing.assert_allclose(found[0], dists, atol=1e-7)


def test_copies_are_neighbours_of_each_other() -> None:
    model = NeighborsTransformer(2).fit(np.repeat([[0.0], [9.0]], 5, axis=0))
    ids = model.kneighbors(return_distance=False)
    lower = [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]
    assert_array_equal(ids, [*lower, *(np.array(lower) + 5)])
    assert NeighborsTransformer(2).fit(X[:1]).kneighbors(return_distance=False).shape == (1, 0)  # type: ignore[union-attr]


def test_rows_that_are_not_kept_must_be_given() -> None:
    quantizer = ProductQuantizer(3, bits=4, n_iter=2, random_state=0).fit(X)
    model = NeighborsTransformer(3, index=PQIndex(quantizer)).fit(X)
    with pytest.raises(ValueError, match="the PQIndex keeps codes only; pass X, or give an index"):
        model.kneighbors()
    keeping = NeighborsTransformer(3, index=PQIndex(quantizer, keep_rows=True)).fit(X)
    found = keeping.kneighbors(return_distance=False)
    assert found.shape == (300, 3)  # type: ignore[union-attr]
    assert (found != np.arange(300)[:, None]).all()


def test_an_index_that_had_rows_numbers_from_zero() -> None:
    emptied = FlatIndex(dtype="float64").add(X)
    emptied.remove(emptied.ids)
    graph = NeighborsTransformer(4, index=emptied).fit(X).transform(X)
    assert (graph != NeighborsTransformer(4).fit(X).transform(X)).nnz == 0


def test_pipelines_end_as_with_scikit_learns() -> None:
    y = (X[:, 0] > 0).astype(int)
    classifier = KNeighborsClassifier(3, metric="precomputed")
    for end in (classifier, Isomap(n_neighbors=8, metric="precomputed")):
        ours = make_pipeline(NeighborsTransformer(8), clone(end)).fit(X, y)
        theirs = make_pipeline(KNeighborsTransformer(n_neighbors=8), clone(end)).fit(X, y)
        ask = "predict" if hasattr(end, "predict") else "transform"
        answers = [getattr(model, ask)(X[:30]) for model in (ours, theirs)]
        np.testing.assert_allclose(*answers, atol=1e-5)


def test_any_index_may_stand_in_it() -> None:
    quantizer = ProductQuantizer(3, bits=8, n_iter=4, random_state=0).fit(X)
    empty = PQIndex(quantizer, dtype="float64")
    model = clone(NeighborsTransformer(3, index=empty)).fit(X)
    assert isinstance(model.index_, PQIndex)
    assert empty.n_rows == 0
    assert model.transform(X).nnz == 4 * len(X)


@pytest.mark.parametrize(
    "index", [None, IVFPQIndex(4, 2, 4, nprobe=4, rerank=300, dtype="float64", random_state=0)]
)
def test_rows_come_from_files_and_are_found_by_name(index: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.to_parquet(tmp_path / "x.parquet")
    frame[list("fedcba")].assign(text="t").to_parquet(tmp_path / "turned.parquet")
    np.save(tmp_path / "x.npy", X)
    wanted = NeighborsTransformer(3).fit(X).transform(X).toarray()
    for rows in (tmp_path / "x.parquet", coterie.data.open(tmp_path / "x.parquet")):
        model = NeighborsTransformer(3, index=index).fit(rows)
        assert model.feature_names_in_.tolist() == list("abcdef")
        assert (model.n_features_in_, model.n_samples_fit_) == (6, 300)
        for asked in (rows, frame, tmp_path / "turned.parquet", tmp_path / "x.npy"):
            assert_array_equal(model.transform(asked).toarray(), wanted)
    named = NeighborsTransformer(3, index=index).fit(frame)
    assert_array_equal(named.transform(tmp_path / "turned.parquet").toarray(), wanted)
    unnamed = named.fit(tmp_path / "x.npy")
    assert not hasattr(unnamed, "feature_names_in_")
    assert_array_equal(unnamed.transform(X).toarray(), wanted)
    frame.head(0).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match=r"^NeighborsTransformer: X has no rows; pass at least"):
        unnamed.fit(tmp_path / "none.parquet")


def test_rows_that_an_index_does_not_find_are_not_in_the_graph() -> None:
    lists = IVFPQIndex(30, 2, 4, nprobe=1, random_state=0)  # which it learns from the rows
    model = NeighborsTransformer(40, index=lists).fit(X)
    assert lists.n_features is None
    assert model.index_.list_sizes.sum() == len(X)
    dists, ids = model.kneighbors(X, 41)
    assert (ids[:, -1] == -1).all()
    assert np.isinf(dists[:, -1]).all()
    graph = model.transform(X)
    assert_array_equal(np.diff(graph.indptr), (ids >= 0).sum(axis=1))
    assert graph.indices.min() >= 0
    assert np.isfinite(graph.data).all()
    for row, found in zip(graph, ids, strict=True):
        assert_array_equal(row.indices, found[found >= 0])


def test_lists_that_were_learned_stay() -> None:
    lists = IVFPQIndex(5, 2, 4, random_state=0).fit(X[:100] + 1)
    model = NeighborsTransformer(3, index=lists).fit(X)
    assert lists._learned is not None
    assert_array_equal(model.index_._learned.centers, lists._learned.centers)


def test_no_distance_of_a_graph_is_negative() -> None:
    index = FlatIndex(metric="cosine", dtype="float64")
    assert index.add(X).search(X, 1).dists.min() < 0  # of rows and themselves, by rounding
    model = NeighborsTransformer(8, index=FlatIndex(metric="cosine", dtype="float64")).fit(X)
    assert model.transform(X).data.min() == 0
    theirs = KNeighborsTransformer(n_neighbors=8, metric="cosine").fit(X).transform(X)
    np.testing.assert_allclose(model.transform(X).toarray(), theirs.toarray(), atol=1e-12)
    classifier = KNeighborsClassifier(3, metric="precomputed")
    y = (X[:, 0] > 0).astype(int)
    pipeline = make_pipeline(NeighborsTransformer(8, index=FlatIndex(metric="cosine")), classifier)
    assert pipeline.fit(X, y).score(X, y) > 0.8


def test_what_is_refused_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="the index has 300 rows already; give one without"):
        NeighborsTransformer(index=FlatIndex().add(X)).fit(X)
    with pytest.raises(ValueError, match="metric='inner_product', whose values are no distances"):
        NeighborsTransformer(index=FlatIndex(metric="inner_product")).fit(X)
    with pytest.raises(ValueError, match="n_neighbors=0 was given; use a whole number"):
        NeighborsTransformer(0).fit(X)
    for rows in (None, X):
        with pytest.raises(ValueError, match=r"^NeighborsTransformer: n_neighbors=0 was given"):
            NeighborsTransformer().fit(X).kneighbors(rows, 0)


def test_what_is_no_index_is_refused() -> None:
    for index in ("flat", FlatIndex, 3):
        with pytest.raises(ParameterError, match=r"index=.* was given; use None or an index"):
            NeighborsTransformer(index=index).fit([[0.0], [1.0]])  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_are_those_of_scikit_learn(mode: str) -> None:
    ours = NeighborsTransformer(4, index=FlatIndex(dtype="float64")).fit(X)
    theirs = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(X)
    for rows in (None, X[:7] + 0.1):
        found, expected = (one.kneighbors_graph(rows, mode=mode) for one in (ours, theirs))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-6)
    assert ours.kneighbors_graph(n_neighbors=2).nnz == 2 * len(X)
    with pytest.raises(ParameterError, match="mode='other' was given; use 'connectivity' or"):
        ours.kneighbors_graph(mode="other")
