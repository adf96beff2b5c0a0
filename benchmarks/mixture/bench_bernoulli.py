"""Bernoulli mixtures from a given start: the same data, parameters and iterations for everyone."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Contender, Outcome, Workload

N_ITERATIONS = 10
ALPHA = 0.01
JUDGED_ROWS = 20_000


def make(n_features: int, n_components: int, dtype: type, n_rows: int) -> Arrays:
    """Noisy copies of random patterns, and probabilities near one half to start from."""
    rng = np.random.default_rng(0)
    patterns = rng.beta(0.3, 0.6, (n_components, n_features)).astype(np.float32)
    truth = rng.integers(n_components, size=n_rows)
    X = np.empty((n_rows, n_features), dtype=dtype)
    for i, j in enumerate(truth):
        X[i] = rng.random(n_features, dtype=np.float32) < patterns[j]
    return {"X": X, "start": rng.uniform(0.4, 0.6, (n_components, n_features))}


def coterie_mixture(arrays: Arrays) -> Call:
    """coterie's EM."""
    from coterie import BernoulliMixture

    start = arrays["start"]
    model = BernoulliMixture(
        len(start),
        alpha=ALPHA,
        weights_init=np.full(len(start), 1 / len(start)),
        probabilities_init=start,
        max_iter=N_ITERATIONS,
        tol=0,
        n_threads=N_THREADS,
    )

    def call() -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it did not converge: nobody asked it to
            model.fit(arrays["X"])
        return Outcome(np.column_stack([model.weights_, model.probabilities_]), model.n_iter_)

    return call


def numpy_mixture(arrays: Arrays) -> Call:
    """A plain EM in NumPy, as one would write it: two products by BLAS an iteration."""

    def call() -> Outcome:
        X, theta = arrays["X"], arrays["start"].astype(arrays["X"].dtype)
        weights = np.full(len(theta), 1 / len(theta), dtype=X.dtype)
        for _ in range(N_ITERATIONS):
            log_zero = np.log1p(-theta)
            joint = X @ (np.log(theta) - log_zero).T
            joint += log_zero.sum(axis=1) + np.log(weights)
            joint -= joint.max(axis=1, keepdims=True)
            np.exp(joint, out=joint)
            joint /= joint.sum(axis=1, keepdims=True)
            counts = joint.sum(axis=0)
            weights = counts / len(X)
            theta = (joint.T @ X + ALPHA) / (counts + 2 * ALPHA)[:, np.newaxis]
        return Outcome(np.column_stack([weights, theta]), N_ITERATIONS)

    return call


def judge(arrays: Arrays, parameters: NDArray[Any]) -> float:
    """Mean negative log-likelihood of some rows, in float64 by the textbook's formula."""
    rows = arrays["X"][:JUDGED_ROWS].astype(np.float64)
    weights, theta = parameters[:, 0].astype(np.float64), parameters[:, 1:].astype(np.float64)
    log_probs = rows @ np.log(theta).T + (1 - rows) @ np.log1p(-theta).T
    return -float(logsumexp(log_probs + np.log(weights), axis=1).mean())


def workload(name: str, n_rows: int, n_features: int, n_components: int, dtype: type) -> Workload:
    """One mixture problem."""
    threads = {"OPENBLAS_NUM_THREADS": str(N_THREADS), "OMP_NUM_THREADS": str(N_THREADS)}
    size = f"n={n_rows} d={n_features} k={n_components}"
    return Workload(
        name=name,
        title=f"EM Bernoulli {size} {np.dtype(dtype).name}, {N_ITERATIONS} iterations",
        n_rows=n_rows,
        make=functools.partial(make, n_features, n_components, dtype),
        contenders=[
            peers.coterie(coterie_mixture),
            Contender("numpy+BLAS", "numpy", "numpy", numpy_mixture, threads),
        ],
        judge=judge,
        judged_by="-log L a row",
    )


WORKLOADS = [workload("em-bernoulli-d784-k10-f32", 60_000, 784, 10, np.float32)]
