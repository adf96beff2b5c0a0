"""Starts of Gaussian mixtures from labels, found once for all covariance types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._doors import FLOATS
from coterie.centroid import KMeans
from coterie.hierarchy import AgglomerativeClustering
from coterie.select._grow import GaussianStart, table_of
from coterie.select._quiet_fit import fit_quietly

Floats = npt.NDArray[np.float64]

#: Rows up to which a tree costs less than the fits that start from it.
_FEW_ROWS = 3000
#: A sum of squares from which on none that matters has vanished.
_LEAST = 1e-250


class _Sums(NamedTuple):
    """Of every cluster how many rows it has, their mean and their scatter about it."""

    counts: Floats
    means: Floats
    scatters: Floats


class LabelStarts(ABC):
    """A start for any k and covariance type from labels of rows; a subclass says which labels."""

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        self.rows = np.asarray(rows, dtype=np.float64)
        self._sums: dict[int, _Sums | None] = {}

    @abstractmethod
    def labels(self, k: int) -> npt.NDArray[Any]:
        """Labels from 0 to k - 1."""

    def start(self, k: int, covariance_type: str) -> GaussianStart | None:
        """Shares, means and precisions of the k clusters; None where one of them has no rows.

        Each scatter is blended with the spread of all rows, which counts as one more row: a cluster
        of few rows has no inverse of its own.
        """
        if k not in self._sums:
            self._sums[k] = self._summed(k)
        sums = self._sums[k]
        if sums is None:
            return None
        if covariance_type == "tied":
            covariances = sums.scatters.sum(axis=0) / (sums.counts.sum() + k)
        else:
            covariances = sums.scatters / (sums.counts + 1)[:, np.newaxis, np.newaxis]
        shares = sums.counts / sums.counts.sum()
        return GaussianStart(shares, sums.means, _precisions(covariances, covariance_type))

    def _summed(self, k: int) -> _Sums | None:
        labels = self.labels(k)
        counts = np.bincount(labels, minlength=k).astype(np.float64)
        if not counts.all():
            return None
        means, scatters = [], []
        for j in range(k):
            own = self.rows[labels == j]
            means.append(own.mean(axis=0))
            scatters.append((own - means[-1]).T @ (own - means[-1]) + self._spread)
        return _Sums(counts, np.array(means), np.array(scatters))

    @cached_property
    def _spread(self) -> Floats:
        """The covariance of all rows, with some width in every direction."""
        n_cols = self.rows.shape[1]
        spread = np.cov(self.rows, rowvar=False, ddof=0).reshape(n_cols, n_cols)
        widest = float(np.diag(spread).max())
        return np.asarray(spread + 1e-6 * (widest if widest > 0 else 1.0) * np.eye(n_cols))


class TreeStarts(LabelStarts):
    """Ward's tree of rows whose columns have unit variance, cut at every number of clusters.

    Fraley & Raftery (1998) start EM from a tree; one serves all models.
    """

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        super().__init__(rows)
        deviations = self.rows.std(axis=0)
        deviations[deviations == 0] = 1.0
        self._tree = AgglomerativeClustering(1).fit(self.rows / deviations)

    def labels(self, k: int) -> npt.NDArray[Any]:
        return np.asarray(self._tree.cut(k))


class KMeansStarts(LabelStarts):
    """Clusters of k-means, as `GaussianMixture` starts from by itself."""

    def __init__(self, rows: npt.NDArray[Any], seed: int) -> None:
        super().__init__(rows)
        self._given, self._seed = rows, seed

    def labels(self, k: int) -> npt.NDArray[Any]:
        model = KMeans(k, n_init=1, random_state=self._seed)
        return np.asarray(fit_quietly(model, self._given).labels_)


def label_starts(X: Any, seed: int, n_init: int) -> tuple[LabelStarts, ...]:
    """`n_init` times k-means and, of few rows, a tree; none where X is no table of finite numbers.

    Nor where squares of them overflow or vanish, which the fits refuse in words of their own.
    """
    rows = None if isinstance(X, np.ma.MaskedArray) else table_of(X)
    if rows is None or len(rows) < 2:
        return ()
    rows = rows if rows.dtype in FLOATS else rows.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(np.square(rows - rows.mean(axis=0, dtype=np.float64)).sum())
        flat = bool(np.ptp(rows, axis=0).max() == 0)
    if not (_LEAST < squares < np.inf or flat):
        return ()
    seeds = np.random.RandomState(seed).randint(2**31, size=n_init)
    starts: list[LabelStarts] = [KMeansStarts(rows, int(own)) for own in seeds]
    return (*starts, TreeStarts(rows)) if len(rows) <= _FEW_ROWS else tuple(starts)


def _precisions(covariances: Floats, covariance_type: str) -> Floats:
    """Covariances (d, d) or (k, d, d) as precisions in the shape of a covariance type."""
    if covariance_type in ("full", "tied"):
        return np.asarray(np.linalg.inv(covariances), dtype=np.float64)
    variances = np.einsum("kii->ki", covariances)
    return np.asarray(1 / (variances.mean(axis=1) if covariance_type == "spherical" else variances))
