"""Prediction strength against all pairs, and which clusters are said to come back."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from select_rows import four_clusters, one_cloud

from coterie import AgglomerativeClustering, GaussianMixture, KMeans
from coterie.select import choose_k
from coterie.select._by_resampling import strength

LABELS = arrays(np.int64, st.just(9), elements=st.integers(0, 2))


@given(LABELS, LABELS)
def test_strength_counts_pairs(labels: np.ndarray, predicted: np.ndarray) -> None:
    shares = []
    for cluster in set(labels.tolist()):
        pairs = list(combinations(np.flatnonzero(labels == cluster), 2))
        together = sum(predicted[i] == predicted[j] for i, j in pairs)
        shares.append(together / len(pairs) if pairs else 1.0)
    assert strength(labels, predicted) == pytest.approx(min(shares))


@pytest.mark.parametrize("estimator", [KMeans(), AgglomerativeClustering(), GaussianMixture()])
def test_four_clusters_come_back(estimator: object) -> None:
    found = choose_k(
        four_clusters(), estimator, 6, criterion=["prediction_strength", "stability"],
        n_resamples=10, random_state=0,
    )  # fmt: skip
    assert found.picks == {"prediction_strength": 4, "stability": 4}
    assert found.curves["prediction_strength"].values[0] == 1
    assert np.isnan(found.curves["stability"].values[0])


def test_a_cloud_does_not() -> None:
    found = choose_k(
        one_cloud(300, 5), k=6, criterion="prediction_strength", n_resamples=10, random_state=0
    )
    assert found.k == 1


def test_stability_cannot_say_one() -> None:
    found = choose_k(four_clusters(), k=[1], criterion="stability", random_state=0)
    assert found.k is None
