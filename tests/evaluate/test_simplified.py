"""Silhouettes by centres and by medoids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evaluate_twins import lengths_of
from test_scatter_scores import drawn

import coterie.evaluate as ev
from coterie import KMedoids
from coterie.distance import pairwise
from streams import Stream


def by_centers(X: Any, labels: Any, centers: Any, metric: str = "euclidean") -> Any:
    D = pairwise(X, centers, metric)
    out = np.empty(len(labels))
    for i, own in enumerate(labels):
        a, b = D[i, own], np.delete(D[i], own).min()
        alone = (labels == own).sum() == 1 or max(a, b) == 0
        out[i] = 0 if alone else (b - a) / max(a, b)
    return out


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_distances_to_means(metric: str) -> None:
    for seed in range(20):
        X, labels = drawn(seed)
        means = np.array([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
        expected = by_centers(X, labels, means, metric)
        found = ev.simplified_silhouette_samples(X, labels, metric=metric)
        np.testing.assert_allclose(found, expected, atol=1e-10)
        score = ev.simplified_silhouette_score(Stream(X), labels, metric=metric)
        assert score == pytest.approx(expected.mean(), abs=1e-10)


def test_given_centres_weights_and_noise() -> None:
    X, labels = drawn(3)
    centers = X[[np.flatnonzero(labels == c)[0] for c in range(labels.max() + 1)]]
    found = ev.simplified_silhouette_samples(X, labels, centers=centers)
    np.testing.assert_allclose(found, by_centers(X, labels, centers), atol=1e-12)
    times = np.random.default_rng(0).integers(1, 4, labels.size)
    score = ev.simplified_silhouette_score(X, labels, sample_weight=times)
    many = ev.simplified_silhouette_score(np.repeat(X, times, axis=0), np.repeat(labels, times))
    assert score == pytest.approx(many, abs=1e-10)
    noisy, kept = labels - 1, labels > 0
    score = ev.simplified_silhouette_score(X, noisy, noise="drop")
    assert score == pytest.approx(ev.simplified_silhouette_score(X[kept], noisy[kept]))
    with pytest.raises(ValueError, match="one centre a label"):
        ev.simplified_silhouette_samples(X, labels, centers=centers[:1])


def test_medoids() -> None:
    X, _ = drawn(4)
    model = KMedoids(3, random_state=0).fit(X)
    D = lengths_of(X)
    two = np.sort(D[:, model.medoid_indices_], axis=1)
    expected = np.mean(1 - two[:, 0] / two[:, 1])
    for rows, medoids, metric in (
        (X, model.medoid_indices_, "euclidean"),
        (X, X[model.medoid_indices_], "euclidean"),
        (Stream(X), model.medoid_indices_, "euclidean"),
        (D, model.medoid_indices_, "precomputed"),
    ):
        found = ev.medoid_silhouette_score(rows, medoids, metric=metric)
        assert found == pytest.approx(expected, rel=1e-12)
    weights = np.arange(1, len(X) + 1)
    weighted = ev.medoid_silhouette_score(X, model.medoid_indices_, sample_weight=weights)
    assert weighted == pytest.approx(np.average(1 - two[:, 0] / two[:, 1], weights=weights))


@pytest.mark.parametrize("medoids", [[0], [0, 10_000], [-1, 0], [0.5, 1.0], [[1.0, 2.0]]])
def test_wrong_medoids_are_refused(medoids: Any) -> None:
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(ValueError, match="medoid_silhouette_score: medoids"):
        ev.medoid_silhouette_score(X, medoids)
