"""What a fit was given goes with its last name, without waiting for a garbage collection."""

from __future__ import annotations

import gc
import sqlite3
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import (
    BayesianGaussianMixture,
    BisectingKMeans,
    GaussianMixture,
    HierarchicalKMeans,
    KMeans,
    MiniBatchKMeans,
    MixedMixture,
    StudentTMixture,
)
from coterie.data import from_sql
from coterie.data import open as open_rows
from coterie.errors import DataError
from streams import Stream

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(2000, 3)) + np.repeat([[0], [9]], 1000, axis=0)
MODELS: list[Any] = [
    KMeans(2, random_state=0),
    KMeans(6, random_state=0, init="random", n_init=2, tol=0.1),
    KMeans(2, random_state=0, metric="cosine"),
    MiniBatchKMeans(2, random_state=0, batch_size=100),
    BisectingKMeans(3, random_state=0),
    HierarchicalKMeans(3, 2, random_state=0),
    GaussianMixture(2, random_state=0),
    GaussianMixture(2, random_state=0, init_params="random", n_init=2, tol=0.1),
    GaussianMixture(2, random_state=0, solver="lbfgs"),
    GaussianMixture(2, random_state=0, accelerate="anderson"),
    BayesianGaussianMixture(2, random_state=0, tol=0.1),
    StudentTMixture(2, random_state=0),
    MixedMixture(2, random_state=0),
]


class Kept:
    """Goes with the last copy of a source that keeps it."""


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def stored(path: Path, damaged_group: int | None = None) -> tuple[Any, weakref.ref[Kept]]:
    """A source of a file in small blocks, and whether anything of it is left."""
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1], "c": ROWS[:, 2]})
    pq.write_table(table, path, row_group_size=500, compression="zstd")
    if damaged_group is not None:
        whole = bytearray(path.read_bytes())
        group = pq.ParquetFile(path).metadata.row_group(damaged_group)
        at = group.column(0).data_page_offset
        whole[at : at + 2000] = b"\xff" * 2000
        path.write_bytes(whole)
    source = open_rows(path)
    source.block_bytes = 24 * 300  # type: ignore[attr-defined]
    source._kept = Kept()  # type: ignore[attr-defined]
    return source, weakref.ref(source._kept)  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_source_goes_after_a_fit(model: Any, tmp_path: Path) -> None:
    source, left = stored(tmp_path / "rows.parquet")
    model.fit(source)
    model.predict(source)
    assert left() is not None
    del source
    assert left() is None


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_source_goes_after_a_fit_that_failed(model: Any, tmp_path: Path) -> None:
    source, left = stored(tmp_path / "rows.parquet", damaged_group=2)
    with pytest.raises(DataError, match="cannot be read"):
        model.fit(source)
    del source
    assert left() is None


@pytest.mark.parametrize("model", MODELS[:9], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_go_after_a_fit(model: Any, weighted: bool) -> None:
    weights = np.arange(2000.0) + 1 if weighted else None
    for wrap in (lambda rows: rows, lambda rows: Stream(rows, (300,))):
        rows = ROWS.copy()
        left = weakref.ref(rows)
        model.fit(wrap(rows), sample_weight=weights)
        del rows
        assert left() is None


def test_a_spooled_answer_goes_with_its_source(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    connection = sqlite3.connect(tmp_path / "rows.db")
    connection.execute("CREATE TABLE t (x REAL, y REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ROWS[:, :2].tolist())
    connection.commit()
    connection.close()
    source = from_sql(str(tmp_path / "rows.db"), "SELECT x, y FROM t")
    left = weakref.ref(source._kept)
    for model in (KMeans(2, random_state=0), GaussianMixture(2, random_state=0)):
        model.fit(source)
    del source
    assert left() is None
