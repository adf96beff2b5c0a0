"""A raw table made ready: what counts, as what, and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coterie.errors import DataError
from coterie.report._prepared import prepare

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame({
    "id": np.arange(60),
    "length": RNG.normal(10, 2, 60),
    "visits": np.exp(RNG.normal(3, 2, 60)).astype(int),
    "kind": ["a", "b", "c"] * 20,
    "new": [True, False] * 30,
    "same": 1,
})  # fmt: skip


@pytest.mark.parametrize("table", [TABLE, pl.from_pandas(TABLE)], ids=["pandas", "polars"])
def test_columns_that_count_become_points_of_equal_weight(table: object) -> None:
    ready = prepare(table)
    assert [kind.name for kind in ready.used] == ["length", "visits", "kind", "new"]
    assert ready.place_names == ["length", "visits", "kind=a", "kind=b", "kind=c", "new"]
    variances = ready.points.var(axis=0)
    np.testing.assert_allclose(variances[[0, 1, 5]], 1)
    assert variances[2:5].sum() == pytest.approx(1)
    assert ready.is_mixed


def test_what_was_done_is_said() -> None:
    holes = TABLE.copy()
    holes.loc[:5, "length"] = np.nan
    notes = prepare(holes).notes
    assert notes[:2] == (
        "Left out: 'id' numbers the rows.", "Left out: 'same' is 1 wherever it is known.",
    )  # fmt: skip
    assert "6 cells (2.5%) of the columns used have no value, in 'length'" in notes[2]
    assert "logarithms" in notes[3]
    assert "'visits'" in notes[3]


def test_missing_cells_stand_at_the_mean() -> None:
    holes = TABLE[["length", "kind"]].astype(object)
    holes.iloc[0] = None
    assert not prepare(holes).points[0].any()


def test_order_of_rows_does_not_matter() -> None:
    order = RNG.permutation(len(TABLE))
    np.testing.assert_allclose(
        prepare(TABLE.iloc[order]).points, prepare(TABLE).points[order], rtol=1e-12, atol=1e-12
    )


def test_nothing_to_use_is_refused_with_the_reasons() -> None:
    with pytest.raises(DataError, match="no column can be used: 'id' numbers the rows; 'same' is"):
        prepare(TABLE[["id", "same"]])
    with pytest.raises(DataError, match=r"shape \(0, 2\)"):
        prepare(TABLE[["id", "same"]].iloc[:0])
