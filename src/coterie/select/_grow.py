"""Starts for k clusters from a fit with fewer, so that a walk along k never loses ground."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: The mean of one half of a normal distribution, in deviations.
_HALF_MEAN = np.sqrt(2 / np.pi)


def add_centers(
    rows: npt.NDArray[Any], centers: npt.NDArray[Any], n_more: int, rng: np.random.RandomState
) -> Floats | None:
    """Centres and `n_more` rows, each drawn by its squared distance to the nearest centre so far.

    k-means++ (Arthur & Vassilvitskii 2007), begun where an earlier fit ended. None where every row
    is a centre already. Time O(n k d), memory two numbers a row.
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


def split_each(model: Any) -> Iterator[GaussianStart]:
    """A fitted mixture of Gaussians with one component cut in two, for each in turn.

    The halves stand on the longest axis of the component, where the halves of a normal distribution
    have their means; each keeps its covariance and has half its weight.
    """
    weights = model.weights_.astype(np.float64)
    means, precisions = (
        getattr(model, name).astype(np.float64) for name in ("means_", "precisions_")
    )
    for j in range(len(weights)):
        step = _HALF_MEAN * _longest_axis(model, j)
        more = means[j] + step
        moved = means.copy()
        moved[j] -= step
        shares = np.append(weights, weights[j] / 2)
        shares[j] /= 2
        own = precisions if model.covariance_type == "tied" else _with_copy(precisions, j)
        yield GaussianStart(shares / shares.sum(), np.vstack([moved, more]), own)


def _with_copy(values: Floats, j: int) -> Floats:
    return np.concatenate([values, values[j : j + 1]])


def _longest_axis(model: Any, j: int) -> Floats:
    """The direction in which a component is widest, one deviation long."""
    covariances = model.covariances_.astype(np.float64)
    n_cols = model.means_.shape[1]
    if model.covariance_type == "spherical":
        axis = np.zeros(n_cols)
        # All directions are alike: towards where the means spread most, else any.
        axis[int(np.argmax(model.means_.std(axis=0)))] = np.sqrt(covariances[j])
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
