"""A corpus of fits: every estimator and function, and the bits of all they leave behind.

A redesign that promises not to change results records the corpus before and compares it after.
What is recorded belongs to one machine: mixtures differ between instruction sets in the last
bits, and NumPy's own sums may too.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import coterie
from coterie.distance import closeness, pairwise
from coterie.neighbors import count_within, knn, kth_distances, merge_tree, within
from coterie.select import suggest_eps, suggest_min_samples

#: What of a history is no result: the clock, and the words for what it is about.
_NO_RESULT = ("seconds", "objective_name", "step_name")


def digest(value: Any) -> str:
    """The bits of an answer in a few letters: arrays, tables, numbers and what contains them."""
    state = hashlib.sha256()
    _feed(state, value)
    return state.hexdigest()[:16]


def _feed(state: Any, value: Any) -> None:
    if sp.issparse(value):
        for part in (value.data, value.indices, value.indptr):
            _feed(state, part)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        _feed(state, value.tolist())
    elif isinstance(value, (np.ndarray, np.generic)):
        state.update(f"{value.dtype}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            if key not in _NO_RESULT:
                _feed(state, (str(key), value[key]))
    elif isinstance(value, (list, tuple)):
        state.update(f"{len(value)}".encode())
        for part in value:
            _feed(state, part)
    elif hasattr(value, "__dict__") and type(value).__module__.startswith("coterie"):
        _feed(state, vars(value))
    else:
        state.update(repr(value).encode())


def _fitted(model: Any) -> dict[str, Any]:
    public = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: value for name, value in public.items() if not name.startswith("_")}


def _bits_of_fit(model: Any, X: Any, asked: Any, weights: Any) -> dict[str, str]:
    model.fit(X, **({} if weights is None else {"sample_weight": weights}))
    bits = {name: digest(value) for name, value in _fitted(model).items()}
    for method in ("predict", "transform", "predict_proba", "score_samples", "predict_membership"):
        if hasattr(model, method):
            bits[method] = digest(getattr(model, method)(asked))
    return bits


def _rows(n: int, d: int, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    centers = draw.normal(scale=4, size=(6, d))
    return centers[draw.integers(6, size=n)] + draw.normal(size=(n, d))


def _shapes(X: Any) -> dict[str, Any]:
    """The same rows in each kind of memory."""
    return {
        "float64": X,
        "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X),
        "csr float64": sp.csr_array(np.where(np.abs(X) > 1, X, 0)),
        "csr float32": sp.csr_array(np.where(np.abs(X) > 1, X, 0).astype(np.float32)),
    }


def _mixed(n: int) -> pd.DataFrame:
    draw = np.random.default_rng(5)
    kind = draw.integers(3, size=n)
    return pd.DataFrame(
        {
            "size": kind * 3.0 + draw.normal(size=n),
            "count": draw.poisson(1 + 4 * kind),
            "yes": (draw.random(n) < 0.2 + 0.3 * kind).astype(int),
            "color": np.array(["red", "green", "blue"])[(kind + (draw.random(n) < 0.2)) % 3],
        }
    )


Make = Callable[[int], Any]
#: Estimators over rows of numbers: name, how to make one for so many threads, which kinds of rows.
DENSE = ("float64", "float32", "fortran")
CSR = ("csr float64", "csr float32")


def _estimators() -> Iterator[tuple[str, Make, tuple[str, ...], bool]]:
    """Name, maker, kinds of rows and whether weights are taken."""
    c = coterie
    every = DENSE + CSR
    for init in ("k-means++", "random", "random-labels", "box", "farthest-first", "k-means||"):
        yield (
            f"KMeans {init}",
            lambda t, i=init: c.KMeans(5, init=i, n_init=2, random_state=3, n_threads=t),
            every,
            True,
        )
    for algorithm in ("lloyd", "hamerly", "yinyang"):
        yield (
            f"KMeans {algorithm}",
            lambda t, a=algorithm: c.KMeans(9, algorithm=a, random_state=1, n_threads=t),
            every,
            True,
        )
    yield (
        "KMeans cosine",
        lambda t: c.KMeans(4, metric="cosine", random_state=1, n_threads=t),
        every,
        True,
    )
    yield (
        "MiniBatchKMeans",
        lambda t: c.MiniBatchKMeans(5, batch_size=100, random_state=2, n_threads=t),
        every,
        True,
    )
    for strategy in ("biggest_inertia", "largest_cluster"):
        yield (
            f"BisectingKMeans {strategy}",
            lambda t, s=strategy: c.BisectingKMeans(
                7, bisecting_strategy=s, random_state=2, n_threads=t
            ),
            every,
            True,
        )
    for metric in ("euclidean", "manhattan", "cosine"):
        yield (
            f"DBSCAN {metric}",
            lambda t, m=metric: c.DBSCAN(
                {"euclidean": 1.2, "manhattan": 2.0, "cosine": 0.05}[m], metric=m, n_threads=t
            ),
            every if metric != "manhattan" else DENSE,
            True,
        )
        yield (
            f"HDBSCAN {metric}",
            lambda t, m=metric: c.HDBSCAN(min_cluster_size=8, metric=m, n_threads=t),
            DENSE,
            False,
        )
    yield (
        "HDBSCAN leaf auto",
        lambda t: c.HDBSCAN(
            min_cluster_size="auto", cluster_selection_method="leaf", store_centers="both"
        ).set_params(n_threads=t),
        DENSE,
        False,
    )
    for how in ("ward", "average", "complete", "single", "weighted", "centroid", "median", "genie"):
        yield (
            f"AgglomerativeClustering {how}",
            lambda t, h=how: c.AgglomerativeClustering(4, linkage=h, n_threads=t),
            DENSE,
            False,
        )
    yield (
        "AgglomerativeClustering compress",
        lambda t: c.AgglomerativeClustering(4, compress=60, random_state=0, n_threads=t),
        DENSE,
        False,
    )
    yield (
        "FeatureAgglomeration",
        lambda t: c.FeatureAgglomeration(2).set_params(n_threads=t),
        DENSE,
        False,
    )
    for method in ("fasterpam", "pam", "alternate", "onebatch"):
        yield (
            f"KMedoids {method}",
            lambda t, m=method: c.KMedoids(
                5, method=m, init="k-medoids++", n_init=2, random_state=3, n_threads=t
            ),
            every if method == "fasterpam" else DENSE,
            True,
        )
    for metric in ("manhattan", "cosine"):
        yield (
            f"KMedoids {metric}",
            lambda t, m=metric: c.KMedoids(4, metric=m, n_threads=t),
            DENSE,
            False,
        )
        yield (
            f"KCenter {metric}",
            lambda t, m=metric: c.KCenter(6, metric=m, random_state=1, n_threads=t),
            DENSE,
            False,
        )
    yield "KCenter", lambda t: c.KCenter(6, random_state=1, n_threads=t), every, False
    yield "LeaderClustering", lambda t: c.LeaderClustering(4.0, n_threads=t), every, False
    yield (
        "LeaderClustering manhattan",
        lambda t: c.LeaderClustering(7.0, metric="manhattan", n_threads=t),
        DENSE,
        False,
    )
    for kind in ("full", "tied", "diag", "spherical"):
        for extra in ({}, {"solver": "lbfgs"}, {"noise": True}, {"init_params": "k-means++"}):
            name = " ".join(["GaussianMixture", kind, *map(str, extra.values()), *extra])
            yield (
                name,
                lambda t, k=kind, e=extra: c.GaussianMixture(
                    4, covariance_type=k, n_init=2, random_state=1, n_threads=t, **e
                ),
                DENSE,
                True,
            )
        yield (
            f"BayesianGaussianMixture {kind}",
            lambda t, k=kind: c.BayesianGaussianMixture(
                5, covariance_type=k, random_state=1, n_threads=t
            ),
            DENSE,
            True,
        )
    for solver, accelerate in (("sgd", None), ("em", "anderson")):
        yield (
            f"GaussianMixture {solver} {accelerate}",
            lambda t, s=solver, a=accelerate: c.GaussianMixture(
                3, solver=s, accelerate=a, random_state=1, n_threads=t
            ),
            DENSE,
            True,
        )
    yield (
        "StudentTMixture",
        lambda t: c.StudentTMixture(3, random_state=1, n_threads=t),
        DENSE,
        True,
    )


def fits(n_threads: int) -> Iterator[tuple[str, Callable[[], dict[str, str]]]]:
    """Name of each fit, and the call that gives its bits."""
    for n, d, seed in ((400, 2, 0), (700, 11, 1)):
        X = _rows(n, d, seed)
        asked = _rows(90, d, seed + 10)
        weights = np.random.default_rng(seed).integers(1, 4, size=n) / 2
        rows = _shapes(X)
        wanted = _shapes(asked)
        for name, make, kinds, weighted in _estimators():
            for kind in kinds:
                for w in (None, weights) if weighted else (None,):
                    told = f"{name} / {n} x {d} {kind}{' weighted' if w is not None else ''}"
                    yield (
                        told,
                        lambda m=make, k=kind, r=rows, a=wanted, v=w: _bits_of_fit(
                            m(n_threads), r[k], a[k], v
                        ),
                    )
    yield from _special_rows(n_threads)


def _special_rows(n_threads: int) -> Iterator[tuple[str, Callable[[], dict[str, str]]]]:
    """Estimators whose rows are bits, counts, categories, tables or distances."""
    draw = np.random.default_rng(7)
    kind = draw.integers(3, size=500)
    bits = (draw.random((500, 20)) < np.array([0.1, 0.5, 0.8])[kind, np.newaxis]).astype(float)
    counts = draw.poisson(np.array([1.0, 4.0, 9.0])[kind, np.newaxis], size=(500, 6)).astype(float)
    words = draw.integers(4, size=(500, 5))
    words[np.arange(500), kind] = kind
    table = _mixed(500)
    X = _rows(300, 3, 3)
    holes = X.copy()
    holes[draw.random(X.shape) < 0.1] = np.nan
    few = {"n_components": 3, "random_state": 1, "n_threads": n_threads}
    given: list[tuple[str, Any, Any, bool]] = [
        ("BernoulliMixture", coterie.BernoulliMixture(**few), bits, True),
        ("BernoulliMixture csr", coterie.BernoulliMixture(**few), sp.csr_array(bits), True),
        ("PoissonMixture", coterie.PoissonMixture(**few), counts, True),
        ("PoissonMixture csr", coterie.PoissonMixture(**few), sp.csr_array(counts), True),
        ("CategoricalMixture", coterie.CategoricalMixture(**few), words, True),
        ("MixedMixture", coterie.MixedMixture(**few), table, True),
        ("GaussianMixture missing", coterie.GaussianMixture(**few), holes, True),
        ("DBSCAN gower", coterie.DBSCAN(0.15, metric="gower"), table, True),
        ("HDBSCAN gower", coterie.HDBSCAN(metric="gower"), table, False),
        ("KMedoids gower", coterie.KMedoids(3, metric="gower", n_threads=n_threads), table, True),
        (
            "KCenter gower",
            coterie.KCenter(3, metric="gower", start=0, n_threads=n_threads),
            table,
            False,
        ),
    ]
    for name, model, rows, weighted in given:
        weights = np.linspace(0.5, 2, num=len(table) if len(table) == rows.shape[0] else 300)
        for w in (None, weights) if weighted else (None,):
            yield (
                f"{name}{' weighted' if w is not None else ''}",
                lambda m=model, r=rows, v=w: _bits_of_fit(m, r, r[:50], v),
            )
    D = pairwise(X)
    for name, model in (
        ("DBSCAN", coterie.DBSCAN(1.0, metric="precomputed", n_threads=n_threads)),
        ("HDBSCAN", coterie.HDBSCAN(metric="precomputed", n_threads=n_threads)),
        ("KMedoids", coterie.KMedoids(4, metric="precomputed", n_threads=n_threads)),
        ("KCenter", coterie.KCenter(4, metric="precomputed", start=0, n_threads=n_threads)),
        (
            "AgglomerativeClustering",
            coterie.AgglomerativeClustering(
                3, metric="precomputed", linkage="average", n_threads=n_threads
            ),
        ),
    ):
        yield (
            f"{name} precomputed",
            lambda m=model: {k: digest(v) for k, v in _fitted(m.fit(D)).items()},
        )
    graph = within_graph(X)
    one_way = sp.csr_array(sp.triu(graph) + 2.0 * sp.tril(graph))  # another way back
    for name, arcs in (("lengths", graph), ("hops", graph > 0), ("one way", one_way)):
        yield (
            f"KMedoids geodesic {name}",
            lambda a=arcs: _bits_of_fit(
                coterie.KMedoids(
                    4, metric="geodesic", n_init=2, random_state=1, n_threads=n_threads
                ),
                a,
                a,
                np.linspace(0.5, 2, num=300),
            ),
        )
    for model in (coterie.DBSCAN(1.0, metric="precomputed"), coterie.HDBSCAN(metric="precomputed")):
        yield (
            f"{type(model).__name__} sparse graph",
            lambda m=model: {k: digest(v) for k, v in _fitted(m.fit(graph)).items()},
        )
    for how in ("ward", "average", "complete", "single", "genie"):
        yield (
            f"AgglomerativeClustering {how} connected",
            lambda h=how: {
                k: digest(v)
                for k, v in _fitted(
                    coterie.AgglomerativeClustering(3, linkage=h, connectivity=graph > 0).fit(X)
                ).items()
            },
        )


def within_graph(X: Any) -> Any:
    """Distances of neighbouring rows as a symmetric sparse graph that is connected."""
    near = pairwise(X)
    rank = near.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    keep = (rank <= 12) | (rank.T <= 12)
    keep[0], keep[:, 0] = True, True
    np.fill_diagonal(keep, False)
    return sp.csr_array(np.where(keep, near, 0))


def _merges(tree: Any) -> Any:
    return merge_tree(tree.heads, tree.tails, tree.lengths)


def functions(n_threads: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name of each function over each kind of rows, and the call that gives its answer."""
    graph = within_graph(_rows(300, 3, 3))
    halves = np.arange(300) % 2
    yield "closeness", lambda: closeness(graph, n_threads=n_threads)
    yield "closeness inside", lambda: closeness(graph > 0, halves, n_threads=n_threads)
    for n, d, seed in ((400, 2, 0), (700, 11, 1)):
        for kind, X in _shapes(_rows(n, d, seed)).items():
            tell = f"/ {n} x {d} {kind}"
            if not kind.startswith("csr"):
                t = {"n_threads": n_threads}
                yield f"knn {tell}", lambda X=X, t=t: knn(X, 7, **t)
                yield f"knn of others {tell}", lambda X=X, t=t: knn(X, 7, queries=X[:40], **t)
                yield f"within {tell}", lambda X=X, t=t: within(X, 1.5, **t)
                yield f"count_within {tell}", lambda X=X, t=t: count_within(X, 1.5, **t)
                yield f"kth_distances {tell}", lambda X=X, t=t: kth_distances(X, 4, **t)
                for k in (1, 5):
                    yield (
                        f"spanning_tree {k} {tell}",
                        lambda X=X, k=k, t=t: coterie.spanning_tree(X, kth_distances(X, k)[0], **t),
                    )
                yield f"merge_tree {tell}", lambda X=X, t=t: _merges(coterie.spanning_tree(X, **t))
                for how in ("ward", "average", "single", "genie"):
                    yield (
                        f"linkage {how} {tell}",
                        lambda X=X, h=how, t=t: coterie.linkage(X, h, **t),
                    )
                for metric in ("euclidean", "chebyshev"):
                    yield (
                        f"farthest_first {metric} {tell}",
                        lambda X=X, m=metric, t=t: coterie.farthest_first(X, 6, m, start=3, **t),
                    )
                yield f"suggest_eps {tell}", lambda X=X: suggest_eps(X)
                yield f"suggest_min_samples {tell}", lambda X=X: suggest_min_samples(X)
                for metric in ("manhattan", "cosine", "correlation", "chebyshev"):
                    yield (
                        f"pairwise {metric} {tell}",
                        lambda X=X, m=metric: pairwise(X, metric=m),
                    )
            yield (
                f"kmeans_plusplus {tell}",
                lambda X=X: coterie.kmeans_plusplus(X, 6, random_state=4),
            )
            yield f"k_means {tell}", lambda X=X: coterie.k_means(X, 6, random_state=4)


def record(n_threads: int, only: str = "") -> dict[str, dict[str, str]]:
    """The bits of the whole corpus, or of what has `only` in its name."""
    told: dict[str, dict[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in fits(n_threads):
            if only in name:
                told[name] = fit()
        for name, call in functions(n_threads):
            if only in name:
                told[name] = {"answer": digest(call())}
    return told


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs, a line a fit; what only one of the two has counts as well."""
    lines = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            lines.append(f"{name}: only {'after' if old is None else 'before'}")
        elif old != new:
            parts = sorted(k for k in {*old, *new} if old.get(k) != new.get(k))
            lines.append(f"{name}: {', '.join(parts)}")
    return lines
