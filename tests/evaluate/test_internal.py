"""What all scores by rows share: many rows in little memory, and every name."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.evaluate import external, internal


def test_names() -> None:
    assert set(coterie.evaluate.__all__) == {*external.__all__, *internal.__all__}
    for name in coterie.evaluate.__all__:
        assert getattr(coterie.evaluate, name).__doc__


@pytest.mark.parametrize(
    "score",
    [
        internal.calinski_harabasz_score,
        internal.davies_bouldin_score,
        internal.simplified_silhouette_score,
        internal.sum_of_squared_errors,
    ],
)
def test_a_million_rows_are_streamed(score: object, tmp_path: Path) -> None:
    n_rows, path = 1_000_000, tmp_path / "many.npy"
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, 8))
    labels = np.arange(n_rows, dtype=np.int32) % 5
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 100_000):
        some = slice(start, start + 100_000)
        noise = rng.standard_normal((100_000, 8), dtype=np.float32)
        rows[some] = noise + labels[some, np.newaxis]
    rows.flush()
    expected = score(np.array(rows), labels)  # type: ignore[operator]
    del rows
    tracemalloc.start()
    found = score(path, labels)  # type: ignore[operator]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == expected
    assert peak < 80e6, peak  # 12 bytes a row for labels and scores, and blocks


def test_silhouettes_keep_no_square() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((6000, 4), dtype=np.float32), rng.integers(0, 3000, 6000)
    tracemalloc.start()
    internal.silhouette_samples(X, labels)
    assert tracemalloc.get_traced_memory()[1] < 3e6
    internal.silhouette_samples(X[:3000], labels[:3000], metric="manhattan")
    internal.dunn_score(X, labels % 7, between="average")
    assert tracemalloc.get_traced_memory()[1] < 80e6
    tracemalloc.stop()
