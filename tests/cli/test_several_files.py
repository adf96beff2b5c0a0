"""Several files are one table: a column that only some of them have is not lost in silence."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from coterie.cli import main

FEW = "id,name,x,y\n1,a,2,3\n2,b,40,50\n"
MORE = "id,name,x,y,comment\n3,c,2,3,hi\n4,d,40,50,ho\n"


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text(FEW)
    Path("more.csv").write_text(MORE)
    pd.read_csv("few.csv").to_parquet("few.parquet", index=False)
    pd.read_csv("more.csv").to_parquet("more.parquet", index=False)


@pytest.mark.parametrize("end", ["csv", "parquet"])
@pytest.mark.parametrize("order", [("few", "more"), ("more", "few")])
@pytest.mark.parametrize(
    "command",
    [("convert", "-o", "all.csv"), ("info",), ("fit", "-k", "2"), ("study", "-o", "out")],
)
def test_files_of_different_columns_are_refused_in_any_order(
    command: tuple[str, ...], order: tuple[str, str], end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command
    assert main([name, *(f"{one}.{end}" for one in order), *options]) == 2
    out, err = capsys.readouterr()
    here = Path.cwd()
    assert out == ""
    assert err == (
        f"coterie: {here}/few.{end}: it has no column comment, which {here}/more.{end} has; "
        "give files of one table.\n"
    )
    assert not Path("all.csv").exists()


@pytest.mark.parametrize("end", ["csv", "parquet"])
@pytest.mark.parametrize("order", [("few", "more"), ("more", "few")])
def test_only_columns_in_use_must_be_in_every_file(
    order: tuple[str, str], end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"{one}.{end}" for one in order]
    assert main(["convert", *files, "--columns", "y,x", "-o", "some.csv"]) == 0
    assert pd.read_csv("some.csv").to_numpy().tolist() == [[3, 2], [50, 40], [3, 2], [50, 40]]
    assert main(["convert", *files, "--without", "comment", "-o", "others.csv"]) == 0
    assert list(pd.read_csv("others.csv")) == ["id", "name", "x", "y"]
    assert main(["fit", *files, "-k", "2", "--columns", "x,y"]) == 0
    assert main(["predict", "coterie-out/model.coterie", *files, "-o", "new.csv"]) == 0
    assert Path("new.csv").read_text() == Path("coterie-out/labels.csv").read_text()
    capsys.readouterr()
    assert main(["convert", *files, "--columns", "x,comment", "-o", "more.npy"]) == 2
    assert "it has no column comment, which" in capsys.readouterr().err


def test_a_directory_of_two_tables_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m").mkdir()
    Path("m/a.csv").write_text("x,y\n1,2\n")
    Path("m/b.csv").write_text("z,w\n5,6\n")
    assert main(["convert", "m", "-o", "c.csv"]) == 2
    assert "m/a.csv: it has no columns z, w, which " in capsys.readouterr().err
