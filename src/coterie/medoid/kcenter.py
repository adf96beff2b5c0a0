"""k-centre: the estimator of farthest-first traversal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from coterie._checks import ANY, CALLABLE, NONE, Rule, check_enough_rows, one_of, whole
from coterie._history import Recorder
from coterie._random import check_random_state
from coterie._stored import Array, Field, Nothing, Real, Sizes
from coterie.centroid._checked_space import checked_space
from coterie.centroid._farthest import farthest_rows
from coterie.data import ArraySource, Source
from coterie.distance import NAMES
from coterie.medoid._indexed_centers import IndexedCenters
from coterie.medoid._nearest import KnownMedoids, label_block
from coterie.medoid._traversal import (
    Traversal,
    farthest_by_lengths,
    farthest_by_passes,
    optimum_at_least,
    traverse,
)

_EUCLIDEAN = ("euclidean", "l2")


class KCenter(IndexedCenters):
    """k-centre clustering: rows that no row is far from, by farthest-first traversal.

    Looks for k rows c_1, ..., c_k with a small covering radius r = max_i min_j d(x_i, c_j): a row
    to start with, then always the row farthest from those taken (Gonzalez 1985; Hochbaum & Shmoys
    1985). With a metric that obeys the triangle inequality, r is at most twice that of the best k
    centres, wherever these may be, and no fast method can promise less unless P = NP. With squares
    of such a metric it is four times; for sums of distances (k-means, k-medoids) there is no such
    bound. One far row is a centre: strays matter more than anything here.

    Time: O(n k d), about a quarter of it on Euclidean rows; memory beyond X: 12 bytes per row. Rows
    that are not in memory take a pass per centre; on a Dask cluster no memory, and O(n k^2 d).

    Parameters
    ----------
    n_clusters : int, default=8
        k, the number of clusters.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`; a function of two rows; or ``"precomputed"``: X holds
        the distances of all pairs.
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`.
    start : int or None, default=None
        The row to begin with; None: one at random, that of k-means' seeding of this name.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Attributes
    ----------
    center_indices_ : int64 array of shape (n_clusters,)
        The rows that are centres, in the order they were taken.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Those rows; absent with ``metric="precomputed"``.
    labels_ : int32 array of shape (n_rows,)
        The nearest centre of each row, ties to the lower; equal to ``predict(X)``.
    radius_ : float
        The covering radius.
    radii_ : float64 array of shape (n_clusters,)
        The covering radius after each centre, never rising: what fewer centres would have had.
    lower_bound_ : float or None
        No k centres have a smaller covering radius; None where the metric promises nothing.
    history_, events_ : list of dict
        How long it took, and what else happened.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KCenter
    >>> X = np.array([[0.0, 0], [1, 0], [0, 1], [10, 0], [10, 1], [0, 20]])
    >>> model = KCenter(3, start=0).fit(X)
    >>> model.center_indices_
    array([0, 5, 4])
    >>> model.radius_
    1.0
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **IndexedCenters._stores,
        "center_indices_": Array("i8", ("clusters",), 0),
        "radius_": Real(0),
        "radii_": Array("f8", ("clusters",), 0),
        "lower_bound_": Real(0) | Nothing(),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": whole(1),
        "metric": one_of(*NAMES, "precomputed") | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "start": NONE | whole(0),
        "random_state": ANY,
        "n_threads": NONE | whole(1),
    }

    _center = "centre"
    _indices_name = "center_indices_"

    center_indices_: npt.NDArray[np.int64]
    radius_: float
    radii_: npt.NDArray[np.float64]
    lower_bound_: float | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        start: int | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.start = start
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the centres among the rows of X.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path, Dask collection or
            source; with ``metric="precomputed"`` distances, (n_rows, n_rows)
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        self._forget()
        recorder = Recorder()
        if self.metric == "precomputed":
            found = self._fit_given(X)
        elif self.metric in _EUCLIDEAN and not self.metric_params:
            found = self._fit_euclidean(X)
        elif self._can_stream(X):
            found = self._fit_passes(X)
        else:
            found = self._fit_rows(X)
        self.center_indices_, self.radii_ = found.indices, found.radii
        self.radius_ = float(found.radii[-1])
        name = "precomputed" if self.metric == "precomputed" else self._known().metric.name
        name = "" if callable(self.metric) else name
        self.lower_bound_ = optimum_at_least(name, self.radius_)
        self._n_features_out = int(self.n_clusters)
        recorder.stage("centres and labels")
        if self.radius_ == 0:
            self._tell_of_copies(recorder)
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def _first(self, n_rows: int) -> int:
        """The row to begin with."""
        check_enough_rows(self._who, self.n_clusters, n_rows)
        if self.start is None:
            return int(check_random_state(self.random_state).random_sample() * n_rows)
        if self.start >= n_rows:
            raise ValueError(
                f"{self._who}: start={self.start} but X has {n_rows} rows; pass a number from 0 to "
                f"{n_rows - 1}, or None."
            )
        return int(self.start)

    def _fit_given(self, X: Any) -> Traversal:
        """From the distances of all pairs."""
        matrix = self._given_square(X)
        first = self._first(matrix.shape[0])
        farthest = farthest_by_lengths(
            self._who, first, matrix, lambda row: matrix[:, row].astype(np.float64)
        )
        found = traverse(ArraySource(matrix), int(self.n_clusters), first, farthest)
        self.labels_ = matrix[:, found.indices].argmin(axis=1).astype(np.int32)
        return found

    def _fit_euclidean(self, X: Any) -> Traversal:
        """From Euclidean rows, wherever they live, by the code of k-means' seeding."""
        blocks = self._source(X, reset=True)
        _, space = checked_space(self._who, blocks, names=getattr(self, "feature_names_in_", None))
        first = self._first(blocks.n_rows)
        farthest = farthest_rows(blocks, space, first)
        self.metric_params_ = {}
        return self._labelled(blocks, traverse(blocks, int(self.n_clusters), first, farthest))

    def _fit_passes(self, X: Any) -> Traversal:
        """From rows that are not in memory, under any metric that need not learn."""
        blocks = self._source(X, reset=True)
        metric = self._metric(None)
        self.metric_params_ = dict(metric.learned)
        first = self._first(blocks.n_rows)
        farthest = farthest_by_passes(blocks, metric, first)
        return self._labelled(blocks, traverse(blocks, int(self.n_clusters), first, farthest))

    def _labelled(self, blocks: Source, found: Traversal) -> Traversal:
        """Publish the centres, and the labels they give."""
        self.center_rows_ = blocks.take(found.indices).astype(blocks.dtype)
        self.labels_ = blocks.map(label_block, self._known(), dtype=np.int32)
        return found

    def _fit_rows(self, X: Any) -> Traversal:
        """From rows in memory, under any metric."""
        rows, prepared, metric = self._rows_and_metric(X)
        first, n_threads = self._first(rows.shape[0]), self._n_threads()

        def lengths_from(row: int) -> npt.NDArray[np.float64]:
            return metric.lengths(prepared[row : row + 1], prepared, n_threads)[0]

        farthest = farthest_by_lengths(self._who, first, rows, lengths_from)
        blocks = ArraySource(prepared, None, n_threads)
        found = traverse(blocks, int(self.n_clusters), first, farthest)
        self.center_rows_ = np.array(rows[found.indices])
        known = KnownMedoids(metric.of_prepared(), prepared[found.indices], self._who)
        self.labels_ = blocks.map(label_block, known, dtype=np.int32)
        return found

    def _check_together_loaded(self, sizes: Sizes) -> None:
        super()._check_together_loaded(sizes)
        if (np.diff(self.radii_) > 0).any() or self.radius_ != self.radii_[-1]:
            raise ValueError("radii_ rise, or do not end in radius_")
