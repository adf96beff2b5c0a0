"""A metric made ready for some data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.distance._forms import Form, Reader, as_given, as_prepared
from coterie.distance._sparse_rows import Compared, SparseRows, in_tiles

Floats = npt.NDArray[np.float64]
#: Name, power, ranges and weights of columns, and the unit that rows were divided by.
NativeMetric = tuple[str, float, Floats | None, Floats | None, float]
RowFunction = Callable[[Any, Any], float]

#: Metrics a kd-tree serves. On unit rows cosine and correlation are half the squared Euclidean
#: distance; on the sphere the arc grows with the chord.
_WITH_BOXES = {
    "euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "manhattan", "chebyshev", "minkowski",
    "cosine", "correlation", "haversine",
}  # fmt: skip


#: Metrics that learn from the rows they are made for, and the parameters that tell them instead.
_LEARNING = {"seuclidean": {"V"}, "mahalanobis": {"V", "VI"}, "gower": {"ranges"}}
#: Metrics in whose units rows become dense anyway.
_OF_ALL_ROWS = {"seuclidean", "mahalanobis"}


@dataclass(frozen=True)
class Metric:
    """A metric made ready for some data; `as_metric` makes one.

    Rows go through `prepare` once and then to the kernels, together with `native`: `read` checks
    them and `form` turns checked rows into those that are compared (unit rows for cosine, points
    of the sphere for haversine, 0 and 1 for Jaccard; unchanged for most). A Python callable has no
    `native`: each pair is then a call of Python, which is slow. `learned` is what was read off the
    data: `as_metric(name, **params, **learned)` makes the metric again without them. Pickles, with
    a callable that does.
    """

    name: str
    native: NativeMetric | None
    read: Callable[..., npt.NDArray[Any]]
    function: RowFunction | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    form: Form = as_given

    @property
    def has_boxes(self) -> bool:
        """Whether a kd-tree serves it."""
        return self.name in _WITH_BOXES and self.function is None

    @property
    def is_euclidean(self) -> bool:
        """Whether it is Euclid's metric of the prepared rows, to the bit."""
        return self.native is not None and self.native[0] == "euclidean" and self.native[4] == 1

    def prepare(self, X: Any, name: str = "X") -> npt.NDArray[Any]:
        """Rows as they are compared, from any table that the caller calls `name`.

        CSR rows are made dense, and refused where they would not fit so.
        """
        return self.form(self.read(X, name), name)

    def prepare_tiles(self, X: Any, name: str = "X") -> Compared:
        """The same for `lengths`, where most metrics make CSR rows dense one tile at a time."""
        if not sp.issparse(X) or not isinstance(self.read, Reader) or self.name in _OF_ALL_ROWS:
            return self.prepare(X, name)
        rows = self.read.stored(X, name)
        self.form(rows[:1].toarray(), name)  # which refuses the wrong number of columns
        return SparseRows(rows, self.form)

    def of_prepared(self) -> Metric:
        """The metric for rows that were prepared before."""
        return replace(self, read=as_prepared, form=as_given)

    def check_lengths(self, lengths: npt.NDArray[Any], who: str) -> None:
        """Refuse distances that overflowed, or that a function made up."""
        if lengths.size and not np.isfinite(lengths.max()):
            raise ValueError(
                f"{who}: metric={self.name!r} gives distances that are not finite for some pairs "
                "of rows; scale the rows down if they are huge (X / np.abs(X).max()), leave these "
                "rows out, or fill in what they miss."
            )

    def lengths(self, rows: Compared, others: Compared, n_threads: int = 1) -> Floats:
        """Distances between prepared rows, (n_rows, n_others)."""
        out = np.empty((rows.shape[0], others.shape[0]))
        if isinstance(rows, SparseRows) or isinstance(others, SparseRows):
            for part, some in in_tiles(rows):
                for other_part, tile in in_tiles(others):
                    out[part, other_part] = self.lengths(some, tile, n_threads)
            return out
        if self.native is not None:
            kernels.all_lengths(rows, others, self.native, out, n_threads)
        else:
            assert self.function is not None
            for i, x in enumerate(rows):
                for j, y in enumerate(others):
                    out[i, j] = self.function(x, y)
        return out


def learns(metric: Any, params: Mapping[str, Any]) -> bool:
    """Whether a metric with these parameters depends on the rows it is made for."""
    return isinstance(metric, str) and metric in _LEARNING and not _LEARNING[metric] & set(params)
