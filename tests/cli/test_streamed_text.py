"""Tables with text that are streamed: the model of the same table in memory, on the command line.

Covers coterie.data._cells.
"""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie import MixedMixture
from coterie._files import load_bundle
from coterie.cli import main
from coterie.data._cells import Typed, cells_of

#: A table takes more than the quarter of it that is held, so that it is read by every pass.
TIGHT = ("--max-memory", "200KB")
#: A start that is the same wherever the rows are.
SAME = ("-k", 3, "--init", "random_from_data", "--n-init", 1, "--seed", 1)


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table():
    """Numbers with gaps, words with gaps, truth values, and names that look like numbers."""
    rng = np.random.RandomState(0)
    kind = rng.choice(3, size=3000)
    words = np.array(["red", "green", "blue, dark"], dtype=object)[kind]
    words[::50] = None
    return pa.table({
        "size": pa.array(rng.normal(size=3000) + 9 * kind, mask=rng.uniform(size=3000) < 0.02),
        "color": pa.array(words),
        "odd": pa.array(rng.uniform(size=3000) < 0.1 + 0.4 * (kind == 2)),
        "zip": pa.array(100 + kind // 2, pa.int32(), mask=rng.uniform(size=3000) < 0.02),
    })  # fmt: skip


def fit(*arguments):
    assert main(["fit", *map(str, arguments)]) == 0
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments else "coterie-out"
    return load_bundle(f"{output}/model.coterie").model


def labels_in(directory):
    return (Path(directory) / "labels.csv").read_bytes()


def as_text(table, *, zeros=False):
    """A table between commas, with a name in quotes; postal codes may begin with zeros."""

    def cell(value):
        if value is None:
            return ""
        text = f'"{value}"' if isinstance(value, str) else str(value)
        return f"{text:0>5}" if zeros and isinstance(value, int) and value > 1 else text

    lines = [",".join(table.column_names)]
    lines += [",".join(map(cell, row.values())) for row in table.to_pylist()]
    return "\n".join(lines).encode()


def write(name, table):
    path = Path(name)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=700)
    elif path.suffix == ".feather":
        feather.write_feather(table, name)
    else:
        text = as_text(table)
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return name


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv", "t.csv.gz"])
def test_a_mixed_model_is_that_of_the_table_in_memory(name, table, capsys):
    write(name, table)
    options = (*SAME, "--method", "mixed", "--categorical", "zip")
    held = fit(name, *options, "-o", "held")
    streamed = fit(name, *options, *TIGHT)
    out, err = capsys.readouterr()
    assert err == ""
    assert "blue, dark (" in out
    assert streamed.kinds == held.kinds == ["auto", "auto", "auto", "categorical"]
    assert streamed.kinds_ == held.kinds_ == ["numeric", "categorical", "binary", "categorical"]
    assert_allclose(streamed.means_, held.means_, rtol=1e-9)
    for ours, theirs in zip(streamed.categories_, held.categories_, strict=True):
        assert_array_equal(ours, theirs)
    for ours, theirs in zip(streamed.probabilities_, held.probabilities_, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9)
    assert labels_in("coterie-out") == labels_in("held")

    assert main(["predict", "coterie-out/model.coterie", name, *TIGHT]) == 0
    assert labels_in(".") == labels_in("held")


def test_a_categorical_model_of_several_files_is_that_of_one(table, capsys):
    table = table.drop_columns(["size"])
    write("all.parquet", table)
    for part in range(3):
        write(f"{part}.parquet", table.slice(part * 1000, 1000))
    options = (*SAME, "--method", "categorical", "--categorical", "zip")
    held = fit("all.parquet", *options, "-o", "held")
    for number, places in enumerate([["[0-9].parquet"], [f"{part}.parquet" for part in range(3)]]):
        streamed = fit(*places, *options, *TIGHT, "-o", number)
        for ours, theirs in zip(streamed.probabilities_, held.probabilities_, strict=True):
            assert_allclose(ours, theirs, rtol=1e-9)
        assert labels_in(str(number)) == labels_in("held")
        assert main(["predict", f"{number}/model.coterie", *places, *TIGHT]) == 0
        assert labels_in(".") == labels_in("held")
    assert capsys.readouterr().err == ""


def test_names_of_digits_keep_their_zeros_in_text_that_streams(table):
    Path("t.csv").write_bytes(as_text(table, zeros=True))
    options = (*SAME, "--method", "mixed", "--categorical", "zip")
    held, streamed = fit("t.csv", *options, "-o", "held"), fit("t.csv", *options, *TIGHT)
    assert streamed.categories_[2].tolist() == held.categories_[2].tolist() == ["00100", "00101"]
    assert labels_in("coterie-out") == labels_in("held")
    assert main(["predict", "held/model.coterie", "t.csv", *TIGHT]) == 0
    assert labels_in(".") == labels_in("held")


def test_columns_of_an_array_may_be_categories(capsys):
    rng = np.random.RandomState(0)
    kind = rng.choice(3, size=4000)
    np.save("t.npy", np.column_stack([rng.normal(size=4000) + 9 * kind, kind]))
    options = (*SAME, "--method", "mixed", "--categorical", "x1")
    held, streamed = fit("t.npy", *options, "-o", "held"), fit("t.npy", *options, *TIGHT)
    assert held.kinds_ == streamed.kinds_ == ["numeric", "categorical"]
    assert labels_in("coterie-out") == labels_in("held")
    capsys.readouterr()
    assert main(["fit", "t.npy", "--method", "mixed", "-k", "2", "--categorical", "zip"]) == 2
    assert capsys.readouterr().err == (
        "coterie: --categorical zip was given, and the columns in use are x0, x1; name some of "
        "them.\n"
    )


def test_a_picture_of_words_that_stream_is_drawn(table, monkeypatch):
    import coterie.plots

    seen = {}

    def draw(path, X, labels, centers=None, **options):
        seen.update(X=X, labels=labels, **options)
        Path(path).write_bytes(b"")

    monkeypatch.setattr(coterie.plots, "save_scatter", draw)
    monkeypatch.setattr("coterie.cli._given._DRAWN_ROWS", 1000)
    write("t.parquet", table)
    fit("t.parquet", *SAME, "--method", "mixed", *TIGHT)
    assert seen["title"] == "t.parquet: 3 clusters (1,000 of 3,000 rows)"
    assert seen["X"].shape == (1000, 6)  # three numbers, and one for each of three words
    assert seen["labels"].shape == (1000,)


def test_what_a_mixed_model_cannot_use_is_named(table, capsys):
    write("t.parquet", table)
    fit("t.parquet", *SAME, "--method", "mixed", *TIGHT)
    capsys.readouterr()
    colors = table.column("color").to_pylist()
    colors[2345] = "mauve"
    write("new.parquet", table.set_column(1, "color", pa.array(colors)))
    assert main(["predict", "coterie-out/model.coterie", "new.parquet", *TIGHT]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "column 'color' holds the category 'mauve'" in err
    assert not Path("labels.csv").exists()


def test_tables_of_all_makers_are_typed_alike():
    arrow = pa.table({
        "a": pa.array([1, None, 3], pa.int8()),
        "b": pa.array([True, False, None]),
        "c": pa.array(["x", None, "x"]).dictionary_encode(),
        "d": pa.array([7, 8, None], pa.int64()),
    })  # fmt: skip
    wanted = np.array(
        [[1.0, 1.0, "x", "7"], [np.nan, 0.0, None, "8"], [3.0, np.nan, "x", None]], object
    )
    typed = Typed(("c", "d"))
    for table in (arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)):
        found = cells_of(typed(table))
        for ours, theirs in zip(found.ravel(), wanted.ravel(), strict=True):
            assert ours == theirs or (ours != ours and theirs != theirs)
    numbers = cells_of(Typed(())(arrow.select(["a", "b"])))
    assert numbers.dtype == np.float64
    assert_array_equal(numbers, [[1, 1], [np.nan, 0], [3, np.nan]])


def test_columns_without_names_go_by_order(table):
    write("t.csv", table)
    fit("t.csv", *SAME, "--method", "mixed", "-o", "held")
    lines = Path("t.csv").read_bytes().split(b"\n")[1:]
    Path("bare.csv").write_bytes(b"\n".join(lines))
    for limit in ((), TIGHT):
        assert main(["predict", "held/model.coterie", "bare.csv", *limit]) == 0
        assert labels_in(".") == labels_in("held")


def test_models_of_python_are_given_the_names_they_know(table):
    write("t.parquet", table)
    model = MixedMixture(3, random_state=0).fit(table.to_pandas())
    model.save("m")
    assert main(["predict", "m", "t.parquet", "-o", "l.npy", *TIGHT]) == 0
    assert_array_equal(np.load("l.npy"), model.predict(table.to_pandas()))
