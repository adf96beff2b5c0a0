"""Mini-batch k-means of a Parquet file, once through: against scikit-learn's `partial_fit`.

``python -m benchmarks.scale.bench_partial_fit`` writes a Parquet file of rows without clear
clusters to a temporary directory and has every contender go through it once, batches of 65,536
rows, from the same starting centres, two threads each: coterie over pyarrow's batches as an
iterator, scikit-learn's `MiniBatchKMeans.partial_fit` over the same batches. The limit is what
reading alone takes: pyarrow's batches as rows, coterie's own reader, and DuckDB summing every
column. Least of several rounds, interleaved; SSE of the centres on all rows.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .bench_parquet import N_COLS, write_rows

BATCH = 1 << 16


def batches(path: Path) -> Iterator[Any]:
    """The rows of the file as pyarrow hands them out, in C order as scikit-learn wants them."""
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(BATCH):
        yield np.column_stack([column.to_numpy() for column in batch.columns])


def with_coterie(path: Path, start: Any) -> Any:
    import pyarrow.parquet as pq

    from coterie import MiniBatchKMeans

    model = MiniBatchKMeans(len(start), init=start, batch_size=BATCH, n_init=1)
    return model.fit(pq.ParquetFile(path).iter_batches(BATCH)).cluster_centers_


def with_scikit_learn(path: Path, start: Any) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(len(start), init=start, batch_size=BATCH, n_init=1)
    for batch in batches(path):
        model.partial_fit(batch)
    return model.cluster_centers_


def read_pyarrow(path: Path, _: Any) -> None:
    for _batch in batches(path):
        pass


def read_coterie(path: Path, _: Any) -> None:
    import coterie

    for _block in coterie.data.open(path):
        pass


def read_duckdb(path: Path, _: Any) -> None:
    import duckdb

    sums = ", ".join(f"sum(x{column})" for column in range(N_COLS))
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(f"SELECT {sums} FROM '{path}'").fetchall()


CONTENDERS: dict[str, Callable[[Path, Any], Any]] = {
    "coterie": with_coterie,
    "scikit-learn partial_fit": with_scikit_learn,
    "reading: pyarrow, as rows": read_pyarrow,
    "reading: coterie": read_coterie,
    "reading: DuckDB, sums": read_duckdb,
}


def main() -> None:
    import coterie
    from coterie import KMeans

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--clusters", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    coterie.set_options(n_threads=2)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "rows.parquet"
        write_rows(path, int(arguments.rows))
        for n_clusters in arguments.clusters:
            start = np.random.default_rng(1).normal(size=(n_clusters, N_COLS)).astype(np.float32)
            seconds = dict.fromkeys(CONTENDERS, np.inf)
            centers: dict[str, Any] = {}
            for _ in range(arguments.repeats):
                for name, run in CONTENDERS.items():
                    began = time.perf_counter()
                    centers[name] = run(path, start)
                    seconds[name] = min(seconds[name], time.perf_counter() - began)
            print(f"{int(arguments.rows):,} rows of {N_COLS} columns, k={n_clusters}")
            for name, least in seconds.items():
                told = ""
                if centers[name] is not None:
                    judge = KMeans(n_clusters, init=centers[name], max_iter=1).fit(centers[name])
                    judge.cluster_centers_ = np.asarray(centers[name], dtype=np.float32)
                    told = f"  SSE {-judge.score(path):.6g}"
                print(f"{name:26} {least:7.2f} s{told}", flush=True)


if __name__ == "__main__":
    main()
