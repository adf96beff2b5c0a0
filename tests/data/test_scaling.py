"""Standardising in the stream: cuts change no bit, missing cells are left out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from coterie.data import ArraySource, Source, as_source
from coterie.data import scaling as module
from coterie.data.scaling import Standardising, learn_scaling, scaled_as, standardized
from coterie.errors import DataError


class Cut(Source):
    """Rows that come in pieces of given sizes."""

    def __init__(self, rows: Any, sizes: list[int]) -> None:
        super().__init__(rows.shape[1], rows.dtype)
        self._parts = np.split(rows, np.cumsum(sizes))

    def _pieces(self) -> Any:
        yield from self._parts


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_and_deviations_are_those_of_the_columns(missing: bool, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal([0, 1e6, -3, 7], [1, 1e-2, 1e5, 0], size=(1000, 4)).astype(dtype)
    if missing:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    found = learn_scaling(ArraySource(rows))
    expected = StandardScaler().fit(rows.astype(np.float64))
    np.testing.assert_allclose(found["mean"], expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(found["scale"], expected.scale_, rtol=1e-9)


def test_cuts_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOW_VALUES", 300)
    rows = np.random.default_rng(0).standard_normal((1000, 3))
    whole = learn_scaling(as_source(rows))
    for sizes in ([1, 998], [0, 500, 3], [99, 100, 101]):
        cut = learn_scaling(Cut(rows, sizes))
        assert cut["mean"].tobytes() == whole["mean"].tobytes()
        assert cut["scale"].tobytes() == whole["scale"].tobytes()


def test_rows_are_scaled_in_their_own_precision_and_scaled_once() -> None:
    rows = np.random.default_rng(0).standard_normal((50_000, 3)).astype(np.float32)
    scaling = {"mean": np.array([1.0, 2, 3]), "scale": np.array([2.0, 3, 4])}
    expected = ((rows - scaling["mean"]) / scaling["scale"]).astype(np.float32)
    np.testing.assert_array_equal(standardized(rows, scaling), expected)
    assert standardized(rows, None) is rows
    streamed = scaled_as(Cut(rows, [100]), scaling)
    assert streamed.scaling is not None
    again = scaled_as(streamed, scaling)
    for source in (streamed, again, scaled_as(as_source(rows), scaling)):
        np.testing.assert_array_equal(np.concatenate([b.rows for b in source]), expected)
    function = pickle.loads(pickle.dumps(Standardising(scaling)))
    np.testing.assert_array_equal(function(rows), expected)


def test_what_cannot_be_scaled_is_told() -> None:
    with pytest.raises(DataError, match="column 1 has values that are infinite or too large"):
        learn_scaling(as_source(np.array([[1.0, 1e200], [2, -1e200]])))
    with pytest.raises(DataError, match="has no rows"):
        learn_scaling(Cut(np.empty((0, 2)), []))
    scaling = {"mean": np.zeros(2), "scale": np.ones(2)}
    with pytest.raises(DataError, match="sparse rows"):
        scaled_as(as_source(sp.csr_matrix(np.eye(2))), scaling)
