"""Rows with labels from every source. Covers coterie.evaluate._spread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from coterie.data import open as open_source
from coterie.evaluate import calinski_harabasz_score, davies_bouldin_score
from coterie.evaluate._rows import open_rows
from coterie.evaluate._spread import measure_spread
from streams import Stream

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4)) + 5
LABELS = rng.integers(0, 6, 300)


def sources(tmp_path: Path) -> dict[str, Any]:
    np.save(tmp_path / "x.npy", X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    return {
        "fortran": np.asfortranarray(X),
        "frame": frame,
        "stream": Stream(X),
        "small": Stream(X, (1, 2, 3)),
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "path": tmp_path / "x.npy",
        "csv": str(tmp_path / "x.csv"),
        "source": open_source(tmp_path / "x.npy"),
        "csr": sp.csr_array(X),
    }


def test_every_source_gives_the_same_bits(tmp_path: Path) -> None:
    expected = davies_bouldin_score(X, LABELS), calinski_harabasz_score(X, LABELS)
    for name, source in sources(tmp_path).items():
        found = davies_bouldin_score(source, LABELS), calinski_harabasz_score(source, LABELS)
        assert found == expected, name


@pytest.mark.parametrize("n_rows", [5, 1000, 70_000, 200_000])
def test_threads_and_blocks_do_not_change_a_bit(n_rows: int) -> None:
    many = np.random.default_rng(1).normal(size=(n_rows, 3)).astype(np.float32)
    labels = np.arange(n_rows) % 4
    found = {davies_bouldin_score(many, labels, n_threads=threads) for threads in (1, 2, 7)}
    found.add(davies_bouldin_score(Stream(many, (12345, 1, 70000)), labels))
    assert len(found) == 1


def test_sums_of_every_instruction_set(isa_kernels: Any) -> None:
    for dtype in (np.float32, np.float64):
        for n_cols in (1, 3, 8, 19):
            rows = np.random.default_rng(2).normal(size=(2500, n_cols)).astype(dtype)
            weights = np.random.default_rng(3).random(2500)
            labels = np.random.default_rng(4).integers(-1, 5, 2500).astype(np.int32)
            kept, shift = labels >= 0, rows[0].astype(np.float64)
            sums = np.zeros((5, n_cols + 1))
            isa_kernels.sum_by_label(rows, weights, labels, shift, sums, 2)
            expected = np.zeros((5, n_cols + 1))
            values = np.column_stack([rows.astype(float) - shift, np.ones(2500)])
            np.add.at(expected, labels[kept], (values * weights[:, np.newaxis])[kept])
            np.testing.assert_allclose(sums, expected, rtol=1e-11, atol=1e-11)
            centers = np.random.default_rng(5).normal(size=(5, n_cols))
            gaps = (rows.astype(float) - centers[labels])[kept]
            squares = np.square(gaps).sum(axis=1)
            spread, wanted = np.zeros((5, 2)), np.zeros((5, 2))
            isa_kernels.spread_by_label(rows, weights, labels, centers, spread, 2)
            both = np.column_stack([squares, np.sqrt(squares)]) * weights[kept, np.newaxis]
            np.add.at(wanted, labels[kept], both)
            np.testing.assert_allclose(spread, wanted, rtol=1e-11)
            scatter = np.zeros((n_cols, n_cols))
            isa_kernels.scatter_by_label(rows, weights, labels, centers, scatter, 2)
            product = (gaps * weights[kept, np.newaxis]).T @ gaps
            np.testing.assert_allclose(scatter, np.tril(product), rtol=1e-10, atol=1e-10)


def test_bindings_refuse_what_leads_out_of_bounds(isa_kernels: Any) -> None:
    rows, labels = np.zeros((3, 2)), np.array([0, 1, 5], dtype=np.int32)
    with pytest.raises(ValueError, match="labels must be below"):
        isa_kernels.sum_by_label(rows, None, labels, np.zeros(2), np.zeros((2, 3)), 1)
    with pytest.raises(ValueError, match="labels must be below"):
        isa_kernels.spread_by_label(rows, None, labels, np.zeros((2, 2)), np.zeros((2, 2)), 1)
    euclidean = ("euclidean", 2.0, None, None)
    for order, starts in (([0, 1, 3], [0, 3]), ([0, 1, 2], [0, 2]), ([0, 1, 2], [0, 4, 3])):
        with pytest.raises(ValueError, match=r"order|starts"):
            isa_kernels.silhouette_parts(
                rows, np.array(order), np.array(starts), np.ones(len(starts) - 1), None, euclidean,
                np.empty(3), np.empty(3), 1,
            )  # fmt: skip


def test_offsets_cost_no_digits() -> None:
    far = X.astype(np.float64) + 1e8
    near = measure_spread(open_rows("who", far - 1e8, LABELS))
    away = measure_spread(open_rows("who", far, LABELS))
    assert away.between == pytest.approx(near.between, rel=1e-9)
    assert away.within == pytest.approx(near.within, rel=1e-12)


def test_rows_without_weight_are_not_there() -> None:
    weights = np.where(LABELS == 3, 0.0, 1.0)
    given = open_rows("who", X, LABELS, weights)
    assert given.n_clusters == 5
    kept = LABELS != 3
    expected = davies_bouldin_score(X[kept], LABELS[kept])
    assert davies_bouldin_score(X, LABELS, sample_weight=weights) == pytest.approx(expected)


def test_weights_of_a_source_count() -> None:
    weights = np.random.default_rng(6).integers(1, 4, 300).astype(np.float64)
    expected = davies_bouldin_score(X, LABELS, sample_weight=weights)
    assert davies_bouldin_score(Stream(X, weights=weights), LABELS) == expected


def test_errors() -> None:
    for labels in ([0] * 300, list(range(300))):
        with pytest.raises(ValueError, match=r"Valid values are 2 to n_samples - 1 \(inclusive\)"):
            davies_bouldin_score(X, labels)
    for rows in (X, Stream(X)):
        for n_labels in (299, 301):
            with pytest.raises(ValueError, match="inconsistent numbers of samples"):
                davies_bouldin_score(rows, np.arange(n_labels) % 3)
    bad = X.copy()
    bad[70, 2] = np.nan
    for rows in (bad, Stream(bad), pd.DataFrame(bad)):
        with pytest.raises(ValueError, match=r"davies_bouldin_score: .*NaN in column .*\(row 70\)"):
            davies_bouldin_score(rows, LABELS)
    with pytest.raises(ValueError, match="overflow float64; divide X by a constant"):
        davies_bouldin_score(X * 1e200, LABELS)
    with pytest.raises(ValueError, match=r"there is 1 row; this score compares"):
        davies_bouldin_score(X[:1], [0])
    with pytest.raises(ValueError, match=r"there are 0 rows in clusters of 300 \(the others are n"):
        davies_bouldin_score(X, np.full(300, -1), noise="drop")
    with pytest.raises(ValueError, match="no row is in a cluster"):
        open_rows("who", X, np.full(300, -1), noise="drop", at_least=1)
