"""An index in a scikit-learn pipeline: neighbours as a sparse graph."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._checks import whole
from coterie._doors import FLOATS, validated
from coterie.data import Source, is_dask, is_elsewhere
from coterie.errors import ParameterError
from coterie.quantize._dense_rows import refuse_not_dense
from coterie.search._incoming import as_opened, with_columns
from coterie.search._index import SearchIndex
from coterie.search.flat import FlatIndex
from coterie.search.ivf import IVFPQIndex

__all__ = ["NeighborsTransformer"]


class NeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The nearest rows of the fit, found by an index, as scikit-learn's methods take them.

    Stands where scikit-learn has a `KNeighborsTransformer` (before an estimator with
    ``metric="precomputed"``) or a `NearestNeighbors` that is asked by `kneighbors`. Time and memory
    are those of the index, and 12 bytes a neighbour.

    An index that is not exact may find fewer rows than asked for: these are all that the graph has.
    Distances that rounding makes negative, as those of equal rows under cosine, are zero.

    Parameters
    ----------
    n_neighbors : int
    index : SearchIndex or None
        An index without rows, of which `fit` fills a copy; None: a `FlatIndex`, float64 where the
        rows are. An `IVFPQIndex` without lists learns them from the rows. Products are no
        distances, so not one of ``metric="inner_product"``.

    Attributes
    ----------
    index_ : SearchIndex
        With the rows of the fit under the ids 0, 1, ...
    n_samples_fit_ : int

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from coterie.search import NeighborsTransformer
    >>> classifier = KNeighborsClassifier(1, metric="precomputed")
    >>> model = make_pipeline(NeighborsTransformer(2), classifier)
    >>> model.fit([[0.0], [1.0], [9.0]], [0, 0, 1]).predict([[8.0]]).tolist()
    [1]
    """

    feature_names_in_: npt.NDArray[Any]

    def __init__(self, n_neighbors: int = 5, *, index: SearchIndex | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.index = index

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fill a copy of the index with the rows of X, which may be a path or source."""
        _check_count(self.n_neighbors)
        if not (self.index is None or isinstance(self.index, SearchIndex)):
            raise ParameterError(
                f"NeighborsTransformer: index={self.index!r} was given; use None or an index "
                "without rows, such as FlatIndex()."
            )
        rows = self._rows(X, reset=True)
        empty = FlatIndex(dtype=rows.dtype) if self.index is None else copy.deepcopy(self.index)
        if empty.n_rows:
            raise ParameterError(
                f"NeighborsTransformer: the index has {empty.n_rows} rows already; give one "
                "without rows."
            )
        if empty.metric == "inner_product":
            raise ParameterError(
                "NeighborsTransformer: the index has metric='inner_product', whose values are no "
                "distances; use one of metric='cosine' or 'euclidean'."
            )
        if isinstance(empty, IVFPQIndex) and empty.n_features is None:
            empty.fit(rows)
        n_rows = rows.n_rows if isinstance(rows, Source) else len(rows)
        self.index_ = empty.add(rows, ids=np.arange(n_rows))  # also where it had rows once
        self.n_samples_fit_ = self._n_features_out = n_rows
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]] | npt.NDArray[np.int64]:
        """Distances and numbers of the nearest rows of the fit, nearest first.

        Where there are fewer rows than are asked for, all of them. Where the index found fewer, the
        rest has number -1 and is infinitely far away. Without X, the neighbours of the rows of the
        fit, none of which is its own; for that the index must hold its rows.
        """
        check_is_fitted(self)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_count(count)
        found = self._found_of_fit(count) if X is None else self._found(X, count)
        return found if return_distance else found[1]

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sp.csr_matrix:
        """What `kneighbors` finds as a graph of shape (n_rows, n_samples_fit_).

        Its entries are ones, or with ``mode="distance"`` the distances, nearest first.
        """
        if mode not in ("connectivity", "distance"):
            raise ParameterError(
                f"NeighborsTransformer: mode={mode!r} was given; use 'connectivity' or 'distance'."
            )
        check_is_fitted(self)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_count(count)
        dists, ids = self._found_of_fit(count) if X is None else self._found(X, count)
        return self._graph(dists if mode == "distance" else np.ones(dists.shape), ids)

    def transform(self, X: Any) -> sp.csr_matrix:
        """Distances to the n_neighbors + 1 nearest rows of the fit, (n_rows, n_samples_fit_).

        One more than `n_neighbors`, as scikit-learn has it: a row of the fit is its own nearest.
        """
        return self._graph(*self._found(X, self.n_neighbors + 1))

    def _graph(self, values: npt.NDArray[np.float64], ids: npt.NDArray[np.int64]) -> sp.csr_matrix:
        """These values in the columns of these rows of the fit, those that were found."""
        there = ids >= 0
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        shape = (len(ids), self.n_samples_fit_)
        return sp.csr_matrix((values[there], ids[there], ends), shape=shape)

    def _found(
        self, X: Any, n_neighbors: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        check_is_fitted(self)
        return self._asked(self._rows(X, reset=False), n_neighbors)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """A checked table or, where X says where rows are, a source that the index checks."""
        if not (is_dask(X) or is_elsewhere(X) or isinstance(X, Source)):
            refuse_not_dense("NeighborsTransformer", X)
            return validated(self, X, dtype=FLOATS, ensure_min_samples=1, reset=reset)
        if not reset and hasattr(self, "feature_names_in_"):
            names = self.feature_names_in_.tolist()
            return with_columns("NeighborsTransformer", X, names, "X")
        source = as_opened(X)
        if reset:
            if source.n_rows == 0:
                raise ValueError("NeighborsTransformer: X has no rows; pass at least one.")
            self.n_features_in_ = source.n_cols
            self.__dict__.pop("feature_names_in_", None)
            if source.names is not None:
                self.feature_names_in_ = np.asarray(source.names, dtype=object)
        return source

    def _found_of_fit(
        self, n_neighbors: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Of the rows of the fit, each without itself."""
        rows = self.index_._held_rows()
        if rows is None:
            raise ValueError(
                "NeighborsTransformer: neighbours of the rows of the fit were asked for and the "
                f"{type(self.index_).__name__} keeps codes only; pass X, or give an index made "
                "with keep_rows=True."
            )
        dists, ids = self._asked(rows, n_neighbors + 1)
        others = ids != np.arange(len(ids))[:, None]
        # Behind copies of lower number, or by rounded codes, a row may not find itself.
        others[others.all(axis=1), -1] = False
        shape = len(ids), ids.shape[1] - 1
        return dists[others].reshape(shape), ids[others].reshape(shape)

    def _asked(
        self, rows: Any, n_neighbors: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """What the index finds of checked rows, as many as there can be."""
        dists, ids = self.index_.search(rows, n_neighbors)
        dists, ids = dists[:, : self.n_samples_fit_], ids[:, : self.n_samples_fit_]
        return np.maximum(dists, 0), ids


def _check_count(n_neighbors: Any) -> None:
    if not whole(1).allows(n_neighbors):
        raise ParameterError(
            f"NeighborsTransformer: n_neighbors={n_neighbors!r} was given; use a whole number of "
            "at least 1."
        )
