"""Covers coterie.search._narrow: a row that is not zero does not become zero in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from coterie import ProductQuantizer
from coterie.search import FlatIndex, IVFPQIndex, PQIndex

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 4))


def with_small(value: float) -> Any:
    X = ROWS[:5].copy()
    X[2] = [0, value, 0, -value / 2]
    return X


@pytest.mark.parametrize("value", [1e-300, -1e-300, 1e-46, 1e-39])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, np.ndarray.tolist])
def test_rows_that_float32_takes_for_zero_are_refused(kind: Any, value: float) -> None:
    X = kind(with_small(value))
    index = FlatIndex().add(ROWS)
    with pytest.raises(ValueError, match=r"1 rows of X, .* row 2, .*dtype=\"float64\""):
        index.add(X)
    assert index.n_rows == 300
    with pytest.raises(ValueError, match=r"1 rows of queries, .* vanish in float32"):
        index.search(X, 1)
    assert FlatIndex(dtype="float64").add(X).search(X, 1).ids[:, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("make", [
    lambda: PQIndex(ProductQuantizer(2, bits=4, random_state=0).fit(ROWS)),
    lambda: IVFPQIndex(4, 2, bits=4, random_state=0).fit(ROWS),
])  # fmt: skip
def test_indexes_of_codes_refuse_them_too(make: Any) -> None:
    with pytest.raises(ValueError, match="vanish in float32"):
        make().add(with_small(1e-300))


@pytest.mark.parametrize("X", [
    np.zeros((3, 2)), np.zeros((0, 2)), np.array([[1e-300, 1.0]]), np.array([[0, 0], [1, 2]]),
    np.full((2, 2), 1e-39, dtype=np.float32), np.full((2, 2), 1e-37),
])  # fmt: skip
def test_zeros_stay_zeros_and_small_values_beside_large_ones_may_go(X: Any) -> None:
    assert FlatIndex().add(X).n_rows == len(X)


def test_rows_in_files_are_looked_at(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", with_small(1e-300))
    with pytest.raises(ValueError, match="vanish in float32"):
        FlatIndex().add(tmp_path / "x.npy")


def test_sparse_rows_are_refused_as_they_were() -> None:
    with pytest.raises((TypeError, ValueError)):
        FlatIndex().add(sp.csr_matrix(with_small(1e-300)))
