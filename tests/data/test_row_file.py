"""Decoded rows in a temporary file."""

from __future__ import annotations

import errno
import gc
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import KMeans
from coterie.data import _row_file
from coterie.data._row_file import RowFile

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


class Decoder:
    """Makes blocks of ten rows, and counts how often it had to."""

    def __init__(self, n_rows: int = 45, dtype: Any = np.float32) -> None:
        self.rows = np.arange(n_rows * 3, dtype=dtype).reshape(-1, 3)
        self.n_times = 0
        self.file = RowFile(3, np.dtype(dtype))

    def decode(self) -> Iterator[Any]:
        self.n_times += 1
        for start in range(0, len(self.rows), 10):
            yield self.rows[start : start + 10].copy()

    def read(self) -> list[Any]:
        return list(self.file.blocks(self.decode, len(self.rows), 10))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_decoded_twice_and_mapped_from_then_on(dtype: Any) -> None:
    decoder = Decoder(dtype=dtype)
    for n_times in (1, 2, 2, 2):
        blocks = decoder.read()
        assert [len(block) for block in blocks] == [10, 10, 10, 10, 5]
        np.testing.assert_array_equal(np.concatenate(blocks), decoder.rows)
        assert decoder.n_times == n_times
        assert all(block.dtype == dtype for block in blocks)


def test_a_pass_that_is_broken_off_leaves_nothing() -> None:
    decoder = Decoder()
    decoder.read()
    for _ in range(2):
        blocks = decoder.file.blocks(decoder.decode, 45, 10)
        next(blocks)
        blocks.close()  # type: ignore[attr-defined]
    assert decoder.n_times == 3
    np.testing.assert_array_equal(np.concatenate(decoder.read()), decoder.rows)
    assert decoder.n_times == 4
    decoder.read()
    assert decoder.n_times == 4


def test_no_copy_without_the_option_or_room(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = Decoder()
    with coterie.options(spool_rows=False):
        for _ in range(3):
            decoder.read()
    assert decoder.n_times == 3
    usage = type("Usage", (), {"free": 45 * 3 * 4 * 2 - 1})
    monkeypatch.setattr(_row_file.shutil, "disk_usage", lambda _: usage)
    for _ in range(3):
        decoder.read()
    assert decoder.n_times == 6
    usage.free += 1
    for _ in range(3):
        decoder.read()
    assert decoder.n_times == 7


def test_a_disk_that_fills_up_costs_time_only(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tempfile.TemporaryFile

    class Full:
        def __init__(self, **options: Any) -> None:
            self.file = real(**options)
            self.n_written = 0

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def write(self, data: Any) -> None:
            self.n_written += 1
            if self.n_written == 3:
                raise OSError(errno.ENOSPC, "No space left on device")
            assert self.n_written < 3
            self.file.write(data)

        def truncate(self, size: int) -> None:
            self.file.truncate(size)

    monkeypatch.setattr(_row_file.tempfile, "TemporaryFile", Full)
    decoder = Decoder()
    for _ in range(3):
        np.testing.assert_array_equal(np.concatenate(decoder.read()), decoder.rows)
    assert decoder.n_times == 3


def test_files_that_are_in_memory_are_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mounts = [("/", "ext4"), ("/run", "tmpfs"), ("/run/disk", "xfs"), ("/runs", "ext4")]
    table = tmp_path / "mounts"
    table.write_text("".join(f"none {place} {kind} rw 0 0\n" for place, kind in mounts))
    monkeypatch.setattr(
        _row_file, "open", lambda _, **options: table.open(**options), raising=False
    )
    found = {place: _row_file._in_memory(place) for place in ("/", "/run/a", "/run/disk", "/runs")}
    assert found == {"/": False, "/run/a": True, "/run/disk": False, "/runs": False}
    monkeypatch.setattr(_row_file, "_in_memory", lambda _: True)
    assert _row_file._directory() is None
    assert not _row_file._has_room(1)


def test_a_copy_elsewhere_starts_anew() -> None:
    decoder = Decoder()
    decoder.read()
    decoder.read()
    decoder.file = pickle.loads(pickle.dumps(decoder.file))
    np.testing.assert_array_equal(np.concatenate(decoder.read()), decoder.rows)
    assert decoder.n_times == 3


def test_a_fit_of_a_file_writes_its_rows_down_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "room"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    X = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({name: X[:, at] for at, name in enumerate("abc")}), path)
    source = coterie.data.open(path)
    start = X[:4]
    model = KMeans(4, init=start, tol=0).fit(source)
    np.testing.assert_array_equal(
        model.cluster_centers_, KMeans(4, init=start, tol=0).fit(X).cluster_centers_
    )
    path.unlink()  # all that comes now is from the copy
    np.testing.assert_array_equal(model.predict(source), model.labels_)
    assert not list(place.iterdir())
    weights = np.ones(500)
    np.testing.assert_array_equal(
        np.concatenate([block.rows for block in source.weighted(weights)]), X
    )
    del source, model
    gc.collect()
