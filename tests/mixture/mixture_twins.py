"""Naive twins of the mixture passes: the definitions in float64, with n x k arrays throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, xlogy

Floats = npt.NDArray[np.float64]


@dataclass
class Posterior:
    """What an E-step says of the rows; the background is the last column of `resp`."""

    row_log_prob: Floats
    resp: Floats
    log_lik: float
    neg_entropy: float


def posterior(log_probs: Floats, weights: Any = None) -> Posterior:
    """Responsibilities from the log densities, weights of the components included."""
    weights = np.ones(len(log_probs)) if weights is None else weights
    row_log_prob = logsumexp(log_probs, axis=1)
    resp = np.exp(log_probs - row_log_prob[:, np.newaxis])
    neg_entropy = weights @ xlogy(resp, resp).sum(axis=1)
    return Posterior(row_log_prob, resp, float(weights @ row_log_prob), float(neg_entropy))


def gaussian_log_probs(
    X: Any,
    log_weights: Floats,
    means: Floats,
    factors: Floats,
    log_norms: Floats,
    background: float,
) -> Floats:
    """Log weights plus log densities, (n, k + 1); the last column is the background."""
    n, k = len(X), len(means)
    log_probs = np.full((n, k + 1), background)
    for j in range(k):
        centered = np.asarray(X, dtype=np.float64) - means[j]
        factor = factors[j % len(factors)]
        y = centered * factor if factor.ndim == 1 else centered @ np.triu(factor)
        log_probs[:, j] = log_weights[j] + log_norms[j] - np.square(y).sum(axis=1) / 2
    return log_probs


def moments(X: Any, mass: Floats, means: Floats) -> tuple[Floats, Floats, Floats]:
    """Sums of mass, mass * (x - mean) and mass * (x - mean)(x - mean)^T of every component."""
    first = np.zeros(means.shape)
    second = np.zeros((*means.shape, means.shape[1]))
    for j, mean in enumerate(means):
        centered = np.asarray(X, dtype=np.float64) - mean
        first[j] = mass[:, j] @ centered
        second[j] = (mass[:, j, np.newaxis] * centered).T @ centered
    return mass.sum(axis=0), first, second


def linear_log_probs(X: Any, offsets: Floats, slopes: Floats) -> Floats:
    """Log weights plus log densities, (n, k)."""
    return np.asarray(offsets + np.asarray(X, dtype=np.float64) @ slopes.T)
