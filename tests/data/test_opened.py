"""What may be passed as rows: places of all kinds, scaled, weighted, and models that remember.

Covers coterie.data.npy, coterie.data.derived and coterie._in_memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import HDBSCAN, KMeans
from coterie.data import open as open_rows
from coterie.errors import DataError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def rows() -> Any:
    return np.random.default_rng(0).normal([0, 5, -100], [1, 3, 50], size=(400, 3))


@pytest.fixture
def path(rows: Any, tmp_path: Path) -> Path:
    weights = np.arange(400) % 4
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2], "w": weights})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=33)
    return tmp_path / "rows.parquet"


def whole(source: Any) -> Any:
    return np.concatenate([block.rows for block in source])


def test_a_path_is_fitted_predicted_and_scored_as_its_rows(rows: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), path)
    X = rows[:, :2]
    of_rows = KMeans(3, init=X[:3]).fit(X)
    for place in (path, str(path), [path], tmp_path, ds.dataset(path), open_rows(path)):
        model = KMeans(3, init=X[:3]).fit(place)
        np.testing.assert_array_equal(model.cluster_centers_, of_rows.cluster_centers_)
        np.testing.assert_array_equal(model.predict(place), of_rows.labels_)
        np.testing.assert_array_equal(model.transform(place), of_rows.transform(X))
        assert model.score(place) == pytest.approx(of_rows.score(X), rel=1e-12)
        assert model.feature_names_in_.tolist() == ["a", "b"]


def test_predict_finds_the_columns_of_the_fit(rows: Any, path: Path, tmp_path: Path) -> None:
    model = KMeans(3, random_state=0).fit(open_rows(path, columns=["c", "a"]))
    np.testing.assert_array_equal(model.predict(path), model.labels_)
    np.testing.assert_array_equal(
        model.predict(pd.DataFrame(rows[:, [2, 0]], columns=["c", "a"])), model.labels_
    )
    for columns in (["a", "c"], ["a", "b", "c"]):
        np.testing.assert_array_equal(model.predict(open_rows(path, columns)), model.labels_)
    with pytest.raises(ValueError, match="lacks a column of the fit: no column 'c'"):
        model.predict(open_rows(path, columns=["a", "b"]))


@pytest.mark.parametrize("saved", [False, True])
def test_the_scaling_of_the_fit_is_applied_to_all_rows_asked_about(
    saved: bool, rows: Any, path: Path, tmp_path: Path
) -> None:
    source = open_rows(path, columns=["a", "b", "c"], scale="standard")
    np.testing.assert_allclose(source.scaling["mean"], rows.mean(axis=0))  # type: ignore[attr-defined]
    np.testing.assert_allclose(source.scaling["scale"], rows.std(axis=0))  # type: ignore[attr-defined]
    scaled = (rows - source.scaling["mean"]) / source.scaling["scale"]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(whole(source), scaled)
    model = KMeans(3, init=scaled[:3]).fit(source)
    np.testing.assert_array_equal(
        model.cluster_centers_, KMeans(3, init=scaled[:3]).fit(scaled).cluster_centers_
    )
    labels = model.labels_
    if saved:
        model.save(tmp_path / "model")
        model = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(model.predict(source), labels)
    np.testing.assert_array_equal(model.predict(path), labels)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    np.testing.assert_array_equal(model.predict(frame), labels)
    # A scaling that other rows would have is not theirs.
    pq.write_table(pa.table({name: rows[:10, j] for j, name in enumerate("abc")}), path)
    np.testing.assert_array_equal(model.predict(open_rows(path, scale="standard")), labels[:10])
    assert not hasattr(model.fit(rows), "scaling_")


def test_a_column_may_be_the_weights(rows: Any, path: Path) -> None:
    source = open_rows(path, weights="w")
    assert source.names == ("a", "b", "c")
    model = KMeans(3, init=rows[:3]).fit(source)
    expected = KMeans(3, init=rows[:3]).fit(rows, sample_weight=np.arange(400.0) % 4)
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    scaled = open_rows(path, weights="w", scale="standard")
    np.testing.assert_array_equal(scaled.weights, source.weights)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"weight \(column 'a'\) of row \d+ is negative"):
        open_rows(path, weights="a")


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, np.float32, np.float64])
def test_npy_files_of_all_numbers_are_converted_block_by_block(dtype: Any, tmp_path: Path) -> None:
    rows = (np.random.default_rng(0).random((100, 3)) * 100).astype(dtype)
    np.save(tmp_path / "a.npy", rows)
    source = open_rows(tmp_path / "a.npy")
    expected = dtype if dtype in (np.float32, np.float64) else np.float64
    assert source.dtype == expected
    np.testing.assert_array_equal(whole(source), rows.astype(expected))
    np.testing.assert_array_equal(source.take([5, 1]), rows[[5, 1]].astype(np.float64))
    some = open_rows(tmp_path / "a.npy", columns=[2, "x0"], dtype="float32")  # type: ignore[list-item]
    np.testing.assert_array_equal(whole(some), rows[:, [2, 0]].astype(np.float32))
    np.save(tmp_path / "truths.npy", rows > 50)
    np.testing.assert_array_equal(whole(open_rows(tmp_path / "truths.npy")), rows > 50)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    for X in (mapped, tmp_path / "a.npy"):
        model = KMeans(2, init=rows[[3, 4]].astype(float)).fit(X)
        in_memory = KMeans(2, init=rows[[3, 4]].astype(float)).fit(rows)
        np.testing.assert_array_equal(model.cluster_centers_, in_memory.cluster_centers_)


def test_several_npy_files_are_one_source(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((100, 3))
    np.save(tmp_path / "a.npy", rows[:30])
    np.save(tmp_path / "b.npy", rows[30:])
    source = open_rows(tmp_path / "*.npy")
    assert source.n_rows == 100
    np.testing.assert_array_equal(whole(source), rows)
    np.save(tmp_path / "c.npy", rows[:, :2])
    with pytest.raises(DataError, match="same columns"):
        open_rows(tmp_path)


def test_a_table_in_memory_is_a_source(rows: Any) -> None:
    table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
    np.testing.assert_array_equal(whole(open_rows(table)), rows[:, :2])


@pytest.mark.parametrize(
    ("where", "options", "error", "words"),
    [
        ("no/such/file.parquet", {}, FileNotFoundError, "names no file"),
        ("no*such*file", {}, FileNotFoundError, "names no file"),
        (".", {"dtype": "int8"}, DataError, "use 'float32'"),
        (3, {}, DataError, "no place of rows"),
        (np.zeros((3, 2)), {}, DataError, "pass arrays to fit"),
    ],
)
def test_what_is_no_place_is_told_in_a_sentence(
    where: Any, options: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        open_rows(where, **options)


def test_estimators_tell_of_paths_that_are_not_there(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'nothing\.parquet' names no file"):
        KMeans(2).fit("nothing.parquet")
    (tmp_path / "more.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="several formats"):
        KMeans(2).fit(tmp_path)
    with pytest.raises(DataError, match="scale='minmax'"):
        open_rows(path, scale="minmax")
    with pytest.raises(DataError, match="chosen where a source is made"):
        open_rows(open_rows(path), columns=["a"])


def test_methods_that_need_all_rows_take_them_in_where_they_fit(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [0, 900]], 100, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    expected = HDBSCAN(min_cluster_size=20).fit(frame)
    model = HDBSCAN(min_cluster_size=20).fit(path)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(path), expected.predict(frame))
    scaled = HDBSCAN(min_cluster_size=20).fit(open_rows(path, scale="standard"))
    np.testing.assert_array_equal(scaled.predict(path), scaled.predict(frame))
    with (
        coterie.options(max_memory="3kB"),
        pytest.raises(MemoryError, match="HDBSCAN: this method needs all rows in memory"),
    ):
        HDBSCAN(min_cluster_size=20).fit(path)
