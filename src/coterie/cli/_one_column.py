"""One column of a table as it is: names of rows, or labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data._delimited import no_column
from coterie.data.columns import missing_cells
from coterie.data.raw_files import read_raw
from coterie.errors import DataError


class NoSuchColumnError(DataError):
    """A table has no column of that name."""


def column_of(
    places: Sequence[str],
    name: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    *,
    complete: bool = False,
) -> npt.NDArray[Any]:
    """The cells of a column; without a name, of the only one, or of the one called label.

    Whole numbers are such. With `complete`, a missing cell is an error, and so is a blank line.
    """
    table, _ = read_raw(places, decimal=decimal, header=header, complete=complete)
    known = list(table.names)
    if name is None:
        name = known[0] if len(known) == 1 else "label"
    if name not in known:
        raise NoSuchColumnError(str(no_column(places[0], name, known)))
    cells = np.asarray(table[name])
    lacking = missing_cells(cells)
    if complete and lacking.any():
        raise DataError(
            f"{places[0]}: column {name!r} has no value in row {int(lacking.argmax()) + 1}; give "
            "every row a label."
        )
    if cells.dtype.kind == "f" and not lacking.any() and bool((cells == np.rint(cells)).all()):
        return cells.astype(np.int64)
    return cells
