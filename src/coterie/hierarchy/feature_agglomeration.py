"""Agglomerative clustering of columns: the estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._base import Estimator
from coterie._checks import CALLABLE, Rule, one_of
from coterie._distinct import distinct
from coterie._doors import FLOATS, checked, validated
from coterie._history import Event, Stage
from coterie._stored import Field, Sizes
from coterie.hierarchy._stored import check_cut_tree
from coterie.hierarchy.agglomerative import AgglomerativeClustering

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_POOLING: dict[str, Callable[..., Any]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
}
#: What the tree of the columns publishes.
_PUBLISHED = (
    "labels_", "children_", "distances_", "Z_", "n_clusters_", "n_leaves_",
    "n_connected_components_", "history_", "events_",
)  # fmt: skip


class FeatureAgglomeration(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Join the two nearest columns, again and again, and pool the columns of each cluster.

    Drop-in for `sklearn.cluster.FeatureAgglomeration`, with all eight linkages: columns are
    clustered as `AgglomerativeClustering` clusters rows. Time and memory are those of
    `coterie.linkage` for n_features rows of n_rows columns; X is laid out once more, by columns.

    Parameters
    ----------
    n_clusters, metric, memory, connectivity, compute_full_tree, linkage, gini_threshold, \
distance_threshold, compute_distances, metric_params, n_threads
        See `AgglomerativeClustering`, with columns for rows.
    pooling_func : {"mean", "median", "min", "max"} or callable, default="mean"
        What the columns of a cluster become in `transform`; a function is given an array of
        shape (n_rows, n_columns of the cluster) and ``axis=1``.

    Attributes
    ----------
    labels_ : int64 array of shape (n_features,)
        The cluster of each column.
    n_clusters_, n_leaves_, n_connected_components_, n_features_in_ : int
    children_, distances_, Z_, history_, events_
        The tree of the columns and how it came; see `AgglomerativeClustering`.

    Examples
    --------
    >>> from coterie import FeatureAgglomeration
    >>> model = FeatureAgglomeration(2).fit([[1.0, 8, 1], [2, 6, 2], [3, 7, 4]])
    >>> model.labels_
    array([0, 1, 0])
    >>> model.transform([[1.0, 5, 3]])
    array([[2., 5.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        name: field for name, field in AgglomerativeClustering._stores.items() if name in _PUBLISHED
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **{
            name: rule
            for name, rule in AgglomerativeClustering._rules.items()
            if name not in ("compress", "random_state")
        },
        "pooling_func": one_of(*_POOLING) | CALLABLE,
    }

    labels_: Ints
    children_: Ints
    distances_: Floats
    Z_: Floats
    n_clusters_: int
    n_leaves_: int
    n_connected_components_: int
    history_: list[Stage]
    events_: list[Event]

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        gini_threshold: float = 0.3,
        pooling_func: Any = "mean",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        metric_params: Mapping[str, Any] | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.gini_threshold = gini_threshold
        self.pooling_func = pooling_func
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.metric_params = metric_params
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree of the columns of X and cut it.

        Parameters
        ----------
        X : array, data frame, path or source of shape (n_rows, n_features), or square distances \
of columns
            Rows that are elsewhere (files, Dask) are taken into memory, if they fit.
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        who = type(self).__name__
        columns = np.ascontiguousarray(self._rows(X, reset=True, ensure_min_features=2).T)
        if self.n_clusters is not None and self.n_clusters > len(columns):
            raise ValueError(
                f"{who}: n_clusters={self.n_clusters} but X has {len(columns)} columns; lower "
                "n_clusters or pass more columns."
            )
        params = self.get_params(deep=False)
        del params["pooling_func"]
        tree = AgglomerativeClustering(**params).fit(columns)
        for name in _PUBLISHED:
            setattr(self, name, getattr(tree, name))
        return self

    def _rows(self, X: Any, *, reset: bool, **options: Any) -> npt.NDArray[Any]:
        """Checked rows, in memory wherever they were."""
        rows = self._taken_in(X, reset=reset)
        if rows is None:
            return np.asarray(validated(self, X, dtype=FLOATS, reset=reset, **options))
        return np.asarray(checked(type(self).__name__, rows, dtype=FLOATS, **options))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _check_together_loaded(self, sizes: Sizes) -> None:
        check_cut_tree(self, sizes)
        if sizes["rows"] != self.n_features_in_:
            raise ValueError("the tree and n_features_in_ differ in the number of columns")
        if distinct(self.labels_).size != self.n_clusters_:
            raise ValueError("a cluster has no columns")

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Pool the columns of each cluster.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_clusters_)
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        pool = self.pooling_func
        if isinstance(pool, str):
            pool = _POOLING.get(pool, pool)
        if not callable(pool):
            raise ValueError(
                f"{type(self).__name__}: pooling_func={pool!r} stands for a function that was not "
                "stored with the model; set it again by set_params(pooling_func=...)."
            )
        pooled = [pool(rows[:, self.labels_ == label], axis=1) for label in range(self.n_clusters_)]
        return np.array(pooled).T

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """Give every column the pooled values of its cluster.

        Parameters
        ----------
        X : array of shape (n_rows, n_clusters_)

        Returns
        -------
        array of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        pooled = checked(type(self).__name__, X, dtype=FLOATS)
        if pooled.shape[1] != self.n_clusters_:
            raise ValueError(
                f"{type(self).__name__}: X has {pooled.shape[1]} columns and the model has "
                f"{self.n_clusters_} clusters; pass what transform returned."
            )
        return np.asarray(pooled[:, self.labels_])
