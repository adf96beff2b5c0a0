"""Covers coterie.select._candidates."""

from __future__ import annotations

import numpy as np
import pytest
from select_rows import four_clusters

from coterie.centroid import KMeans
from coterie.evaluate import adjusted_rand_score
from coterie.select._candidates import (
    FromMeans,
    Method,
    fits_for,
    spanning_for,
    usable,
    ward_for,
)


def all_methods(rows: np.ndarray) -> list[Method]:
    return [*fits_for(rows, 0), ward_for(rows, 0, 1), *spanning_for(rows, 1)]


def test_labels_of_candidates_are_those_of_their_estimators() -> None:
    rows = four_clusters()
    for method in all_methods(rows):
        labels = usable(method.labels(4), 4)
        assert labels is not None, method.name
        fitted = method.fitted(4, rows)
        own = fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(rows)
        assert adjusted_rand_score(own[own >= 0], labels[own >= 0]) == 1
        assert len(set(own[own >= 0].tolist())) == 4


@pytest.mark.parametrize("k", [2, 5, 9])
def test_leaves_are_as_many_as_asked_or_there_are_none(k: int) -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2))
    leaves = [m for m in spanning_for(rows, 1) if m.name.startswith("HDBSCAN")]
    found = [one.labels(k) for one in leaves]
    assert any(labels is not None for labels in found)
    for labels in found:
        if labels is not None:
            assert sorted(set(labels.tolist())) == list(range(k))


def test_noise_gets_the_label_of_the_nearest_labelled_row() -> None:
    rows = np.concatenate([four_clusters(), [[30.0, 30.0]]])
    for method in spanning_for(rows, 1):
        labels = method.labels(4)
        if method.name.startswith("HDBSCAN"):
            assert labels is not None
            own = method.fitted(4, rows).labels_
            assert own[-1] == -1
            nearest = int(np.argmin(np.linalg.norm(rows[:-1] - rows[-1], axis=1)))
            assert labels[-1] == labels[nearest]


def test_k_means_from_ward_starts_at_its_means() -> None:
    rows = np.random.default_rng(1).normal(size=(100, 3))
    ward = ward_for(rows, 0, 1)
    method = FromMeans(ward, rows)
    start = ward.labels(5)
    means = np.array([rows[start == c].mean(axis=0) for c in range(5)])
    expected = KMeans(5, init=means, n_init=1).fit(rows).labels_
    np.testing.assert_array_equal(method.labels(5), expected)
    assert method.told(5) == {"n_clusters": 5, "init": "means of Ward"}


def test_told_parameters_make_the_same_estimator() -> None:
    for method in all_methods(four_clusters()):
        estimator = method.estimator(3)
        again = type(estimator)(**method.told(3))
        assert again.get_params() == estimator.get_params()


def test_a_partition_of_another_number_is_not_usable() -> None:
    assert usable(None, 2) is None
    assert usable(np.array([0, 0, 1]), 3) is None
    np.testing.assert_array_equal(usable(np.array([7, 3, 7]), 2), [0, 1, 0])
