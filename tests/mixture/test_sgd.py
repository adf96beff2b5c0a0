"""Adam on mini-batches against EM from the same start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_lbfgs import data

from coterie import GaussianMixture
from coterie.data import as_source
from coterie.mixture._coordinates import WEIGHTS
from coterie.mixture._sgd import Adam


@pytest.mark.parametrize("name", ["faithful", "iris"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_ends_within_a_thousandth_a_row_of_em(name: str, weights: str) -> None:
    X = data(name)
    plain = GaussianMixture(3, random_state=0, tol=1e-10, max_iter=1000).fit(X)
    noisy = GaussianMixture(3, random_state=0, solver="sgd", weights=weights).fit(X)
    assert noisy.converged_
    assert noisy.lower_bound_ == pytest.approx(noisy.score(X))
    assert noisy.lower_bound_ >= plain.lower_bound_ - 1e-3


@pytest.mark.parametrize("covariance_type", ["tied", "diag", "spherical"])
def test_so_for_the_other_shapes_and_weighted_rows(covariance_type: str) -> None:
    X, rng = data("faithful"), np.random.default_rng(0)
    params = {"covariance_type": covariance_type, "random_state": 0, "prior": "auto"}
    sample_weight = rng.uniform(0, 2, len(X))
    plain = GaussianMixture(2, tol=1e-8, max_iter=1000, **params).fit(X, None, sample_weight)
    noisy = GaussianMixture(2, solver="sgd", **params).fit(X, None, sample_weight)
    assert noisy.lower_bound_ >= plain.lower_bound_ - 1e-3


def test_rows_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3)) + rng.integers(0, 2, (3000, 1)) * 3.0
    np.save(tmp_path / "rows.npy", X)
    monkeypatch.setattr("coterie.data.npy.NpySource.block_bytes", 1 << 13)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    plain = GaussianMixture(2, random_state=0, tol=1e-8).fit(X)
    noisy = GaussianMixture(2, random_state=0, solver="sgd").fit(mapped)
    assert noisy.lower_bound_ >= plain.lower_bound_ - 1e-3


def test_the_seed_and_nothing_else_decides() -> None:
    X = np.random.default_rng(0).standard_normal((2000, 3))
    params = {"solver": "sgd", "max_iter": 50, "tol": 1e-2}
    fits = [
        GaussianMixture(3, random_state=seed, n_threads=n_threads, **params).fit(X)
        for seed, n_threads in [(0, 1), (0, 2), (0, 3), (1, 1)]
    ]
    assert len({model.means_.tobytes() for model in fits[:3]}) == 1
    assert fits[3].means_.tobytes() != fits[0].means_.tobytes()


def test_history_and_callback_are_as_for_em() -> None:
    X, seen = data("iris"), []

    def stop_at_five(progress: Any) -> bool:
        seen.append(progress.objective)
        return len(seen) == 5

    model = GaussianMixture(3, solver="sgd", tol=0, random_state=0, callback=stop_at_five).fit(X)
    assert model.n_iter_ == len(model.history_) == len(model.lower_bounds_) == 5
    assert model.events_[-1]["what"] == "stopped"
    assert model.lower_bound_ == max(model.lower_bounds_)


@pytest.mark.parametrize("n_rows", [10, 1000])
def test_an_epoch_sees_every_row_once(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    batches = list(as_source(X, X[:, 0]).batches(32, np.random.RandomState(0)))
    assert all(batch.n_rows <= 32 for batch in batches)
    seen = np.concatenate([batch.rows for batch in batches])
    np.testing.assert_array_equal(seen[np.argsort(seen[:, 0])], X)
    np.testing.assert_array_equal(np.concatenate([batch.weights for batch in batches]), seen[:, 0])
    assert not np.array_equal(seen, X)


def test_adam_takes_unit_steps_downhill() -> None:
    adam = Adam(2)
    for _ in range(3):
        np.testing.assert_allclose(adam.step(np.array([5.0, -1e-3])), [-1, 1], rtol=1e-4)
