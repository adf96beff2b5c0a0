"""Results written as they come: whole files or none, equal to the arrays."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import KMeans
from coterie.data import open as open_rows
from coterie.data.written import WRITERS, write_results
from coterie.errors import DataError
from full_disks import no_file_above

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")

READERS: dict[str, Any] = {
    ".parquet": pq.read_table, ".csv": csv.read_csv, ".arrow": feather.read_table,
    ".feather": feather.read_table,
}  # fmt: skip


def read_back(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    table = READERS[path.suffix](path)
    columns = [column.to_numpy() for column in table.columns]
    return columns[0] if table.column_names == ["label"] else np.column_stack(columns)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    rows = np.random.default_rng(0).standard_normal((1000, 2))
    (tmp_path / "out").mkdir()
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), tmp_path / "rows.parquet")
    return rows


@pytest.mark.parametrize("suffix", WRITERS)
def test_labels_and_distances_are_those_in_memory(suffix: str, rows: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    model = KMeans(3, random_state=0).fit(path)
    source = open_rows(path)
    source.block_bytes = 16 * 77  # type: ignore[attr-defined]
    out = tmp_path / "out" / f"results{suffix}"
    assert model.predict(source, out=str(out)) == out
    np.testing.assert_array_equal(read_back(out), model.labels_)
    assert model.transform(source, out=out) == out
    np.testing.assert_array_equal(read_back(out), model.transform(path))
    assert [file.name for file in out.parent.iterdir()] == [out.name]


def test_columns_have_names(rows: Any, tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(tmp_path / "rows.parquet")
    out = model.transform(tmp_path / "rows.parquet", out=tmp_path / "out" / "d.csv")
    assert out.read_text().splitlines()[0] == '"distance_0","distance_1"'


@pytest.mark.parametrize("suffix", WRITERS)
def test_nothing_is_left_of_a_failure(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"a{suffix}").write_text("as it was")

    def parts() -> Any:
        yield np.zeros(3, dtype=np.int32)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_results(tmp_path / f"a{suffix}", parts(), "label", np.int32)
    assert [file.name for file in tmp_path.iterdir()] == [f"a{suffix}"]
    assert (tmp_path / f"a{suffix}").read_text() == "as it was"


@pytest.mark.parametrize("suffix", WRITERS)
def test_no_rows_are_a_file_with_none(suffix: str, tmp_path: Path) -> None:
    out = write_results(tmp_path / f"a{suffix}", iter(()), ["x", "y"], np.float32)
    if suffix == ".npy":
        assert np.load(out).shape == (0, 2)
    else:
        assert READERS[suffix](out).num_rows == 0


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_full_disk_names_the_file(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import coterie._writing as module

    class Full:
        """A file on a disk without room."""

        closed = False

        def __init__(self, file: Any) -> None:
            self._file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *how: Any) -> None:
            self._file.close()

        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    # The scratch file is opened by that module.
    monkeypatch.setattr(module, "open", lambda *how: Full(open(*how)), raising=False)  # noqa: SIM115
    with pytest.raises(OSError, match=r"No space left.*a\.") as told:
        write_results(tmp_path / f"a{suffix}", iter([np.zeros(9)]), "label", np.float64)
    assert told.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_is_full_for_real_leaves_what_was_there(
    suffix: str, there: bool, rows: Any, tmp_path: Path
) -> None:
    model = KMeans(2, random_state=0).fit(tmp_path / "rows.parquet")
    out = tmp_path / "out" / f"a{suffix}"
    if there:
        out.write_text("as it was")
    source = open_rows(tmp_path / "rows.parquet")
    source.block_bytes = 16 * 77  # type: ignore[attr-defined]
    with (
        no_file_above(3000),
        pytest.raises(OSError, match=rf"too large; it was not written: .*a\{suffix}") as told,
    ):
        model.transform(source, out=out)
    assert (told.value.errno, told.value.filename) == (errno.EFBIG, str(out))
    assert [file.read_text() for file in out.parent.iterdir()] == ["as it was"] * there
    assert not [thread for thread in threading.enumerate() if thread.name == "coterie-reader"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_full_device_is_told_and_stays(suffix: str, rows: Any, tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(tmp_path / "rows.parquet")
    out = tmp_path / "out" / f"full{suffix}"
    out.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device; it was not written") as told:
        model.predict(tmp_path / "rows.parquet", out=out)
    assert told.value.filename == str(out)
    assert [file.readlink() for file in out.parent.iterdir()] == [Path("/dev/full")]


def test_other_names_are_refused_before_any_work(rows: Any, tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(rows)
    with pytest.raises(DataError, match=r"end in \.parquet, \.npy"):
        model.predict(rows, out=tmp_path / "labels.xlsx")
    with pytest.raises(OSError, match="directory"):
        model.predict(rows, out=tmp_path / "no" / "labels.npy")
