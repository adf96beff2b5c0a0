"""Sparse matrices whose arrays contradict each other are refused before anything reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from apart import outcomes
from coterie._doors import check_csr, check_sparse

SETUP = """
import numpy as np, scipy.sparse as sp, coterie, warnings
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.random((60, 60)); X = X + X.T; np.fill_diagonal(X, 0)
def matrix(format, dtype=float):
    return sp.csr_matrix(np.where(X < 1.2, np.ceil(9 * X), 0).astype(dtype)).asformat(format)
"""
# What is done to the arrays of a matrix M of this format.
DAMAGE = {
    "column too high": ("csr", "M.indices[3] = 10**8"),
    "column below zero": ("csr", "M.indices[3] = -10**8"),
    "indptr jumps": ("csr", "M.indptr[5] = 10**9"),
    "indptr below zero": ("csr", "M.indptr[5] = -10**9"),
    "indptr ends too late": ("csr", "M.indptr[-1] = 10**9"),
    "indptr begins late": ("csr", "M.indptr[0] = 3"),
    "indptr wraps": ("csr", "M.indptr = M.indptr.astype(np.int64); M.indptr[5] = 2**63 - 1;"
                     "M.indptr[6] = -2**63"),
    "garbage around nothing": ("csr", "M.indptr[:] = 0; M.indptr[5] = 10**9"),
    "indptr too short": ("csr", "M.indptr = M.indptr[:9]"),
    "indptr too long": ("csr", "M.indptr = np.append(M.indptr, M.indptr[-1])"),
    "indptr of floats": ("csr", "M.indptr = M.indptr.astype(float)"),
    "indices unsigned": ("csr", "M.indices = M.indices.astype(np.uint64)"),
    "indices of two dimensions": ("csr", "M.indices = M.indices.reshape(1, -1)"),
    "indices a list": ("csr", "M.indices = M.indices.tolist()"),
    "data too short": ("csr", "M.data = M.data[:7]"),
    "indices too short": ("csr", "M.indices = M.indices[:7]"),
    "csc, row too high": ("csc", "M.indices[3] = 10**8"),
    "csc, indptr jumps": ("csc", "M.indptr[5] = 10**9"),
    "bsr, column too high": ("bsr", "M.indices[3] = 10**8"),
    "bsr, indptr jumps": ("bsr", "M.indptr[5] = 10**9"),
    "coo, row too high": ("coo", "M.coords[0][3] = 10**8"),
    "coo, column below zero": ("coo", "M.coords[1][3] = -10**8"),
    "coo, data too short": ("coo", "M.data = M.data[:7]"),
    "dia, offset far out": ("dia", "M.offsets[0] = 2**31 - 1"),
    "dia, offsets too few": ("dia", "M.offsets = M.offsets[:2]"),
    "lil, column too high": ("lil", "M.rows[3][0] = 10**8"),
    "lil, values missing": ("lil", "M.data[3] = M.data[3][:1]"),
}  # fmt: skip
USES = {
    "KMeans": "coterie.KMeans(2, n_init=1).fit(M)",
    "MiniBatchKMeans": "coterie.MiniBatchKMeans(2, n_init=1).fit(M)",
    "BisectingKMeans": "coterie.BisectingKMeans(2).fit(M)",
    "HierarchicalKMeans": "coterie.HierarchicalKMeans(2, 2).fit(M)",
    "predict": "coterie.KMeans(2, n_init=1).fit(X).predict(M)",
    "kmeans_plusplus": "coterie.kmeans_plusplus(M, 2)",
    "BernoulliMixture": "coterie.BernoulliMixture(2).fit(M)",
    "PoissonMixture": "coterie.PoissonMixture(2).fit(M)",
    "DBSCAN, rows": "coterie.DBSCAN(2.0).fit(M)",
    "DBSCAN, precomputed": "coterie.DBSCAN(2.0, metric='precomputed').fit(M)",
    "DBSCAN, graph": "coterie.DBSCAN(2.0, metric='graph').fit(M)",
    "HDBSCAN, rows": "coterie.HDBSCAN().fit(M)",
    "HDBSCAN, precomputed": "coterie.HDBSCAN(metric='precomputed').fit(M)",
}


@pytest.mark.parametrize("use", USES)
def test_hostile_matrices_are_refused(use: str) -> None:
    cases = {
        f"{name}, {dtype}": f"M = matrix({kind!r}, {dtype!r}); {damage}; {USES[use]}"
        for name, (kind, damage) in DAMAGE.items()
        for dtype in ("float64", "int64")
    }
    for case, said in outcomes(cases, SETUP).items():
        assert said.startswith("ValueError"), (case, said)
        assert "contradict each other" in said, (case, said)
        assert " (they cannot be read" not in said, (case, said)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_sound_matrices_pass(make: Any, format: str) -> None:
    table = np.triu(np.arange(36.0).reshape(6, 6)) * (np.arange(6) != 2)
    check_sparse("who", make(table).asformat(format))
    check_sparse("who", make((6, 6)).asformat(format))
    check_sparse("who", table)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_csr_comes_back_as_it_is_where_it_can(dtype: Any) -> None:
    rows = sp.csr_matrix(np.eye(5) + np.eye(5, k=2))
    rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
    assert check_csr("who", rows) is rows
    assert rows.indices.dtype == dtype


def test_columns_that_were_changed_after_scipy_looked_are_sorted_and_summed() -> None:
    rows = sp.csr_matrix(np.ones((3, 4)))
    assert rows.has_canonical_format  # remembered from now on
    rows.indices[:2] = [1, 0]
    rows.indices[4:6] = [2, 2]
    found = check_csr("who", rows)
    np.testing.assert_array_equal(found.indices, [0, 1, 2, 3, 2, 3, 0, 1, 2, 3])
    np.testing.assert_array_equal(found.data, [1, 1, 1, 1, 3, 1, 1, 1, 1, 1])
    assert rows.nnz == 12, "the caller's rows stay"


def test_unused_entries_and_two_types_of_index_are_taken() -> None:
    rows = sp.csr_matrix(np.eye(3))
    rows.indptr = np.array([0, 0, 1, 1], dtype=np.int64)  # the other two entries are beyond
    rows.indices[1:] = 99
    found = check_csr("who", rows)
    assert found.indices.dtype == found.indptr.dtype
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 0], [1, 0, 0], [0, 0, 0]])
