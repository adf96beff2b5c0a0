"""Rows behind the codes of an inverted file, with what proves that they are the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.errors import FileError
from coterie.search._certified import Gaps
from coterie.search._growing import Growing
from coterie.search._index_file import Arrays, damaged

Floats = npt.NDArray[Any]


#: What a file has of them.
ROW_ARRAYS = ("rows", *Gaps._fields)


class KeptRows:
    """Rows, and how far each is from its code and from the centre of its list."""

    def __init__(self, who: str, rows: Floats, gaps: Gaps | None = None) -> None:
        none = np.empty(0, dtype=np.float32)
        given = gaps or Gaps(none, none)
        self._who = who
        self._rows, self._gaps = Growing(rows, who), [Growing(each, who) for each in given]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows(self) -> Floats:
        """All rows."""
        return self._rows.view

    @property
    def gaps(self) -> Gaps:
        """Of all rows."""
        return Gaps(*(each.view for each in self._gaps))

    def extend(self, rows: Floats, gaps: Gaps) -> None:
        """Put rows behind the last."""
        self._rows.extend(rows)
        for held, each in zip(self._gaps, gaps, strict=True):
            held.extend(each)

    def truncate(self, n_rows: int) -> None:
        """Forget what comes after the first `n_rows`."""
        for held in (self._rows, *self._gaps):
            held.truncate(n_rows)

    def only(self, kept: npt.NDArray[np.bool_]) -> KeptRows:
        """These rows alone."""
        return KeptRows(self._who, self.rows[kept], Gaps(*(each[kept] for each in self.gaps)))

    def stored(self) -> Arrays:
        """Arrays for a file."""
        return {"rows": self.rows, **self.gaps._asdict()}


def restored_rows(who: str, arrays: Arrays, dtype: npt.DTypeLike, n_features: int) -> KeptRows:
    """What `stored` gave; what cannot be is refused."""
    missing = [name for name in ROW_ARRAYS if name not in arrays]
    if missing:
        raise FileError(
            f"it keeps rows and has no {missing[0]} of them, as files of earlier versions; build "
            "the index again."
        )
    rows, *given = (arrays[name] for name in ROW_ARRAYS)
    gaps = Gaps(*given)
    if rows.dtype != dtype or rows.ndim != 2 or rows.shape[1] != n_features:
        raise damaged("its rows are of another type or shape")
    for name, each in gaps._asdict().items():
        if each.dtype != np.float32 or each.shape != (len(rows),):
            raise damaged(f"its {name} are not one per row")
        if not (np.isfinite(each) & (each >= 0)).all():
            raise damaged(f"its {name} are not all numbers from zero on")
    return KeptRows(who, rows, gaps)
