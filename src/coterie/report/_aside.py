"""Columns that were set aside: how far clusters that were found without them agree with them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from coterie.data.columns import codes, missing_cells, values_met
from coterie.evaluate import adjusted_rand_score
from coterie.report._findings import Findings

#: A column with more values than this is a measurement or a name, and no partition.
_MOST_VALUES = 50


def compared_with_columns(found: Findings) -> Iterator[str]:
    """A sentence for each column of few values that was set aside; rows without a value are out."""
    for name in found.without:
        column = found.given.table[name]
        known = np.flatnonzero(~missing_cells(column))
        values = values_met(column)
        if 2 <= len(values) <= _MOST_VALUES:
            index = adjusted_rand_score(
                codes(column, tuple(values))[known], found.placed.labels[known]
            )
            yield (
                f"With {name!r}, which was set aside and has {len(values)} values, the clusters "
                f"agree by {round(index, 2) + 0.0:.2f} (adjusted Rand index: 1 is the same, 0 "
                "chance)."
            )


def listed_names(names: Sequence[str]) -> str:
    """Names between commas, quoted where they contain some, as `--without` takes them."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
