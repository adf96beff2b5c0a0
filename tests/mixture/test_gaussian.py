"""GaussianMixture: what must always hold, numbers at the ends of the range, any container.

Covers coterie.mixture._arrays, coterie.mixture._complete, coterie.mixture._family,
coterie.mixture._mixing and coterie.mixture._overview.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import coterie
from coterie import BayesianGaussianMixture, GaussianMixture, KMeans
from coterie.errors import InvariantError
from coterie.mixture._covariance import SHAPES
from coterie.mixture._gaussian import GaussianFamily

TYPES = list(SHAPES)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 2)) @ [[1, 0.5], [0, 0.6]] + np.repeat(
    [[0.0, 0], [4, 1], [0, 5]], 50, axis=0
)


def quiet_fit(rows: Any, k: int = 3, sample_weight: Any = None, **settings: Any) -> GaussianMixture:
    settings = {"random_state": 0, "max_iter": 30, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(k, **settings).fit(rows, sample_weight=sample_weight)


# What must always hold


@settings(max_examples=20)
@given(
    covariance_type=st.sampled_from(TYPES),
    noise=st.booleans(),
    holes=st.booleans(),
    prior=st.sampled_from([None, "auto"]),
    seed=st.integers(0, 99),
)
def test_integer_weights_are_repeated_rows(
    covariance_type: str, noise: bool, holes: bool, prior: Any, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, weights = X[::2].copy(), rng.integers(0, 4, 75)
    if holes:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    given = {
        "means_init": X[[0, 60, 120]], "precisions_init": 2 * unit(covariance_type),
        "weights_init": [0.2, 0.3, 0.5], "covariance_type": covariance_type, "noise": noise,
        "prior": prior, "reg_covar": "auto", "max_iter": 5, "tol": 0,
    }  # fmt: skip
    weighed = quiet_fit(rows, sample_weight=weights, **given)
    repeated = quiet_fit(np.repeat(rows, weights, axis=0), **given)
    np.testing.assert_allclose(weighed.means_, repeated.means_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(weighed.weights_, repeated.weights_, rtol=1e-7)
    np.testing.assert_allclose(weighed.covariances_, repeated.covariances_, rtol=1e-6, atol=1e-9)


def unit(covariance_type: str) -> np.ndarray:
    """Unit covariances (and precisions) of three components."""
    return SHAPES[covariance_type].repeat(np.eye(2), 3)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_the_order_of_components_changes_nothing(covariance_type: str) -> None:
    means, order = X[[0, 60, 120]], [2, 0, 1]
    one = quiet_fit(X, covariance_type=covariance_type, means_init=means, init_params="rows")
    two = quiet_fit(X, covariance_type=covariance_type, means_init=means[order], init_params="rows")
    np.testing.assert_allclose(two.means_, one.means_[order], rtol=1e-9)
    np.testing.assert_allclose(two.weights_, one.weights_[order], rtol=1e-9)
    assert two.lower_bound_ == pytest.approx(one.lower_bound_, rel=1e-12)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_samples_are_recovered(covariance_type: str) -> None:
    true = quiet_fit(X, covariance_type=covariance_type, max_iter=200)
    rows, labels = true.sample(8000)
    again = quiet_fit(rows, covariance_type=covariance_type, means_init=true.means_, max_iter=200)
    np.testing.assert_allclose(again.means_, true.means_, atol=0.1)
    np.testing.assert_allclose(again.weights_, true.weights_, atol=0.03)
    np.testing.assert_allclose(again.covariances_, true.covariances_, atol=0.12)
    assert (again.predict(rows) == labels).mean() > 0.9


@pytest.mark.parametrize("more", [{}, {"noise": True}, {"prior": "auto"}, {"init_params": "rows"}])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_same_bits_for_any_number_of_threads(covariance_type: str, more: dict[str, Any]) -> None:
    rows = np.random.default_rng(3).standard_normal((6000, 3))
    holes = rows.copy()
    holes[::5, 1] = np.nan
    for source in (rows, holes):
        runs = [
            quiet_fit(
                source, covariance_type=covariance_type, max_iter=4, n_threads=n_threads, **more
            )
            for n_threads in (1, 2, 3, 4)
        ]
        for other in runs[1:]:
            np.testing.assert_array_equal(other.means_, runs[0].means_)
            np.testing.assert_array_equal(other.covariances_, runs[0].covariances_)
            assert other.lower_bounds_ == runs[0].lower_bounds_
            np.testing.assert_array_equal(
                other.predict_proba(source), runs[0].predict_proba(source)
            )


def test_the_free_energy_is_a_bound_for_any_responsibilities() -> None:
    model = quiet_fit(X)
    log_lik = model.score_samples(X).sum()
    for seed in range(5):
        resp = np.random.default_rng(seed).dirichlet(np.ones(3), len(X))
        proba = model.predict_proba(X)
        divergence = (resp * (np.log(resp) - np.log(proba))).sum()
        assert -model.free_energy(X, resp) + divergence == pytest.approx(log_lik)
        assert model.free_energy(X, resp) >= -log_lik


def test_a_broken_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = GaussianFamily.maximise

    def broken(self: Any, counts: Any, summary: Any, before: Any) -> Any:
        after = plain(self, counts, summary, before)
        after.means[2] += 3
        return after

    monkeypatch.setattr(GaussianFamily, "maximise", broken)
    with (
        coterie.options(check_invariants=True),
        pytest.raises(InvariantError, match=r"M-step of iteration 1 raised .* component 2 lost"),
    ):
        GaussianMixture(3, reg_covar=0, means_init=X[[0, 60, 120]], random_state=0).fit(X)


# The start


@pytest.mark.parametrize("covariance_type", TYPES)
def test_rows_as_a_start(covariance_type: str) -> None:
    model = quiet_fit(X, covariance_type=covariance_type, init_params="rows", max_iter=0)
    assert {tuple(mean) for mean in model.means_} <= {tuple(row) for row in X}
    np.testing.assert_allclose(model.weights_, 1 / 3)
    expected = SHAPES[covariance_type].repeat(np.cov(X.T, bias=True) / 10, 3)
    np.testing.assert_allclose(model.covariances_, expected)
    assert len(set(model.means_[:, 0])) == 3


@pytest.mark.parametrize("seed", range(20))
def test_the_limit_of_small_variances_is_k_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    rows = rng.standard_normal((120, 3)) + rng.integers(0, 3, (120, 1)) * 2.0
    start = rows[rng.choice(120, k, replace=False)]
    hard = KMeans(k, init=start, n_init=1, tol=0, keep="parameters").fit(rows)
    soft = quiet_fit(
        rows, k, covariance_type="spherical", means_init=start, weights_init=np.full(k, 1 / k),
        precisions_init=np.full(k, 1e10), fixed=("weights", "covariances"), tol=0,
        max_iter=hard.n_iter_, keep="parameters",
    )  # fmt: skip
    np.testing.assert_allclose(soft.weights_, 1 / k)
    np.testing.assert_allclose(soft.covariances_, 1e-10)
    assert len(soft.history_) == len(hard.history_) > 1
    for em_step, lloyd_step in zip(soft.history_, hard.history_, strict=True):
        centers = em_step["parameters"]
        np.testing.assert_allclose(centers, lloyd_step["parameters"], rtol=1e-9, atol=1e-12)
        labels = [nearest(rows, means) for means in (centers, lloyd_step["parameters"])]
        np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(soft.predict(rows), hard.labels_)


def nearest(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return np.square(rows[:, np.newaxis] - centers).sum(axis=2).argmin(axis=1)


# Numbers at the ends of the range


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_rows_far_beyond_every_component(covariance_type: str, dtype: type) -> None:
    rows = X.astype(dtype)
    model = quiet_fit(
        rows, means_init=[[0, 0], [1, 0], [0, 1]], precisions_init=unit(covariance_type),
        weights_init=[0.2, 0.3, 0.5], covariance_type=covariance_type, max_iter=0,
    )  # fmt: skip
    far = np.array(
        [[1e8, 0.0], [0, 1e8], [-1e8, -1e8], [0.5, -1e8], [60, 0], [-1e8, 0.5], [0.25, -1e8]],
        dtype=dtype,
    )
    proba = model.predict_proba(far)
    np.testing.assert_allclose(
        proba,
        [
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 0],
            [0.4, 0.6, 0],
            [0, 1, 0],
            [2 / 7, 0, 5 / 7],
            [1 / (1 + 1.5 * np.exp(-0.25)), 1 / (1 + np.exp(0.25) / 1.5), 0],
        ],
        atol=1e-6,
    )
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    log_prob = model.score_samples(far)
    np.testing.assert_allclose(log_prob[[0, 1, 3, 5]], -5e15, rtol=1e-6)
    assert log_prob[4] == pytest.approx(np.log(0.3 / (2 * np.pi)) - 59**2 / 2)


def test_a_large_offset_costs_nothing_but_the_rows_own_precision() -> None:
    plain = quiet_fit(X, means_init=X[[0, 60, 120]])
    moved = quiet_fit(X + 1e8, means_init=X[[0, 60, 120]] + 1e8)
    np.testing.assert_allclose(moved.means_ - 1e8, plain.means_, atol=1e-6)
    np.testing.assert_allclose(moved.covariances_, plain.covariances_, atol=1e-6)


# Containers


def test_a_memory_map_fits_as_the_array_does(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    on_disk = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for covariance_type in TYPES:
        whole = quiet_fit(X, covariance_type=covariance_type)
        mapped = quiet_fit(on_disk, covariance_type=covariance_type)
        np.testing.assert_array_equal(mapped.means_, whole.means_)
        np.testing.assert_array_equal(mapped.predict(on_disk), whole.predict(X))


def test_a_memory_map_in_many_blocks_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = X.copy()
    rows[5, 0] = np.nan
    np.save(tmp_path / "rows.npy", rows)
    on_disk = np.load(tmp_path / "rows.npy", mmap_mode="r")
    monkeypatch.setattr("coterie.data.npy.NpySource.block_bytes", 7 * 16)
    given = {"means_init": X[[0, 60, 120]], "init_params": "rows", "noise": True}
    whole, mapped = (quiet_fit(source, **given) for source in (rows, on_disk))
    np.testing.assert_allclose(mapped.means_, whole.means_, rtol=1e-9)
    np.testing.assert_allclose(mapped.predict_proba(on_disk), whole.predict_proba(rows), atol=1e-9)


def test_any_container_of_the_same_numbers() -> None:
    rows = np.round(X * 4)
    expected = quiet_fit(rows).means_
    read_only = rows.copy()
    read_only.flags.writeable = False
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for other in (
        rows.astype(np.int64),
        np.asfortranarray(rows),
        np.repeat(rows, 2, axis=1)[:, ::2],
        read_only,
        rows.tolist(),
        pandas.DataFrame(rows),
        polars.DataFrame(rows),
    ):
        np.testing.assert_allclose(quiet_fit(other).means_, expected, rtol=1e-12)
    half = quiet_fit(rows.astype(np.float16))
    assert half.means_.dtype in (np.float32, np.float64)
    np.testing.assert_allclose(half.means_, expected, rtol=1e-4)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("estimator", [GaussianMixture, BayesianGaussianMixture])
def test_kept_parameters_are_weights_and_matrices_beside_the_means(estimator, covariance_type):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(m, 1.0, (40, 2)) for m in (0, 6)])
    model = estimator(2, covariance_type=covariance_type, random_state=0, keep="parameters").fit(
        rows
    )
    last = model.history_[-1]
    assert last["covariances"].shape == (2, 2, 2)
    np.testing.assert_allclose(last["weights"], model.weights_)
    np.testing.assert_allclose(last["parameters"], model.means_)
    matrices = SHAPES[covariance_type].full(model.covariances_, 2, 2)
    np.testing.assert_allclose(last["covariances"], np.broadcast_to(matrices, (2, 2, 2)))
    assert "weights" not in estimator(2).fit(rows).history_[0]
