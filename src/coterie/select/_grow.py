"""Starts for k clusters from a fit with fewer, so that a walk along k never loses ground."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: The mean of one half of a normal distribution, in deviations.
_HALF_MEAN = np.sqrt(2 / np.pi)
_COVARIANCES = ("covariances_", "precisions_", "precisions_cholesky_")


def table_of(X: Any) -> npt.NDArray[Any] | None:
    """Rows as an array, where they are a table of numbers in memory; else None."""
    is_arrow = hasattr(X, "__arrow_c_stream__")
    rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X) if is_arrow else X
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "biuf":
        return None
    return np.ascontiguousarray(rows)


def add_centers(
    rows: npt.NDArray[Any], centers: npt.NDArray[Any], n_more: int, rng: np.random.RandomState
) -> Floats | None:
    """Centres and `n_more` rows, each drawn by its squared distance to the nearest centre so far.

    k-means++ (Arthur & Vassilvitskii 2007), begun where an earlier fit ended. None where every row
    is a centre already. Time O(n k d), memory two numbers per row.
    """
    grown = [np.asarray(center, dtype=np.float64) for center in centers]
    sq_dist = np.full(len(rows), np.inf)
    for center in grown:
        np.minimum(sq_dist, np.square(rows - center).sum(axis=1), out=sq_dist)
    for _ in range(n_more):
        total = sq_dist.sum()
        if not 0 < total < np.inf:
            return None
        drawn = int(np.searchsorted(np.cumsum(sq_dist), rng.uniform() * total, side="right"))
        chosen = np.asarray(rows[min(drawn, len(rows) - 1)], dtype=np.float64)
        np.minimum(sq_dist, np.square(rows - chosen).sum(axis=1), out=sq_dist)
        grown.append(chosen)
    return np.stack(grown)


class GaussianStart(NamedTuple):
    """What a mixture of Gaussians may be given to start from."""

    weights_init: Floats
    means_init: Floats
    precisions_init: Floats


def halved(model: Any) -> Any:
    """A fitted mixture of Gaussians with every component cut in two: j into j and k + j.

    The halves stand on the longest axis of the component, where the halves of a normal distribution
    have their means; each keeps its covariance and has half its weight.
    """
    k = len(model.weights_)
    steps = _HALF_MEAN * np.stack([_longest_axis(model, j) for j in range(k)])
    halves = copy(model)
    halves.n_components, halves.weights_ = 2 * k, np.tile(model.weights_ / 2, 2)
    for name in _per_component(model):
        setattr(halves, name, np.concatenate([getattr(model, name)] * 2))
    halves.means_ = np.concatenate([model.means_ - steps, model.means_ + steps])
    return halves


def with_halves(model: Any, halves: Any, j: int) -> Any:
    """A copy of a fitted mixture in which the two halves have the place of component j.

    `halves` is a mixture with twice the components, as `halved` numbers them. The halves
    share the weight of the component; a covariance shared by all loses what is now between them.
    """
    k = len(model.weights_)
    pair, rest = [j, k + j], np.arange(k) != j
    shares = halves.weights_[pair].astype(np.float64)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(2, 0.5)
    grown = copy(model)
    grown.n_components = k + 1
    grown.weights_ = np.append(model.weights_[rest], model.weights_[j] * shares)
    for name in _per_component(model):
        parts = getattr(model, name)[rest], getattr(halves, name)[pair]
        setattr(grown, name, np.concatenate(parts))
    if model.covariance_type == "tied":
        between = np.subtract(*halves.means_[pair].astype(np.float64))
        _narrow(grown, between, float(model.weights_[j] * shares.prod()))
    return grown


def _per_component(model: Any) -> list[str]:
    """Attributes with an entry for every component, besides the weights."""
    own = ["means_"] if model.covariance_type == "tied" else ["means_", *_COVARIANCES]
    return [*own, "degrees_of_freedom_"] if hasattr(model, "degrees_of_freedom_") else own


def _narrow(model: Any, between: Floats, weight: float) -> None:
    """Take weight * between between^T from a shared covariance, a tenth of the width being left."""
    covariance = model.covariances_.astype(np.float64)
    along = float(between @ np.linalg.solve(covariance, between))
    weight = min(weight, 0.99 / along) if along > 0 else 0.0
    covariance = covariance - weight * np.outer(between, between)
    factor = np.linalg.inv(np.linalg.cholesky(covariance)).T
    model.covariances_, model.precisions_cholesky_ = covariance, factor
    model.precisions_ = factor @ factor.T


def shares_of(model: Any) -> Floats:
    """Weights that sum to one, also beside a background."""
    weights = np.asarray(model.weights_, dtype=np.float64)
    return weights / weights.sum()


def start_at(model: Any) -> GaussianStart:
    """Where a fitted mixture is, to start from."""
    return GaussianStart(shares_of(model), model.means_, model.precisions_)


def _longest_axis(model: Any, j: int) -> Floats:
    """The direction in which a component is widest, one deviation long."""
    covariances = model.covariances_.astype(np.float64)
    n_cols = model.means_.shape[1]
    if model.covariance_type == "spherical":
        axis = np.zeros(n_cols)
        # All directions are alike: towards where the means spread most, else any.
        axis[int(np.argmax(model.means_.std(axis=0, dtype=np.float64)))] = np.sqrt(covariances[j])
        return axis
    if model.covariance_type == "diag":
        axis = np.zeros(n_cols)
        widest = int(np.argmax(covariances[j]))
        axis[widest] = np.sqrt(covariances[j][widest])
        return axis
    own = covariances if model.covariance_type == "tied" else covariances[j]
    lengths, axes = np.linalg.eigh(own)
    axis = axes[:, -1] * np.sqrt(max(lengths[-1], 0.0))
    return axis if axis[int(np.argmax(np.abs(axis)))] > 0 else -axis
