"""Mean rows of clusters, of rows at once and some at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from coterie.cli._means import cluster_means
from streams import Stream


@pytest.mark.parametrize("n_clusters", [0, 1, 4])
def test_means_are_those_of_the_definition_without_noise(n_clusters):
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(500, 3)) + 100
    labels = rng.randint(-1, max(n_clusters, 1) if n_clusters else 0, size=500)
    wanted = [rows[labels == label].mean(axis=0) for label in range(n_clusters)]
    for given in (rows, Stream(rows)):
        means = cluster_means(given, labels)
        assert means.shape == (n_clusters, 3)
        if n_clusters:
            assert_allclose(means, wanted, rtol=1e-12)
