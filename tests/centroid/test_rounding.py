"""Rounding: whatever the data, published labels are those of the float64 direct form.

Every data set here breaks the expanded form |c|^2 - 2 x.c, the sums or the squares, taken naively.

Covers coterie.centroid._space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

import twins
from coterie import KMeans, options

ALGORITHMS = ["auto", "lloyd", "hamerly", "yinyang"]
Rows = npt.NDArray[Any]


def blobs(n_rows: int = 240, n_cols: int = 3, n_blobs: int = 4, spread: float = 0.4) -> Rows:
    """Overlapping groups of unit size about the origin."""
    rng = np.random.default_rng(n_rows + n_cols)
    middles = rng.uniform(-1, 1, size=(n_blobs, n_cols))
    return middles[np.arange(n_rows) % n_blobs] + spread * rng.standard_normal((n_rows, n_cols))


def with_far_groups(n_spreads: float) -> Rows:
    rows = blobs()
    rows[::2] += n_spreads
    rows[1::2] -= n_spreads
    return rows


def integers(high: int) -> Rows:
    return np.random.default_rng(high).integers(0, high, size=(300, 2)).astype(float)


def with_outlier(far: float) -> Rows:
    rows = blobs()
    rows[-1] = far
    return rows


DATA: dict[str, tuple[type, Callable[[], Rows]]] = {
    "f32 offset of 1e4 spreads": (np.float32, lambda: blobs() + 1e4),
    "f32 offset of 1e6 spreads": (np.float32, lambda: blobs() + 1e6),
    "f64 offset of 1e4 spreads": (np.float64, lambda: blobs() + 1e4),
    "f64 offset of 1e12 spreads": (np.float64, lambda: blobs() + 1e12),
    "f32 two groups at +-1e3 spreads": (np.float32, lambda: with_far_groups(1e3)),
    "f64 two groups at +-1e3 spreads": (np.float64, lambda: with_far_groups(1e3)),
    "f64 two groups at +-1e9 spreads": (np.float64, lambda: with_far_groups(1e9)),
    "f32 of 1e30": (np.float32, lambda: blobs() * 1e30),
    "f32 up to the largest": (np.float32, lambda: np.clip(blobs(), -1, 1) * 3.4e38),
    "f32 of 1e-30": (np.float32, lambda: blobs() * 1e-30),
    "f32 subnormal": (np.float32, lambda: blobs() * 1e-41),
    "f64 of 1e30": (np.float64, lambda: blobs() * 1e30),
    "f64 of 1e-30": (np.float64, lambda: blobs() * 1e-30),
    "f64 of 1e150": (np.float64, lambda: blobs() * 1e150),
    "f64 of 1e-150": (np.float64, lambda: blobs() * 1e-150),
    "f32 few integers": (np.float32, lambda: integers(3)),
    "f64 few integers": (np.float64, lambda: integers(3)),
    "f32 more integers": (np.float32, lambda: integers(12)),
    "f64 more integers": (np.float64, lambda: integers(12)),
    "f32 outlier of 1e10": (np.float32, lambda: with_outlier(1e10)),
    "f32 outlier of 1e22": (np.float32, lambda: with_outlier(1e22)),
    "f32 outlier of 1e30": (np.float32, lambda: with_outlier(1e30)),
    "f64 outlier of 1e22": (np.float64, lambda: with_outlier(1e22)),
    "f64 outlier of 1e100": (np.float64, lambda: with_outlier(1e100)),
    "f32 1 2 3 1e30": (np.float32, lambda: np.array([[1.0], [2], [3], [1e30]])),
    "f64 1 2 3 1e30": (np.float64, lambda: np.array([[1.0], [2], [3], [1e30]])),
    "f32 columns of all sizes": (np.float32, lambda: blobs() * [1e-20, 1, 1e20]),
    "f64 columns of all sizes": (np.float64, lambda: blobs() * [1e-100, 1, 1e100]),
    "f32 a constant column": (np.float32, lambda: np.c_[blobs(), np.full(240, 1e6)]),
    "f64 all rows but one equal": (np.float64, lambda: np.r_[np.full((50, 2), 0.1), [[0.3, 0.1]]]),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", DATA)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_published_labels_are_those_of_the_published_centres(name: str, algorithm: str) -> None:
    dtype, make = DATA[name]
    X = make().astype(dtype)
    n_clusters = min(6, len(X) - 1)
    with options(check_invariants=True):
        model = KMeans(n_clusters, init=X[:n_clusters], algorithm=algorithm, tol=0).fit(X)
    assert model.cluster_centers_.dtype == dtype
    assert np.isfinite(model.cluster_centers_).all()
    expected = twins.nearest(X, model.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict(np.asfortranarray(X)), expected)
    assert model.inertia_ == pytest.approx(
        twins.sse(X, model.cluster_centers_, expected), rel=1e-12
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
@pytest.mark.parametrize(
    "name", [name for name in DATA if "integers" not in name and "equal" not in name]
)
def test_the_whole_run_is_that_of_the_naive_twin(name: str, algorithm: str) -> None:
    """Without ties the same path: labels, passes, and centres to their own rounding."""
    dtype, make = DATA[name]
    X = make().astype(dtype)
    start = X[[0, 1, len(X) - 1]]
    # Computed on values near one, which is exact: squares of the twin must not over- or underflow.
    scale = twins.unit_scale(X)
    twin = twins.lloyd(X.astype(np.float64) * scale, start.astype(np.float64) * scale)
    model = KMeans(3, init=start, algorithm=algorithm, tol=0).fit(X)
    expected = (twin.centers / scale).astype(dtype)
    # Sums may be rounded to a tiny share of what a column usually spreads.
    spread = np.ptp(np.quantile(X.astype(np.float64), [0.25, 0.75], axis=0), axis=0)
    error = np.abs(model.cluster_centers_.astype(np.float64) - expected)
    assert (error <= 4 * np.finfo(dtype).eps * np.abs(expected) + 1e-14 * spread).all()
    np.testing.assert_array_equal(model.labels_, twins.nearest(X, expected))
    assert model.n_iter_ == twin.n_iter


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("high", [2, 3, 6])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_exact_ties_go_to_the_lower_index(dtype: type, high: int) -> None:
    X = integers(high).astype(dtype)
    centers = np.random.default_rng(1).permutation(X)[:12]
    model = KMeans(12, init=centers)
    model.fit(np.r_[centers, X])
    model.cluster_centers_ = centers  # duplicates among them: ties everywhere
    np.testing.assert_array_equal(model.predict(X), twins.nearest(X, centers))


@pytest.mark.parametrize("far", [1e10, 1e18, 1e22, 1e26, 1e30])
def test_one_huge_row_does_not_change_the_labels_of_others(far: float) -> None:
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((6, 5)).astype(np.float32)
    X = rng.standard_normal((3000, 5)).astype(np.float32)
    model = KMeans(6, init=centers).fit(centers)
    alone = model.predict(X)
    X[-1] = far
    np.testing.assert_array_equal(model.predict(X)[:-1], alone[:-1])
    np.testing.assert_array_equal(alone[:-1], twins.nearest(X, centers)[:-1])


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_rows_far_below_the_centres_still_find_the_nearer_one(n_rows: int) -> None:
    model = KMeans(2, init=[[2e100], [1e100]]).fit(np.array([[2e100], [1e100]]))
    tiny = np.arange(1, n_rows + 1)[:, np.newaxis] * 1e-300
    np.testing.assert_array_equal(model.predict(tiny), np.ones(n_rows))


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
@pytest.mark.parametrize("far", [1e17, 1e30, 1e100])
@pytest.mark.parametrize("n_far", [1, 4, 40])
def test_small_clusters_beside_huge_values_keep_their_means(
    algorithm: str, far: float, n_far: int
) -> None:
    """However many rows are huge, the means of the others are not blurred by them."""
    X = np.array([0.0, 1, 100, 101] + [far] * n_far)[:, np.newaxis]
    model = KMeans(3, init=[[0.0], [100], [far]], algorithm=algorithm).fit(X)
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [0.5, 100.5, far], rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1] + [2] * n_far)


@pytest.mark.parametrize("power", [-500, -400, -100, 100, 400, 500])
def test_scaling_by_a_power_of_two_scales_the_result(power: int) -> None:
    X = blobs()
    plain = KMeans(4, init=X[:4], tol=0).fit(X)
    scale = 2.0**power
    scaled = KMeans(4, init=X[:4] * scale, tol=0).fit(X * scale)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    expected = plain.cluster_centers_ * scale
    np.testing.assert_allclose(
        scaled.cluster_centers_, expected, rtol=1e-13, atol=4 * np.finfo(float).smallest_subnormal
    )


@pytest.mark.parametrize("ratio", [1e-3, 1e-8, 1e-12, 1e-16, 1e-30])
def test_light_rows_far_from_heavy_ones_keep_their_mean(ratio: float) -> None:
    X = blobs()
    X[120:] += 10
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    weights[120:] *= ratio
    model = KMeans(2, init=X[[0, 120]]).fit(X, sample_weight=weights)
    twin = twins.lloyd(X, X[[0, 120]], weights=weights)
    np.testing.assert_allclose(model.cluster_centers_, twin.centers, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-20, 1e20, 1e300])
def test_only_the_ratio_of_weights_counts(size: float) -> None:
    X = blobs()
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    plain = KMeans(4, init=X[:4]).fit(X, sample_weight=weights)
    scaled = KMeans(4, init=X[:4]).fit(X, sample_weight=weights * size)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_, plain.cluster_centers_, rtol=1e-12)
    assert scaled.inertia_ == pytest.approx(plain.inertia_ * size, rel=1e-12)


@pytest.mark.parametrize("size", [1e-155, 1e-200, 1e-310])
def test_squares_that_underflow_are_refused_in_words(size: float) -> None:
    with pytest.raises(ValueError, match=r"KMeans: the values of X differ by .*multiply X"):
        KMeans(3, random_state=0).fit(blobs() * size)


@pytest.mark.parametrize("size", [1e153, 1e155, 1e300, 1e308])
def test_squares_that_overflow_are_refused_in_words(size: float) -> None:
    X = np.clip(blobs(n_cols=30), -1, 1) * size
    with pytest.raises(ValueError, match=r"KMeans: X has values so large.*divide X"):
        KMeans(3, random_state=0).fit(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_sparse_rows_get_the_labels_of_dense_ones(dtype: type, size: float) -> None:
    X = (blobs(n_cols=6) * size).astype(dtype)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    model = KMeans(5, init=X[:5], tol=0).fit(sp.csr_array(X))
    np.testing.assert_array_equal(model.labels_, twins.nearest(X, model.cluster_centers_))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    twin = twins.lloyd(X / size, X[:5] / size)
    np.testing.assert_allclose(
        model.cluster_centers_ / size,
        twin.centers,
        rtol=1e-5,
        atol=1e-6 if dtype == np.float32 else 1e-12,
    )


def test_every_instruction_set_gives_the_same_bits(
    isa_kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = (blobs() + 1e4).astype(np.float32)
    weights = np.random.default_rng(0).random(len(X))
    ours = [
        KMeans(5, init=X[:5], tol=0, algorithm=algorithm).fit(X, sample_weight=w)
        for algorithm in ALGORITHMS[1:]
        for w in (None, weights)
    ]
    for module in ("_passes", "_steps"):
        monkeypatch.setattr(f"coterie.centroid.{module}.kernels", isa_kernels)
    for model in ours:
        w = weights if model is ours[1] or model is ours[3] or model is ours[5] else None
        again = KMeans(**model.get_params()).fit(X, sample_weight=w)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)
        assert again.inertia_ == model.inertia_
        assert again.n_iter_ == model.n_iter_
