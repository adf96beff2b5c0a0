"""DBSCAN in cells: the labels of rows in memory, whatever the cells, chunks and workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")
import dask
import dask.array as da

from clusters import left_on, nothing_is_left, small_cluster
from coterie import DBSCAN
from coterie.data import Block
from coterie.density import _partition
from coterie.density._partition import Cut, choose_cells, deal_out
from coterie.errors import AdviceWarning


@pytest.fixture(autouse=True)
def _no_advice() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        yield


def scene(n_cols: int, dtype: Any = np.float64, n_rows: int = 1500) -> Any:
    """Long threads across many cells, balls, copies, and noise."""
    rng = np.random.default_rng(n_cols)
    t = rng.uniform(0, 20, size=n_rows // 3)
    thread = np.column_stack([t, 10 + 5 * np.sin(t), *(t for _ in range(n_cols - 2))])[:, :n_cols]
    ball = rng.normal(size=(n_rows // 3, n_cols)) + 10
    noise = rng.uniform(0, 20, size=(n_rows - 2 * (n_rows // 3), n_cols))
    rows = np.concatenate([thread + 0.1 * rng.normal(size=thread.shape), ball, noise])
    rows[::50] = rows[7]
    return rng.permutation(rows).astype(dtype)


def same_as_in_memory(model: DBSCAN, rows: Any, chunks: int, weights: Any = None) -> None:
    from sklearn.base import clone

    wanted = clone(model).fit(rows, sample_weight=weights)
    ours = model.fit(da.from_array(rows, chunks=(chunks, -1)), sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, wanted.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, wanted.core_sample_indices_)
    np.testing.assert_array_equal(ours.components_, wanted.components_)
    assert ours.components_.dtype == wanted.components_.dtype
    again = ours.predict(da.from_array(rows, chunks=(chunks, -1)))
    assert isinstance(again, da.Array)
    np.testing.assert_array_equal(again.compute(), wanted.predict(rows))


@pytest.mark.parametrize("border", ["first", "nearest", "noise"])
@pytest.mark.parametrize("n_cols", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_those_of_rows_in_memory(border: str, n_cols: int, dtype: Any) -> None:
    eps = {1: 0.004, 2: 0.25, 3: 0.6, 5: 1.2}[n_cols]
    with dask.config.set(scheduler="threads"):
        model = DBSCAN(eps, min_samples=6, border=border)
        same_as_in_memory(model, scene(n_cols, dtype), 97)
        assert model.labels_.max() >= 0 > model.labels_.min()


@pytest.mark.parametrize("seed", range(20))
def test_labels_of_whole_numbers_where_all_is_a_tie(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 30, size=(400, 2)).astype(float)
    weights = rng.integers(-1, 4, size=400).astype(float) if seed % 2 else None
    border = ["first", "nearest", "noise"][seed % 3]
    with dask.config.set(scheduler="synchronous"):
        model = DBSCAN(
            float(rng.integers(1, 4)), min_samples=int(rng.integers(1, 9)), border=border
        )
        same_as_in_memory(model, rows, int(rng.integers(20, 90)), weights)


def test_labels_from_two_processes() -> None:
    with small_cluster() as client:
        same_as_in_memory(DBSCAN(0.25, min_samples=6), scene(2), 150)
        assert nothing_is_left(client), left_on(client)


@pytest.mark.parametrize("cells", [1, 2, 7, 40])
def test_cells_own_every_row_once_and_know_its_neighbours(cells: int) -> None:
    rows, eps = scene(2), 0.3
    cuts, n_cells = choose_cells(rows, cells, eps)
    assert n_cells == cells
    portions = deal_out(Block(rows, None, 100, 1), cuts, n_cells, eps)
    owned = np.concatenate([portion.ids[portion.own] for portion in portions])
    np.testing.assert_array_equal(np.sort(owned), np.arange(100, 1600))
    for portion in portions:
        mine = rows[portion.ids[portion.own] - 100]
        near = (np.square(rows[:, None] - mine[None]).sum(axis=2) <= eps * eps).any(axis=1)
        assert set(np.flatnonzero(near) + 100) <= set(portion.ids)


def test_narrow_boxes_and_copies_are_not_cut() -> None:
    assert choose_cells(np.zeros((50, 2)), 8, 0.1) == (0, 1)
    assert choose_cells(scene(2), 8, 100.0) == (0, 1)
    cuts, n_cells = choose_cells(np.array([[0.0], [100.0]]), 8, 1.0)
    assert n_cells == 2
    assert isinstance(cuts, Cut)


def test_other_metrics_take_the_rows_in() -> None:
    rows = scene(2)
    lazy = da.from_array(rows, chunks=(200, 2))
    with dask.config.set(scheduler="threads"):
        for model in (DBSCAN(0.3, metric="manhattan"), DBSCAN("auto")):
            labels = model.fit(lazy).labels_
            np.testing.assert_array_equal(labels, model.fit(rows).labels_)
            np.testing.assert_array_equal(np.asarray(model.predict(lazy)), model.predict(rows))


def test_what_is_not_finite_is_refused() -> None:
    rows = scene(2)
    rows[700, 1] = np.nan
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=r"Input X.*NaN"):
        DBSCAN().fit(da.from_array(rows, chunks=(200, 2)))


def test_a_margin_forgets_no_neighbour_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows exactly eps apart in decimals, on either side of every cut.
    monkeypatch.setattr(_partition, "_NARROW", 0.0)
    rows = (np.arange(300) * 0.1)[:, np.newaxis]
    with dask.config.set(scheduler="synchronous"):
        same_as_in_memory(DBSCAN(0.1, min_samples=2), rows, 10)
        same_as_in_memory(DBSCAN(0.1, min_samples=2), rows.astype(np.float32), 10)
