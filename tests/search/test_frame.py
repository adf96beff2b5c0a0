"""The filter's frame brings rows near zero and to about length one."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.search._frame import search_frame


@pytest.mark.parametrize("size", [1e-30, 1.0, 3e7, 1e35])
def test_rows_are_near_zero_and_about_one(size: float) -> None:
    X = ((np.random.default_rng(0).normal(size=(5000, 3)) + 9) * size).astype(np.float32)
    frame = search_frame(X, "euclidean")
    seen = X.astype(float) * frame.scale - frame.shift
    assert 0.25 < np.abs(seen).max() < 4
    assert np.abs(seen.mean(axis=0)).max() < 0.1
    assert frame.scale == 2.0 ** np.round(np.log2(frame.scale))
    assert frame.shift.dtype == X.dtype
    assert not search_frame(X, "cosine").shift.any()


def test_no_rows_and_zeros_have_a_frame() -> None:
    for rows in (np.empty((0, 2)), np.zeros((5, 2))):
        frame = search_frame(rows, "sqeuclidean")
        assert np.isfinite(frame.scale)
        assert frame.scale > 0
