"""Results written as they come: whole files or none, equal to the arrays."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import KMeans
from coterie.data import open as open_rows
from coterie.data.written import WRITERS, write_results
from coterie.errors import DataError

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


def test_other_names_are_refused_before_any_work(rows: Any, tmp_path: Path) -> None:
    model = KMeans(2, random_state=0).fit(rows)
    with pytest.raises(DataError, match=r"end in \.parquet, \.npy"):
        model.predict(rows, out=tmp_path / "labels.xlsx")
    with pytest.raises(OSError, match="directory"):
        model.predict(rows, out=tmp_path / "no" / "labels.npy")
