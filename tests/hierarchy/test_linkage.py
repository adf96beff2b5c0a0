"""Linkage: SciPy's merges where there are no ties, greedy ones where there are.

Covers coterie.hierarchy._memory, coterie.hierarchy._single, coterie.hierarchy._triangle and
coterie.hierarchy._vectors.
"""

from __future__ import annotations

from typing import Any

import hierarchy_twins as twins
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

import coterie
from coterie import _checks, linkage
from coterie.distance import condensed, pairwise
from coterie.hierarchy import METHODS

#: Of SciPy too, and such that each merge joins the nearest pair.
NEAREST = tuple(method for method in METHODS if method != "genie")
MONOTONE = ("single", "complete", "average", "weighted", "ward")
TEXTBOOK = np.array([2, 5, 9, 15, 16, 18, 25, 33, 33, 45], dtype=float).reshape(-1, 1)


def rows(n: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d))


def small_integers(n: int, d: int, top: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, top, size=(n, d)).astype(float)


@pytest.mark.parametrize("method", NEAREST)
@given(n=st.integers(2, 120), d=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_scipys_merges(method: str, n: int, d: int, seed: int) -> None:
    X = rows(n, d, seed)
    lengths = pdist(X)
    expected = hierarchy.linkage(lengths, method)
    for Z in (linkage(X, method), linkage(lengths, method)):
        assert hierarchy.is_valid_linkage(Z)
        np.testing.assert_allclose(Z, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize(
    "metric", ["manhattan", "chebyshev", "cosine", "correlation", "sqeuclidean", "minkowski"]
)
@given(n=st.integers(2, 60), d=st.integers(3, 8), seed=st.integers(0, 2**32 - 1))
def test_scipys_merges_under_other_metrics(
    metric: str, method: str, n: int, d: int, seed: int
) -> None:
    X = rows(n, d, seed)
    name = {"manhattan": "cityblock"}.get(metric, metric)
    params = {"p": 3} if metric == "minkowski" else {}
    expected = hierarchy.linkage(pdist(X, name, **params), method)
    np.testing.assert_allclose(linkage(X, method, metric, **params), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("metric", ["haversine", "hamming", "jaccard", "gower"])
@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
def test_metrics_that_tie_are_greedy(metric: str, method: str) -> None:
    X = rows(70, 2) if metric == "haversine" else small_integers(70, 5, 3, 1)
    twins.assert_greedy(linkage(X, method, metric), pairwise(X, metric=metric), method)


def test_a_function_is_a_metric_too() -> None:
    X = rows(30, 3)
    for method in ("single", "average"):
        Z = linkage(X, method, lambda x, y: float(abs(x - y).sum()))
        np.testing.assert_allclose(Z, linkage(X, method, "manhattan"))


@pytest.mark.parametrize("method", NEAREST)
@given(
    n=st.integers(2, 70), d=st.integers(1, 3), top=st.integers(1, 7), seed=st.integers(0, 2**32 - 1)
)
def test_greedy_among_ties_and_duplicates(method: str, n: int, d: int, top: int, seed: int) -> None:
    X = small_integers(n, d, top, seed)
    table = squareform(pdist(X))
    twins.assert_greedy(linkage(X, method), table, method)
    twins.assert_greedy(linkage(table, method, "precomputed"), table, method)
    twins.assert_greedy(linkage(X.astype(np.float32), method), table, method, rtol=1e-5)


@pytest.mark.parametrize("method", NEAREST)
def test_greedy_on_any_table(method: str) -> None:
    """Distances that obey no triangle inequality, with ties."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = rng.integers(1, 9, size=(40, 40)).astype(float)
        table = np.triu(table, 1) + np.triu(table, 1).T
        twins.assert_greedy(linkage(table, method, "precomputed"), table, method)


def test_the_checker_finds_what_is_not_greedy() -> None:
    X = rows(20, 2)
    Z = linkage(X, "average")
    with pytest.raises(AssertionError):
        twins.assert_greedy(linkage(X, "complete"), squareform(pdist(X)), "average")
    np.testing.assert_allclose(Z, twins.linkage(squareform(pdist(X)), "average"))


@pytest.mark.parametrize("given_as", ["rows", "condensed"])
def test_the_textbooks_example_single(given_as: str) -> None:
    X = TEXTBOOK if given_as == "rows" else pdist(TEXTBOOK)
    Z = linkage(X, "single")
    # {33,33}, {15,16}, {15,16,18}, {2,5}, {2,5,9}, all to 18, +25, +33s, +45
    expected = [
        (7, 8, 0, 2), (3, 4, 1, 2), (5, 11, 2, 3), (0, 1, 3, 2), (2, 13, 4, 3), (12, 14, 6, 6),
        (6, 15, 7, 7), (10, 16, 8, 9), (9, 17, 12, 10),
    ]  # fmt: skip
    np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("given_as", ["rows", "condensed"])
def test_the_textbooks_example_complete(given_as: str) -> None:
    X = TEXTBOOK if given_as == "rows" else pdist(TEXTBOOK)
    Z = linkage(X, "complete")
    # {33,33}, {15,16}, {2,5}, {15,16,18}, {2,5,9}, {25,33,33}, {15..18} + {25..33}... by heights
    expected = [
        (7, 8, 0, 2), (3, 4, 1, 2), (0, 1, 3, 2), (5, 11, 3, 3), (2, 12, 7, 3), (6, 10, 8, 3),
        (9, 15, 20, 4), (13, 14, 16, 6),
    ]  # fmt: skip
    np.testing.assert_array_equal(Z[:6], expected[:6])
    np.testing.assert_array_equal(Z[6], (13, 14, 16, 6))
    np.testing.assert_array_equal(Z[7], (9, 15, 20, 4))
    np.testing.assert_array_equal(Z[8], (16, 17, 43, 10))


@pytest.mark.parametrize("method", MONOTONE)
@given(n=st.integers(2, 200), scale=st.integers(-40, 40), seed=st.integers(0, 2**32 - 1))
def test_heights_never_fall_where_theory_says_so(
    method: str, n: int, scale: int, seed: int
) -> None:
    X = np.round(rows(n, 2, seed), 1) * 10.0**scale
    for Z in (linkage(X, method), linkage(pdist(X), method)):
        assert (np.diff(Z[:, 2]) >= 0).all()
        assert (Z[:, 0] < Z[:, 1]).all()
        assert (Z[:, 1] < n + np.arange(n - 1)).all()


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_inversions_are_kept(method: str) -> None:
    # A nearly equilateral triangle: the third corner is nearer to the middle of the first side.
    X = np.array([[0.0, 0], [2, 0], [1, 1.8]])
    for Z in (linkage(X, method), linkage(pdist(X), method)):
        np.testing.assert_allclose(Z, [[0, 1, 2, 2], [2, 3, 1.8, 3]])
    X = rows(300, 3)
    Z = linkage(X, method)
    assert (np.diff(Z[:, 2]) < 0).any()
    np.testing.assert_allclose(Z, hierarchy.linkage(X, method), rtol=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_for_any_number_of_threads(method: str, dtype: Any) -> None:
    for X in (rows(2500, 9), np.round(rows(2500, 2), 1)):
        X = X.astype(dtype)
        lengths = condensed(X[:1500]).astype(dtype)
        alone = linkage(X, method, n_threads=1)
        alone_given = linkage(lengths, method, n_threads=1)
        for n_threads in (2, 3, 4):
            np.testing.assert_array_equal(linkage(X, method, n_threads=n_threads), alone)
            given_again = linkage(lengths, method, n_threads=n_threads)
            np.testing.assert_array_equal(given_again, alone_given)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_build_gives_the_same_bits(
    isa_kernels: Any, method: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = rows(700, 5).astype(dtype)
    expected = linkage(X, method), linkage(condensed(X).astype(dtype), method)
    for name in ("link_vectors", "link_triangle", "fill_triangle", "merge_tree", "link_genie"):
        monkeypatch.setattr(coterie._kernels.kernels, name, getattr(isa_kernels, name))
    np.testing.assert_array_equal(linkage(X, method), expected[0])
    np.testing.assert_array_equal(linkage(condensed(X).astype(dtype), method), expected[1])


@pytest.mark.parametrize("method", NEAREST)
def test_larger_sets_are_scipys(method: str) -> None:
    """Enough rows for several rounds, tiles and rewritten triangles."""
    X = np.vstack([rows(600, 6), rows(500, 6, 1) + 8, rows(100, 6, 2) * 20])
    expected = hierarchy.linkage(X, method)
    np.testing.assert_allclose(linkage(X, method), expected, rtol=1e-7)
    np.testing.assert_allclose(linkage(pdist(X), method), expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1e-180, 1e-30, 1.0, 1e30, 1e180])
def test_offsets_and_scales_change_nothing_but_units(
    method: str, offset: float, scale: float
) -> None:
    X = np.round(rows(200, 4), 3)
    expected = linkage(X, method)
    Z = linkage((X + offset) * scale, method)
    np.testing.assert_allclose(Z[:, 2] / scale, expected[:, 2], rtol=1e-6)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_an_outlier_does_not_blind_the_quick_look(method: str) -> None:
    X = np.vstack([rows(300, 3), [[1e9, 0, 0]]])
    np.testing.assert_allclose(linkage(X, method), hierarchy.linkage(X, method), rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_and_few_rows(method: str) -> None:
    Z = linkage(np.full((300, 3), 0.1), method)
    assert (Z[:, 2] == 0).all()
    assert Z[-1, 3] == 300
    assert linkage([[1.0, 2.0]], method).shape == (0, 4)
    np.testing.assert_array_equal(linkage([[0.0], [3.0]], method), [[0, 1, 3, 2]])


@pytest.mark.parametrize("method", NEAREST)
def test_float32_rows(method: str) -> None:
    X = rows(400, 5).astype(np.float32)
    expected = hierarchy.linkage(X.astype(float), method)
    Z = linkage(X, method)
    assert Z.dtype == np.float64
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-4)


def test_given_distances_are_left_alone_unless_offered() -> None:
    lengths = pdist(rows(60, 3))
    before = lengths.copy()
    Z = linkage(lengths, "average")
    np.testing.assert_array_equal(lengths, before)
    np.testing.assert_array_equal(linkage(squareform(lengths), "average", "precomputed"), Z)
    np.testing.assert_array_equal(linkage(lengths, "average", overwrite=True), Z)
    assert not np.array_equal(lengths, before)


def test_any_layout_of_rows() -> None:
    X = rows(150, 6)
    wide = np.zeros((300, 12))
    wide[::2, ::2] = X
    for method in METHODS:
        Z = linkage(X, method)
        np.testing.assert_array_equal(linkage(np.asfortranarray(X), method), Z)
        np.testing.assert_array_equal(linkage(wide[::2, ::2], method), Z)


def test_what_cannot_be_is_said() -> None:
    X = rows(10, 2)
    with pytest.raises(ValueError, match=r"method='wards' was given; use one of 'single'"):
        linkage(X, "wards")
    with pytest.raises(ValueError, match="Euclidean space only"):
        linkage(X, "ward", "manhattan")
    with pytest.raises(ValueError, match="must be symmetric"):
        linkage(rows(5, 5) ** 2, "single", "precomputed")
    with pytest.raises(ValueError, match="should be square"):
        linkage(X, "single", "precomputed")
    with pytest.raises(ValueError, match=r"n \(n - 1\) / 2"):
        linkage(np.ones(5), "single")
    with pytest.raises(ValueError, match=r"contains (NaN|infinity) as the distance of rows"):
        linkage([1.0, np.nan, 2.0], "single")
    with pytest.raises(ValueError, match="zero or more"):
        linkage([1.0, -1.0, 2.0], "single")
    with pytest.raises(ValueError, match="NaN"):
        linkage([[np.nan], [1.0]], "ward")
    with pytest.raises(ValueError, match="not finite"):
        linkage([[np.nan, 1.0], [1.0, np.nan], [1, 1]], "average", "gower")


@pytest.mark.parametrize("method", ["single", "average"])
def test_distances_that_overflow_are_refused(method: str) -> None:
    with pytest.raises(ValueError, match="scale the rows down"):
        linkage(rows(10, 2) * 1e200, method, "sqeuclidean")
    heights = linkage(rows(10, 2) * 1e200, method)[:, 2]  # whose squares alone would overflow
    np.testing.assert_allclose(heights / 1e200, linkage(rows(10, 2), method)[:, 2])


def test_mistakes_in_given_distances_are_named() -> None:
    table = squareform(pdist(rows(40, 2)))

    def changed(at: tuple[int, int], value: float) -> Any:
        other = table.copy()
        other[at] = value
        return other

    with pytest.raises(ValueError, match=r"X\[3, 7\] is .* but X\[7, 3\] is 99;"):
        linkage(changed((7, 3), 99.0), "single", "precomputed")
    with pytest.raises(ValueError, match=r"X\[7, 3\] is nan"):
        linkage(changed((7, 3), np.nan), "single", "precomputed")
    with pytest.raises(ValueError, match=r"contains (NaN|infinity) as the distance of rows"):
        linkage(changed((3, 7), np.inf), "single", "precomputed")
    with pytest.raises(ValueError, match="entries of type <U1 where distances"):
        linkage([["a", "b"], ["c", "d"]], "single", "precomputed")
    with pytest.raises(ValueError, match="a sparse table where distances"):
        linkage(sp.csr_array(table), "single", "precomputed")


def test_mistakes_in_distances_along_a_graph_are_named() -> None:
    table = squareform(pdist(rows(10, 2)))
    along = np.eye(10, k=1)
    settings: dict[str, Any] = {"metric": "precomputed", "connectivity": along}
    for method in ("single", "average"):
        with pytest.raises(ValueError, match="connected and their distance is -"):
            linkage(-table, method, **settings)
        with pytest.raises(ValueError, match="should be square"):
            linkage(table[:5], method, **settings)
        with pytest.raises(ValueError, match="must be symmetric"):
            linkage(np.triu(table), method, **settings)
        unknown = np.where(along + along.T > 0, table, np.inf)  # no one asks for these
        expected = linkage(table, method, **settings)
        np.testing.assert_array_equal(linkage(unknown, method, **settings), expected)


def test_what_does_not_fit_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_checks, "available_memory", lambda: 10_000_000)
    X = rows(3000, 2)
    with pytest.raises(MemoryError, match=r"0\.0364 GB .* are available; use method='ward'"):
        linkage(X, "average")
    assert linkage(X, "ward").shape == (2999, 4)
    with pytest.raises(MemoryError, match="compress="):
        linkage(rows(40_000, 20), "ward")
