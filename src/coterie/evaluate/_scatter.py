"""Scores by scatter: sums of squares within clusters and between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory
from coterie._doors import checked
from coterie._kernels import kernels
from coterie.evaluate._coded import Noise
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import open_rows
from coterie.evaluate._spread import (
    find_means,
    measure_ratios,
    measure_spread,
    refuse_overflow,
    spread_about,
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scatter:
    """The scatter matrices of labelled rows; `scatter_matrices` makes one.

    `within` is S_W, `between` S_B, each (d, d); `weights` and `centers` are the weight and the mean
    of every cluster, in the order of the labels.
    """

    within: Floats
    between: Floats
    weights: Floats
    centers: Floats

    @property
    def total(self) -> Floats:
        """S_T = S_W + S_B: the scatter about the mean of all rows."""
        return self.within + self.between

    @property
    def trace_within(self) -> float:
        """The sum of squared errors."""
        return float(np.trace(self.within))

    @property
    def trace_between(self) -> float:
        """The sum of squares of the means about the mean of all rows."""
        return float(np.trace(self.between))

    @property
    def det_within(self) -> float:
        """|S_W|, which does not depend on the units of the columns but for a factor."""
        return float(np.linalg.det(self.within))

    @property
    def trace_ratio(self) -> float:
        """trace(S_W^-1 S_B), which no linear map of the columns changes.

        Raises ValueError where S_W has no inverse.
        """
        rank = np.linalg.matrix_rank(self.within, hermitian=True)
        if rank < self.within.shape[0]:
            raise ValueError(
                f"trace_ratio: S_W has rank {rank} of {self.within.shape[0]}, so it has no "
                "inverse; leave out columns that are constant within the clusters or follow from "
                "others."
            )
        return float(np.trace(np.linalg.solve(self.within, self.between)))


def scatter_matrices(
    X: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
) -> Scatter:
    """Scatter of rows about the means of their clusters, and of these about the mean of all.

    S_W = sum_j sum_{i in j} w_i (x_i - m_j)(x_i - m_j)^T and S_B = sum_j W_j (m_j - m)(m_j - m)^T;
    their sum is S_T, the scatter about m. Two passes over rows from any source, O(n d^2) time, and
    at most 64 partial sums of d^2 numbers.

    Parameters
    ----------
    X : array, data frame or CSR matrix of shape (n_rows, n_features), path, Dask collection or
        source
    labels : array-like of shape (n_rows,)
        Numbers or strings, numbered in any way.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How often each row counts.
    noise : {"cluster", "drop", "singletons"}, default="cluster"
        What the label -1 means. "cluster": a label as any other, as scikit-learn has it. "drop":
        such rows are left out. "singletons": each of them is a cluster of its own.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    Scatter
        `within`, `between`, `total`; `trace_within`, `trace_between`, `det_within`,
        `trace_ratio`.

    Examples
    --------
    >>> from coterie.evaluate import scatter_matrices
    >>> found = scatter_matrices([[0.0], [2.0], [9.0], [11.0]], [0, 0, 1, 1])
    >>> found.within.round(6).tolist(), found.between.round(6).tolist()
    ([[4.0]], [[81.0]])
    >>> round(found.trace_ratio, 6)
    20.25
    """
    who = "scatter_matrices"
    given = open_rows(who, X, labels, sample_weight, noise, n_threads, at_least=1)
    n_cols = given.source.n_cols
    check_memory(
        who, 8 * 64 * n_cols**2, f"partial sums of {n_cols} x {n_cols} numbers", "use fewer columns"
    )
    weights, means, origin = find_means(given)
    centers = means + origin
    within = given.summed(_add_products, centers, shape=(n_cols, n_cols))
    within = np.tril(within) + np.tril(within, -1).T
    mean = (weights[:, np.newaxis] * means).sum(axis=0) / weights.sum()
    away = np.sqrt(weights)[:, np.newaxis] * (means - mean)
    between = sum_of_products(away)
    if not (np.isfinite(within).all() and np.isfinite(between).all()):
        refuse_overflow(who)
    return Scatter(within, between, weights, centers)


def _add_products(part: Part, centers: Floats, sums: Floats) -> None:
    kernels.scatter_by_label(part.rows, part.weights, part.codes, centers, sums, part.n_threads)


def sum_of_products(rows: Floats) -> Floats:
    """rows^T rows, without the threads of a library that would change its bits."""
    return np.asarray(np.einsum("ki,kj->ij", rows, rows))


def sum_of_squared_errors(
    X: Any,
    labels: Any,
    *,
    centers: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
) -> float:
    """Sum the squared distances of rows to the centre of their cluster.

    SSE = sum_i w_i |x_i - c_{l(i)}|^2, k-means' inertia: it falls with every cluster more, so it
    compares clusterings of one number of clusters. Two passes over any source, one where centres
    are given; O(n d).

    Parameters
    ----------
    centers : array of shape (n_clusters, n_features) or None, default=None
        One a label, in their order; None: the means.
    X, labels, sample_weight, noise, n_threads
        See `scatter_matrices`.
    """
    who = "sum_of_squared_errors"
    given = open_rows(who, X, labels, sample_weight, noise, n_threads, at_least=1)
    if centers is None:
        return measure_spread(given).within
    return float(
        spread_about(given, given_centers(who, centers, given.n_clusters, given.source.n_cols))[
            0
        ].sum()
    )


def given_centers(who: str, centers: Any, n_clusters: int, n_cols: int) -> Floats:
    """Centres that were given, one a cluster and as wide as the rows."""
    found = np.ascontiguousarray(checked(who, centers, "centers", dtype=np.float64))
    if found.shape != (n_clusters, n_cols):
        raise ValueError(
            f"{who}: centers has shape {found.shape} and labels name {n_clusters} clusters of rows "
            f"with {n_cols} columns; pass one centre a label, in the order of the labels."
        )
    return found


def variance_ratio(
    X: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
) -> float:
    """The scatter between clusters over that within: trace(S_B) / trace(S_W).

    The plain ratio, which grows with every cluster more; `calinski_harabasz_score` is the same
    times (N - K) / (K - 1). Infinite where all rows are at the means. Two passes over any source,
    O(n d). See `scatter_matrices` for the parameters.
    """
    given = open_rows("variance_ratio", X, labels, sample_weight, noise, n_threads)
    spread = measure_ratios(given)
    return spread.between / spread.within if spread.within > 0 else np.inf


def calinski_harabasz_score(
    X: Any,
    labels: Any,
    *,
    sample_weight: Any = None,
    noise: Noise = "cluster",
    n_threads: int | None = None,
) -> float:
    """The scatter between clusters over that within, each by its degrees of freedom.

    Calinski & Harabasz (1974): trace(S_B) (N - K) / (trace(S_W) (K - 1)); larger is better. N is
    the weight of all rows. `variance_ratio` is the ratio without these factors. Two passes over any
    source, O(n d). See `scatter_matrices` for the parameters.

    Returns
    -------
    float
        1 where all rows are at the means of their clusters, as scikit-learn has it.
    """
    given = open_rows("calinski_harabasz_score", X, labels, sample_weight, noise, n_threads)
    spread = measure_ratios(given)
    if spread.within == 0:
        return 1.0
    freedom = (spread.total - given.n_clusters) / (given.n_clusters - 1)
    return spread.between / spread.within * freedom
