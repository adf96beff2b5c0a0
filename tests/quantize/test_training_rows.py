"""The rows a quantizer learns from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie._history import Recorder
from coterie.data import ArraySource
from coterie.errors import AdviceWarning
from coterie.quantize._training_rows import training_rows


def take(X: Any, size: int = 100) -> Any:
    rng = np.random.RandomState(0)
    return training_rows("Q", ArraySource(np.asarray(X)), size, rng, Recorder())


def test_no_row_twice_and_all_where_there_are_no_more() -> None:
    X = np.arange(60.0).reshape(30, 2)
    some = take(X, 10)
    assert some.dtype == np.float32
    assert some.shape == (10, 2)
    assert len({tuple(row) for row in some}) == 10
    assert set(some[:, 0]) <= set(X[:, 0])
    np.testing.assert_array_equal(take(X, 30), X)


@pytest.mark.parametrize(
    ("scale", "words"), [(1e30, "overflow float32"), (1e300, "overflow"), (1e-30, "underflow")]
)
def test_what_float32_cannot_square_is_refused(scale: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        take(scale * np.random.default_rng(0).normal(size=(20, 3)))


def test_nan_is_refused_with_its_place() -> None:
    X = np.zeros((5, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 1 \(row 3\)"):
        take(X)


def test_far_from_zero_is_told_of() -> None:
    X = 1e9 + np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(AdviceWarning, match="3 columns are so far from zero"):
        take(X)


def test_constant_columns_are_no_reason_to_complain() -> None:
    assert (take(np.full((9, 2), 1e9)) == np.float32(1e9)).all()
