"""k-means on rows that are not in memory: time a row as rows grow, streamed against in memory.

``python -m benchmarks.scale.bench_parquet`` writes Parquet files to a temporary directory (64 bytes
a row; ``--rows 1e6 1e7``) and prints a line for each number of rows and of clusters: seconds of one
Lloyd pass in memory and streamed, their ratio, nanoseconds a row, and the peak of anonymous memory
of a streamed fit under max_memory=512MB, Python, its libraries and the labels included. From the
second pass on rows come from their copy on disk, so TMPDIR must have room for three times 64 bytes
a row.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_COLS = 16

FIT = """
import sys
import numpy as np
import coterie
from coterie import KMeans
coterie.set_options(max_memory="512MB", n_threads=2)
start = np.random.default_rng(1).normal(size=(int(sys.argv[2]), 16)).astype(np.float32)
KMeans(len(start), init=start, max_iter=3, tol=0).fit(sys.argv[1])
"""


def write_rows(path: Path, n_rows: int, seed: int = 0) -> None:
    """Rows without clear clusters, a million to a row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    names = [f"x{column}" for column in range(N_COLS)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, n_rows, 1_000_000):
            size = min(1_000_000, n_rows - begin)
            columns = rng.standard_normal((N_COLS, size), dtype=np.float32)
            writer.write_table(pa.table(list(columns), schema=schema))


def seconds_a_pass(X: object, n_clusters: int, repeats: int) -> float:
    """Least seconds from one iteration of Lloyd's to the next: a pass, and the new centres."""
    from coterie import KMeans

    start = np.random.default_rng(1).normal(size=(n_clusters, N_COLS)).astype(np.float32)
    least = np.inf
    for _ in range(repeats):
        ended: list[float] = []
        KMeans(
            n_clusters, init=start, algorithm="lloyd", tol=0, max_iter=8,
            callback=lambda _, ended=ended: ended.append(time.perf_counter()),
        ).fit(X)  # fmt: skip
        least = min(least, *np.diff(ended)[1:])
    return least


def peak_of_fit(path: Path, n_clusters: int) -> int:
    """Most bytes a fit in a process of its own had that no file holds."""
    most = 0
    with subprocess.Popen([sys.executable, "-c", FIT, path, str(n_clusters)]) as process:
        while process.poll() is None:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    most = max(most, int(line.split()[1]) * 1024)
            time.sleep(0.01)
    if process.returncode:
        raise SystemExit("the fit failed")
    return most


def main() -> None:
    import coterie

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--clusters", type=int, nargs="+", default=[8, 64, 256])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--in-memory", type=float, default=1e7, help="rows up to which the array is fitted, too"
    )
    arguments = parser.parse_args()
    coterie.set_options(n_threads=2)
    print("rows k in_memory_s streamed_s share ns_a_row peak_MB")
    with tempfile.TemporaryDirectory() as directory:
        for n_rows in map(int, arguments.rows):
            path = Path(directory) / f"{n_rows}.parquet"
            write_rows(path, n_rows)
            rows = None
            if n_rows <= arguments.in_memory:
                rows = coterie.data.open(path).pick(np.arange(n_rows)).rows
            for n_clusters in arguments.clusters:
                kept = np.nan
                if rows is not None:
                    kept = seconds_a_pass(rows, n_clusters, arguments.repeats)
                streamed = seconds_a_pass(path, n_clusters, arguments.repeats)
                peak = peak_of_fit(path, n_clusters)
                share, each = kept / streamed, streamed / n_rows * 1e9
                print(
                    f"{n_rows} {n_clusters} {kept:.3f} {streamed:.3f} {share:.0%} {each:.0f} "
                    f"{peak / 1e6:.0f}",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
