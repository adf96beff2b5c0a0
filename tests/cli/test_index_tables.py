"""`coterie index` reads what other commands read, and never writes over it.

Covers coterie.cli._index_rows, coterie.cli._index_words.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from coterie import search
from coterie.cli import main
from coterie.cli._index_rows import TextOptions, vectors_of
from coterie.data.npy import NpySource

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(200, 3)).astype(np.float32)
FRAME = pd.DataFrame(ROWS, columns=list("abc"))


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command says on stderr."""
    assert main(["index", *arguments, "--quiet"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    return str(err)


def test_no_input_is_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    for name in "ab":
        np.save(f"d/{name}.npy", ROWS)
    before = Path("d/a.npy").read_bytes()
    run(capsys, "build", "d/b.npy", "-o", "idx")
    for given in (["d/*.npy"], ["d"], ["d/b.npy", "d/a.npy"]):
        for command in (["build"], ["search", "idx"]):
            err = run(capsys, *command, *given, "-o", "d/a.npy", code=2)
            assert err == "coterie: d/a.npy: this would overwrite the input; choose another -o.\n"
    assert "overwrite" in run(capsys, "search", "idx", "d/b.npy", "-o", "c.npy", "--distances",
                              "d/b.npy", code=2)  # fmt: skip
    assert Path("d/a.npy").read_bytes() == before
    run(capsys, "build", "d/*.npy", "-o", "idx")
    assert search.load("idx").n_rows == 400


def test_what_is_no_number_is_left_out_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    table = FRAME.assign(when=pd.date_range("2020", periods=200), name="x")
    table.to_csv("t.csv")
    table.to_parquet("t.parquet")
    warned = run(capsys, "build", "t.csv", "-o", "idx").splitlines()
    assert [line.partition(": warning: ")[2].partition(",")[0] for line in warned] == [
        "a column has no name", "column 'when' holds dates or times", "column 'name' holds text",
    ]  # fmt: skip
    assert search.load("idx").columns == list("abc")
    assert run(capsys, "build", "t.parquet", "-o", "other").count("it is left out") == 2
    exact = search.FlatIndex().add(ROWS).search(ROWS, 2)
    table[["name", "c", "b", "a"]].to_csv("q.csv", index=False)
    table[["c", "when", "a", "b"]].to_parquet("q.parquet")
    for built in ("idx", "other"):
        for queries in ("q.csv", "q.parquet"):
            assert run(capsys, "search", built, queries, "-k", "2", "-o", "ids.npy") == ""
            assert_array_equal(np.load("ids.npy"), exact.ids)
    np.save("wide.npy", np.ones((2, 4)))
    assert "has x0, x1, x2, x3; the index has the columns a, b, c: give a table that has" in run(
        capsys, "search", "idx", "wide.npy", "-o", "ids.npy", code=2
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3,x\n4,5\n6,7\n", "t.csv: line 3, column 'b': 'x' is not a number"),
        ("a,b\n1,2\n3\n", "t.csv: line 3 has 1 cell"),
        ("a,b\n1,2\n3,\n", "t.csv: column 'b' has no value in row 2 (line 3); fill or remove"),
        ("a,b\n1,2\n3,inf\n", "t.csv: column 'b' is infinite in row 2 (line 3: 'inf')"),
        ("a,b\n1,2\n3,1e200\n", "holds 1e+200 in column 'b' (row 2), which is infinity in"),
        ("u,v\nx,y\n", "t.csv: no column is numeric"),
    ],
)
def test_cells_that_are_no_vectors_are_named(
    text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text(text)
    Path("good.csv").write_text("a,b\n1,2\n")
    run(capsys, "build", "good.csv", "-o", "idx")
    err = run(capsys, "build", "t.csv", "-o", "other", code=2)
    assert words in err
    assert err.count("\n") == 1
    assert "method" not in err
    assert "dtype" not in err
    if "no column" not in words:  # whatever the columns of the index are
        asked = run(capsys, "search", "idx", "t.csv", "-o", "ids.npy", code=2)
        assert asked == err.replace("the table", "a query")


def test_decimal_commas_and_headers_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("a;b\n1,5;2,5\n3,25;0,5\n")
    run(capsys, "build", "t.csv", "-o", "idx")
    assert_array_equal(search.FlatIndex.load("idx").rows(), [[1.5, 2.5], [3.25, 0.5]])
    run(capsys, "build", "t.csv", "-o", "idx", "--decimal", ",", "--header", "--without", "a")
    assert_array_equal(search.FlatIndex.load("idx").rows(), [[2.5], [0.5]])
    np.save("t.npy", ROWS)
    assert "--decimal was given, and it is for a single CSV" in run(
        capsys, "build", "t.npy", "-o", "idx", "--decimal", ",", code=2
    )


def test_columns_of_arrays_have_places_for_names(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("t.npy", ROWS)
    FRAME.to_csv("t.csv", index=False)
    assert "no column '0'; it has x0, x1, x2;" in run(
        capsys, "build", "t.npy", "-o", "idx", "--columns", "0,1", code=2
    )
    run(capsys, "build", "t.npy", "-o", "idx")
    assert search.load("idx").columns is None
    run(capsys, "search", "idx", "t.csv", "-k", "1", "-o", "ids.npy")
    assert_array_equal(np.load("ids.npy")[:, 0], np.arange(200))
    run(capsys, "build", "t.npy", "-o", "idx", "--columns", "x2,x0")
    run(capsys, "search", "idx", "t.npy", "-k", "3", "-o", "ids.npy")
    exact = search.FlatIndex().add(ROWS[:, [2, 0]]).search(ROWS[:, [2, 0]], 3)
    assert_array_equal(np.load("ids.npy"), exact.ids)


def test_arrays_stay_where_they_are() -> None:
    np.save("t.npy", (10 * ROWS).astype(np.int8))
    with vectors_of(["t.npy"], None, (), TextOptions(None, None, 1 << 28)) as rows:
        assert isinstance(rows.source, NpySource)
        assert rows.source.rows.dtype == np.int8


def test_one_dimension_is_no_query_of_several_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save("t.npy", ROWS)
    np.save("one.npy", ROWS[0])
    FRAME.to_csv("t.csv", index=False)
    said = "the array has one dimension, of 3 numbers, and queries are rows of 3 columns; save it"
    for vectors in ("t.npy", "t.csv"):
        run(capsys, "build", vectors, "-o", "idx")
        err = run(capsys, "search", "idx", "one.npy", "-o", "ids.npy", code=2)
        assert err.startswith(f"coterie: one.npy: {said}")
    piped = io.TextIOWrapper(io.BytesIO(Path("one.npy").read_bytes()))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", piped)
        err = run(capsys, "search", "idx", "-", "-o", "ids.npy", code=2)
    assert err.startswith(f"coterie: stdin: {said}")
    run(capsys, "build", "one.npy", "-o", "idx")
    run(capsys, "search", "idx", "one.npy", "-k", "1", "-o", "ids.npy")
    assert np.load("ids.npy").ravel().tolist() == [0, 1, 2]


def test_warnings_are_lines_that_the_command_line_can_follow(
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.save("far.npy", ROWS.astype(np.float64) + 1e9)
    for kind in ("flat", "ivf"):
        options = ["--kind", kind] + (["--parts", "1"] if kind == "ivf" else [])
        *_, line = lines = run(capsys, "build", "far.npy", "-o", "idx", *options).splitlines()
        words = f"coterie: warning: {kind}: 3 columns are so far from zero"
        assert all(line.startswith(words) and "dtype" not in line for line in lines)
        assert line.endswith("subtract the means of the columns from vectors and queries first.")


@pytest.mark.parametrize("kind", ["pq", "ivf"])
def test_equal_builds_are_equal_files(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("t.npy", ROWS)
    options = ["--kind", kind, "--parts", "2", "--bits", "4", "--rerank", "9", "--seed", "5"]
    for name, threads in (("one", "1"), ("two", "2")):
        run(capsys, "build", "t.npy", "-o", name, "--threads", threads, *options)
    assert Path("one").read_bytes() == Path("two").read_bytes()


def test_headers_that_are_no_json_are_damage(capsys: pytest.CaptureFixture[str]) -> None:
    Path("idx").write_bytes((40).to_bytes(8, "little") + b'{"a": bad json' + b" " * 26)
    assert run(capsys, "info", "idx", code=2) == (
        "coterie: Cannot load 'idx': it is damaged, or not an index of coterie; build the index "
        "again, or use another copy of the file.\n"
    )
