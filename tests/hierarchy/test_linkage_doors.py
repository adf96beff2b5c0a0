"""What `linkage` and its estimator are given that is not what it seems: a warning or a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import coterie
from coterie.errors import AdviceWarning
from coterie.hierarchy import METHODS


def rows(n: int = 30) -> Any:
    return np.random.default_rng(0).normal(size=(n, 3))


@pytest.mark.parametrize("method", METHODS)
def test_a_table_of_distances_taken_as_rows_is_warned_about(method: str) -> None:
    table = coterie.distance.pairwise(rows())
    with pytest.warns(AdviceWarning, match=r"^linkage: X is .*30 x 30.* rows.*'precomputed'"):
        as_rows = coterie.linkage(table, method)
    asymmetric = table.copy()
    asymmetric[0, 1] += 1e-3
    assert not np.array_equal(as_rows, coterie.linkage(table, method, "precomputed"))
    coterie.linkage(asymmetric, method)  # warnings are errors


def test_who_is_named_where_an_estimator_is_given_distances() -> None:
    table = coterie.distance.pairwise(rows())
    with pytest.warns(AdviceWarning, match=r"^AgglomerativeClustering: X is "):
        coterie.AgglomerativeClustering().fit(table)
    coterie.AgglomerativeClustering(metric="precomputed", linkage="average").fit(table)
    for harmless in (np.zeros((2, 2)), np.ones((3, 3)), np.eye(3), -table):
        coterie.linkage(harmless, "average")


def hostile() -> list[Any]:
    """Connections whose index arrays point outside, or contradict each other."""
    found = []
    for change in ("far", "below", "short", "long", "falling"):
        for dtype in (np.float64, np.int64, bool):
            graph = sp.csr_matrix(np.ones((30, 30), dtype=dtype))
            if change == "far":
                graph.indices[3] = 10**8
            elif change == "below":
                graph.indices[3] = -5
            elif change == "short":
                graph.indptr[-1] = 10
            elif change == "long":
                graph.indptr[-1] = 10**6
            else:
                graph.indptr[3] = 10**7
            found.append(graph)
    return found


@pytest.mark.parametrize("graph", hostile())
@pytest.mark.parametrize("method", ["ward", "average", "single"])
def test_connections_that_point_nowhere_are_refused(graph: Any, method: str) -> None:
    with pytest.raises(ValueError, match=r"^linkage: connectivity .*build it anew"):
        coterie.linkage(rows(), method, connectivity=graph)
    with pytest.raises(ValueError, match=r"^AgglomerativeClustering: connectivity "):
        coterie.AgglomerativeClustering(linkage=method, connectivity=lambda X: graph).fit(rows())


def test_connections_of_every_kind_of_sparse_matrix() -> None:
    X, dense = rows(), np.eye(30, k=1)
    expected = coterie.linkage(X, "average", connectivity=dense)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array):
        np.testing.assert_array_equal(
            coterie.linkage(X, "average", connectivity=kind(dense)), expected
        )
    twice = sp.coo_array((np.ones(58), (np.r_[:29, :29], np.r_[1:30, 1:30])), shape=(30, 30))
    np.testing.assert_array_equal(coterie.linkage(X, "average", connectivity=twice), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at", [0, 200, 434])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_odd_distances_that_may_be_used_up(method: str, at: int, value: float) -> None:
    lengths = coterie.distance.condensed(rows())
    lengths[at] = value
    with pytest.raises(ValueError, match=r"^linkage: .*distance"):
        coterie.linkage(lengths, method, overwrite=True)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
@pytest.mark.parametrize("compress", [5, 29, 30, 100])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_memory_map_is_looked_at_whatever_it_is_compressed_to(
    method: str, compress: int, value: float, tmp_path: Path
) -> None:
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float64, (30, 3))
    X[:] = rows()
    X[17, 1] = value
    words = "NaN" if np.isnan(value) else "infinity"
    for ask, who in (
        (lambda: coterie.linkage(X, method, compress=compress), "linkage"),
        (
            lambda: coterie.AgglomerativeClustering(linkage=method, compress=compress).fit(X),
            "AgglomerativeClustering",
        ),
    ):
        with pytest.raises(ValueError, match=rf"^{who}: Input X contains {words}.*row 17"):
            ask()
