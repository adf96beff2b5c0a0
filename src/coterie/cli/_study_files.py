"""The labels of a study as a table: a row for every row of the data, and its key if it has one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._writing import writing

if TYPE_CHECKING:
    from coterie.report import Study

LABELS_ENDS = (".csv", ".parquet")

#: Rows turned into text in one go.
_CHUNK_ROWS = 1 << 15


def write_labels_table(path: Path, found: Study) -> None:
    """Write key, label, confidence, distance and the ambiguous flag, by the end of the name."""
    columns: dict[str, Any] = {
        "label": found.labels.astype(np.int32),
        "confidence": np.round(found.confidence, 4),
        "distance": np.round(found.distance, 4),
        "ambiguous": found.ambiguous,
    }
    key = found.key
    if key is not None:
        name = key[0] if key[0] not in columns else f"{key[0]} (key)"
        columns = {name: _whole(key[1]), **columns}
    if path.suffix.lower() == ".parquet":
        from coterie.data.written import write_columns

        write_columns(path, columns)
        return
    with writing(path) as file:
        file.writelines(_lines(columns))


def _lines(columns: dict[str, Any]) -> Iterator[bytes]:
    """CSV, with a header; truths are 1 and 0, a missing key is empty."""
    n_rows = len(columns["label"])
    yield _row_text([list(columns)])
    for start in range(0, n_rows, _CHUNK_ROWS):
        some = slice(start, min(start + _CHUNK_ROWS, n_rows))
        cells = [_plain_cells(column[some]) for column in columns.values()]
        yield _row_text(zip(*cells, strict=True))


def _row_text(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _plain_cells(cells: Any) -> list[Any]:
    array = np.asarray(cells)
    return list((array.astype(np.int8) if array.dtype == bool else array).tolist())


def _whole(cells: Any) -> Any:
    """Keys that are whole numbers as such; anything else as it is."""
    array = np.asarray(cells)
    if array.dtype.kind != "f" or not bool((array == np.rint(array)).all()):
        return cells
    return array.astype(np.int64) if np.abs(array).max(initial=0) < 2**53 else cells
