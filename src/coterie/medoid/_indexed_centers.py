"""Estimators whose centres are rows of the fit by number, so that distances will do for rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from coterie._distinct import distinct
from coterie._doors import check_symmetric, given_distances
from coterie._history import Recorder
from coterie._stored import Array, Field, Sizes
from coterie.data import is_dask
from coterie.data.written import given_or_written
from coterie.medoid._nearest import label_block
from coterie.medoid._row_centers import RowCenters


class IndexedCenters(RowCenters):
    """Base of estimators with `n_clusters` rows as centres, and ``metric="precomputed"``."""

    _stores: ClassVar[Mapping[str, Field]] = {
        **RowCenters._stores,
        "labels_": Array("i4", ("rows",), 0),
    }
    #: What a centre is called, and the attribute that holds their numbers.
    _center: ClassVar[str]
    _indices_name: ClassVar[str]

    n_clusters: int

    @property
    def _indices(self) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = getattr(self, self._indices_name)
        return found

    def _given_square(self, X: Any) -> npt.NDArray[Any]:
        """Checked distances of all pairs."""
        matrix = given_distances(self, X, None, sparse=False, reset=True)
        check_symmetric(matrix, self._who)
        return matrix

    def _given_lengths(self, X: Any) -> npt.NDArray[Any]:
        """Distances to the centres, out of those to all rows of the fit."""
        given = given_distances(self, X, self.labels_.size, sparse=False)
        return np.asarray(given[:, self._indices])

    def predict(self, X: Any, *, out: Any = None) -> Any:
        """The nearest centre of every row; ties go to the lower index.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
            With ``metric="precomputed"`` the distances to the rows of the fit, (n_rows, n_fitted).
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int32 array of shape (n_rows,), or the path of `out`
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            return self._given_lengths(X).argmin(axis=1).astype(np.int32)
        blocks, known = self._like_the_fit(X)
        return given_or_written(blocks, out, "label", label_block, known, dtype=np.int32)

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """Distance of every row to every centre, (n_rows, n_clusters); see `predict`."""
        check_is_fitted(self)
        if self.metric == "precomputed":
            return self._given_lengths(X)
        return super().transform(X, out=out)

    def _tell_of_copies(self, recorder: Recorder) -> None:
        """Note and warn where clusters have no rows; called by `fit` itself."""
        n_used = self.n_clusters if is_dask(self.labels_) else distinct(self.labels_).size
        if n_used < self.n_clusters:
            recorder.event(
                "fewer clusters", f"only {n_used} of {self.n_clusters} clusters have rows"
            )
            warnings.warn(
                f"{self._who}: only {n_used} of n_clusters={self.n_clusters} clusters have rows, "
                f"since some {self._center}s are at distance 0 from each other; lower n_clusters.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check_together_loaded(self, sizes: Sizes) -> None:
        super()._check_together_loaded(sizes)
        name, indices = self._indices_name, self._indices
        if self.labels_.size and self.labels_.max() >= sizes["clusters"]:
            raise ValueError(f"labels_ names clusters that have no {self._center}")
        if indices.max() >= self.labels_.size:
            raise ValueError(f"{name} names rows that labels_ does not have")
        if distinct(indices).size < sizes["clusters"]:
            raise ValueError(f"{name} names a row twice")
        if "center_rows_" not in self.__dict__ and sizes["columns"] != self.labels_.size:
            raise ValueError("there must be a column for each row of the fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
