"""A little of every family with an installed coterie, run from where its sources are not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import coterie
from coterie.evaluate import adjusted_rand_score, silhouette_score
from coterie.search import FlatIndex, PQIndex
from coterie.select import choose_k

assert Path(coterie.__file__).is_relative_to(sys.prefix), coterie.__file__
print(f"  coterie {coterie.__version__}, kernels {', '.join(coterie.show_config()['isas'])}")

rng = np.random.default_rng(0)
truth = np.repeat([0, 1, 2], 100)
X = np.array([[0.0, 0, 0, 0], [9, 0, 0, 0], [0, 9, 0, 0]])[truth] + rng.normal(size=(300, 4))

MODELS = [
    coterie.KMeans(3, random_state=0),
    coterie.MiniBatchKMeans(3, random_state=0),
    coterie.BisectingKMeans(3, random_state=0),
    coterie.KMedoids(3, random_state=0),
    coterie.KCenter(3, random_state=0),
    coterie.GaussianMixture(3, random_state=0),
    coterie.BayesianGaussianMixture(3, random_state=0),
    coterie.StudentTMixture(3, random_state=0),
    coterie.DBSCAN(eps=2.5),
    coterie.HDBSCAN(min_cluster_size=20),
    coterie.AgglomerativeClustering(3),
]
for model in MODELS:
    model.fit(X)
    labels = model.predict(X)
    assert adjusted_rand_score(truth, labels) > 0.9, model
    model.save("model.coterie")
    assert np.array_equal(coterie.load("model.coterie").predict(X), labels), model

coterie.BernoulliMixture(3, random_state=0).fit((X > 4).astype(float))
coterie.PoissonMixture(3, random_state=0).fit(np.floor(np.abs(X)))
assert coterie.linkage(X, "average").shape == (299, 4)
assert silhouette_score(X, truth) > 0.6
assert choose_k(X, coterie.KMeans(random_state=0), range(1, 6), random_state=0).k == 3

codes = PQIndex(coterie.ProductQuantizer(2, bits=4, random_state=0).fit(X), keep_rows=True).add(X)
exact = FlatIndex().add(X).search(X[:5], k=3)
assert np.array_equal(codes.search_certified(X[:5], k=3).ids, exact.ids)
