"""Gaussian components in one form, however they were given, and their densities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

Floats = npt.NDArray[np.float64]


class Components(NamedTuple):
    """Weights (k,), means (k, d) and covariance matrices (k, d, d)."""

    weights: Floats
    means: Floats
    covariances: Floats


def components_of(given: Any, who: str) -> Components:
    """The Gaussians of a fitted mixture, of an entry of its history, or as three arrays.

    Covariances of a fitted model may have any type; given as an array, they are (k, d, d).
    """
    if hasattr(given, "fit"):
        if not hasattr(given, "covariances_"):
            raise ValueError(
                f"{who}: the {type(given).__name__} has no covariances_; pass a fitted "
                "GaussianMixture, or its weights, means and covariances."
            )
        means = np.asarray(given.means_, dtype=np.float64)
        covariances = _matrices(given.covariances_, given.covariance_type, *means.shape)
        return Components(np.asarray(given.weights_, dtype=np.float64), means, covariances)
    if isinstance(given, dict):
        missing = [key for key in ("weights", "parameters", "covariances") if key not in given]
        if missing:
            raise ValueError(
                f"{who}: an entry of the history has no {missing[0]}; fit a GaussianMixture with "
                'keep="parameters".'
            )
        given = given["weights"], given["parameters"], given["covariances"]
    weights, means, covariances = (np.asarray(part, dtype=np.float64) for part in given)
    k = weights.size
    if means.ndim != 2 or len(means) != k or covariances.shape != (k, *[means.shape[-1]] * 2):
        raise ValueError(
            f"{who}: weights have shape {weights.shape}, means {means.shape} and covariances "
            f"{covariances.shape}; pass (k,), (k, d) and (k, d, d)."
        )
    return Components(weights, means, covariances)


def _matrices(covariances: Any, kind: str, k: int, d: int) -> Floats:
    """Covariances of any type as matrices (k, d, d)."""
    own = np.asarray(covariances, dtype=np.float64)
    if kind == "spherical":
        own = own[:, np.newaxis] * np.ones(d)
    if kind in ("spherical", "diag"):
        return np.asarray(own[:, :, np.newaxis] * np.eye(d))
    return np.broadcast_to(own, (k, d, d)).copy()


def log_densities(components: Components, rows: Floats) -> Floats:
    """log(weight) + log N(row; mean, covariance) of every row and component, (n_rows, k)."""
    found = np.empty((len(rows), components.weights.size))
    d = components.means.shape[1]
    with np.errstate(divide="ignore"):  # a weight of 0 is a component that is not there
        log_weights = np.log(components.weights)
    for j, (mean, covariance) in enumerate(
        zip(components.means, components.covariances, strict=True)
    ):
        root = np.linalg.cholesky(covariance)
        white = solve_triangular(root, (rows - mean).T, lower=True)
        log_norm = np.log(np.diagonal(root)).sum() + d / 2 * np.log(2 * np.pi)
        found[:, j] = log_weights[j] - log_norm - np.square(white).sum(axis=0) / 2
    return found


def shares_of(components: Components, rows: Floats) -> Floats:
    """Responsibilities of the components for the rows, (n_rows, k)."""
    log_joint = log_densities(components, rows)
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def marginal(components: Components, columns: tuple[int, int]) -> Components:
    """The same mixture of two of its columns."""
    picked = np.ix_(range(len(components.weights)), columns, columns)
    return Components(
        components.weights, components.means[:, list(columns)], components.covariances[picked]
    )
