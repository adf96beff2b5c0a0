"""Every estimator and function over tables and parameters, and what must be true of the answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from fuzz_runner import BrokenError, Case
from fuzz_tables import draw_array, draw_table, draw_weights, hostile_csr, pick

import coterie
from coterie.distance import METRICS, pairwise
from coterie.neighbors import count_within, knn, within
from coterie.select import suggest_eps, suggest_min_samples

Draw = np.random.Generator

#: Names that estimators share, and what they may be given; wrong values are among them.
PARAMS: dict[str, list[Any]] = {
    "n_clusters": [1, 2, 2, 3, 3, 5, 20, 0, -1, 2.5, "x", None],
    "n_components": [1, 2, 2, 3, 3, 5, 20, 0, 1.5],
    "init": [
        "k-means++",
        "random",
        "random-labels",
        "box",
        "farthest-first",
        "k-means||",
        "build",
        "k-medoids++",
        "x",
    ],
    "method": ["auto", "fasterpam", "pam", "alternate", "onebatch", "x"],
    "n_init": [1, 2, 3, "auto", 0],
    "max_iter": [1, 2, 10, 50, 0],
    "tol": [0, 1e-4, 1e-2, -1, np.nan],
    "random_state": [0, 1, 2, 3, 1051],
    "algorithm": ["auto", "lloyd", "elkan", "hamerly", "yinyang", "brute", "kd_tree"],
    "metric": ["euclidean"] * 8 + sorted(METRICS),
    "p": [None, 1, 2, 3, 0.5],
    "eps": [0.1, 0.5, 2, 1e10, 1e-300, "auto", "auto", 0, -1, np.nan],
    "min_samples": [1, 2, 3, 5, None, 0],
    "min_cluster_size": [2, 3, 5, 5, 15, "auto", 1],
    "cluster_selection_method": ["eom", "leaf"],
    "allow_single_cluster": [True, False],
    "cluster_selection_epsilon": [0.0, 0.5, 1e300],
    "max_cluster_size": [None, 3, 10],
    "store_centers": [None, None, "centroid", "medoid", "both"],
    "alpha": [1.0, 0.5, 3.0],
    "border": ["first", "nearest", "noise"],
    "linkage": ["ward", "average", "complete", "single", "weighted", "centroid", "median", "genie"],
    "gini_threshold": [0.3, 0.3, 0.0, 1.0, 1.5, np.nan],
    "covariance_type": ["full", "tied", "diag", "spherical"],
    "reg_covar": [1e-6, 0.0, "auto", 1e-3],
    "init_params": ["kmeans", "k-means++", "random", "random_from_data"],
    "noise": [False, True],
    "prior": [None],
    "solver": ["em", "em", "lbfgs", "sgd"],
    "accelerate": [None, "anderson"],
    "batch_size": [1, 5, 1024, 0],
    "reassignment_ratio": [0.0, 0.01, 1.0],
    "max_no_improvement": [None, 1, 10],
    "bisecting_strategy": ["biggest_inertia", "largest_cluster"],
    "branching": [2, 3, 32, 1],
    "depth": [1, 2, 5, 0],
    "beam": [1, 2, 1000, 0],
    "store_rows": [True, False],
    "min_variance": [1e-6, 0.0, "auto"],
    "n_threads": [1, 2, 3, None, 0, 10**30],
    "distance_threshold": [None, None, 0.5],
    "compress": [None, None, 5, 100],
    "n_subvectors": [1, 1, 2, 3, 8, 0],
    "bits": [4, 8, 5],
    "rotate": [False, True],
    "n_iter": [1, 3, 25, 0],
    "max_training_rows": [None, 1, 10, 0],
    "n_codewords": [1, 2, 3, 8, 50, 0],
    "n_training_rows": [None, None, 1, 20],
}

#: Of these a fit is checked to say what `predict` says.
PREDICT_SAYS_LABELS = (
    "KMeans", "MiniBatchKMeans", "BisectingKMeans", "KMedoids", "DBSCAN", "HDBSCAN",
    "KCenter", "LeaderClustering", "HierarchicalKMeans",
)  # fmt: skip


def estimators() -> dict[str, Any]:
    """Public estimators by name."""
    found = {name: getattr(coterie, name) for name in coterie.__all__}
    return {
        name: cls for name, cls in found.items() if isinstance(cls, type) and hasattr(cls, "fit")
    }


def draw_params(rng: Draw, cls: Any) -> dict[str, Any]:
    """Some parameters of the class, from the table above; mostly valid ones."""
    known = inspect.signature(cls.__init__).parameters
    names = [name for name in PARAMS if name in known]
    if "random_state" in names:
        names.remove("random_state")
    n_drawn = int(rng.integers(0, min(6, len(names)) + 1))
    drawn = {name: pick(rng, PARAMS[name]) for name in rng.permutation(names)[:n_drawn].tolist()}
    if "random_state" in known:
        drawn["random_state"] = pick(rng, PARAMS["random_state"])
    if "max_iter" in known:
        drawn.setdefault("max_iter", 20)
    return drawn


def fit_case(seed: int) -> Case:
    """An estimator fitted to a table, and asked about it."""
    rng = np.random.default_rng([1, seed])
    name = pick(rng, sorted(estimators()))
    cls = estimators()[name]
    params = draw_params(rng, cls)
    X, told = draw_table(rng)
    weights, told_weights = None, "no weights"
    if "sample_weight" in inspect.signature(cls.fit).parameters:
        weights, told_weights = draw_weights(rng, np.shape(X)[0])
    given = {} if weights is None else {"sample_weight": weights}

    def run() -> None:
        with coterie.options(check_invariants=bool(seed % 2)):
            before = _bytes_of(X)
            model = cls(**params).fit(X, **given)
            _check_model(name, model, X)
            if _bytes_of(X) != before:
                raise BrokenError("X was changed")
            if seed % 3 == 0 and params.get("n_threads", 0) in (0, 1, 2, 3, None):
                other = cls(**{**params, "n_threads": 3}).fit(X, **given)
                _same(getattr(model, "labels_", None), getattr(other, "labels_", None), "threads")

    return Case("fit", seed, f"{name}({_told(params)}) on {told}, {told_weights}", run)


def _check_model(name: str, model: Any, X: Any) -> None:
    n_rows = np.shape(X)[0] if name != "FeatureAgglomeration" else np.shape(X)[1]
    labels = getattr(model, "labels_", None)
    if labels is not None:
        if labels.shape != (n_rows,) or labels.dtype.kind != "i":
            raise BrokenError(f"labels of shape {labels.shape}, {labels.dtype}")
        if labels.min() < -3 or labels.max() >= n_rows:
            raise BrokenError(f"labels from {labels.min()} to {labels.max()}")
    for key in ("inertia_", "lower_bound_"):
        begun = getattr(model, "max_iter", 1) != 0
        value = getattr(model, key, None)  # None: nothing is known of it
        if begun and value is not None and not np.isfinite(value):
            raise BrokenError(f"{key} is {value}")
    for key in ("cluster_centers_", "means_", "weights_"):
        value = np.asarray(getattr(model, key, 0.0))
        has_gaps = getattr(model, "metric", None) in ("gower", "nan_euclidean")
        if not has_gaps and not np.isfinite(value).all():
            raise BrokenError(f"{key} is not finite")
    if hasattr(model, "predict"):
        found = model.predict(X)
        if found.shape != (np.shape(X)[0],):
            raise BrokenError(f"predict gives shape {found.shape}")
        if name in PREDICT_SAYS_LABELS:
            _same(found, labels, "predict and labels_")
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        total, least = shares.sum(axis=1), 0.0 if getattr(model, "noise", False) else 1.0
        if not ((total > least - 1e-4) & (total < 1 + 1e-4)).all():
            raise BrokenError("shares do not sum to one")


def _same(one: Any, other: Any, what: str) -> None:
    if one is not None and other is not None and not np.array_equal(one, other):
        raise BrokenError(f"{what} differ: {np.asarray(one)[:20]} and {np.asarray(other)[:20]}")


def _bytes_of(X: Any) -> bytes:
    if sp.issparse(X):
        return bytes(np.asarray(X.data).tobytes())
    return np.asarray(X).tobytes() if not isinstance(X, pd.DataFrame) else X.to_numpy().tobytes()


def function_case(seed: int) -> Case:
    """A function of rows."""
    rng = np.random.default_rng([2, seed])
    X, told = draw_table(rng, sparse=False)
    name = pick(rng, sorted(FUNCTIONS))
    metric = pick(rng, ["euclidean"] * 4 + sorted(METRICS))
    k = pick(rng, [1, 2, 3, 7, 0, -1, np.int8(2), 1.5])
    radius = pick(rng, [0.1, 1.0, 1e9, 0.0, -1.0, np.nan])
    return Case(
        "function",
        seed,
        f"{name}(metric={metric!r}, k={k!r}, radius={radius!r}) of {told}",
        lambda: FUNCTIONS[name](X, metric, k, radius),
    )


def _falls(lengths: Any) -> bool:
    # Compared, not subtracted: rows may be infinitely far apart, and infinity less itself is NaN.
    return bool((lengths[..., 1:] < lengths[..., :-1]).any())


def _linkage(X: Any, metric: Any, k: Any, radius: Any) -> None:
    method = (
        "average" if metric != "euclidean" else ["ward", "single", "complete", "genie"][int(k) % 4]
    )
    Z = coterie.linkage(X, method, metric=metric)
    if np.isnan(Z).any() or (method != "genie" and _falls(Z[:, 2])):
        raise BrokenError(f"heights {Z[:, 2]}")


def _knn(X: Any, metric: Any, k: Any, radius: Any) -> None:
    found = knn(X, k, metric=metric)
    idx, dist = found[0], found[1]
    lengths = dist if np.asarray(dist).dtype.kind == "f" else idx
    if np.isnan(lengths).any() or _falls(lengths):
        raise BrokenError(f"lengths {lengths[:3]}")


def _within(X: Any, metric: Any, k: Any, radius: Any) -> None:
    counts = count_within(X, radius, metric=metric)
    found = within(X, radius, metric=metric)
    n_found = np.diff(getattr(found, "starts", getattr(found, "indptr", np.zeros(1))))
    if n_found.size and not np.array_equal(n_found, counts):
        raise BrokenError(f"{n_found[:9]} found and {counts[:9]} counted")


def _spanning(X: Any, metric: Any, k: Any, radius: Any) -> None:
    lengths = coterie.spanning_tree(X, metric=metric).lengths
    if np.isnan(lengths).any() or _falls(lengths):
        raise BrokenError(f"lengths {lengths[:9]}")


def _distances(X: Any, metric: Any, k: Any, radius: Any) -> None:
    table = pairwise(X, metric=metric)
    if np.isnan(table).any() or (table < 0).any() or not np.array_equal(table, table.T):
        raise BrokenError("distances are NaN, negative or one-way")


def _seeds(X: Any, metric: Any, k: Any, radius: Any) -> None:
    centers, rows = coterie.kmeans_plusplus(X, k, random_state=0)
    if not np.isfinite(centers).all() or rows.shape != (k,):
        raise BrokenError(f"seeds {centers}")


def _eps(X: Any, metric: Any, k: Any, radius: Any) -> None:
    if not suggest_eps(X, None if k == 0 else k, metric=metric).eps > 0:
        raise BrokenError("eps is not above 0")
    suggest_min_samples(X, metric=metric)


FUNCTIONS: Mapping[str, Callable[[Any, Any, Any, Any], None]] = {
    "linkage": _linkage,
    "knn": _knn,
    "within": _within,
    "spanning_tree": _spanning,
    "distances": _distances,
    "kmeans_plusplus": _seeds,
    "suggest_eps": _eps,
}


def csr_case(seed: int) -> Case:
    """A sparse matrix that contradicts itself, wherever one is taken."""
    rng = np.random.default_rng([3, seed])
    name = pick(rng, sorted(CSR_TAKERS))
    n = int(pick(rng, [2, 5, 30]))
    square = name in ("precomputed DBSCAN", "precomputed HDBSCAN", "graph", "connectivity")
    M, told = hostile_csr(rng, n, n if square else int(pick(rng, [1, 3, 30])))
    rows, _ = draw_array(np.random.default_rng([4, seed]))
    return Case("csr", seed, f"{name} of {told}", lambda: CSR_TAKERS[name](M, rows))


def _connectivity(M: Any, rows: Any) -> None:
    X = np.arange(2.0 * M.shape[0]).reshape(-1, 2)
    coterie.AgglomerativeClustering(2, connectivity=M).fit(X)


CSR_TAKERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "precomputed DBSCAN": lambda M, _: coterie.DBSCAN(0.5, metric="precomputed").fit(M),
    "precomputed HDBSCAN": lambda M, _: coterie.HDBSCAN(2, metric="precomputed").fit(M),
    "graph": lambda M, _: coterie.DBSCAN(0.5, metric="graph").fit(M),
    "connectivity": _connectivity,
    "KMeans": lambda M, _: coterie.KMeans(2).fit(M).predict(M),
    "MiniBatchKMeans": lambda M, _: coterie.MiniBatchKMeans(2).fit(M),
    "BisectingKMeans": lambda M, _: coterie.BisectingKMeans(2).fit(M),
    "HierarchicalKMeans": lambda M, _: coterie.HierarchicalKMeans(2, 2).fit(M),
    "DBSCAN": lambda M, _: coterie.DBSCAN(0.5).fit(M),
    "HDBSCAN": lambda M, _: coterie.HDBSCAN(2).fit(M),
    "BernoulliMixture": lambda M, _: coterie.BernoulliMixture(2).fit(M),
    "PoissonMixture": lambda M, _: coterie.PoissonMixture(2).fit(M),
    "kmeans_plusplus": lambda M, _: coterie.kmeans_plusplus(M, 2),
    "knn": lambda M, _: knn(M, 2),
}


def _told(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in params.items())


AREAS: Mapping[str, Callable[[int], Case]] = {
    "fit": fit_case,
    "function": function_case,
    "csr": csr_case,
}
