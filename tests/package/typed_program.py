"""What a user's type checker sees of an installed coterie; read by `mypy --strict`, then run."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import coterie
from coterie import DBSCAN, GaussianMixture, KMeans
from coterie.evaluate import silhouette_score


def cluster(X: NDArray[np.float64]) -> NDArray[np.int32]:
    """Labels by k-means, which a mixture must not beat."""
    model = KMeans(n_clusters=2, random_state=0).fit(X)
    assert_type(model, KMeans)
    assert_type(model.inertia_, float)
    mixture = GaussianMixture(n_components=2, covariance_type="spherical", random_state=0).fit(X)
    assert silhouette_score(X, mixture.predict(X)) <= silhouette_score(X, model.labels_)
    return model.labels_


rows = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
assert sorted(np.bincount(cluster(rows)).tolist()) == [3, 3]
DBSCAN(eps=2.0, min_samples=3).fit(rows)
KMeans(n_clusters="two")  # type: ignore[arg-type] # mypy must find it: --strict tells of unused ones
assert_type(coterie.__version__, str)
with coterie.options(n_threads=1):
    assert coterie.show_config()["n_threads"] == 1
