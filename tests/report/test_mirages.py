"""What a table itself can feign: copies of rows, filler numbers, missing cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.data.raw_table import raw_table
from coterie.report._mirages import clusters_of_gaps, copies, far_cells, fillers
from coterie.report._prepared import prepare


@pytest.fixture(scope="module", autouse=True)
def _enough_time() -> Iterator[None]:
    """A small budget for small stages, but a machine that is busy leaves nothing out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.report._plan.Clock.has_run_out", False)
        yield


def test_copies_of_rows_without_structure_are_no_clusters() -> None:
    rows = np.repeat(np.random.RandomState(0).normal(size=(100, 3)), 10, axis=0)
    found = coterie.study(rows, time=5)
    assert not found.has_structure
    assert any("Only 100 rows went into" in why for why in found.summary["verdict"]["why"])
    assert any("900 of 1,000 rows are copies" in note for note in found.summary["notes"])


def test_copies_do_not_split_clusters() -> None:
    rng = np.random.RandomState(0)
    rows = np.repeat(rng.normal(size=(60, 3)) + 30 * (np.arange(60) % 2)[:, None], 10, axis=0)
    found = coterie.study(rows, time=5)
    assert found.n_clusters == 2
    assert len(set(found.labels[::20])) == 1
    np.testing.assert_array_equal(found.labels[::10].repeat(10), found.labels)
    assert any("540 of 600 rows are copies" in note for note in found.summary["notes"])


def test_rounded_numbers_levels_and_single_columns_are_no_copies() -> None:
    rng = np.random.RandomState(0)
    rounded = rng.randint(0, 12, (900, 2)).astype(float) + 40 * (np.arange(900) % 2)[:, None]
    inches = np.column_stack([rng.randint(150, 190, 900), np.zeros(900)]) @ [[1, 0.4], [0, 0]]
    levels = np.repeat(rng.randint(0, 3, (20, 6)), 20, axis=0)
    single = np.repeat(rng.normal(size=(20, 1)), 20, axis=0)
    for rows in (rounded, inches, levels, single):
        ready = prepare(pd.DataFrame(rows))
        assert 2 * len(np.unique(ready.points, axis=0)) <= len(rows)
        assert not copies(ready, ready.points).any()


def test_copies_are_all_but_the_first() -> None:
    rows = np.random.RandomState(0).normal(size=(20, 3))
    ready = prepare(np.concatenate([rows, rows, rows]))
    np.testing.assert_array_equal(copies(ready, ready.points), np.arange(60) >= 20)


@pytest.mark.parametrize("filler", [-999.0, 9999.0, -99.0])
def test_filler_numbers_are_told(filler: float) -> None:
    values = np.random.RandomState(0).normal(size=(200, 3))
    values[:70, 1] = filler
    found = coterie.study(pd.DataFrame(values, columns=list("abc")), time=5)
    quality = {one["what"]: one["sentence"] for one in found.summary["quality"]}
    told = f"{filler:.0f} in 70 cells of 'b'"
    assert told in quality["numbers that may stand for missing cells"]
    if found.has_structure:
        assert found.summary["verdict"]["confidence"] != "high"
        assert any(f"'b' is {filler:.0f} in 70 rows" in why
                   for why in found.summary["verdict"]["why"])  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1000.0),  # 999 is one of many
        np.r_[np.arange(50.0), 999],  # far, but once
        np.r_[np.arange(50.0), 1000, 1000],  # repeated and far, but no filler
        np.r_[np.arange(95.0, 105.0), 99, 99],
        np.r_[np.full(20, 1e308), np.full(20, -1e308), 3.5, 4.5, 9.5],
    ],
)
def test_other_numbers_are_no_fillers(values: np.ndarray) -> None:
    table = pd.DataFrame({"a": values + 0.0, "b": np.linspace(0, 1, len(values)) ** 2})
    assert fillers(prepare(table), raw_table(table)) == []


def test_clusters_of_missing_cells_are_told() -> None:
    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    labels = np.arange(90) % 3
    table.loc[labels == 2, "b"] = np.nan
    ready = prepare(table)
    ((name, clusters),) = clusters_of_gaps(ready, raw_table(table), labels)
    assert (name, clusters.tolist()) == ("b", [2])
    assert clusters_of_gaps(ready, raw_table(table), np.arange(90) // 30) == []


def test_cells_that_hide_the_others_are_told() -> None:
    rng = np.random.RandomState(0)
    column = np.r_[rng.normal(size=100), 5 + rng.normal(size=99), 1e30]
    table = pd.DataFrame({"a": column, "b": rng.normal(size=200)})
    assert far_cells(prepare(table), raw_table(table)) == [("a", 1e30, 1)]
    tails = pd.DataFrame({"a": rng.standard_t(3, 200), "b": rng.lognormal(0, 2, 200)})
    assert far_cells(prepare(tails), raw_table(tails)) == []
