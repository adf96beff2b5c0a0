"""Nothing that an index cannot hold is taken in silence.

Covers coterie.search._range and coterie.quantize._dense_rows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from coterie import ProductQuantizer
from coterie.data import ArraySource
from coterie.data.npy import NpySource
from coterie.errors import AdviceWarning
from coterie.search import FlatIndex, IVFPQIndex, NeighborsTransformer, PQIndex
from coterie.search._index import METRICS

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 4))


def with_small(value: float) -> Any:
    X = ROWS[:5].copy()
    X[2] = [0, value, 0, -value / 2]
    return X


@pytest.mark.parametrize("value", [-1e-140, 1e-46, 1e-39])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_rows_that_float32_takes_for_zero_are_refused(kind: Any, value: float) -> None:
    X = kind(with_small(value))
    index = FlatIndex().add(ROWS)
    with pytest.raises(ValueError, match=r"1 rows of X, .* row 2, .*dtype=\"float64\""):
        index.add(X)
    assert index.n_rows == 300
    with pytest.raises(ValueError, match=r"1 rows of queries, .* or their squares, vanish"):
        index.search(X, 1)
    assert FlatIndex(dtype="float64").add(X).search(X, 1).ids[:, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_whose_squares_vanish_are_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match=r"vanish; multiply rows and queries by a constant\.$"):
        FlatIndex(dtype=dtype).add(with_small(1e-300))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [2.0**-480, 2.0**-100, 2.0**100, 2.0**220])
def test_any_scale_that_is_taken_gives_the_same_neighbors(scale: float, metric: str) -> None:
    found, expected = (
        FlatIndex(dtype="float64", metric=metric).add(X).search(X[:50], 5).ids
        for X in (ROWS * scale, ROWS)
    )
    np.testing.assert_array_equal(found, expected)


def test_rows_whose_squares_overflow_are_refused() -> None:
    index = FlatIndex(dtype="float64").add(ROWS)
    for ask in (index.add, lambda rows: index.search(rows, 1)):
        with pytest.raises(ValueError, match=r"row 75, .*e\+100\).* divide rows and"):
            ask(ROWS * 1e100)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_differences_that_float32_loses_are_told(kind: Any) -> None:
    X = kind(ROWS + 1e8)
    with pytest.warns(AdviceWarning, match=r"FlatIndex: 4 columns .* dtype=\"float64\"") as told:
        FlatIndex().add(X)
    assert told[0].filename == __file__
    assert FlatIndex(dtype="float64").add(X).search(X, 1).ids[:, 0].tolist() == [*range(300)]


@pytest.mark.parametrize("X", [
    ROWS + 1000, np.full((3, 2), 1e8), np.array([[1e8, 1.0]]), (ROWS + 1e8).astype(np.float32),
    np.array([[2**20, 0], [2**20 + 1, 1], [0, 1]]),
])  # fmt: skip
def test_nothing_is_told_where_little_is_lost(X: Any) -> None:
    assert FlatIndex().add(X).n_rows == len(X)


@pytest.mark.parametrize("make", [
    lambda: PQIndex(ProductQuantizer(2, bits=4, random_state=0).fit(ROWS)),
    lambda: IVFPQIndex(4, 2, bits=4, random_state=0).fit(ROWS),
])  # fmt: skip
def test_indexes_of_codes_refuse_them_too(make: Any) -> None:
    with pytest.raises(ValueError, match="or their squares, vanish"):
        make().add(with_small(1e-300))


@pytest.mark.parametrize("X", [
    np.zeros((3, 2)), np.zeros((0, 2)), np.array([[1e-300, 1.0]]), np.array([[0, 0], [1, 2]]),
    np.full((2, 2), 1e-39, dtype=np.float32), np.full((2, 2), 1e-37),
])  # fmt: skip
def test_zeros_stay_zeros_and_small_values_beside_large_ones_may_go(X: Any) -> None:
    assert FlatIndex().add(X).n_rows == len(X)


def test_rows_in_files_are_looked_at(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", with_small(1e-300))
    with pytest.raises(ValueError, match="or their squares, vanish"):
        FlatIndex().add(tmp_path / "x.npy")


def test_sparse_rows_are_refused_as_they_were() -> None:
    with pytest.raises((TypeError, ValueError)):
        FlatIndex().add(sp.csr_matrix(with_small(1e-300)))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, np.ndarray.tolist, ArraySource])
def test_what_float32_cannot_hold_is_named(kind: Any) -> None:
    X = ROWS.copy()
    X[7, 2] = -1e200
    index = FlatIndex().add(ROWS)
    said = (
        r"holds -1e\+200 in column '?2'? \(row 7\), which is infinity in float32; scale the column"
    )
    with pytest.raises(ValueError, match=rf"^FlatIndex: X {said}"):
        index.add(kind(X))
    with pytest.raises(ValueError, match=rf"^FlatIndex: queries {said}"):
        index.search(kind(X), 1)
    X[3, 1] = np.inf  # which is first, and said by others
    with pytest.raises(ValueError, match=r"contains infinity .* in column '?1'? \(row 3\)"):
        index.add(kind(X))
    X[3, 1], X[7, 2] = 0, -1e60
    assert FlatIndex(dtype="float64").add(X).n_rows == 300


def test_complex_rows_are_refused_as_such() -> None:
    with pytest.raises(ValueError, match="Complex data not supported"):
        FlatIndex().add(ROWS * 1j)  # and no warning says that a part was dropped


def test_rows_of_later_blocks_have_their_own_numbers(tmp_path: Path) -> None:
    X = np.zeros((400, 4))
    np.save(tmp_path / "X.npy", X)
    index = FlatIndex().add(ROWS)
    for value, words in ((np.nan, "NaN in column 3"), (1e200, "1e.200 in column 3"),
                         (1e-200, "the first of them row 333,")):  # fmt: skip
        X[333, 3] = value
        np.save(tmp_path / "X.npy", X)
        source = NpySource(np.load(tmp_path / "X.npy", mmap_mode="r"))
        source.block_bytes = 3200
        where = "" if "first" in words else r" \(row 333\)"
        with pytest.raises(ValueError, match=words + where):
            index.add(source)


def test_lost_digits_of_many_blocks_are_told_once(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", ROWS + 1e9)
    source = NpySource(np.load(tmp_path / "X.npy", mmap_mode="r"))
    source.block_bytes = 3200
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FlatIndex().add(source)
    assert [warning.category for warning in caught] == [AdviceWarning]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.coo_array])
def test_sparse_rows_are_told_how_to_become_dense(kind: Any) -> None:
    X = kind(np.eye(6))
    index = FlatIndex().add(np.eye(6))
    quantizer = ProductQuantizer(2, bits=4, random_state=0).fit(np.eye(6))
    calls: dict[str, list[Any]] = {
        "FlatIndex: X": [FlatIndex().add],
        "FlatIndex: queries": [lambda rows: index.search(rows, 1)],
        "IVFPQIndex: X": [IVFPQIndex(2, 2).fit],
        "PQIndex: X": [PQIndex(quantizer).add],
        "ProductQuantizer: X": [ProductQuantizer(2).fit, quantizer.encode, quantizer.distortion],
        "NeighborsTransformer: X": [NeighborsTransformer(2).fit],
    }
    for words, these in calls.items():
        name = words.split()[1]
        for call in these:
            with pytest.raises(TypeError, match=rf"^{words} is a sparse .* {name}\.toarray"):
                call(X)
            with pytest.raises(TypeError, match=rf"^{words.split()[0]} np.matrix is .*y\({name}"):
                call(np.eye(6).view(np.matrix))
