"""Gaussians of a model file: what is no covariance is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import GaussianMixture
from coterie.errors import FileError
from coterie.mixture._covariance import SHAPES

X = np.random.default_rng(0).standard_normal((60, 2))


def damaged(covariance_type: str, path: Path, change: Any) -> Any:
    model = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(X)
    model.save(path)
    np.testing.assert_array_equal(coterie.load(path).predict(X), model.predict(X))
    change(model)
    model.save(path)
    with pytest.raises(FileError) as refused:
        coterie.load(path)
    return str(refused.value)


@pytest.mark.parametrize("name", ["covariances_", "precisions_", "precisions_cholesky_"])
@pytest.mark.parametrize("covariance_type", SHAPES)
def test_a_variance_must_be_positive(covariance_type: str, name: str, tmp_path: Path) -> None:
    def change(model: Any) -> None:
        getattr(model, name).flat[0] = 0

    assert f"{name} has a diagonal that is not positive" in damaged(
        covariance_type, tmp_path / "model", change
    )


def test_matrices_must_be_of_the_covariance_type(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        model.covariances_ = model.covariances_[:, 0]

    assert "covariances_ has shape (2, 2) instead of (2, 2, 2)" in damaged(
        "full", tmp_path / "model", change
    )


def test_covariances_are_bounded_by_the_variances(tmp_path: Path) -> None:
    def change(model: Any) -> None:
        model.covariances_[:, 0, 1] = 100

    found = damaged("full", tmp_path / "model", change)
    assert "covariances_ has covariances larger than the variances allow" in found
