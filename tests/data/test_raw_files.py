"""Raw tables from files: any delimiter, decimal mark, encoding and format, or one clear line."""

from __future__ import annotations

import contextlib
import io
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from coterie.data.raw_files import read_raw
from coterie.data.raw_table import RawTable
from coterie.errors import DataError

TABLE = pd.DataFrame({
    "len": [1.5, 2.25, np.nan, 4.0] * 5,
    "städt": ["Ulm", "Köln", None, "Bonn"] * 5,
    "day": pd.date_range("2024-01-01", periods=20),
})  # fmt: skip


def read(path: Path, **options: object) -> RawTable:
    return read_raw([str(path)], **options)[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, []),
        ({"sep": ";", "decimal": ","}, ["Cells are parted by semicolons.", "Commas are decimal"]),
        ({"sep": "|"}, ["Cells are parted by bars."]),
        ({"sep": "\t"}, ["Cells are parted by tabs."]),
        ({"encoding": "utf-8-sig"}, []),
        ({"encoding": "utf-16"}, ["The text is UTF-16."]),
        ({"encoding": "cp1252"}, ["The text is not UTF-8 and was read as Windows-1252."]),
    ],
    ids=str,
)
def test_text_is_read_however_it_is_written(
    tmp_path: Path, options: dict[str, str], said: list[str]
) -> None:
    TABLE.to_csv(tmp_path / "a.csv", index=False, **options)
    table, notes = read_raw([str(tmp_path / "a.csv")])
    assert table.columns == ["len", "städt", "day"]
    np.testing.assert_array_equal(table["len"], TABLE["len"])
    assert table["städt"].tolist()[:4] == ["Ulm", "Köln", None, "Bonn"]
    assert table["day"].dtype.kind == "M"
    assert len(notes) == len(said)
    assert all(note.startswith(start) for note, start in zip(notes, said, strict=True))


def test_blanks_part_cells_where_nothing_else_does(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("kind  length\n a   1.5\n  b 20 \nc    3\n")
    table, notes = read_raw([str(path)])
    assert notes == ["Cells are parted by blanks."]
    assert table.columns == ["kind", "length"]
    assert table["kind"].tolist() == ["a", "b", "c"]
    assert table["length"].tolist() == [1.5, 20, 3]


@pytest.mark.parametrize("text", ["red apple\ngreen pear\n", "a\tb c\n1\t2 3\n"])
def test_blanks_within_cells_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert " " in read(path).columns[-1]


def test_the_numbers_of_columns_are_names(tmp_path: Path) -> None:
    """As data frames without names write them; any other line of numbers is a row."""
    pd.DataFrame(np.arange(6.0).reshape(2, 3)).to_csv(tmp_path / "a.csv", index=False)
    assert read(tmp_path / "a.csv").shape == (2, 3)
    (tmp_path / "b.csv").write_text("1,2,3\n4,5,6\n")
    assert read(tmp_path / "b.csv").columns == ["x0", "x1", "x2"]


@pytest.mark.parametrize("end", ["parquet", "feather", "csv.gz"])
def test_other_formats_are_read(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a.{end}"
    getattr(TABLE, f"to_{end.split('.')[0]}")(path, **({"index": False} if "csv" in end else {}))
    table = read(path)
    assert table.columns == ["len", "städt", "day"]
    assert table["städt"].tolist()[1] == "Köln"


@pytest.mark.parametrize("end", ["gz", "bz2", "zst"])
def test_packed_text_is_read_as_other_text(tmp_path: Path, end: str) -> None:
    """Whatever parts its cells, with decimal commas and marks of the encoding."""
    import pyarrow as pa

    def written(name: str, text: bytes) -> str:
        path = str(tmp_path / f"{name}.{end}")
        with pa.output_stream(path, compression="detect" if end != "zst" else "zstd") as file:
            file.write(text)
        return path

    text = "\ufefflen;kind\n1,5;a\n2,25;b\n".encode()
    table, notes = read_raw([written("a.csv", text)])
    assert notes == ["Cells are parted by semicolons.", "Commas are decimal marks."]
    assert table["len"].tolist() == [1.5, 2.25]
    table, notes = read_raw([written("b.data", b"1 2\r\n3 4\r\n")])
    assert notes[0] == "Cells are parted by blanks."
    assert table.shape == (2, 2)
    assert read_raw([written("c.tsv", b"a b\tc\n1\t2\n")])[0].columns == ["a b", "c"]
    damaged = Path(written("d.csv", b"a,b\n" + b"".join(b"%d,1\n" % i for i in range(9999))))
    damaged.write_bytes(damaged.read_bytes()[:-50])
    with pytest.raises(DataError, match=r"d\.csv\..*(is damaged|is empty)"):
        read_raw([str(damaged)])


def test_arrays_are_read(tmp_path: Path) -> None:
    rows = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a.npy", rows)
    assert read(tmp_path / "a.npy").columns == ["x0", "x1"]
    np.save(tmp_path / "b.npy", rows)
    assert read(tmp_path / "?.npy").shape == (6, 2)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n2,y\n"))
    monkeypatch.setattr("sys.stdin", text)
    table, _ = read_raw(["-"])
    assert table["b"].tolist() == ["x", "y"]


def test_a_few_cells_that_are_no_numbers_are_missing_and_said(tmp_path: Path) -> None:
    cells = ["1.5"] * 30 + ["oops"] + ["2"] * 9
    pd.DataFrame({"a": cells}).to_csv(tmp_path / "a.csv", index=False)
    table, notes = read_raw([str(tmp_path / "a.csv")])
    assert np.isnan(table["a"][30])
    assert table["a"][0] == 1.5
    assert notes == ["1 cell of 'a' is no number and counts as missing; the first is 'oops' in "
                     "line 32."]  # fmt: skip


def test_many_such_cells_make_words(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1", "2", "b", "c"] * 5}).to_csv(tmp_path / "a.csv", index=False)
    assert read(tmp_path / "a.csv")["a"].tolist()[:4] == ["1", "2", "b", "c"]


def test_a_file_without_names_gets_some(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1.5,2\n3.5,4\n")
    table, notes = read_raw([str(tmp_path / "a.csv")])
    assert table.columns == ["x0", "x1"]
    assert notes == ["The first line is a row; columns are called x0, x1 and so on."]


def test_names_may_be_anything(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("😀,,a,a\n1,2,3,4\n5,6,7,8\n", encoding="utf-8")
    table = read(tmp_path / "a.csv")
    assert table.columns == ["😀", "column 2", "a", "a (2)"]
    assert len(table.renamed) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02" * 50, "not a text file"),
        (b"\xff\xfe\x00", "not a text file|no rows|empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", "line 3"),
        (b"\x93NUMPY", "npy"),
        (b"PAR1 but no table", "not a readable|cannot be read|no rows"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=words):
        read(tmp_path / "a.csv")


def test_text_files_of_several_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("y,x\n5,6\n")
    assert read(tmp_path).shape == (3, 2)
    (tmp_path / "c.csv").write_text("z\n7\n")
    with pytest.raises(
        DataError, match=r"a\.csv: it has no column z, which .*c\.csv has; give files of one table"
    ):
        read(tmp_path)


def test_a_database_is_told_from_a_table(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as base:
        base.execute("CREATE TABLE orders (a REAL)")
    with pytest.raises(DataError, match="this is a database, whose rows come by a query"):
        read(tmp_path / "shop.db")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"b\.csv"):
        read(tmp_path / "b.csv")
    with pytest.raises(FileNotFoundError, match="holds no file"):
        read(tmp_path)


def test_excel_needs_openpyxl_and_reads_the_first_sheet(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"no workbook")
    try:
        import openpyxl
    except ImportError:
        with pytest.raises(ImportError, match="openpyxl"):
            read(path)
        return
    with pytest.raises(DataError, match="Excel"):
        read(path)
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1.5, "x"], [2.5, None]):
        book.active.append(row)
    book.save(path)
    table = read(path)
    assert table.columns == ["a", "b"]
    assert table["b"].tolist() == ["x", None]


def test_numbers_that_begin_with_zeros_are_codes(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("zip,size,share\n01067,3,0.5\n10115,4,0.25\n,10,00.5\n")
    assert read_raw([str(path)])[0]["zip"].tolist()[:2] == [1067, 10115]
    table, notes = read_raw([str(path)], codes=True)
    assert table["zip"].tolist() == ["01067", "10115", None]
    assert table["size"].tolist() == [3, 4, 10]
    assert table["share"].tolist() == [0.5, 0.25, 0.5]
    assert "Cells that begin with zeros are codes, no numbers: zip." in notes
