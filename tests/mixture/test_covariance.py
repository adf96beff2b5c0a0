"""The four shapes of covariances against plain matrix algebra."""

from __future__ import annotations

import numpy as np
import pytest

from coterie._kernels import kernels
from coterie.mixture._covariance import SHAPES, Shape

K, D = 3, 4


def covariances(shape: Shape) -> np.ndarray:
    rng = np.random.default_rng(0)
    dims = shape.dims(K, D)
    if shape.name in ("diag", "spherical"):
        return rng.uniform(0.5, 3, dims)
    roots = rng.standard_normal(dims)
    return roots @ np.swapaxes(roots, -1, -2) + np.eye(D)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_factors_whiten(shape: Shape) -> None:
    given = covariances(shape)
    factors, bad = shape.factor(given)
    assert not bad.any()
    matrices = shape.full(given, K, D)
    kernel = shape.kernel_factors(factors, K, D)
    for j in range(K):
        own = kernel[j % len(kernel)]
        own = np.diag(own) if own.ndim == 1 else own
        np.testing.assert_allclose(own.T @ matrices[j] @ own, np.eye(D), atol=1e-10)
        np.testing.assert_allclose(np.tril(own, -1), 0)
    log_dets = np.linalg.slogdet(matrices)[1]
    np.testing.assert_allclose(
        shape.log_norms(factors, K, D), -(log_dets + D * np.log(2 * np.pi)) / 2
    )


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_precisions_and_back(shape: Shape) -> None:
    given = covariances(shape)
    precisions = shape.precisions(shape.factor(given)[0])
    back = shape.inverted(precisions)
    assert back is not None
    np.testing.assert_allclose(back, given, rtol=1e-10)
    assert shape.inverted(-precisions) is None


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_what_has_no_factor_is_named(shape: Shape) -> None:
    broken = covariances(shape)
    if shape.name == "tied":
        broken[0] = broken[1]
        broken[:, 0] = broken[:, 1]
    else:
        broken[1] = 0
    _, bad = shape.factor(broken)
    assert bad.tolist() == ([True] if shape.name == "tied" else [False, True, False])
    clipped, n_raised = shape.clip(broken, 1e-3 * np.eye(D))
    assert (n_raised > 0).tolist() == bad.tolist()
    assert not shape.factor(clipped)[1].any()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_clipping_leaves_what_is_wide_enough(shape: Shape) -> None:
    given = covariances(shape)
    clipped, n_raised = shape.clip(given, 1e-9 * np.eye(D))
    np.testing.assert_array_equal(clipped, given)
    assert not n_raised.any()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_what_exceeds_the_floor_is_left_by_clipping_and_the_rest_is_not(shape: Shape) -> None:
    given = covariances(shape)
    matrices = shape.full(given, K, D)
    roots = np.linalg.eigvalsh(matrices)[:, 0].min() * np.eye(D)
    if shape.diagonal:
        roots = shape.variances(given, K, D).min() * np.eye(D)
    assert shape.exceed(given, 0.999 * roots)
    assert not shape.exceed(given, 1.001 * roots)
    assert not shape.clip(given, 0.999 * roots)[1].any()
    assert shape.clip(given, 1.001 * roots)[1].any()
    assert not shape.exceed(np.full_like(given, np.nan), roots)
    assert not shape.exceed(np.zeros_like(given), roots)


def test_the_scatter_of_a_row_about_itself_is_nothing() -> None:
    # Exactly: a remainder of rounding would be the covariance of the component.
    rng = np.random.default_rng(5)
    row = rng.standard_normal((1, D)) * 10.0 ** np.arange(0, 4 * D, 4)
    scatter = np.empty((1, D, D))
    kernels.scatter_about(np.ones(1), row, row[:, :, np.newaxis] * row[:, np.newaxis], row, scatter)
    np.testing.assert_array_equal(scatter, 0)


def test_scatter_about_moved_means_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(6)
    rows, mass = rng.standard_normal((50, D)), rng.uniform(size=(50, K))
    old, new = rng.standard_normal((K, D)), rng.standard_normal((K, D))

    def moments(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        away = rows[:, np.newaxis] - means
        return (
            np.einsum("nk,nki->ki", mass, away),
            np.einsum("nk,nki,nkj->kij", mass, away, away),
        )

    scatter = np.empty((K, D, D))
    kernels.scatter_about(mass.sum(axis=0), *moments(old), new - old, scatter)
    np.testing.assert_allclose(scatter, moments(new)[1], rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(scatter, scatter.transpose(0, 2, 1))


def test_clipping_is_the_likeliest_matrix_under_the_floor() -> None:
    rng = np.random.default_rng(3)
    shape, root = SHAPES["full"], np.diag([0.7, 1.0, 1.4, 0.3]) + 0.2 * np.tri(D, D, -1)
    floor = root @ root.T
    sample = np.diag([0.01, 3.0, 0.2, 0.5])[np.newaxis]
    best, _ = shape.clip(sample, floor)

    def loss(covariance: np.ndarray) -> float:
        return float(
            np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, sample[0]))
        )

    n_compared = 0
    for _ in range(500):
        nudge = rng.standard_normal((D, D)) * 0.1
        other = best[0] + nudge @ nudge.T + (nudge + nudge.T) * 0.01
        if np.linalg.eigvalsh(other - floor)[0] >= 0:
            n_compared += 1
            assert loss(other) >= loss(best[0]) - 1e-9
    assert n_compared > 20


def test_columns_in_very_different_units_are_no_trouble() -> None:
    units = np.array([1e-140, 1.0, 1e140, 1e3])
    given = covariances(SHAPES["full"]) * units * units[:, np.newaxis]
    factors, bad = SHAPES["full"].factor(given)
    assert not bad.any()
    assert np.isfinite(factors).all()


@pytest.mark.parametrize(
    ("name", "free"), [("full", 30), ("tied", 10), ("diag", 12), ("spherical", 3)]
)
def test_free_parameters(name: str, free: int) -> None:
    assert SHAPES[name].n_parameters(K, D) == free
