"""Several text files are read as one, with all that is told of one. Covers coterie.data._texts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from coterie.data._texts import as_utf8, joined, unpacked
from coterie.data.raw_files import read_raw
from coterie.errors import DataError


def folder(tmp_path: Path, **texts: bytes) -> list[str]:
    """Files of these names without their ends."""
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_bytes(text)
    return [str(tmp_path / f"{name}.csv") for name in texts]


def test_several_files_have_decimal_commas_and_marks_of_their_encoding(tmp_path: Path) -> None:
    head = "länge;kind\r\n"
    paths = folder(
        tmp_path, a=(head + "1,5;a\r\n").encode("utf-8-sig"),
        b=(head + "2,25;ö").encode("cp1252"), c=head.encode(), d=(head + ";b\n\n").encode("utf-16"),
    )  # fmt: skip
    for places in (paths, [str(tmp_path)], [str(tmp_path / "*.csv")]):
        table, notes = read_raw(places)
        assert notes == [
            "The text of b.csv is not UTF-8 and was read as Windows-1252.",
            "The text of d.csv is UTF-16.",
            "Cells are parted by semicolons.",
            "Commas are decimal marks.",
        ]
        assert table["länge"].tolist()[:2] == [1.5, 2.25]
        assert table["kind"].tolist() == ["a", "ö", "b"]


def test_files_may_be_packed_and_parted_by_blanks(tmp_path: Path) -> None:
    paths = folder(tmp_path, a=b"x y\n1 2\n", b=gzip.compress(b"x y\n3 4\n"))
    assert read_raw(paths)[0]["y"].tolist() == [2, 4]


def test_files_said_to_have_no_names_give_all_their_rows(tmp_path: Path) -> None:
    paths = folder(tmp_path, a=b"x;1,5\ny;2\n", b=b"z;3\n")
    table, notes = read_raw(paths, header=False)
    assert table.columns == ["x0", "x1"]
    assert table["x0"].tolist() == ["x", "y", "z"]
    assert table["x1"].tolist() == [1.5, 2, 3]
    assert notes[-1] == "The first line is a row; columns are called x0, x1 and so on."


def test_files_said_to_have_names_have_them_in_numbers_too(tmp_path: Path) -> None:
    paths = folder(tmp_path, a=b"2019,2020\n1,2\n", b=b"2019,2020\n3,4\n")
    assert read_raw(paths, header=True)[0]["2020"].tolist() == [2, 4]


def test_rows_that_are_alike_are_no_names(tmp_path: Path) -> None:
    paths = folder(tmp_path, a=b"1,2\n3,4\n", b=b"1,2\n5,6\n")
    assert joined(paths) is None
    assert len(read_raw(paths)[0]) == 4


def test_what_differs_or_is_no_text_goes_its_own_way(tmp_path: Path) -> None:
    assert joined(folder(tmp_path, a=b"x\n1\n", b=b"y\n2\n")) is None
    place = tmp_path / "year=2020"
    place.mkdir()
    (place / "a.csv").write_text("x\n1\n")
    assert joined([str(tmp_path / "year=2020")]) is not None
    for path in tmp_path.glob("*.csv"):
        path.unlink()
    assert joined([str(tmp_path)]) is None  # the name of the folder is a column
    assert read_raw([str(tmp_path)])[0].columns == ["x", "year"]


def test_text_is_unpacked_and_damage_is_told(tmp_path: Path) -> None:
    whole, damaged, plain = folder(
        tmp_path, a=gzip.compress(b"x\n1\n"), b=gzip.compress(b"x\n1\n")[:-6], c=b"x\n1\n"
    )
    assert unpacked(Path(whole)) == b"x\n1\n"
    assert unpacked(Path(plain)) is None
    with pytest.raises(DataError, match=r"b\.csv: the gzip file is damaged"):
        unpacked(Path(damaged))
    assert as_utf8("ö".encode("utf-16"))[0].decode() == "ö"
