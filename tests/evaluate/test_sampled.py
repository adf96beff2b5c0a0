"""Sampled silhouettes and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from test_scatter_scores import drawn

import coterie.evaluate as ev
from coterie.distance import pairwise
from streams import Stream

rng = np.random.default_rng(0)
LABELS = rng.integers(0, 4, 600)
X = rng.normal(size=(600, 3)) + 2 * LABELS[:, np.newaxis]


def test_intervals_hold_the_exact_score() -> None:
    exact = ev.silhouette_score(X, LABELS)
    found = [
        ev.sampled_silhouette_score(X, LABELS, sample_size=300, random_state=seed)
        for seed in range(200)
    ]
    share = np.mean([one.low <= exact <= one.high for one in found])
    assert 0.9 <= share <= 0.99
    errors = np.array([one.score - exact for one in found])
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(200)  # no bias
    spread = np.mean([one.standard_error for one in found])
    assert spread == pytest.approx(errors.std(), rel=0.15)


def test_all_rows_are_the_exact_score() -> None:
    for seed in range(10):
        rows, labels = drawn(seed)
        found = ev.sampled_silhouette_score(rows, labels, sample_size=10_000)
        exact = ev.silhouette_score(rows, labels)
        assert found.score == pytest.approx(exact, abs=1e-12)
        assert found.low == found.score == found.high
        assert found.n_sampled == labels.size


def test_streams_weights_and_noise() -> None:
    options = {"sample_size": 50, "random_state": 1}
    assert ev.sampled_silhouette_score(Stream(X), LABELS, **options) == pytest.approx(
        ev.sampled_silhouette_score(X, LABELS, **options)
    )
    times = np.random.default_rng(1).integers(0, 4, 600)
    exact = ev.silhouette_score(X, LABELS, sample_weight=times)
    found = ev.sampled_silhouette_score(
        X, LABELS, sample_size=4000, sample_weight=times, random_state=0
    )
    assert found.low <= exact <= found.high
    assert found.standard_error < 0.02
    noisy = LABELS - 1
    found = ev.sampled_silhouette_score(X, noisy, sample_size=1000, noise="drop")
    assert found.score == pytest.approx(ev.silhouette_score(X, noisy, noise="drop"))
    assert found.n_sampled == (noisy >= 0).sum()


@pytest.mark.parametrize("noise", ["cluster", "drop", "singletons"])
@pytest.mark.parametrize("weighted", [False, True])
def test_given_distances_are_as_good_as_rows(noise: str, weighted: bool) -> None:
    rows, labels = X[:200], LABELS[:200] - 1
    times = np.random.default_rng(2).integers(0, 3, 200) if weighted else None
    options = {"noise": noise, "sample_weight": times, "random_state": 0}
    square = pairwise(rows)
    for size in (50, 1000):
        wanted = ev.sampled_silhouette_score(rows, labels, sample_size=size, **options)
        for given in (square, sp.csr_matrix(square)):
            found = ev.sampled_silhouette_score(
                given, labels, sample_size=size, metric="precomputed", **options
            )
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="sample_size=1 was given"):
        ev.sampled_silhouette_score(X, LABELS, sample_size=1)
    with pytest.raises(ValueError, match="confidence=2"):
        ev.sampled_silhouette_score(X, LABELS, confidence=2)
