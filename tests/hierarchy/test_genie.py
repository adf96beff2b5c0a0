"""Genie: the paper's loop is the twin; what its merges and cuts are on rows, tables and graphs."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import coterie
from coterie import AgglomerativeClustering, linkage
from coterie._kernels import kernels
from coterie.distance import pairwise
from coterie.evaluate import adjusted_rand_score, normalized_clustering_accuracy
from coterie.hierarchy._genie import genie_table, triangle_tree

DATA = Path(__file__).parents[3] / "shared" / "data"
THRESHOLDS = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)


def rows(n: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def gini(sizes: list[int]) -> float:
    """Of two sizes at least: their mean difference over twice their mean, scaled to reach 1."""
    apart = sum(abs(a - b) for a, b in combinations(sizes, 2))
    return apart / ((len(sizes) - 1) * sum(sizes))


def edges_of(table: Any) -> list[tuple[float, int, int]]:
    """The minimum spanning tree of distances by Kruskal, shortest first, then by its ends."""
    piece = list(range(len(table)))
    edges = []
    for length, i, j in sorted((table[i, j], i, j) for i, j in combinations(range(len(table)), 2)):
        if piece[i] != piece[j]:
            edges.append((length, i, j))
            piece = [piece[i] if p == piece[j] else p for p in piece]
    return edges


def genie(edges: list[tuple[float, int, int]], threshold: float) -> Any:
    """The merge table, as the paper has it: look at all sizes, then along all edges."""
    n = len(edges) + 1
    clusters = {i: {i} for i in range(n)}
    merges = []
    for new in range(n, 2 * n - 1):
        where = {row: c for c, members in clusters.items() for row in members}
        sizes = [len(members) for members in clusters.values()]
        forced = gini(sizes) > threshold
        for edge in edges:
            a, b = sorted((where[edge[1]], where[edge[2]]))
            if not forced or min(len(clusters[a]), len(clusters[b])) == min(sizes):
                break
        edges = [other for other in edges if other is not edge]
        clusters[new] = clusters.pop(a) | clusters.pop(b)
        merges.append((a, b, edge[0], len(clusters[new])))
    return np.array(merges).reshape(-1, 4)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@given(n=st.integers(2, 50), d=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_the_papers_merges(threshold: float, n: int, d: int, seed: int) -> None:
    X = rows(n, d, seed)
    expected = genie(edges_of(squareform(pdist(X))), threshold)
    for Z in (
        linkage(X, "genie", gini_threshold=threshold),
        linkage(pdist(X), "genie", gini_threshold=threshold),
        linkage(squareform(pdist(X)), "genie", "precomputed", gini_threshold=threshold),
    ):
        assert hierarchy.is_valid_linkage(Z)
        np.testing.assert_array_equal(Z[:, [0, 1, 3]], expected[:, [0, 1, 3]])
        np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-12)


@given(
    n=st.integers(2, 40), top=st.integers(1, 5), threshold=st.sampled_from(THRESHOLDS),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_ties_go_to_the_edge_between_the_first_rows(
    n: int, top: int, threshold: float, seed: int
) -> None:
    X = np.random.default_rng(seed).integers(0, top, size=(n, 2)).astype(float)
    table = pairwise(X, metric="manhattan")
    expected = genie(edges_of(table), threshold)
    Z = linkage(X, "genie", "manhattan", gini_threshold=threshold)
    np.testing.assert_array_equal(Z, expected)
    Z = linkage(table, "genie", "precomputed", gini_threshold=threshold)
    np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("metric", ["cosine", "chebyshev", "haversine", "jaccard", "gower"])
def test_any_metric(metric: str) -> None:
    X = rows(60, 2) if metric == "haversine" else np.abs(rows(60, 4)).round()
    expected = genie(edges_of(pairwise(X, metric=metric)), 0.2)
    Z = linkage(X, "genie", metric, gini_threshold=0.2)
    np.testing.assert_allclose(Z, expected, rtol=1e-9, atol=1e-12)


def test_a_function_is_a_metric_too() -> None:
    X = rows(30, 3)
    Z = linkage(X, "genie", lambda x, y: float(abs(x - y).sum()))
    np.testing.assert_allclose(Z, linkage(X, "genie", "manhattan"))


@given(n=st.integers(2, 300), seed=st.integers(0, 2**32 - 1))
def test_at_a_threshold_of_one_it_is_single_linkage(n: int, seed: int) -> None:
    X = rows(n, 2, seed).round(1)
    np.testing.assert_array_equal(linkage(X, "genie", gini_threshold=1.0), linkage(X, "single"))


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.6])
def test_sizes_are_as_equal_as_they_can_be(threshold: float) -> None:
    """Above the threshold a cluster of the least size is joined, in trees of thousands too."""
    X = np.vstack([rows(1500, 3), 0.01 * rows(500, 3, 1)])
    Z = linkage(X, "genie", gini_threshold=threshold)
    n = len(X)
    size = dict.fromkeys(range(n), 1)
    n_forced = 0
    for new, (a, b, _, both) in enumerate(Z, n):
        sizes = np.sort(list(size.values()))
        k = sizes.size
        index = ((2 * np.arange(k) - k + 1) * sizes).sum() / ((k - 1) * n)
        joined = size.pop(int(a)), size.pop(int(b))
        if index > threshold:
            assert min(joined) == sizes[0]
            n_forced += 1
        size[new] = sum(joined)
        assert both == size[new]
    assert n_forced > 10
    np.testing.assert_array_equal(np.sort(Z[:, 2]), linkage(X, "single")[:, 2])


def test_heights_fall_and_cuts_are_by_count() -> None:
    # Two strays far from two rows of numbers: they have to be joined before these are.
    X = np.r_[np.arange(5.0), 30 + 2 * np.arange(5.0), 100, 300].reshape(-1, 1)
    Z = linkage(X, "genie", gini_threshold=0.3)
    assert (np.diff(Z[:, 2]) < 0).any()
    model = AgglomerativeClustering(linkage="genie").fit(X)
    for k in range(1, 13):
        labels = model.cut(k)
        assert set(labels) == set(range(k))
        again = AgglomerativeClustering(k, linkage="genie").fit(X)
        np.testing.assert_array_equal(again.labels_, labels)
        groups = {frozenset([i]) for i in range(12)}
        made = dict(enumerate(frozenset([i]) for i in range(12)))
        for new, (a, b) in enumerate(Z[: 12 - k, :2].astype(int), 12):
            made[new] = made[a] | made[b]
            groups = (groups - {made[a], made[b]}) | {made[new]}
        assert {frozenset(np.flatnonzero(labels == c)) for c in range(k)} == groups


def test_a_height_is_no_cut_of_it() -> None:
    X = rows(20, 2)
    with pytest.raises(ValueError, match=r"distance_threshold=1\.0 .* use n_clusters"):
        AgglomerativeClustering(None, distance_threshold=1.0, linkage="genie").fit(X)
    with pytest.raises(ValueError, match=r"^cut: height=2 .* use n_clusters"):
        AgglomerativeClustering(linkage="genie").fit(X).cut(height=2)


def test_clusters_of_any_shape() -> None:
    """A ring with a few strays: single linkage names a stray a cluster, Ward's cuts the ring."""
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 400)
    ring = 5 * np.c_[np.cos(angle), np.sin(angle)] + 0.15 * rng.normal(size=(400, 2))
    X = np.vstack([ring, 0.6 * rng.normal(size=(300, 2)), [[8.0, 8], [-9, 3], [0, -11]]])
    truth = np.repeat([0, 1, 0], [400, 300, 3])

    def agreement(how: str) -> float:
        labels = AgglomerativeClustering(2, linkage=how).fit_predict(X)
        return float(adjusted_rand_score(truth, labels))

    assert agreement("genie") == 1
    assert agreement("single") < 0.1
    assert agreement("ward") < 0.8


def test_along_connections_only() -> None:
    X = rows(40, 2)
    along = sp.csr_array(np.eye(40, k=1) + np.eye(40, k=5))
    table = squareform(pdist(X))
    allowed = np.where((along + along.T).toarray() > 0, table, np.inf)
    edges = [edge for edge in edges_of(allowed) if np.isfinite(edge[0])]
    expected = genie(edges, 0.1)
    Z = linkage(X, "genie", connectivity=along, gini_threshold=0.1)
    np.testing.assert_allclose(Z, expected, rtol=1e-12)
    Z = linkage(table, "genie", "precomputed", connectivity=along, gini_threshold=0.1)
    np.testing.assert_allclose(Z, expected, rtol=1e-12)
    assert not np.array_equal(Z, linkage(X, "genie", gini_threshold=0.1))
    with pytest.warns(UserWarning, match="2"):
        model = AgglomerativeClustering(
            3, linkage="genie", connectivity=np.kron(np.eye(2), np.ones((20, 20)))
        ).fit(X)
    assert model.n_connected_components_ == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tree_of_a_triangle_is_that_of_the_rows(dtype: Any) -> None:
    X = rows(70, 3).round(1)
    lengths = pdist(X).astype(dtype)
    tree = triangle_tree(lengths, 70)
    edges = edges_of(squareform(lengths.astype(np.float64)))
    np.testing.assert_array_equal(tree.heads, [edge[1] for edge in edges])
    np.testing.assert_array_equal(tree.tails, [edge[2] for edge in edges])
    np.testing.assert_array_equal(tree.lengths, [edge[0] for edge in edges])


@pytest.mark.parametrize("shape", ["path", "star", "comb"])
def test_long_trees_take_no_long_time(shape: str) -> None:
    """Paths and stars of many rows: heaps and sets of a depth that a slip would make quadratic."""
    n = 200_000
    rng = np.random.default_rng(0)
    tails = np.arange(1, n, dtype=np.int32)
    heads = {"path": tails - 1, "star": 0 * tails, "comb": np.maximum(tails - 2, 0)}[shape]
    mixed = rng.permutation(n - 1)
    tree = coterie.neighbors.SpanningTree(
        heads[mixed].astype(np.int32), tails[mixed], np.arange(1.0, n)
    )
    for threshold in (0.0, 0.3):
        Z = genie_table(tree, threshold)
        assert Z[-1, 3] == n
        np.testing.assert_array_equal(np.sort(Z[:, 2]), tree.lengths)


def test_a_model_is_saved_and_predicts_by_the_nearest_row(tmp_path: Path) -> None:
    X = np.vstack([rows(50, 2), rows(50, 2, 1) + 9])
    model = AgglomerativeClustering(2, linkage="genie", gini_threshold=0.4).fit(X)
    model.save(tmp_path / "model.coterie")
    again = coterie.load(tmp_path / "model.coterie")
    assert again.gini_threshold == 0.4
    other = rows(30, 2, 2) * 6
    nearest = pairwise(other, X).argmin(axis=1)
    np.testing.assert_array_equal(again.predict(other), model.labels_[nearest])


@pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan, "0.3", None])
def test_thresholds_that_are_none(threshold: Any) -> None:
    for ask, who in (
        (lambda: linkage(rows(5, 2), "genie", gini_threshold=threshold), "linkage"),
        (
            lambda: AgglomerativeClustering(linkage="genie", gini_threshold=threshold).fit(
                rows(5, 2)
            ),
            "AgglomerativeClustering",
        ),
    ):
        with pytest.raises(ValueError, match=rf"^{who}: gini_threshold=.*at least 0 and at most 1"):
            ask()


def test_the_kernel_checks_its_edges() -> None:
    heads, tails = np.array([0, 0], np.int32), np.array([1, 2], np.int32)
    with pytest.raises(ValueError, match="lengths must have one entry per edge"):
        kernels.link_genie(heads, tails, np.empty(3), 0.3, np.empty((2, 4)))
    with pytest.raises(ValueError, match="one row less than there are rows"):
        kernels.link_genie(heads, tails, np.empty(2), 0.3, np.empty((3, 4)))
    with pytest.raises(ValueError, match="must join rows of the tree"):
        kernels.link_genie(heads, tails + np.int32(1), np.empty(2), 0.3, np.empty((2, 4)))


def test_columns_too() -> None:
    X = rows(20, 8)
    model = coterie.FeatureAgglomeration(3, linkage="genie", gini_threshold=0.1).fit(X)
    np.testing.assert_array_equal(model.Z_, linkage(X.T, "genie", gini_threshold=0.1))


@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark sets are not here")
@pytest.mark.parametrize("threshold", ["0.1", "0.3", "0.5", "0.7"])
def test_published_scores(threshold: str) -> None:
    n_compared = 0
    for row in csv.DictReader((DATA / "published_scores.csv").read_text().splitlines()):
        folder = DATA / "benchmarks" / row["battery"]
        rows_file = folder / f"{row['dataset']}.data.gz"
        if row["method"] != f"Genie_G{threshold}" or not rows_file.exists():
            continue
        X = np.loadtxt(rows_file, ndmin=2)
        if len(X) > 2500:
            continue
        true = np.loadtxt(folder / f"{row['dataset']}.labels{row['labels']}.gz", dtype=int)
        model = AgglomerativeClustering(
            int(row["k"]), linkage="genie", gini_threshold=float(threshold)
        )
        true = np.where(true == 0, -1, true)
        found = normalized_clustering_accuracy(true, model.fit_predict(X), noise="drop")
        assert found == pytest.approx(float(row["nca"]), abs=1.1e-6), row
        n_compared += 1
    assert n_compared >= 20
