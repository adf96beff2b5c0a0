"""`ward_tree` and `linkage_tree` against scikit-learn's: children, parents and distances.

Covers coterie.hierarchy._children.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.cluster._agglomerative import linkage_tree as sklearn_linkage_tree
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.neighbors import kneighbors_graph

import coterie
from coterie.errors import AdviceWarning


def rows(n: int = 60) -> Any:
    return np.random.default_rng(0).normal(size=(n, 3))


def agree(mine: Any, theirs: Any) -> None:
    assert len(mine) == len(theirs)
    assert mine[1:3] == theirs[1:3]
    np.testing.assert_array_equal(np.sort(mine[0], axis=1), np.sort(theirs[0], axis=1))
    if theirs[3] is None:
        assert mine[3] is None
    else:
        np.testing.assert_array_equal(mine[3], theirs[3])
    if len(mine) == 5:
        np.testing.assert_allclose(mine[4], theirs[4], rtol=1e-9)


@pytest.mark.parametrize("n_clusters", [None, 1, 7])
@pytest.mark.parametrize("connected", [False, True])
def test_ward(connected: bool, n_clusters: int | None) -> None:
    X = rows()
    if n_clusters and not connected:
        with pytest.warns(AdviceWarning, match=r"^ward_tree: n_clusters=. leaves merges out only"):
            coterie.ward_tree(X, n_clusters=n_clusters)
        return
    graph = kneighbors_graph(X, 20, include_self=False) if connected else None
    options = {"connectivity": graph, "n_clusters": n_clusters}
    for distances in (False, True):
        agree(
            coterie.ward_tree(X, return_distance=distances, **options),
            sklearn.cluster.ward_tree(X, return_distance=distances, **options),
        )


@pytest.mark.parametrize("method", ["single", "complete", "average"])
@pytest.mark.parametrize("affinity", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("n_clusters", [None, 7])
@pytest.mark.parametrize("connected", [False, True])
def test_linkages(connected: bool, n_clusters: int | None, affinity: str, method: str) -> None:
    X = rows()
    if n_clusters and not connected:
        return
    graph = kneighbors_graph(X, 20, include_self=False) if connected else None
    options = {
        "connectivity": graph, "n_clusters": n_clusters, "linkage": method, "affinity": affinity,
        "return_distance": True,
    }  # fmt: skip
    agree(coterie.linkage_tree(X, **options), sklearn_linkage_tree(X, **options))


def test_functions_of_a_table_and_of_two_rows() -> None:
    X = rows()
    expected = coterie.linkage_tree(X, affinity="manhattan")[0]
    functions = (manhattan_distances, lambda x, y: np.abs(x - y).sum())
    for affinity in functions:
        np.testing.assert_array_equal(coterie.linkage_tree(X, affinity=affinity)[0], expected)
    given = coterie.linkage_tree(manhattan_distances(X), affinity="precomputed")[0]
    np.testing.assert_array_equal(given, expected)


def test_a_graph_in_pieces_is_completed_with_scikit_learns_words() -> None:
    X, graph = rows(), np.zeros((60, 60))
    graph[:30, :30] = graph[30:, 30:] = 1
    words = "number of connected components of the connectivity matrix is 2 > 1"
    with pytest.warns(UserWarning, match=words):
        mine = coterie.ward_tree(X, connectivity=graph, return_distance=True)
    with pytest.warns(UserWarning, match=words):
        theirs = sklearn.cluster.ward_tree(X, connectivity=graph, return_distance=True)
    agree(mine, theirs)


def test_connections_one_way_count_both_ways() -> None:
    X, one_way = rows(), sp.csr_array(np.triu(np.ones((60, 60)), 1))
    agree(coterie.ward_tree(X, connectivity=one_way), coterie.ward_tree(X, connectivity=one_way.T))


def test_one_column_may_be_given_flat() -> None:
    X = rows()[:, 0]
    agree(coterie.ward_tree(X), coterie.ward_tree(X.reshape(-1, 1)))
    agree(coterie.linkage_tree(X), coterie.linkage_tree(X.reshape(-1, 1)))


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"^linkage_tree: linkage='ward' was given; use one of"):
        coterie.linkage_tree(rows(), linkage="ward")
    with pytest.raises(ValueError, match=r"^ward_tree: n_clusters=0 was given; use"):
        coterie.ward_tree(rows(), n_clusters=0)
    with pytest.raises(ValueError, match=r"^ward_tree: n_clusters=99 .* 60 rows; lower"):
        coterie.ward_tree(rows(), n_clusters=99, connectivity=np.ones((60, 60)))
    with pytest.raises(ValueError, match=r"^linkage_tree: Wrong shape for connectivity"):
        coterie.linkage_tree(rows(), connectivity=np.ones((4, 4)))
