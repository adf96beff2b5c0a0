"""Rows that are streamed: files of all kinds, larger than memory, read by a cluster.

Covers coterie.data.streams and coterie.data.dask_files.
"""

import gzip
import os
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import coterie
from clusters import small_cluster
from coterie import KMeans
from coterie._config import get_options
from coterie._files import load_bundle
from coterie.cli import main

#: Rows of three columns take more than the quarter of it that is held.
TIGHT = ("--max-memory", "200KB")
NAMES = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    return rng.normal(size=(6000, 3)) * [1, 2, 30] + 20 * rng.choice(3, size=(6000, 1))


def table(rows, **others):
    return pa.table({**dict(zip(NAMES, rows.T, strict=True)), **others})


def write(path, rows, **others):
    path = Path(path)
    if path.suffix == ".parquet":
        pq.write_table(table(rows, **others), path)
    elif path.suffix == ".feather":
        feather.write_feather(table(rows, **others), str(path))
    elif path.suffix == ".npy":
        np.save(path, rows)
    else:
        lines = [",".join(NAMES), *(",".join(map(repr, row)) for row in rows.tolist())]
        text = "\n".join(lines).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def fit(*arguments):
    assert main(["fit", *map(str, arguments)]) == 0
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments else "coterie-out"
    return load_bundle(f"{output}/model.coterie")


def read_labels(path):
    return np.loadtxt(path, dtype=int, skiprows=1)


def refused(capsys, *arguments):
    """Run a command that must fail; its one line of complaint."""
    before = sorted(Path().rglob("*"))
    assert main([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coterie: ")
    assert err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return err


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.npy", "t.csv", "t.csv.gz"])
def test_streamed_centres_are_those_of_rows_in_memory(name, rows, capsys):
    data = write(name, rows)
    options = ("-k", 3, "--init", "k-means||", "--seed", 1, *TIGHT)
    streamed = fit(data, *options)
    out, err = capsys.readouterr()
    assert err == ""
    assert "rows        6,000\n" in out
    assert_allclose(streamed.scaling["mean"], rows.mean(axis=0))
    assert_allclose(streamed.scaling["scale"], rows.std(axis=0))
    assert streamed.columns == (["x0", "x1", "x2"] if name == "t.npy" else NAMES)
    assert streamed.model.n_init == 1
    scaled = (rows - streamed.scaling["mean"]) / streamed.scaling["scale"]
    alike = KMeans(3, init="k-means||", n_init=1, random_state=1).fit(scaled)
    assert_array_equal(streamed.model.cluster_centers_, alike.cluster_centers_)

    labels = read_labels("coterie-out/labels.csv")
    assert_array_equal(labels, alike.labels_)
    frame = rows if name == "t.npy" else table(rows)
    assert_array_equal(coterie.load("coterie-out/model.coterie").predict(frame), labels)
    assert get_options()["max_memory"] is None


def test_what_is_small_is_held_and_clustered_as_text_is(rows):
    write("t.parquet", rows)
    write("t.csv", rows)
    parquet, text = fit("t.parquet", "-k", 4, "-o", "p"), fit("t.csv", "-k", 4, "-o", "c")
    assert parquet.model.n_init == 10
    assert_array_equal(parquet.model.cluster_centers_, text.model.cluster_centers_)
    assert Path("p/labels.csv").read_bytes() == Path("c/labels.csv").read_bytes()


def test_patterns_directories_and_lists_are_one_table(rows):
    Path("data").mkdir()
    for part in range(3):
        write(f"data/{part}.parquet", rows[part * 2000 : (part + 1) * 2000])
    found = [
        fit(*places, "-k", 3, *TIGHT, "-o", f"out{number}")
        for number, places in enumerate(
            [["data/*.parquet"], ["data"], [f"data/{part}.parquet" for part in range(3)]]
        )
    ]
    whole = fit(write("t.parquet", rows), "-k", 3, *TIGHT)
    for one in found:
        assert_array_equal(one.model.cluster_centers_, whole.model.cluster_centers_)
        assert_array_equal(one.model.labels_, whole.model.labels_)


@pytest.mark.parametrize("method", ["gaussian", "student-t", "bayesian"])
def test_mixtures_stream(method, rows, capsys):
    write("t.parquet", rows)
    streamed = fit("t.parquet", "-k", 3, "--method", method, *TIGHT)
    assert "6,000" in capsys.readouterr().out
    held = fit("t.parquet", "-k", 3, "--method", method, "-o", "held", "--n-init", 1)
    order, other = (np.argsort(one.model.weights_) for one in (streamed, held))
    assert_allclose(streamed.model.weights_[order], held.model.weights_[other], atol=0.01)
    labels = read_labels("coterie-out/labels.csv")
    assert_array_equal(streamed.predict(table(rows).to_pandas()), labels)


@pytest.mark.parametrize(
    "asked",
    [
        ("kmedoids", "-k", 3),
        ("kmedoids", "-k", 3, "--metric", "chebyshev"),
        ("kcenter", "-k", 5),
        ("kcenter", "-k", 4, "--metric", "manhattan"),
        ("leader", "--threshold", 9),
        ("leader", "--threshold", 30, "--metric", "manhattan"),
    ],
    ids=str,
)
def test_centres_that_are_rows_stream(asked, rows, capsys):
    write("t.parquet", rows)
    method, *options = asked
    options = ("--method", method, *options, "--no-scale")
    streamed = fit("t.parquet", *options, *TIGHT)
    held = fit("t.parquet", *options, "-o", "held")
    assert_array_equal(streamed.model.cluster_centers_, held.model.cluster_centers_)
    assert Path("coterie-out/labels.csv").read_bytes() == Path("held/labels.csv").read_bytes()
    assert main(["predict", "held/model.coterie", "t.parquet", "-o", "again.csv", *TIGHT]) == 0
    assert Path("again.csv").read_bytes() == Path("held/labels.csv").read_bytes()
    assert capsys.readouterr().err == ""


def test_counts_and_bits_stream():
    rng = np.random.RandomState(0)
    counts = rng.poisson(rng.choice([1.0, 30.0], size=(4000, 1)), size=(4000, 3)).astype(float)
    write("t.parquet", counts)
    assert fit("t.parquet", "-k", 2, "--method", "poisson", *TIGHT).model.rates_.shape == (2, 3)
    bits = fit("t.parquet", "-k", 2, "--method", "bernoulli", "--threshold", 9, *TIGHT)
    assert_array_equal(bits.predict(counts), read_labels("coterie-out/labels.csv"))


def test_methods_that_need_all_rows_take_them_in_or_say_so(rows, capsys):
    write("t.parquet", rows)
    found = fit("t.parquet", "--method", "dbscan", *TIGHT)
    assert_allclose(found.scaling["mean"], rows.mean(axis=0))
    held = fit("t.parquet", "--method", "dbscan", "-o", "held")
    assert_array_equal(found.model.labels_, held.model.labels_)
    capsys.readouterr()
    said = refused(capsys, "fit", "t.parquet", "--method", "hdbscan", "--max-memory", "100KB")
    assert "hdbscan: this method needs all rows in memory" in said
    assert "0.000144 GB" in said


def test_columns_that_do_not_suit_are_told(rows, capsys):
    n = len(rows)
    others = {
        "who": ["x"] * n,
        "when": pa.array([0] * n, pa.date32()),
        "gap": pa.nulls(n),
        "list": [[1]] * n,
        "__index_level_0__": np.arange(n),
    }
    write("t.parquet", rows, **others)
    found = fit("t.parquet", "-k", 2, "--without", "b", *TIGHT)
    out, err = capsys.readouterr()
    assert found.columns == ["a", "c"]
    assert "left out    who, when, gap, list, __index_level_0__\n" in out
    assert "coterie: warning: column 'who' holds text; it is left out\n" in err
    assert "column 'when' holds dates or times (date32[day]); it is left out" in err
    assert "column 'gap' has no value in any row; it is left out" in err
    assert "column '__index_level_0__' is the index of a data frame" in err
    assert fit("t.parquet", "-k", 2, "--columns", "c,a", *TIGHT).columns == ["c", "a"]
    assert found.scaling["mean"].shape == (2,)


def test_a_picture_of_many_rows_is_one_of_a_sample(rows, monkeypatch):
    import coterie.plots

    seen = {}

    def draw(path, X, labels, centers=None, **options):
        seen.update(X=X, labels=labels, centers=centers, **options)
        Path(path).write_bytes(b"")

    monkeypatch.setattr(coterie.plots, "save_scatter", draw)
    write("t.parquet", rows)
    fit("t.parquet", "-k", 3, "--columns", "a,b", *TIGHT)
    assert seen["title"] == "t.parquet: 3 clusters (4,000 of 6,000 rows)"
    assert seen["X"].shape == (4000, 2)
    assert seen["X"].mean() == pytest.approx(rows[:, :2].mean(), rel=0.05)  # in its own units
    assert_allclose(np.sort(seen["centers"][:, 0]), [0, 20, 40], atol=1)


@pytest.mark.parametrize("end", [".parquet", ".npy", ".csv", ".feather", ".labels"])
def test_predict_writes_what_the_name_says(end, rows, capsys):
    write("t.parquet", rows)
    fitted = fit("t.parquet", "-k", 3, *TIGHT)
    capsys.readouterr()
    place = f"l{end}"
    assert main(["predict", "coterie-out/model.coterie", "t.par*", "-o", place, *TIGHT]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "rows        6,000\n" in out
    labels = {
        ".parquet": lambda: pq.read_table(place)["label"].to_numpy(),
        ".npy": lambda: np.load(place),
        ".feather": lambda: feather.read_table(place)["label"].to_numpy(),
    }.get(end, lambda: read_labels(place))()
    assert_array_equal(labels, fitted.model.labels_)
    if end == ".csv":
        assert Path(place).read_bytes() == Path("coterie-out/labels.csv").read_bytes()


def test_predict_names_the_row_of_the_file_and_writes_nothing(rows, capsys):
    write("t.parquet", rows)
    fit("t.parquet", "-k", 3, *TIGHT)
    capsys.readouterr()
    rows[4321, 1] = np.nan
    write("t.parquet", rows)
    said = refused(capsys, "predict", "coterie-out/model.coterie", "t.parquet", *TIGHT)
    assert "row 4322" in said
    assert "column 'b'" in said
    assert "row 4322" in refused(capsys, "fit", "t.parquet", "-k", 3, *TIGHT, "-o", "other")


def test_predict_takes_models_of_python(rows):
    write("t.parquet", rows)
    source = coterie.data.open("t.parquet", columns=["c", "a"], scale="standard")
    model = KMeans(3, random_state=0).fit(source)
    model.save("m")
    assert main(["predict", "m", "t.parquet", "-o", "l.npy"]) == 0
    assert_array_equal(np.load("l.npy"), model.labels_)


def test_mistakes_are_one_line(rows, capsys):
    write("t.parquet", rows, who=["x"] * len(rows))
    Path("empty.parquet").write_bytes(b"")
    Path("broken.parquet").write_bytes(b"PAR1 no more than that")
    write("none.parquet", rows[:0])
    pq.write_table(pa.table({"who": ["x", "y"], "day": ["mon", "tue"]}), "text.parquet")
    Path("bare").mkdir()

    def said(*arguments):
        return refused(capsys, "fit", *arguments, "-k", 2)

    assert "there is nothing in it" in said("empty.parquet")
    assert "broken.parquet" in said("broken.parquet")
    assert "no rows" in said("none.parquet")
    assert "no column is numeric (column 'who' holds text; column 'day'" in said("text.parquet")
    assert "'z*.parquet' names no file" in said("z*.parquet")
    assert "'bare' holds no file" in said("bare")
    assert "no column 'z'; it has a, b, c, who" in said("t.parquet", "--columns", "a,z")
    assert "column 'who' holds text; choose among a, b, c" in said("t.parquet", "--columns", "who")
    assert "--decimal was given" in said("t.parquet", "--decimal", ",")
    assert "- (stdin) was given among" in said("t.parquet", "-")
    assert "--max-memory 'much' was given; use" in said("t.parquet", "--max-memory", "much")
    assert "several formats" in said("t.parquet", write("t.csv", rows))
    assert "-k 2 was given, but the table has 1 row" in said(write("one.parquet", rows[:1]), *TIGHT)


def test_inputs_are_not_overwritten(rows, capsys):
    Path("data").mkdir()
    write("data/labels.csv", rows)
    for place in ("data", "data/*.csv", "data/labels.csv"):
        assert "overwrite the input" in refused(capsys, "fit", place, "-k", 2, "-o", "data")


def test_a_scheduler_that_does_not_answer(rows, capsys):
    write("t.parquet", rows)
    start = time.monotonic()
    said = refused(capsys, "fit", "t.parquet", "-k", 2, "--dask", "tcp://127.0.0.1:1")
    assert time.monotonic() - start < 30
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:1'" in said
    assert "'nonsense'" in refused(capsys, "fit", "t.parquet", "-k", 2, "--dask", "nonsense")
    said = refused(capsys, "fit", "t.parquet", "--method", "hdbscan", "--dask", "tcp://127.0.0.1:1")
    assert "hdbscan needs all rows in one place" in said
    assert "one of the methods kmeans, minibatch, bisecting, spherical, hierarchical" in said


def test_without_dask_it_says_what_to_install(rows, capsys, monkeypatch):
    write("t.parquet", rows)
    monkeypatch.delitem(sys.modules, "coterie.data.dask_files", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    asked = ("fit", "t.parquet", "-k", 2, "--dask", "tcp://127.0.0.1:1")
    assert refused(capsys, *asked) == (
        "coterie: --dask needs distributed: pip install 'coterie[dask]'\n"
    )


def test_a_scheduler_without_workers(rows, capsys, monkeypatch):
    monkeypatch.setattr("coterie.data.dask_files._WORKER_SECONDS", 1)
    write("t.parquet", rows)
    with small_cluster(0) as client:
        address = client.scheduler.address
        said = refused(capsys, "fit", "t.parquet", "-k", 2, "--dask", address)
    assert f"the Dask scheduler at '{address}' has no workers" in said


def test_a_cluster_finds_the_centres_of_rows_in_memory(rows, tmp_path, capsys):
    options = ("-k", 3, "--init", "k-means||", "--no-scale", "--seed", 2)
    for part in range(2):
        for end in ("parquet", "feather", "npy", "csv"):
            write(f"{part}.{end}", rows[part * 3000 : (part + 1) * 3000])
    alike = KMeans(3, init="k-means||", n_init=1, random_state=2).fit(rows)
    with small_cluster(threads_per_worker=1) as client:
        address = client.scheduler.address
        for end in ("parquet", "feather", "npy", "csv"):
            pattern = str(tmp_path / f"*.{end}")
            found = fit(pattern, *options, "--dask", address, "-o", end)
            assert_array_equal(found.model.cluster_centers_, alike.cluster_centers_)
            assert_array_equal(read_labels(f"{end}/labels.csv"), alike.labels_)
        pattern = str(tmp_path / "*.parquet")
        scaled = fit(pattern, "-k", 3, "--columns", "c,a", "--dask", address)
        assert_allclose(scaled.scaling["mean"], rows[:, [2, 0]].mean(axis=0))
        mixture = fit(pattern, "-k", 3, "--method", "gaussian", "--dask", address, "-o", "g")
        assert_array_equal(mixture.predict(rows), read_labels("g/labels.csv"))
        assert client.scheduler_info()["workers"]
    assert capsys.readouterr().err == ""
    assert sorted(os.listdir("g")) == ["clusters.png", "labels.csv", "model.coterie"]
