"""`coterie convert` and `coterie info`: tables of every format, some rows at a time.

Covers coterie.cli.convert, coterie.cli.info, coterie.cli._stdin, coterie.data.all_columns and
coterie.data.described.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from coterie.cli import main
from coterie.data.all_columns import open_columns
from coterie.data.described import describe
from coterie.data.written import write_tables
from full_disks import no_file_above

MIXED = "id,mass,island,tagged,zip\n1,3700,Dream,true,01\n2,,?,false,02\n3,3710.5,Dream,true,10\n"


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mixed.csv").write_text(MIXED)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == code
    out, err = capsys.readouterr()
    return out, err


def read(path: str) -> pd.DataFrame:
    if path.endswith(".parquet"):
        return pq.read_table(path).to_pandas()
    if path.endswith((".arrow", ".feather")):
        return feather.read_table(path).to_pandas()
    return pd.read_csv(path, sep="\t" if path.endswith(".tsv") else ",", dtype={"zip": str})


@pytest.mark.parametrize("end", ["csv", "tsv", "parquet", "arrow", "feather"])
def test_every_format_comes_back_as_it_was(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ran(capsys, "convert", "mixed.csv", "--text", "zip", "-o", f"there.{end}")
    assert err == ""
    assert out.startswith("rows        3\ncolumns     id, mass, island, tagged, zip\n")
    found = read(f"there.{end}")
    assert found["zip"].tolist() == ["01", "02", "10"]
    assert found["mass"].isna().tolist() == [False, True, False]
    assert found["island"].isna().tolist() == [False, True, False]
    assert found["tagged"].tolist() == [True, False, True]
    ran(capsys, "convert", f"there.{end}", "--text", "zip", "-o", "back.csv", "--quiet")
    given = pd.read_csv("mixed.csv", dtype={"zip": str}, na_values=["?"])
    pd.testing.assert_frame_equal(read("back.csv"), given)


def test_numbers_become_an_array_and_what_is_left_out_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = ran(capsys, "convert", "mixed.csv", "-o", "there.npy", "--json")
    assert err == (
        "coterie: warning: column 'island' holds no numbers, as NPY must; it is left out\n"
    )
    assert json.loads(out) == {
        "read": "text", "rows": 3, "columns": ["id", "mass", "tagged", "zip"],
        "left_out": ["island"], "format": "npy", "written": "there.npy",
    }  # fmt: skip
    expected = [[1, 3700, 1, 1], [2, np.nan, 0, 2], [3, 3710.5, 1, 10]]
    np.testing.assert_array_equal(np.load("there.npy"), expected)
    ran(capsys, "convert", "there.npy", "--columns", "x1,x0", "-o", "back.parquet")
    assert pq.read_table("back.parquet").column_names == ["x1", "x0"]
    assert (
        "no column is numeric"
        in ran(capsys, "convert", "mixed.csv", "--columns", "island", "-o", "x.npy", code=2)[1]
    )


def test_many_files_are_read_some_rows_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    for part in range(3):
        frame = pd.DataFrame({"a": np.arange(4000) + part * 4000.0, "t": ["x", "yy"] * 2000})
        pq.write_table(pa.Table.from_pandas(frame), f"part{part}.parquet")
    ran(capsys, "convert", "part*.parquet", "--max-memory", "2MB", "-o", "all.feather")
    found = read("all.feather")
    assert found["a"].tolist() == list(range(12000))
    table = open_columns(["part*.parquet"], most_bytes=1)
    assert max(len(part) for part in table.tables()) <= 4000


def test_digits_that_floats_would_lose_are_kept_or_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("long.csv").write_text("id,a\n9007199254740993,1\n9007199254740995,2\n")
    ran(capsys, "convert", "long.csv", "-o", "whole.csv")  # read whole: integers stay such
    assert "9007199254740993" in Path("whole.csv").read_text()
    streamed = ["convert", "long.csv", "--max-memory", "100", "-o", "streamed.csv"]
    assert "keep them with --text id" in ran(capsys, *streamed, code=2)[1]
    assert not Path("streamed.csv").exists()
    ran(capsys, *streamed, "--text", "id")
    assert '"9007199254740995"' in Path("streamed.csv").read_text()


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("end", ["csv", "parquet", "arrow", "npy"])
def test_stdin_is_known_by_how_it_begins(
    end: str, stdin: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    columns = "id,mass" if end != "npy" else "x0,x1"
    assert main(["convert", "mixed.csv", "--columns", "id,mass", "-o", f"t.{end}", "--quiet"]) == 0
    stdin(Path(f"t.{end}").read_bytes())
    assert main(["convert", "-", "--columns", columns, "--to", "csv", "-o", "-"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[1:] == ["1,3700", "2,", "3,3710.5"]
    assert "rows        3\n" in err
    stdin(Path(f"t.{end}").read_bytes())
    assert main(["info", "-", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == 3
    if end != "npy":
        stdin(Path(f"t.{end}").read_bytes())
        assert main(["fit", "-", "--columns", "id", "-k", "2", "-o", "-", "--quiet"]) == 0
        assert len(capfd.readouterr().out.splitlines()) == 4


def test_errors_call_it_stdin(stdin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever was made of it to be read."""
    ran(capsys, "convert", "mixed.csv", "-o", "mixed.parquet", "--quiet")
    tables = [Path("mixed.csv").read_bytes(), Path("mixed.parquet").read_bytes()]
    for command in (
        ["fit", "-", "-k", "2", "--columns", "none"], ["tendency", "-", "--columns", "none"],
        ["dendrogram", "-", "--names", "none"], ["convert", "-", "-o", "a.csv", "--text", "none"],
        ["convert", "-", "-o", "a.csv", "--columns", "none"], ["study", "-", "--columns", "none"],
        ["score", "-", "--labels", "none"], ["predict", "-", "mixed.csv"],
        ["index", "build", "-", "-o", "a.index", "--columns", "none"], ["quantize", "-"],
    ):  # fmt: skip
        for table in tables:
            stdin(table)
            out, err = ran(capsys, *command, code=2)
            assert out == ""
            assert err.count("\n") == 1
            assert "stdin" in err, (command, err)
            assert "/coterie-" not in err, (command, err)


def test_mistakes_of_convert_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in {
        ("mixed.csv", "-o", "there.xls"): "use a name that ends in .csv, .tsv",
        ("mixed.csv", "-o", "there", "--to", "xls"): "--to 'xls' was given; use one of csv",
        ("mixed.csv", "-o", "-"): "add --to, such as --to csv",
        ("none.csv", "-o", "a.csv"): "none.csv: there is no such file.",
        ("mixed.csv", "-o", "mixed.csv"): "this would overwrite the input",
        ("mixed.csv", "-o", "no/there.csv"): "make it first",
        ("mixed.csv", "-", "-o", "a.csv"): "- (stdin) was given among",
        ("mixed.csv", "--columns", "x", "-o", "a.csv"): "no column 'x'",
        ("mixed.csv",): "Missing option '-o' / '--output'",
    }.items():
        out, err = ran(capsys, "convert", *arguments, code=2)
        assert out == ""
        assert err.count("\n") == 1
        assert words in err, arguments
    assert [path.name for path in Path().iterdir()] == ["mixed.csv"]


@pytest.mark.parametrize("end", ["csv", "parquet", "arrow", "npy"])
def test_a_full_disk_leaves_the_old_file(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("rows.npy", np.random.RandomState(0).normal(size=(20_000, 2)))
    Path(f"there.{end}").write_bytes(b"old")
    with no_file_above(10_000):
        _, err = ran(capsys, "convert", "rows.npy", "-o", f"there.{end}", code=2)
    assert err == f"coterie: there.{end}: File too large; it was not written\n"
    assert Path(f"there.{end}").read_bytes() == b"old"
    assert len(list(Path().iterdir())) == 3


def test_columns_that_a_format_cannot_hold(tmp_path: Path) -> None:
    table = pa.table({"a": [[1, 2], [3]]})
    with pytest.raises(ValueError, match=r"a \.csv file cannot hold these columns"):
        write_tables(tmp_path / "t.csv", ".csv", table.schema, [table])
    assert not (tmp_path / "t.csv").exists()


def test_info_tells_what_columns_hold(capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(ran(capsys, "info", "mixed.csv", "--json")[0])
    assert (facts["what"], facts["rows"], facts["missing"]) == ("table", 3, 2)
    kinds = {column["name"]: column["kind"] for column in facts["columns"]}
    assert kinds == {
        "id": "whole number", "mass": "number", "island": "text", "tagged": "truth",
        "zip": "whole number",
    }  # fmt: skip
    mass = facts["columns"][1]
    assert (mass["least"], mass["largest"], mass["missing"]) == (3700, 3710.5, 1)
    assert mass["mean"] == pytest.approx(3705.25)
    assert facts["columns"][2]["commonest"] == {"Dream": 2}
    out, _ = ran(capsys, "info", "mixed.csv")
    assert "  mass    number                1  3700 to 3710.5, mean 3705.25\n" in out
    assert ran(capsys, "info", "mixed.csv", "--quiet") == ("", "")


def test_parts_add_up_to_the_whole() -> None:
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({
        "x": np.where(rng.rand(500) < 0.1, np.nan, rng.normal(size=500)),
        "t": pd.date_range("2020-01-01", periods=500).astype("datetime64[us]"),
        "w": rng.choice(list("abc"), size=500),
    })  # fmt: skip
    table = pa.Table.from_pandas(frame)
    whole = describe(table.schema, [table])
    parts: Iterator[Any] = (table.slice(start, 37) for start in range(0, 500, 37))
    cut = describe(table.schema, parts)
    assert cut.n_rows == whole.n_rows == 500
    for one, other in zip(cut.columns, whole.columns, strict=True):
        assert (one.kind, one.n_missing, one.least, one.largest, one.counts) == (
            other.kind, other.n_missing, other.least, other.largest, other.counts,
        )  # fmt: skip
    assert cut.columns[0].mean == pytest.approx(frame["x"].mean())
    assert cut.columns[2].n_distinct == 3


def test_info_knows_models_indexes_and_studies(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("rows.npy", np.random.RandomState(0).normal(size=(40, 2)))
    ran(capsys, "fit", "rows.npy", "-k", "3", "--method", "spherical", "-o", "out", "--quiet")
    model = json.loads(ran(capsys, "info", "out/model.coterie", "--json")[0])
    assert (model["what"], model["method"], model["n_clusters"]) == ("model", "spherical", 3)
    assert model["columns"] == ["x0", "x1"]
    assert model["parameters"]["metric"] == "cosine"
    assert "columns     x0, x1\n" in ran(capsys, "info", "out/model.coterie")[0]
    ran(capsys, "index", "build", "rows.npy", "-o", "idx", "--quiet")
    index = json.loads(ran(capsys, "info", "idx", "--json")[0])
    assert (index["what"], index["kind"], index["n_rows"]) == ("index", "flat", 40)
    ran(capsys, "study", "rows.npy", "-o", "study", "--time", "1", "--quiet")
    study = json.loads(ran(capsys, "info", "study/study.json", "--json")[0])
    assert study["what"] == "study"
    assert study["has_structure"] in (True, False)
    Path("other.json").write_text('{"a": 1}')
    assert "not a study.json" in ran(capsys, "info", "other.json", code=2)[1]


def test_infinity_is_no_whole_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ends.csv").write_text("a,b\n1,1\ninf,2\n")
    facts = json.loads(ran(capsys, "info", "ends.csv", "--json")[0])
    assert [column["kind"] for column in facts["columns"]] == ["number", "whole number"]
