"""What the mixtures of tables share: columns of any type, in memory or a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._doors import check_weights, nan_for_masked, validated
from coterie.data import ArraySource, Source, as_tables, is_dask
from coterie.data.columns import is_frame
from coterie.mixture._plain import PlainMixture


class TableInMemory(Source):
    """A table in memory: one block, whose rows are the table."""

    in_memory = True

    def __init__(
        self, table: Any, weights: npt.NDArray[np.float64] | None = None, n_threads: int = 1
    ) -> None:
        n_rows, n_cols = (int(size) for size in table.shape)
        super().__init__(n_cols, np.float64, n_rows=n_rows, weights=weights, n_threads=n_threads)
        self._table = table

    def __str__(self) -> str:
        return "X"

    def _pieces(self) -> Iterator[Any]:
        yield self._table

    def through(
        self,
        transform: Callable[[Any], Any],
        *,
        n_cols: int | None = None,
        sparse: bool | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> ArraySource:
        """The rows as `transform` makes them, at once; they tell what they are."""
        return ArraySource(transform(self._table), self.weights, self.n_threads)


class TableMixture(PlainMixture):
    """Base of the mixtures whose columns may hold words and missing cells."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _tables(self, X: Any, sample_weight: Any, *, reset: bool) -> Source:
        """The rows as tables, with their weights: blocks whose rows have columns of any type."""
        scaled = isinstance(X, Source) and X.scaling is not None
        if scaled or (hasattr(self, "scaling_") and not reset):
            return self._source(X, sample_weight, reset=reset)  # all columns are numbers
        if reset:
            self.__dict__.pop("scaling_", None)
        if not isinstance(X, np.memmap):  # whose whole numbers are to stay what they are
            X = self._opened(X, reset=reset)
        if is_dask(X) or isinstance(X, Source):
            return self._checked_source(as_tables(X), sample_weight, reset=reset)
        X = nan_for_masked(X, table=True)
        X = validated(
            self, X, reset=reset, dtype=None, ensure_all_finite=False, skip_check_array=is_frame(X)
        )
        weights = check_weights(type(self).__name__, sample_weight, int(X.shape[0]))
        return TableInMemory(X, weights, self._n_threads())
