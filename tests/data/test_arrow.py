"""Files through pyarrow: the same rows however they are cut, converted, chosen and filtered.

Covers coterie.data._arrow_batches, coterie.data._arrow_floats and coterie.data._datasets.
"""

from __future__ import annotations

import decimal
import gzip
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from coterie import KMeans
from coterie.data import Block, Source
from coterie.data import open as open_rows
from coterie.data.arrow import ArrowSource
from coterie.errors import DataError

pa = pytest.importorskip("pyarrow")
ds = pytest.importorskip("pyarrow.dataset")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")


def table_of(rows: Any) -> Any:
    return pa.table({f"c{j}": rows[:, j] for j in range(rows.shape[1])})


def all_rows(source: Source) -> Any:
    parts = [block.rows for block in source]
    return np.concatenate(parts) if parts else np.empty((0, source.n_cols))


@pytest.fixture
def rows() -> Any:
    return np.random.default_rng(0).standard_normal((1003, 3))


def write_pieces(rows: Any, cuts: list[int], directory: Path, group: int) -> list[str]:
    """A file a piece, named in order."""
    paths = []
    for number, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
        paths.append(str(directory / f"{number:03}.parquet"))
        pq.write_table(table_of(rows[a:b]), paths[-1], row_group_size=group)
    return paths


@given(data=st.data())
def test_any_cut_gives_the_same_rows_and_the_same_centres(
    data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    n_rows = data.draw(st.sampled_from([3, 17, 200, 600]), "rows")
    dtype = data.draw(st.sampled_from([np.float32, np.float64]), "dtype")
    rng = np.random.default_rng(data.draw(st.integers(0, 99), "seed"))
    rows = rng.standard_normal((n_rows, 3)).astype(dtype)
    # Equal cuts make empty files.
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=4), "cuts"))
    group = data.draw(st.sampled_from([1, 2, 7, 100, 10_000]), "row group")
    source = open_rows(write_pieces(rows, cuts, tmp_path_factory.mktemp("cut"), group))
    assert isinstance(source, ArrowSource)
    assert (source.n_rows, source.dtype) == (n_rows, dtype)
    least = 1 if n_rows < 20 else 300  # thousands of blocks of a row each would take their time
    source.block_bytes = data.draw(st.sampled_from([least, 500, 1000, 1 << 24]), "block bytes")
    source.batch_bytes = data.draw(st.sampled_from([least, 1 << 22]), "batch bytes")
    np.testing.assert_array_equal(all_rows(source), rows)
    assert [block.start for block in source] == list(
        range(0, n_rows, max(1, source.block_bytes // rows[0].nbytes))
    )
    streamed = KMeans(2, init=rows[:2], max_iter=2, n_threads=1).fit(source)
    in_memory = KMeans(2, init=rows[:2], max_iter=2, n_threads=1).fit(rows)
    assert streamed.cluster_centers_.tobytes() == in_memory.cluster_centers_.tobytes()
    np.testing.assert_array_equal(streamed.labels_, in_memory.labels_)


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "csv", "tsv", "csv.gz", "odd"])
def test_every_format_gives_the_same_rows(kind: str, rows: Any, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    table = table_of(rows)
    if kind in ("parquet", "odd"):  # told by how it begins
        pq.write_table(table, path)
    elif kind == "feather":
        feather.write_feather(table, path, compression="lz4", chunksize=100)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        csv.write_csv(table, path, options)
        if kind.endswith("gz"):
            path.write_bytes(gzip.compress(path.read_bytes()))
    source = open_rows(path)
    assert source.names == ("c0", "c1", "c2")
    np.testing.assert_array_equal(all_rows(source), rows)
    np.testing.assert_array_equal(all_rows(source), rows)
    assert source.n_rows == len(rows)
    np.testing.assert_array_equal(source.take([1002, 0, 5]), rows[[1002, 0, 5]])


def test_numbers_of_all_kinds_become_floats_and_nulls_nan(tmp_path: Path) -> None:
    table = pa.table({
        "i8": pa.array([1, None, 3], pa.int8()),
        "u64": pa.array([1, 2, 2**63], pa.uint64()),
        "truth": pa.array([True, None, False]),
        "half": pa.array(np.array([0.5, 1, 2], dtype=np.float16)),
        "money": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("3.50")]),
        "code": pa.array([7, 8, 7]).dictionary_encode(),
        "nothing": pa.nulls(3),
        "real": pa.array([0.1, float("nan"), None]),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_rows(tmp_path / "a.parquet")
    nan = np.nan
    expected = np.array([
        [1, 1, 1, 0.5, 1.25, 7, nan, 0.1],
        [nan, 2, nan, 1, nan, 8, nan, nan],
        [3, 2.0**63, 0, 2, 3.5, 7, nan, nan],
    ])  # fmt: skip
    np.testing.assert_array_equal(all_rows(source), expected)
    narrow = open_rows(tmp_path / "a.parquet", dtype="float32")
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(all_rows(narrow), expected.astype(np.float32))


def test_columns_are_chosen_in_the_order_asked_for(rows: Any, tmp_path: Path) -> None:
    pq.write_table(table_of(rows), tmp_path / "a.parquet")
    source = open_rows(tmp_path / "a.parquet", columns=["c2", "c0"])
    assert source.names == ("c2", "c0")
    np.testing.assert_array_equal(all_rows(source), rows[:, [2, 0]])
    with pytest.raises(DataError, match=r"no column 'C2'.*did you mean 'c2'"):
        open_rows(tmp_path / "a.parquet", columns=["C2"])
    with pytest.raises(DataError, match="several columns are named 'c0'"):
        open_rows(tmp_path / "a.parquet", columns=["c0", "c0"])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_rows_are_filtered_by_columns_that_need_not_be_chosen(
    kind: str, rows: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{kind}"
    table = table_of(rows).append_column("city", pa.array(["Rome", "Oslo", "Bern"] * 334 + ["x"]))
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=100)
    elif kind == "arrow":
        feather.write_feather(table, path)
    else:
        csv.write_csv(table, path)
    cities = np.array(table["city"].to_pylist())
    keep = (rows[:, 0] > 0.5) & (cities == "Oslo")
    asked = [("c0", ">", 0.5), ("city", "==", "Oslo")]
    expression = (ds.field("c0") > 0.5) & (ds.field("city") == "Oslo")
    for filter in (asked, expression):
        source = open_rows(path, columns=["c1"], filter=filter)
        np.testing.assert_array_equal(all_rows(source), rows[keep][:, [1]])
        assert source.n_rows == keep.sum()
    nothing = open_rows(path, columns=["c1"], filter=[("c0", ">", 1e9)])
    assert nothing.n_rows == 0
    with pytest.raises(DataError, match="is no filter"):
        open_rows(path, filter="c0 > 1")


def test_partitions_are_columns(rows: Any, tmp_path: Path) -> None:
    years = np.repeat([2020, 2021, 2022], [500, 500, 3])
    table = table_of(rows).append_column("year", pa.array(years))
    pq.write_to_dataset(table, tmp_path / "d", partition_cols=["year"])
    source = open_rows(tmp_path / "d")
    assert source.names == ("c0", "c1", "c2", "year")
    np.testing.assert_array_equal(all_rows(source), np.column_stack([rows, years]))
    some = open_rows(tmp_path / "d", columns=["c1"], filter=[("year", "==", 2021)])
    np.testing.assert_array_equal(all_rows(some), rows[500:1000, [1]])
    only = open_rows(tmp_path / "d", columns=["year"])
    np.testing.assert_array_equal(all_rows(only)[:, 0], years)


def test_files_come_by_name_or_as_listed(rows: Any, tmp_path: Path) -> None:
    paths = write_pieces(rows, [10, 400], tmp_path, 100)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("no")
    for where in (tmp_path, tmp_path / "*.parquet", str(tmp_path / "**/*.parquet"), paths):
        np.testing.assert_array_equal(all_rows(open_rows(where)), rows)
    backwards = all_rows(open_rows(paths[::-1]))
    np.testing.assert_array_equal(backwards, np.concatenate([rows[400:], rows[10:400], rows[:10]]))
    np.testing.assert_array_equal(all_rows(open_rows(ds.dataset(paths))), rows)
    np.testing.assert_array_equal(all_rows(open_rows(f"file://{tmp_path}/*.parquet")), rows)


def test_addresses_of_fsspec(rows: Any) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://coterie/a.parquet", "wb") as file:
        pq.write_table(table_of(rows), file)
    np.testing.assert_array_equal(all_rows(open_rows("memory://coterie/a.parquet")), rows)
    np.testing.assert_array_equal(all_rows(open_rows("memory://coterie/*.parquet")), rows)
    with pytest.raises(DataError, match=r"nosuch://a.*address"):
        open_rows("nosuch://a")


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_an_empty_file_among_others_is_fine(kind: str, rows: Any, tmp_path: Path) -> None:
    write = {
        "parquet": pq.write_table, "csv": csv.write_csv, "feather": feather.write_feather,
    }[kind]  # fmt: skip
    write(table_of(rows[:0]), tmp_path / f"a.{kind}")
    write(table_of(rows), tmp_path / f"b.{kind}")
    (tmp_path / f"c.{kind}").write_bytes(b"")
    np.testing.assert_array_equal(all_rows(open_rows(tmp_path)), rows)
    np.testing.assert_array_equal(all_rows(open_rows(tmp_path / f"*.{kind}")), rows)
    with pytest.raises(DataError, match="nothing in it"):
        open_rows(tmp_path / f"c.{kind}")


def test_text_with_integers_first_and_other_layouts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;b\n" + "1;2\n" * 200_000 + "1.5;\n")
    source = open_rows(tmp_path / "a.csv")
    assert source.n_rows == 200_001
    np.testing.assert_array_equal(source.take([0, 200_000]), [[1, 2], [1.5, np.nan]])
    (tmp_path / "b.csv").write_text("1,2.5\n3,4\n")
    plain = open_rows(tmp_path / "b.csv")
    assert plain.names == ("x0", "x1")
    np.testing.assert_array_equal(all_rows(plain), [[1, 2.5], [3, 4]])


def test_files_of_different_columns_are_no_table_unless_a_schema_says_so(
    rows: Any, tmp_path: Path
) -> None:
    pq.write_table(table_of(rows[:5]), tmp_path / "a.parquet")
    pq.write_table(table_of(rows[5:9]).drop_columns("c1"), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: it has no column c1, which .*a\.parquet has"):
        open_rows(tmp_path)
    with pytest.raises(DataError, match="no column c1"):
        open_rows(tmp_path, columns=["c0"], weights="c1")
    assert open_rows(tmp_path, columns="c0").n_cols == 1  # type: ignore[arg-type]
    expected = rows[:9].copy()
    expected[5:, 1] = np.nan
    whole = ds.dataset(tmp_path, schema=table_of(rows).schema)
    np.testing.assert_array_equal(all_rows(open_rows(whole)), expected)
    pq.write_table(pa.table({"c0": ["text"]}), tmp_path / "c.parquet")
    with pytest.raises(DataError, match="different types in different files"):
        open_rows(tmp_path, columns=["c0"])


def test_text_is_refused_in_one_sentence_and_tables_have_it(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0, 2, 3], "city": ["Rome", None, "Oslo"], "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    source = open_rows(tmp_path / "a.parquet")
    assert isinstance(source, ArrowSource)
    assert source.text == ("city",)
    with pytest.raises(DataError, match=r"column city is of type string.*columns=\['a', 'n'\]"):
        KMeans(2).fit(source)
    parts = [block.rows for block in source.tables()]
    assert pa.concat_tables(parts).combine_chunks() == table
    source.block_bytes = 24
    assert [block.n_rows for block in source.tables()] == [1, 1, 1]


def count_cities(block: Block) -> int:
    return block.rows.num_rows - block.rows["city"].null_count


def fill_lengths(block: Block, out: Any) -> None:
    out[:] = [len(city or "") for city in block.rows["city"].to_pylist()]


def one_or_none(table: Any) -> Any:
    return sp.csr_matrix(np.asarray(table["city"].is_valid(), dtype=np.float32)[:, np.newaxis])


def test_tables_are_a_source(tmp_path: Path) -> None:
    cities = ["Rome", None, "Oslo", "Bern", None]
    csv.write_csv(pa.table({"city": cities, "n": range(5)}), tmp_path / "a.csv")
    source = open_rows(tmp_path / "a.csv").weighted(np.arange(5.0))
    assert isinstance(source, ArrowSource)
    source.block_bytes = 2 * (64 + 8)
    tables = source.tables()
    assert (tables.n_cols, tables.names, str(tables)) == (2, ("city", "n"), str(source))
    assert tables.total(count_cities) == 3
    assert source._n_rows == tables.n_rows == 5  # what a pass learned is known to both
    assert tables.map(fill_lengths, dtype=np.int64).tolist() == [4, 0, 4, 4, 0]
    assert [part.tolist() for part in tables.results(fill_lengths, dtype=np.int8)] == [
        [4, 0], [4, 4], [0],
    ]  # fmt: skip
    rows = tables.through(one_or_none, n_cols=1, sparse=True, dtype=np.float32)
    assert (rows.n_cols, rows.sparse, rows.dtype, rows.names) == (1, True, np.float32, None)
    picked = rows.pick([4, 2])
    assert picked.rows.toarray().tolist() == [[0.0], [1.0]]
    assert picked.weights is not None
    assert picked.weights.tolist() == [4.0, 2.0]


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
def test_damage_names_the_file_and_the_rows(kind: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((50_000, 2))
    path = tmp_path / f"b.{kind}"
    if kind == "parquet":
        pq.write_table(table_of(rows), path, row_group_size=10_000, compression="zstd")
        damaged = bytearray(path.read_bytes())
        middle = len(damaged) // 2
        damaged[middle : middle + 100_000] = b"\xff" * 100_000
        path.write_bytes(damaged)
    elif kind == "csv":
        csv.write_csv(table_of(rows), path)
        with open(path, "a") as file:
            file.write("1,word\n")
    else:
        feather.write_feather(table_of(rows), path, chunksize=10_000, compression="zstd")
        damaged = bytearray(path.read_bytes())
        middle = len(damaged) // 2
        damaged[middle : middle + 100_000] = b"\xff" * 100_000
        path.write_bytes(damaged)
    source = open_rows(path)
    source.block_bytes = 16 * 5000  # type: ignore[attr-defined]
    before = threading.active_count()
    with pytest.raises(DataError, match=rf"b\.{kind}: rows \d+ to \d+ .*cannot be read"):
        all_rows(source)
    assert threading.active_count() <= before


def test_no_parquet_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"a\.parquet: .*cannot be read"):
        open_rows(tmp_path / "a.parquet")


def test_a_file_that_grows_is_noticed(rows: Any, tmp_path: Path) -> None:
    csv.write_csv(table_of(rows), tmp_path / "a.csv")
    source = open_rows(tmp_path / "a.csv")
    assert source.n_rows == 1003
    with open(tmp_path / "a.csv", "a") as file:
        file.write("1,2,3\n")
    with pytest.raises(DataError, match="had 1003 rows when it was read first and has 1004 now"):
        all_rows(source)


def test_a_source_pickles(rows: Any, tmp_path: Path) -> None:
    pq.write_table(table_of(rows), tmp_path / "a.parquet")
    again = pickle.loads(pickle.dumps(open_rows(tmp_path / "a.parquet", columns=["c1"])))
    np.testing.assert_array_equal(all_rows(again), rows[:, [1]])


STREAMED = """
import sys, threading, time
import numpy as np
import coterie, coterie.data.arrow, pyarrow.dataset, pyarrow.parquet
from coterie import KMeans

def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

def watch():
    global peak
    while True:
        peak = max(peak, anonymous())
        time.sleep(0.003)

KMeans(2).fit(np.random.default_rng(0).random((9, 16), dtype=np.float32))
before = peak = anonymous()
threading.Thread(target=watch, daemon=True).start()
coterie.set_options(max_memory="256MB")
model = KMeans(4, init=np.eye(4, 16), max_iter=2, tol=1e9).fit(sys.argv[1])
print(before, peak, model.labels_.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the memory")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((1 << 20, 16), dtype=np.float32)
    with pq.ParquetWriter(tmp_path / "a.parquet", table_of(rows[:1]).schema) as writer:
        for _ in range(3):  # 200 MB of values
            writer.write_table(table_of(rows))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STREAMED, str(tmp_path / "a.parquet")],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    before, peak, labels = (int(number) for number in done.stdout.split())
    assert labels == 12 << 20
    assert peak < max(1.1 * 256e6, before + labels + 128e6), (before, peak)
