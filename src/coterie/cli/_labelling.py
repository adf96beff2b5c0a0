"""Labels by a saved model, made where the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._config import resolve_n_threads
from coterie.data import Block, Source, as_source
from coterie.data._cells import is_table
from coterie.errors import DataError
from coterie.table_model import TableModel


class RowsRefusedError(DataError):
    """A model cannot label some rows; it counts them from `start` on."""

    def __init__(self, reason: str, start: int) -> None:
        super().__init__(reason, start)
        self.reason, self.start = reason, start

    def __str__(self) -> str:
        return self.reason


def labels_of(fitted: TableModel, rows: Source) -> Iterator[npt.NDArray[np.int64]]:
    """The clusters of the rows of a source, unscaled ones, some at a time.

    Raises
    ------
    RowsRefusedError
        If the model cannot use some of them.
    """
    n_threads = resolve_n_threads(fitted.model.n_threads, type(fitted.model).__name__)
    yield from as_source(rows, n_threads=n_threads).results(fill_labels, fitted, dtype=np.int64)


def fill_labels(block: Block, fitted: TableModel, labels: npt.NDArray[Any]) -> None:
    """A pass: fill in the clusters of the rows of a block."""
    fitted = copy(fitted)
    fitted.model = copy(fitted.model)
    fitted.model.n_threads = block.n_threads
    rows, names = block.rows, fitted.columns or getattr(fitted.model, "feature_names_in_", None)
    if is_table(rows) and names is not None:  # which the files may not know
        rows = rows.rename_columns(list(names))
    with warnings.catch_warnings():  # the columns were found by name, or stand in order
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        try:
            labels[:] = fitted.predict(rows)
        except ValueError as error:
            raise RowsRefusedError(str(error), block.start) from None
