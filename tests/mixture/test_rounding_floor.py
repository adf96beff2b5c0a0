"""What is singular is told by how well sums can be known, not by their last bits."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from coterie import GaussianMixture
from coterie._kernels import available_isas, kernels
from coterie.mixture import _gaussian, _overview

RNG = np.random.default_rng(0)
CLOUDS = RNG.standard_normal((60, 3)) + np.repeat([[0.0], [6.0], [12.0]], 20, axis=0)
COLLINEAR = np.column_stack([CLOUDS[:, :2], 2 * CLOUDS[:, 0] - CLOUDS[:, 1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("covariance_type", ["full", "tied"])
@pytest.mark.parametrize("init_params", ["kmeans", "rows"])
def test_collinear_columns_end_alike_on_every_instruction_set(
    isa_kernels: Any, monkeypatch: Any, dtype: type, covariance_type: str, init_params: str
) -> None:
    bounds = []
    for build in (kernels, isa_kernels):
        for module in (_gaussian, _overview):
            monkeypatch.setattr(module, "kernels", build)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = GaussianMixture(
                3, covariance_type=covariance_type, reg_covar=0, init_params=init_params,
                random_state=1, max_iter=40,
            ).fit(COLLINEAR.astype(dtype))  # fmt: skip
        assert {event["where"] for event in model.events_ if event["what"] == "floored"} == {
            0,
            1,
            2,
        }
        bounds.append(model.lower_bound_)
    assert bounds[1] == pytest.approx(bounds[0], abs=1e-4)


def test_every_build_takes_part() -> None:
    assert kernels.isa in available_isas()


def test_a_narrow_direction_that_can_be_told_is_left_alone() -> None:
    X = CLOUDS.copy()
    X[:, 2] = X[:, 0] + 1e-4 * RNG.standard_normal(60)
    model = GaussianMixture(1, reg_covar=0).fit(X)
    assert not model.events_
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, bias=True), rtol=1e-9)
