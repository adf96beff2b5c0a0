"""compress=: approximate by name, near to exact on blobs, rows all carried along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from coterie import AgglomerativeClustering, linkage
from coterie.hierarchy._compress import carry_rows
from coterie.hierarchy._vectors import link_vectors
from streams import Stream


def blobs(n: int, d: int = 8, k: int = 10) -> Any:
    return make_blobs(n, d, centers=k, cluster_std=2.0, random_state=1)[0]


def test_near_to_exact_on_blobs() -> None:
    X = blobs(20_000)
    exact = AgglomerativeClustering(10).fit(X)
    quick = AgglomerativeClustering(10, compress=1000, random_state=0).fit(X)
    assert adjusted_rand_score(exact.labels_, quick.labels_) >= 0.95
    assert quick.n_leaves_ == 20_000


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_the_table_holds_all_rows(method: str) -> None:
    X = blobs(500)
    Z = linkage(X, method, compress=40, random_state=0)
    assert Z.shape == (499, 4)
    assert hierarchy.is_valid_linkage(Z)
    assert (Z[: 500 - 40, 2] == 0).all()
    assert (Z[500 - 40 :, 2] > 0).all()
    assert Z[-1, 3] == 500


def test_weights_are_so_many_rows() -> None:
    """Micro-clusters of equal rows: the merges of the rows themselves."""
    rng = np.random.default_rng(0)
    means, sizes = rng.normal(size=(30, 3)), rng.integers(1, 6, size=30)
    X = np.repeat(means, sizes, axis=0)
    expected = hierarchy.linkage(X, "ward")[-29:, 2]
    table = link_vectors(means, "ward", sizes=sizes.astype(float), n_threads=1)
    np.testing.assert_allclose(table[:, 2], expected)
    Z = carry_rows(table, np.repeat(np.arange(30), sizes))
    np.testing.assert_allclose(Z[-29:, 2:], hierarchy.linkage(X, "ward")[-29:, 2:])


def test_enough_micro_clusters_are_the_rows() -> None:
    X = blobs(200)
    np.testing.assert_array_equal(linkage(X, compress=200), linkage(X))


def test_rows_on_disk(tmp_path: Path) -> None:
    X = blobs(4000)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    expected = linkage(X, compress=100, random_state=0)
    np.testing.assert_array_equal(linkage(mapped, compress=100, random_state=0), expected)
    model = AgglomerativeClustering(10, compress=100, random_state=0)
    labels = model.fit(mapped).labels_.copy()
    np.testing.assert_array_equal(model.fit(X).labels_, labels)
    X[7, 3] = np.nan
    np.save(tmp_path / "holes.npy", X)
    with pytest.raises(ValueError, match=r"Input X contains NaN in column 3 \(row 7\)"):
        linkage(np.load(tmp_path / "holes.npy", mmap_mode="r"), compress=100)


def test_what_compress_does_not_serve() -> None:
    X = blobs(50)
    with pytest.raises(ValueError, match=r"serves methods ward, centroid, median"):
        linkage(X, "average", compress=10)
    with pytest.raises(ValueError, match="works on rows"):
        linkage(np.ones(3), "average", compress=10)
    with pytest.raises(ValueError, match=r"compress=0 was given; use a whole number"):
        linkage(X, compress=0)
    with pytest.raises(ValueError, match="infinity"):
        linkage(np.where(X > 5, np.inf, X), compress=5)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_rows_that_only_come_by_are_compressed(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[200:] += 20
    Z = linkage(Stream(X), method, compress=20, random_state=0)
    assert Z.shape == (399, 4)
    halves = hierarchy.fcluster(Z, 2, "maxclust")
    assert len(set(halves[:200])) == len(set(halves[200:])) == 1
    assert halves[0] != halves[-1]


def test_rows_that_only_come_by_are_taken_in_where_they_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    np.testing.assert_array_equal(linkage(Stream(X), "average"), linkage(X, "average"))
    monkeypatch.setattr("coterie._checks.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="average linkage without compress= needs all rows"):
        linkage(Stream(X), "average")
