"""`--dask`: the workers of a cluster read, fit and label files as this process would.

Covers coterie.data.dask_files.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("distributed")

from clusters import left_on, nothing_is_left, small_cluster
from coterie._files import load_bundle
from coterie.cli import main

N_ROWS = 2000


@pytest.fixture(scope="module")
def client():
    with small_cluster() as client:
        yield client


@pytest.fixture(scope="module")
def table():
    rng = np.random.RandomState(0)
    kind = rng.choice(3, size=N_ROWS)
    words = np.array(["red", "green", "blue"], dtype=object)[kind]
    words[::50] = None
    return pa.table({
        "a": rng.normal(size=N_ROWS) + 20 * kind,
        "b": rng.normal(size=N_ROWS) * 3 + 9,
        "color": pa.array(words),
        "zip": pa.array(100 + kind // 2, pa.int32(), mask=rng.uniform(size=N_ROWS) < 0.02),
    })  # fmt: skip


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch, table):
    """The table in two files of several formats, and what two numeric columns hold."""
    monkeypatch.chdir(tmp_path)
    for part in range(2):
        half = table.slice(part * N_ROWS // 2, N_ROWS // 2)
        pq.write_table(half, f"{part}.parquet", row_group_size=300)
        feather.write_feather(half, f"{part}.feather")
        pa_csv.write_csv(half, f"{part}.csv")
        np.save(f"{part}.npy", np.column_stack([half["a"], half["b"]]))


@pytest.fixture
def pattern(tmp_path):
    return lambda end: str(tmp_path / f"*.{end}")


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


def same_files(one, other):
    return Path(one).read_bytes() == Path(other).read_bytes()


DBSCANS = [
    ("--eps", 0.15, "--columns", "a,b"),
    ("--eps", 2, "--no-scale", "--columns", "b,a"),
    ("--columns", "a,b"),  # eps is chosen
    ("--eps", 1.5, "--metric", "manhattan", "--columns", "a,b"),
]


@pytest.mark.parametrize("options", DBSCANS, ids=["scaled", "as it is", "auto", "manhattan"])
def test_dbscan_says_the_same_as_here(client, pattern, options, capsys):
    data = pattern("parquet")
    run("fit", data, "--method", "dbscan", *options, "-o", "here")
    here = capsys.readouterr()
    run("fit", data, "--method", "dbscan", *options, "--dask", client.scheduler.address, "-o", "x")
    there = capsys.readouterr()
    assert there.err == here.err
    lines = [text.replace("here/", "x/").splitlines() for text in (here.out, there.out)]
    ours, theirs = ([line for line in text if "stages" not in line] for text in lines)
    assert theirs == ours  # sizes and centres, eps and what was written
    assert same_files("x/labels.csv", "here/labels.csv")
    assert sorted(os.listdir("x")) == ["clusters.png", "labels.csv", "model.coterie"]
    run("predict", "x/model.coterie", data, "--dask", client.scheduler.address, "-o", "again.csv")
    assert same_files("again.csv", "here/labels.csv")
    assert nothing_is_left(client), left_on(client)


@pytest.mark.parametrize(
    "asked",
    [
        ("kcenter", "-k", 4),
        ("kcenter", "-k", 4, "--metric", "manhattan"),
        ("leader", "--threshold", 6),
    ],
    ids=str,
)
def test_centres_that_are_rows_are_those_of_here(client, pattern, asked, capsys):
    method, *options = asked
    options = ("--method", method, *options, "--no-scale", "--columns", "a,b")
    run("fit", pattern("parquet"), *options, "-o", "here")
    capsys.readouterr()
    run("fit", pattern("parquet"), *options, "--dask", client.scheduler.address, "-o", "there")
    assert capsys.readouterr().err == ""
    here, there = (load_bundle(f"{place}/model.coterie").model for place in ("here", "there"))
    assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert same_files("there/labels.csv", "here/labels.csv")
    assert nothing_is_left(client), left_on(client)


@pytest.mark.parametrize("end", ["parquet", "feather", "csv"])
def test_mixed_models_are_those_of_tables_here(client, pattern, end, capsys):
    asked = ("fit", pattern(end), "--method", "mixed", "-k", 3, "--categorical", "zip",
             "--init", "random_from_data", "--n-init", 1)  # fmt: skip
    run(*asked, "-o", "here")
    run(*asked, "-o", "there", "--dask", client.scheduler.address)
    here, there = (load_bundle(f"{place}/model.coterie").model for place in ("here", "there"))
    assert there.kinds_ == here.kinds_
    assert_allclose(there.means_, here.means_, rtol=1e-9)
    for ours, theirs in zip(there.categories_, here.categories_, strict=True):
        assert_array_equal(ours, theirs)
    assert same_files("there/labels.csv", "here/labels.csv")
    run("predict", "here/model.coterie", pattern(end), "-o", "again", "--dask",
        client.scheduler.address)  # fmt: skip
    assert same_files("again", "here/labels.csv")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("method", ["kmeans", "gaussian", "hdbscan", "agglomerative"])
def test_predict_says_the_same_as_here(client, pattern, method, capsys):
    clusters = () if method == "hdbscan" else ("-k", 3)
    columns = ("--columns", "b,a")
    run("fit", "0.parquet", "--method", method, *clusters, *columns, "-o", "m")
    capsys.readouterr()
    run("predict", "m/model.coterie", pattern("parquet"), "-o", "here.csv")
    here = capsys.readouterr()
    asked = ("predict", "m/model.coterie", pattern("parquet"), "--dask", client.scheduler.address)
    run(*asked, "-o", "there.csv")
    there = capsys.readouterr()
    assert there.out == here.out.replace("here.csv", "there.csv")
    assert there.err == ""
    assert same_files("there.csv", "here.csv")
    run(*asked, "-o", "there.parquet")
    labels = pq.read_table("there.parquet")["label"].to_numpy()
    assert_array_equal(labels, np.loadtxt("here.csv", dtype=int, skiprows=1))
    assert nothing_is_left(client), left_on(client)


def test_predict_of_arrays_and_of_text(client, pattern):
    run("fit", pattern("parquet"), "-k", 3, "--columns", "a,b", "-o", "m")
    for end in ("npy", "csv", "feather"):
        asked = ("predict", "m/model.coterie", pattern(end), "-o", f"of-{end}")
        run(*asked, "--dask", client.scheduler.address)
        assert same_files(f"of-{end}", "m/labels.csv")


def test_predict_names_the_row_of_the_table_and_writes_nothing(client, pattern, table, capsys):
    run("fit", pattern("parquet"), "-k", 3, "--columns", "a,b", "-o", "m")
    b = table["b"].to_numpy().copy()
    b[1777] = np.nan
    half = table.set_column(1, "b", pa.array(b)).slice(N_ROWS // 2)
    pq.write_table(half, "1.parquet", row_group_size=300)
    capsys.readouterr()
    asked = ["predict", "m/model.coterie", pattern("parquet"), "--dask", client.scheduler.address]
    assert main(asked) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "row 1778" in err
    assert "column 'b'" in err
    assert not Path("labels.csv").exists()
    assert nothing_is_left(client), left_on(client)


def test_mistakes_are_one_line(client, pattern, table, capsys):
    pq.write_table(table.slice(0, 0), "none.parquet")
    pq.write_table(table.slice(0, 1), "one.parquet")
    Path("late.csv").write_text("a,b\n" + "1,2\n" * 400_000 + "oops,3\n")

    def said(*arguments):
        asked = ["fit", *arguments, "--dask", client.scheduler.address, "-o", "out"]
        assert main(asked) == 2
        out, err = capsys.readouterr()
        assert (out, not Path("out").exists()) == ("", True)
        (line,) = [one for one in err.splitlines() if "warning" not in one]
        return line

    assert said("none.parquet", "-k", "1") == (
        "coterie: none.parquet has no rows; pass at least one."
    )
    assert "-k 2 was given, but the table has 1 row" in said("one.parquet", "-k", "2")
    assert "no column 'z'; it has a, b, color, zip" in said(
        pattern("parquet"), "-k", "2", "--columns", "z"
    )
    table = pattern("csv").replace("*.csv", "[0-9].csv")  # late.csv is of another
    assert "column 'color' holds text" in said(table, "-k", "2", "--columns", "color")
    assert "late.csv: it has no columns color, zip, which" in said(pattern("csv"), "-k", "2")
    assert "'z*.csv' names no file" in said("z*.csv", "-k", "2")
    assert said("late.csv", "-k", "1") == (
        "coterie: late.csv: a cell among numbers is none (could not convert string to float: "
        "'oops'); mend it, or leave its column out."
    )
    assert "- (stdin) was given" in said("-", "-k", "2")
    assert nothing_is_left(client), left_on(client)
