"""Gaussian mixtures: from a given start, the same data, parameters and iterations for everyone; and
many fits of a table of the size of iris, with default settings.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .. import _peers as peers
from .._data import Arrays, blobs, random_rows
from .._harness import N_THREADS, Call, Contender, Outcome, Workload

N_ITERATIONS = 10
SPREAD = 2.0  # deviation of the true means, where the noise has 1: neighbours overlap
JUDGED_ROWS = 20_000
N_SMALL_FITS = 50


def make(
    n_features: int, n_components: int, dtype: type, covariance_type: str, n_rows: int
) -> Arrays:
    """Blobs, as many as components, and random rows with unit covariances to start from."""
    X = blobs(n_rows, n_features, n_components, SPREAD).astype(dtype)
    precisions = np.ones((n_components, n_features), dtype=dtype)
    if covariance_type == "full":
        precisions = precisions[:, :, np.newaxis] * np.eye(n_features, dtype=dtype)
    return {"X": X, "means": random_rows(X, n_components), "precisions": precisions}


def fit(estimator: Any, covariance_type: str, arrays: Arrays, **settings: object) -> Call:
    """The timed call of everything with scikit-learn's interface."""
    means = arrays["means"]
    mixture = estimator(
        n_components=len(means),
        covariance_type=covariance_type,
        weights_init=np.full(len(means), 1 / len(means), dtype=means.dtype),
        means_init=means,
        precisions_init=arrays["precisions"],
        max_iter=N_ITERATIONS,
        tol=0,
        **settings,
    )

    def call() -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it did not converge: nobody asked it to
            mixture.fit(arrays["X"])
        parts = (mixture.weights_, mixture.means_, mixture.covariances_)
        return Outcome(np.concatenate([np.ravel(part) for part in parts]), mixture.n_iter_)

    return call


def coterie_mixture(covariance_type: str, arrays: Arrays) -> Call:
    """coterie's EM."""
    from coterie import GaussianMixture

    return fit(GaussianMixture, covariance_type, arrays, n_threads=N_THREADS)


def sklearn_mixture(covariance_type: str, arrays: Arrays) -> Call:
    """scikit-learn's EM."""
    from sklearn.mixture import GaussianMixture

    return fit(GaussianMixture, covariance_type, arrays)


def pomegranate_mixture(covariance_type: str, arrays: Arrays) -> Call:
    """pomegranate's EM, on PyTorch; its covariances start as the others'."""
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(N_THREADS)
    X = torch.from_numpy(arrays["X"])
    precisions = torch.from_numpy(arrays["precisions"])
    kind = "full" if covariance_type == "full" else "diag"
    components = [
        Normal(mean, torch.linalg.inv(own) if kind == "full" else 1 / own, covariance_type=kind)
        for mean, own in zip(torch.from_numpy(arrays["means"]), precisions, strict=True)
    ]
    mixture = GeneralMixtureModel(components, max_iter=N_ITERATIONS, tol=-1, inertia=0.0)

    def call() -> Outcome:
        mixture.fit(X)
        parts = [mixture.priors, *(d.means for d in components), *(d.covs for d in components)]
        return Outcome(np.concatenate([part.detach().numpy().ravel() for part in parts]))

    return call


def judge(covariance_type: str, arrays: Arrays, parameters: NDArray[Any]) -> float:
    """Mean negative log-likelihood of some rows, in float64 by the textbook's formula."""
    k, d = arrays["means"].shape
    rows = arrays["X"][:JUDGED_ROWS].astype(np.float64)
    parameters = np.asarray(parameters, dtype=np.float64)
    weights, means = parameters[:k], parameters[k : k + k * d].reshape(k, d)
    covariances = parameters[k + k * d :].reshape(
        (k, d, d) if covariance_type == "full" else (k, d)
    )
    log_probs = np.empty((len(rows), k))
    for j in range(k):
        centred = rows - means[j]
        covariance = covariances[j] if covariance_type == "full" else np.diag(covariances[j])
        white = np.linalg.solve(np.linalg.cholesky(covariance), centred.T)
        log_det = np.linalg.slogdet(covariance)[1]
        log_probs[:, j] = -(np.square(white).sum(axis=0) + log_det + d * np.log(2 * np.pi)) / 2
    return -float(logsumexp(log_probs + np.log(weights), axis=1).mean())


def workload(
    name: str, n_rows: int, n_features: int, n_components: int, covariance_type: str, dtype: type
) -> Workload:
    """One mixture problem."""
    contenders = [
        peers.coterie(functools.partial(coterie_mixture, covariance_type)),
        peers.sklearn(functools.partial(sklearn_mixture, covariance_type)),
        Contender(
            "pomegranate",
            "pomegranate",
            "pomegranate",
            functools.partial(pomegranate_mixture, covariance_type),
        ),
    ]
    size = f"n={n_rows} d={n_features} k={n_components}"
    return Workload(
        name=name,
        title=f"EM {covariance_type} {size} {np.dtype(dtype).name}, {N_ITERATIONS} iterations",
        n_rows=n_rows,
        make=functools.partial(make, n_features, n_components, dtype, covariance_type),
        contenders=contenders,
        judge=functools.partial(judge, covariance_type),
        judged_by="-log L a row",
    )


def make_small(covariance_type: str, n_rows: int) -> Arrays:
    """Three blobs in four columns that touch, as those of iris do."""
    arrays = make(4, 3, np.float64, covariance_type, n_rows)
    return {"X": arrays["X"], "means": arrays["means"]}


def small_fits(package: str, covariance_type: str, arrays: Arrays) -> Call:
    """Fits of a package with scikit-learn's interface, each from a seed of its own."""
    if package == "coterie":
        from coterie import GaussianMixture
    else:
        from sklearn.mixture import GaussianMixture

    def call() -> Outcome:
        for seed in range(N_SMALL_FITS):
            mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=seed)
            mixture.fit(arrays["X"])
        parts = (mixture.weights_, mixture.means_, mixture.covariances_)
        return Outcome(np.concatenate([np.ravel(part) for part in parts]))

    return call


def small_workload(covariance_type: str) -> Workload:
    """What a fit costs besides its work."""
    return Workload(
        name=f"em-{covariance_type}-iris-size",
        title=f"{N_SMALL_FITS} fits {covariance_type}, n=150 d=4 k=3 float64",
        n_rows=150,
        make=functools.partial(make_small, covariance_type),
        contenders=[
            peers.coterie(functools.partial(small_fits, "coterie", covariance_type)),
            peers.sklearn(functools.partial(small_fits, "sklearn", covariance_type)),
        ],
        judge=functools.partial(judge, covariance_type),
        judged_by="-log L a row",
    )


WORKLOADS = [
    small_workload("full"),
    small_workload("diag"),
    workload("em-full-d16-k16-f64", 200_000, 16, 16, "full", np.float64),
    workload("em-full-d16-k16-f32", 200_000, 16, 16, "full", np.float32),
    workload("em-full-d64-k8-f64", 50_000, 64, 8, "full", np.float64),
    workload("em-full-d3-k32-f32", 500_000, 3, 32, "full", np.float32),
    workload("em-diag-d16-k16-f32", 200_000, 16, 16, "diag", np.float32),
]
