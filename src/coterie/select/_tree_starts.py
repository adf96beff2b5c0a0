"""Starts of Gaussian mixtures from one tree of merges, cut at every number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.hierarchy import AgglomerativeClustering
from coterie.select._grow import GaussianStart

Floats = npt.NDArray[np.float64]

#: Rows up to which a tree costs less than the fits that start from it.
_FEW_ROWS = 3000


class TreeStarts:
    """Ward's tree of rows whose columns have unit variance: a start for any k and covariance type.

    Fraley & Raftery (1998) start EM from a tree; one serves all models.
    """

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        self.rows = np.asarray(rows, dtype=np.float64)
        deviations = self.rows.std(axis=0)
        deviations[deviations == 0] = 1.0
        self._tree = AgglomerativeClustering(1).fit(self.rows / deviations)
        self._spread = np.cov(self.rows, rowvar=False, ddof=0).reshape(rows.shape[1], -1)

    def start(self, k: int, covariance_type: str) -> GaussianStart:
        """Shares, means and precisions of the clusters of a cut.

        Each scatter is blended with the spread of all rows, which counts as one more row: a cluster
        of few rows has no inverse of its own.
        """
        labels = self._tree.cut(k)
        counts = np.bincount(labels, minlength=k).astype(np.float64)
        means, scatters = [], []
        for j in range(k):
            own = self.rows[labels == j]
            means.append(own.mean(axis=0))
            scatters.append((own - means[-1]).T @ (own - means[-1]) + self._floored())
        shares, table = counts / counts.sum(), np.array(scatters)
        if covariance_type == "tied":
            covariances = table.sum(axis=0) / (counts.sum() + k)
        else:
            covariances = table / (counts + 1)[:, np.newaxis, np.newaxis]
        return GaussianStart(shares, np.array(means), _precisions(covariances, covariance_type))

    def _floored(self) -> Floats:
        """The spread of all rows, with some width in every direction."""
        widths = np.diag(self._spread)
        floor = 1e-6 * (widths.max() if widths.max() > 0 else 1.0)
        return self._spread + floor * np.eye(len(widths))


def tree_starts(X: Any) -> TreeStarts | None:
    """Starts from a tree, where the rows are an array of numbers and few enough."""
    if not isinstance(X, np.ndarray) or not 2 <= len(X) <= _FEW_ROWS or X.dtype.kind not in "fiu":
        return None
    return TreeStarts(X) if np.isfinite(X).all() else None


def _precisions(covariances: Floats, covariance_type: str) -> Floats:
    """Covariances (d, d) or (k, d, d) as precisions in the shape of a covariance type."""
    if covariance_type in ("full", "tied"):
        return np.asarray(np.linalg.inv(covariances), dtype=np.float64)
    variances = np.einsum("kii->ki", covariances)
    return np.asarray(1 / (variances.mean(axis=1) if covariance_type == "spherical" else variances))
