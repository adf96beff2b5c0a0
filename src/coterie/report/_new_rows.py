"""The model of a study: rows of the same raw table in, labels out."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from coterie.data.columns import Column, codes, missing_cells, sorts_of
from coterie.data.encoding import ColumnCode, Levels, Measure, Steps, encode, finite
from coterie.data.raw_table import RawTable, raw_table
from coterie.errors import AdviceWarning, DataError
from coterie.neighbors import Index

__all__ = ["StudyModel"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_CODES: dict[str, type] = {kind.__name__: kind for kind in (Measure, Steps, Levels)}
#: Nearest studied rows whose labels tell how sure a label is.
_VOTERS = 15
#: Rows that are labelled in one go.
_STEP = 1 << 16
#: Rows of less confidence could as well be in another cluster.
AMBIGUOUS = 0.6


class Placed(NamedTuple):
    """Of every row the label, how sure it is (0 to 1), and the distance to its cluster's mean."""

    labels: Labels
    confidence: Floats
    distance: Floats

    @property
    def ambiguous(self) -> npt.NDArray[np.bool_]:
        """Rows that could as well be in another cluster."""
        return self.confidence < AMBIGUOUS


class StudyModel(BaseEstimator):
    """What a study learned: which columns count, how they are coded, and where clusters are.

    `coterie.study` makes one, `coterie.load` reads one back. It takes raw tables (data frames,
    Arrow tables, arrays) whose columns are found by name and read as they were in the study,
    whatever type these rows would have by themselves. A missing cell counts as the mean of its
    column, and so, with a warning, does one that is no number or a level never seen.

    Attributes
    ----------
    columns_ : list of str
        The columns that count; a table may have more.
    n_columns_ : int
        Columns of the table that was studied, for arrays, whose columns have no names.
    places_ : list of int
        Where the columns stood in it.
    model_ : estimator or None
        The model that labels rows. None: a row gets the label of the nearest row in `rows_`, as
        for methods that know only rows they were fitted to (trees of merges, densities).
    means_ : array of shape (n_clusters, n_axes)
        Means of the clusters where rows are compared.
    """

    columns_: list[str]
    n_columns_: int
    places_: list[int]
    codes_: list[dict[str, Any]]
    center_: Floats
    axes_: Floats | None
    means_: Floats
    model_: Any
    takes_cells_: bool
    order_: Labels
    rows_: Floats | None
    row_labels_: Labels | None

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.means_)

    def predict(self, X: Any) -> Labels:
        """The cluster of every row of a raw table."""
        return self._placed(X, warns=True).labels

    def place(self, X: Any) -> Placed:
        """The cluster of every row, how sure that is, and how far the row is from its mean.

        The confidence is the probability of the label under a mixture; where clusters are centres,
        how far the row is on its way from the mean of the other cluster to that of its own, 0.5 on
        the border of both, of all other clusters the least; else the share of the 15 nearest
        studied rows with the same label. One cluster: 1.
        """
        return self._placed(X, warns=False)

    def _placed(self, X: Any, *, warns: bool) -> Placed:
        """`place`, which may warn of cells that count as missing."""
        table = self._columns(raw_table(X))
        learned = [_code(told) for told in self.codes_]
        index = None if self.rows_ is None else Index(self.rows_)
        table = RawTable(table.names, tuple(map(_as_learned, table.cells, learned)))
        lost = [said for one, cells in zip(learned, table.cells, strict=True)
                if (said := _lost(one, cells))]  # fmt: skip
        if lost and warns:
            told = "; ".join(lost[:3]) + (f"; so in {len(lost) - 3} more columns" * (len(lost) > 3))
            warnings.warn(
                f"StudyModel: {told}. They count as the mean of their column.", AdviceWarning,
                stacklevel=3,
            )  # fmt: skip
        parts = []
        for start in range(0, len(table), _STEP):
            some = table.take(np.arange(start, min(start + _STEP, len(table))))
            points = encode(some.cells, learned)
            rows = points if self.axes_ is None else (points - self.center_) @ self.axes_
            parts.append(self._place(np.ascontiguousarray(rows), some, index))
        return Placed(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `coterie.load` reads."""
        from coterie._files import save_model

        save_model(path, self)

    def _columns(self, table: RawTable) -> RawTable:
        """The columns that count: by name, or by place where the table has other names."""
        lacking = [name for name in self.columns_ if name not in table.names]
        if not lacking:
            return table.pick(self.columns_)
        unnamed = table.names == tuple(f"x{place}" for place in range(len(table.names)))
        if unnamed and len(table.names) == self.n_columns_:
            return RawTable(
                tuple(self.columns_), tuple(table.cells[place] for place in self.places_)
            )
        raise DataError(
            f"StudyModel: the table has no column {', '.join(map(repr, lacking[:5]))}; it has "
            f"{', '.join(table.names[:20])}, and the model needs {', '.join(self.columns_[:20])}."
        )

    def _place(self, rows: Floats, cells: RawTable, index: Index | None) -> Placed:
        lengths = _sq_lengths(rows, self.means_)
        if self.n_clusters == 1:
            ones = np.ones(len(rows))
            return Placed(np.zeros(len(rows), dtype=np.int64), ones, np.sqrt(lengths[:, 0]))
        if index is not None:
            labels, confidence = self._by_nearest(rows, index)
        elif hasattr(self.model_, "predict_proba"):
            chances = self.model_.predict_proba(cells if self.takes_cells_ else rows)
            labels = self.order_[chances.argmax(axis=1)]
            confidence = chances.max(axis=1)
        else:
            found = self.model_.predict(cells if self.takes_cells_ else rows)
            labels = self.order_[np.asarray(found, dtype=np.int64)]
            confidence = _margins(lengths, labels, self.means_)
        own = np.sqrt(lengths[np.arange(len(rows)), labels])
        return Placed(labels, np.asarray(confidence, dtype=np.float64), own)

    def _by_nearest(self, rows: Floats, index: Index) -> tuple[Labels, Floats]:
        assert self.row_labels_ is not None
        nearest = index.knn(min(_VOTERS, len(self.row_labels_)), rows).ids
        voted = self.row_labels_[nearest]
        labels = voted[:, 0]
        return labels, (voted == labels[:, np.newaxis]).mean(axis=1)

    def _check_loaded(self) -> None:
        """Refuse what a damaged file may hold."""
        codes = [_code(told) for told in self.codes_]
        n_places = sum(len(code.places) for code in codes)
        if [code.name for code in codes] != list(self.columns_):
            raise ValueError("its codes are not those of its columns")
        if len(self.places_) != len(codes) or not all(
            type(place) is int and 0 <= place < self.n_columns_ for place in self.places_
        ):
            raise ValueError("its columns are nowhere")
        n_axes = n_places
        if self.axes_ is not None:
            _check_floats(self.axes_, "axes_", (n_places, None))
            _check_floats(self.center_, "center_", (n_places,))
            n_axes = self.axes_.shape[1]
        _check_floats(self.means_, "means_", (None, n_axes))
        if self.n_clusters < 1:
            raise ValueError("it has no cluster")
        if self.rows_ is not None:
            _check_floats(self.rows_, "rows_", (None, n_axes))
            self._check_labels(self.row_labels_, len(self.rows_))
        elif self.n_clusters > 1:
            if not hasattr(self.model_, "predict"):
                raise ValueError("nothing in it can label rows")
            self._check_labels(self.order_, None)

    def _check_labels(self, labels: Any, size: int | None) -> None:
        if not isinstance(labels, np.ndarray) or labels.dtype != np.int64 or labels.ndim != 1:
            raise ValueError("its labels are no whole numbers")
        if not labels.size or (size is not None and labels.size != size):
            raise ValueError("it has not a label for every row")
        if labels.min() < 0 or labels.max() >= self.n_clusters:
            raise ValueError("it has labels of no cluster")


def told_code(code: ColumnCode) -> dict[str, Any]:
    """A code as plain data, for a file."""
    return {"kind": type(code).__name__, **vars(code)}


def _code(told: dict[str, Any]) -> ColumnCode:
    """The code that `told_code` tells of."""
    given = dict(told)
    code: ColumnCode = _CODES[given.pop("kind")](**given)
    return code


def _as_learned(column: Column, code: ColumnCode) -> Column:
    """A column as the study read it: words where its levels are, numbers where these are.

    A part of a table may look otherwise: levels 1, 2 and x without the x are numbers.
    """
    if isinstance(code, Measure) or not code.levels:
        return column
    of_words = all(isinstance(level, str) for level in code.levels)
    if of_words == bool(sorts_of(column) & {"number"}):
        values = finite(column)
        if not of_words:
            return values
        return np.array([None if np.isnan(x) else f"{x:.17g}" for x in values], dtype=object)
    return column


def _lost(code: ColumnCode, column: Column) -> str:
    """How many cells hold something that the study has not learned; empty where none does."""
    there = ~missing_cells(column)
    if isinstance(code, Measure):
        if column.dtype.kind != "O":  # NaN and infinity are missing to a study, too
            return ""
        lost, what = there & np.isnan(finite(column)), "no numbers"
    else:
        lost, what = there & (codes(column, code.levels) < 0), "levels that the study has not met"
    if not lost.any():
        return ""
    return f"{int(lost.sum()):,} of {len(column):,} cells of {code.name!r} are {what}"


def _sq_lengths(rows: Floats, means: Floats) -> Floats:
    """Squared distances of rows to the means of clusters, at least 0."""
    found = np.square(rows).sum(axis=1)[:, np.newaxis] - 2 * rows @ means.T
    return np.maximum(found + np.square(means).sum(axis=1), 0.0)


def _margins(sq_lengths: Floats, labels: Labels, means: Floats) -> Floats:
    """Where rows are between the mean of another cluster, 0, and that of their own, 1; the least.

    By their projection on the line through both: 1/2 + (b - a) / 2c with a and b the squared
    distances to the own and the other mean, and c that between them. What scatters at right angles
    to the line, as most does in many columns, has no part in it.
    """
    apart = _sq_lengths(means, means)
    np.fill_diagonal(apart, 0.0)
    found = np.ones(len(labels))
    for own in range(len(means)):
        here = np.flatnonzero(labels == own)
        for other in np.flatnonzero(apart[own]):
            lead = (sq_lengths[here, other] - sq_lengths[here, own]) / (2 * apart[own, other])
            found[here] = np.minimum(found[here], 0.5 + lead)
    return np.maximum(found, 0.0)


def _check_floats(values: Any, name: str, shape: tuple[int | None, ...]) -> None:
    fits = (
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.ndim == len(shape)
        and all(want in (None, got) for want, got in zip(shape, values.shape, strict=True))
    )
    if not fits or not np.isfinite(values).all():
        raise ValueError(f"its {name} has another shape, or is not finite")
