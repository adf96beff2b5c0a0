"""Readers that are killed, or meet what cannot be read: nothing is left, and one error tells.

Covers coterie.data._arrow_batches.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import GaussianMixture, KMeans
from coterie.data import open as open_rows
from coterie.errors import DataError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = np.random.default_rng(0).standard_normal((50_000, 2))


def table() -> Any:
    return pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]})


def readers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "coterie-reader"]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A file of five row groups, the third of which is damaged."""
    path = tmp_path / "damaged.parquet"
    pq.write_table(table(), path, row_group_size=10_000, compression="zstd")
    whole = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    whole[at : at + 40_000] = b"\xff" * 40_000
    path.write_bytes(whole)
    return path


#: Ends its process, as nothing can be caught, once the spooled file has grown.
KILLED_WHILE_SPOOLING = """
import os, signal, sys, threading, time
from coterie.data import from_sql

def spooled():
    for number in os.listdir("/proc/self/fd"):
        name = f"/proc/self/fd/{number}"
        try:
            if "coterie-" in os.readlink(name) and os.stat(name).st_size > 1_000_000:
                return True
        except OSError:
            pass
    return False

def kill():
    while not spooled():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)

threading.Thread(target=kill, daemon=True).start()
from_sql(sys.argv[1], "SELECT a.x, b.x AS y FROM t a, t b, t c")
print("it was read to the end")
"""

KILLED_WHILE_READING = """
import os, signal, sys
from coterie import KMeans
from coterie.data import open

source = open(sys.argv[1])
source.block_bytes = 16 * 1000
KMeans(3, init="random", random_state=0, n_init=1,
       callback=lambda progress: os.kill(os.getpid(), signal.SIGKILL)).fit(source)
print("it was read to the end")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files have no names here")
@pytest.mark.parametrize(
    "code", [KILLED_WHILE_SPOOLING, KILLED_WHILE_READING], ids=["spooling", "reading"]
)
def test_a_killed_process_leaves_no_file(code: str, tmp_path: Path) -> None:
    place = tmp_path / "rows"
    place.mkdir()
    if "from_sql" in code:
        pytest.importorskip("adbc_driver_sqlite")
        rows = place / "rows.db"
        connection = sqlite3.connect(rows)
        connection.execute("CREATE TABLE t (x REAL)")
        connection.executemany("INSERT INTO t VALUES (?)", [(i / 2,) for i in range(400)])
        connection.commit()
        connection.close()
    else:
        rows = place / "rows.parquet"
        pq.write_table(table(), rows)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, str(rows)],
        env={**os.environ, "TMPDIR": str(scratch)}, cwd=scratch,
        check=False, timeout=120, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == ""
    assert not list(scratch.iterdir())
    assert list(place.iterdir()) == [rows]


@pytest.mark.parametrize("block_rows", [1000, 7000, 1 << 20])
@pytest.mark.parametrize("model", [KMeans(2, n_init=1), GaussianMixture(2)])
def test_a_damaged_row_group_is_one_error_with_its_rows(
    model: Any, block_rows: int, damaged: Path
) -> None:
    source = open_rows(damaged)
    source.block_bytes = 16 * block_rows  # type: ignore[attr-defined]
    with pytest.raises(DataError) as told:
        model.fit(source)
    words = str(told.value)
    assert words.startswith(f"{damaged}: rows ")
    first, last = (int(words.split("rows ")[1].split()[place]) for place in (0, 2))
    assert first <= 20_000 <= last or 20_000 <= first < 30_000
    assert "the file may be damaged" in words
    assert words.count("cannot be read") == 1
    assert not readers()
    assert not hasattr(model, "labels_")


def test_predict_of_a_damaged_file_leaves_no_half_of_a_result(damaged: Path) -> None:
    model = KMeans(2, n_init=1, random_state=0).fit(ROWS)
    out = damaged.parent / "labels.parquet"
    source = open_rows(damaged)
    source.block_bytes = 16 * 1000  # type: ignore[attr-defined]
    with pytest.raises(DataError, match="the file may be damaged"):
        model.predict(source, out=out)
    assert list(damaged.parent.iterdir()) == [damaged]
    assert not readers()


def fails(block: Any) -> Any:
    raise ZeroDivisionError


def test_an_error_that_is_looked_at_holds_no_reader(tmp_path: Path) -> None:
    """The error of a pass, kept, keeps its frames, and must not keep what reads ahead for them."""
    pq.write_table(table(), tmp_path / "rows.parquet")
    source = open_rows(tmp_path / "rows.parquet")
    source.block_bytes = 16 * 1000  # type: ignore[attr-defined]
    for ask in (
        lambda: source.total(fails),
        lambda: source.through(fails).total(len),
        lambda: source.map(fails, dtype=np.int32),
        lambda: list(source.through(fails).windows(100)),
        lambda: KMeans(2, init=fails).fit(source),
    ):
        with pytest.raises((ZeroDivisionError, TypeError)) as told:
            ask()
        assert told.traceback
        assert not readers()


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_addresses_are_fitted_and_their_damage_is_told(
    scheme: str, damaged: Path, tmp_path: Path
) -> None:
    fsspec = pytest.importorskip("fsspec")
    place = "memory://coterie-faults" if scheme == "memory" else f"file://{tmp_path}"
    with fsspec.open(f"{place}/good.parquet", "wb") as file:
        pq.write_table(table(), file)
    with fsspec.open(f"{place}/bad.parquet", "wb") as file:
        file.write(damaged.read_bytes())
    known = KMeans(3, random_state=0, init=ROWS[:3]).fit(ROWS)
    found = KMeans(3, random_state=0, init=ROWS[:3]).fit(open_rows(f"{place}/good.parquet"))
    np.testing.assert_array_equal(found.cluster_centers_, known.cluster_centers_)
    np.testing.assert_array_equal(found.predict(f"{place}/good.parquet"), known.labels_)
    with pytest.raises(DataError, match=r"bad\.parquet: rows \d+ to \d+ .*cannot be read"):
        found.predict(f"{place}/bad.parquet")
    with pytest.raises(FileNotFoundError, match="nothing"):
        found.predict(f"{place}/nothing.parquet")
    assert not readers()
