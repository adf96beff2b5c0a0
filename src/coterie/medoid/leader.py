"""Leader clustering: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from coterie._checks import CALLABLE, NONE, Rule, one_of, real, whole
from coterie._doors import dense
from coterie._history import Recorder
from coterie._stored import Array, Field, Sizes
from coterie.data import Block
from coterie.data.written import given_or_written
from coterie.distance import NAMES, Metric
from coterie.medoid._leaders import Labels, Near, follow_or_lead, label_near
from coterie.medoid._row_centers import RowCenters


class LeaderClustering(RowCenters):
    """Leader clustering: one pass, in which a row that no leader is near becomes one.

    Each row in turn goes to the *first* leader j with d(x, l_j) <= threshold, or becomes the last
    leader (Hartigan 1975). So no row is farther than `threshold` from its leader, leaders are
    farther than that from each other, and a label, once given, stays. The number of clusters is
    what comes out, and **the order of the rows matters**: other orders have other leaders, and more
    or fewer of them. Shuffle rows whose order means something, and see whether it does.

    Time: O(n L d) for L leaders, one pass; memory beyond X: the leaders and a label per row.

    Parameters
    ----------
    threshold : float, default=1.0
        How near is near, in the units of the metric.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS` but ``"gower"``, or a function of two rows.
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`. What ``"seuclidean"`` and
        ``"mahalanobis"`` learn is learned from X, by `partial_fit` from the first batch.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_leaders, n_features)
        The leaders, in the order they came.
    leader_indices_ : int64 array of shape (n_leaders,)
        Which rows they are, counted from the first row seen.
    labels_ : int32 array of shape (n_rows,)
        The leader of each row (of the last batch, after `partial_fit`); equal to ``predict(X)``.
    counts_ : int64 array of shape (n_leaders,)
        How many rows each leader has.
    history_, events_ : list of dict
        How long it took, and what else happened.

    Examples
    --------
    >>> from coterie import LeaderClustering
    >>> LeaderClustering(1.0).fit([[0.0], [0.9], [1.8]]).labels_
    array([0, 0, 1], dtype=int32)
    >>> LeaderClustering(1.0).fit([[0.9], [0.0], [1.8]]).labels_  # another order
    array([0, 0, 0], dtype=int32)
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **RowCenters._stores,
        "leader_indices_": Array("i8", ("clusters",), 0),
        "labels_": Array("i4", ("rows",), 0),
        "counts_": Array("i8", ("clusters",), 1),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "threshold": real(0),
        "metric": one_of(*(name for name in NAMES if name != "gower")) | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "n_threads": NONE | whole(1),
    }

    leader_indices_: npt.NDArray[np.int64]
    counts_: npt.NDArray[np.int64]

    def __init__(
        self,
        threshold: float = 1.0,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.metric = metric
        self.metric_params = metric_params
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the leaders of the rows of X, in their order.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        self._forget()
        for name in ("leader_indices_", "counts_", "labels_"):
            self.__dict__.pop(name, None)
        return self._take(X, first=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on with more rows, as if they had followed those before.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        return self._take(X, first=not hasattr(self, "leader_indices_"))

    def _take(self, X: Any, *, first: bool) -> Self:
        """One pass over rows, block after block."""
        if self._can_stream(X):
            source = self._source(X, reset=first)
        else:
            finite = self.metric != "nan_euclidean"
            source = self._blocks(self._dense_rows(X, reset=first, finite=finite))
        recorder = Recorder()
        metric, labels = None, []
        for block in source:
            if metric is None:
                if first:
                    rows = getattr(source, "rows", None)
                    metric = self._metric(rows)
                    self.metric_params_ = dict(metric.learned)
                    self._begin(source.n_cols, source.dtype)
                else:
                    metric = self._metric(None, **self.metric_params_)
            labels.append(self._follow(block, metric))
        self.labels_ = np.concatenate(labels) if labels else np.empty(0, dtype=np.int32)
        self._n_features_out = self.counts_.size
        recorder.stage("pass")
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def _begin(self, n_cols: int, dtype: Any) -> None:
        """No leaders yet."""
        self.center_rows_ = np.empty((0, n_cols), dtype=dtype)
        self.leader_indices_ = self.counts_ = np.empty(0, dtype=np.int64)

    def _follow(self, block: Block, metric: Metric) -> Labels:
        """Labels of the rows of a block, some of which become leaders."""
        given = dense(self._who, block.rows)
        prepared = metric.prepare(given)
        leaders = metric.prepare(self.center_rows_) if self.center_rows_.shape[0] else prepared[:0]
        near = Near(metric, leaders.astype(prepared.dtype, copy=False), float(self.threshold))
        labels, new = follow_or_lead(near, prepared, block.n_threads)
        n_seen = int(self.counts_.sum())
        self.center_rows_ = np.concatenate(
            [self.center_rows_, given[new].astype(self.center_rows_.dtype, copy=False)]
        )
        self.leader_indices_ = np.concatenate([self.leader_indices_, n_seen + new])
        counts = np.bincount(labels, minlength=self.leader_indices_.size).astype(np.int64)
        counts[: self.counts_.size] += self.counts_
        self.counts_ = counts
        return labels

    def predict(self, X: Any, *, out: Any = None) -> Any:
        """The first leader within the threshold of every row; -1 where there is none.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int32 array of shape (n_rows,), or the path of `out`
        """
        blocks, known = self._like_the_fit(X)
        near = Near(known.metric, known.prepared, float(self.threshold))
        return given_or_written(blocks, out, "label", label_near, near, dtype=np.int32)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        super()._check_together_loaded(sizes)
        if self.labels_.size and self.labels_.max() >= sizes["clusters"]:
            raise ValueError("labels_ names clusters that have no leader")
        if (np.diff(self.leader_indices_) <= 0).any():
            raise ValueError("leader_indices_ do not rise")
        self._n_features_out = sizes["clusters"]
