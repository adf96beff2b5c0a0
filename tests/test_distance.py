"""Distances: every metric against its definition, tables, tiles, mixed tables, refusals.

Covers coterie.distance._metric, coterie.distance._forms and coterie.distance._named.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

import coterie._checks
import twins
from coterie.distance import as_metric, condensed, pairwise, rows_to, tiles

SUMS = ["euclidean", "manhattan", "chebyshev"]


def rows(n: int, d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", SUMS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 17, 33])
def test_sums_have_the_bits_of_the_plain_loop(metric: str, d: int, dtype: Any) -> None:
    X, Y = rows(70, d, dtype), rows(45, d, dtype, seed=1)
    np.testing.assert_array_equal(pairwise(X, Y, metric), twins.lengths(X, Y, metric))
    fortran = pairwise(np.asfortranarray(X), Y[::-1], metric)
    np.testing.assert_array_equal(fortran, twins.lengths(X, Y[::-1], metric))


@pytest.mark.parametrize("isa_metric", SUMS)
def test_every_build_has_the_same_bits(isa_kernels: Any, isa_metric: str) -> None:
    for d in (1, 2, 3, 7, 16, 19):
        X, Y = rows(37, d), rows(53, d, seed=1)
        out = np.empty((37, 53))
        isa_kernels.all_lengths(X, Y, (isa_metric, 2.0, None, None), out, 2)
        np.testing.assert_array_equal(out, twins.lengths(X, Y, isa_metric))


@pytest.mark.parametrize(
    ("metric", "params"),
    [(name, {}) for name in (*SUMS, "sqeuclidean", "cosine", "correlation", "hamming")]
    + [("minkowski", {"p": p}) for p in (1, 1.5, 2, 3, np.inf)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_metrics_agree_with_scipy(metric: str, params: dict[str, Any], dtype: Any) -> None:
    X, Y = rows(40, 6, dtype), rows(30, 6, dtype, seed=1)
    if metric == "hamming":
        X, Y = np.round(X), np.round(Y)
    expected = cdist(X.astype(float), Y.astype(float), metric if metric != "manhattan" else
                     "cityblock", **params)  # fmt: skip
    np.testing.assert_allclose(pairwise(X, Y, metric, **params), expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(
        condensed(X, metric, **params),
        pdist(X.astype(float), metric if metric != "manhattan" else "cityblock", **params),
        rtol=1e-10, atol=1e-13,
    )  # fmt: skip


def test_jaccard_compares_what_rows_have() -> None:
    X = np.random.default_rng(0).random((40, 9)) < 0.3
    X[:2] = False
    np.testing.assert_allclose(pairwise(X.astype(float), metric="jaccard"), cdist(X, X, "jaccard"))


def test_haversine_is_the_way_along_the_sphere() -> None:
    turn = math.pi / 2
    points = np.array([[0.0, 0.0], [0.0, turn], [turn, 0.3], [0.0, math.pi], [0.0, 1e-6]])
    expected = [0, turn, turn, math.pi, 1e-6]
    np.testing.assert_allclose(rows_to(points, points[0], "haversine"), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="latitude and longitude"):
        pairwise(rows(3, 3), metric="haversine")


def test_rows_without_direction_are_at_distance_one() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [-3.0, -4.0]])
    expected = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]]
    np.testing.assert_allclose(pairwise(X, metric="cosine"), expected, atol=1e-15)
    constant = np.array([[0.1, 0.1, 0.1], [7.0, 7.0, 7.0], [1.0, 2.0, 3.0]])
    expected = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    np.testing.assert_allclose(pairwise(constant, metric="correlation"), expected, atol=1e-15)


def test_huge_and_tiny_rows_keep_their_direction() -> None:
    X = np.array([[1e300, 0], [1e-300, 1e-300], [0, 5e-324]])
    expected = 1 - np.array([[1, 0.5**0.5, 0], [0.5**0.5, 1, 0.5**0.5], [0, 0.5**0.5, 1]])
    np.testing.assert_allclose(pairwise(X, metric="cosine"), expected, atol=1e-15)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_distances_on_a_grid_tie_exactly(seed: int, d: int) -> None:
    X = np.random.default_rng(seed).integers(-3, 4, size=(20, d)).astype(np.float32)
    X += 1e4  # the expanded form would lose these ties
    table = pairwise(X, metric="sqeuclidean")
    assert (table == np.round(table)).all()
    assert (np.diag(table) == 0).all()
    np.testing.assert_array_equal(table, table.T)


# Gower's metric.


def mixed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20.0, 40.0, np.nan, 60.0],
            "town": ["Ulm", "Bonn", None, "Ulm"],
            "member": [True, False, True, True],
        }
    )


def test_gower_averages_over_the_cells_both_rows_have() -> None:
    table = pairwise(mixed(), metric="gower")
    np.testing.assert_allclose(table[0, 1], (0.5 + 1 + 1) / 3)
    np.testing.assert_allclose(table[0, 2], 0.0)  # only membership is known of both
    np.testing.assert_allclose(table[0, 3], (1 + 0 + 0) / 3)
    np.testing.assert_allclose(table[1, 2], 1.0)
    np.testing.assert_array_equal(table, table.T)


def test_gower_knows_weights_ranges_and_named_categories() -> None:
    X = np.array([[0.0, 1.0], [10.0, 2.0], [5.0, 1.0]])
    found = pairwise(X, metric="gower", categorical=[1], weights=[1, 3], ranges=[20, 0])
    np.testing.assert_allclose(found[0], [0, (0.5 + 3) / 4, 0.25 / 4])
    with pytest.raises(ValueError, match="one per column"):
        pairwise(X, metric="gower", weights=[1, -1])
    with pytest.raises(TypeError, match="does not take"):
        pairwise(X, metric="gower", rnages=[1, 1])


def test_gower_of_rows_that_share_nothing_is_infinite() -> None:
    X = np.array([[1.0, np.nan], [np.nan, 1.0], [3.0, 2.0]])
    table = pairwise(X, metric="gower")
    assert table[0, 1] == np.inf
    assert np.isfinite(table[2]).all()


def test_gower_takes_new_rows_by_what_it_learned() -> None:
    metric = as_metric("gower", mixed())
    new = pd.DataFrame({"age": [20.0], "town": ["Rom"], "member": [True]})
    found = metric.lengths(metric.prepare(new), metric.prepare(mixed()))
    np.testing.assert_allclose(found[0], [1 / 3, 2.5 / 3, 0, 2 / 3])
    with pytest.raises(ValueError, match="3 columns"):
        metric.prepare(new[["age"]])


# Callables, tiles and refusals.


def test_any_function_of_two_rows_is_a_metric() -> None:
    X, Y = rows(9, 3), rows(7, 3, seed=1)
    found = pairwise(X, Y, lambda x, y: float(np.abs(x - y).sum()))
    np.testing.assert_allclose(found, twins.lengths(X, Y, "manhattan"))
    scaled = pairwise(X, Y, lambda x, y, factor: factor * float(np.abs(x - y).sum()), factor=2)
    np.testing.assert_allclose(scaled, 2 * found)


def test_tiles_make_up_the_table() -> None:
    X, Y = rows(23, 4), rows(31, 4, seed=1)
    table = np.full((23, 31), np.nan)
    for of_rows, of_others, block in tiles(X, Y, "manhattan", 10):
        assert block.shape[0] <= 10
        assert block.shape[1] <= 10
        table[of_rows, of_others] = block
    np.testing.assert_array_equal(table, pairwise(X, Y, "manhattan"))
    np.testing.assert_array_equal(rows_to(X, Y[3], "manhattan"), table[:, 3])


def test_a_table_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coterie._checks, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"20 x 20 distances need .* GB .* use coterie.distance"):
        pairwise(rows(20, 2))
    with pytest.raises(MemoryError, match="condensed: 190 distances"):
        condensed(rows(20, 2))


def test_available_memory_is_a_number_or_unknown() -> None:
    available = coterie._checks.available_memory()
    assert available is None or available > 0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X: pairwise(X, metric="euclid"), "metric='euclid' was given; use one of"),
        (lambda X: pairwise(X, metric="minkowski", p=0.5), "p of at least 1"),
        (lambda X: pairwise(X, X[:, :2]), "X has 3 columns and Y has 2"),
        (lambda X: pairwise(np.array([[np.nan]])), "NaN"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        call(rows(5, 3))


def test_parameters_of_other_metrics_are_refused() -> None:
    with pytest.raises(TypeError, match="p, which it does not take"):
        pairwise(rows(5, 3), metric="euclidean", p=3)


def test_mixed_dtypes_meet_in_float64() -> None:
    X, Y = rows(8, 3, np.float32), rows(9, 3, seed=1)
    np.testing.assert_array_equal(pairwise(X, Y), twins.lengths(X, Y, "euclidean"))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "gower"])
def test_same_bits_for_any_number_of_threads(metric: str) -> None:
    X = rows(500, 7)
    tables = [pairwise(X, metric=metric, n_threads=n) for n in (1, 2, 3, 4)]
    for table in tables[1:]:
        np.testing.assert_array_equal(table, tables[0])


def test_a_function_of_one_row_is_refused() -> None:
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"^HDBSCAN: metric=.* is called as f\(x, y\) and cannot"):
        coterie.HDBSCAN(2, metric=lambda row: 1.0).fit(X)
    with pytest.raises(ValueError, match=r"f\(x, y, weight=\)"):
        pairwise(X, metric=lambda x, y: 1.0, weight=2)
