"""k-means on a Dask cluster: against dask-ml's, and one worker against two.

Run it by ``python -m benchmarks.scale.bench_dask`` on an idle machine. Every measurement is the
least of several fits in a fresh process with a cluster of its own: worker processes of one thread
each, rows persisted before the clock starts, the same starting centres and as many iterations for
all. The sums of squared errors are of the centres found, by one and the same function.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import time
from typing import Any

import numpy as np

from .._harness import REPO_ROOT

CONTENDERS = ("coterie", "dask-ml")
N_COLS = 16


def rows_of_chunk(chunk: int, n_rows: int, n_clusters: int) -> Any:
    """Overlapping blobs, float32, made where they are needed."""
    middles = np.random.default_rng(0).uniform(-6, 6, size=(n_clusters, N_COLS))
    rng = np.random.default_rng([1, chunk])
    rows = middles[rng.integers(n_clusters, size=n_rows)]
    return (rows + 2 * rng.standard_normal(rows.shape)).astype(np.float32)


def fitter(name: str, start: Any, n_iter: int) -> Any:
    """A model that takes `n_iter` steps from `start`."""
    if name == "coterie":
        from coterie import KMeans

        return KMeans(len(start), init=start, n_init=1, max_iter=n_iter, tol=0)
    from dask_ml.cluster import KMeans

    return KMeans(len(start), init=start, max_iter=n_iter, tol=0)


def sse(rows: Any, centers: Any) -> float:
    """Sum of squared errors of centres."""
    from coterie import KMeans

    known = KMeans(len(centers), init=centers, max_iter=1).fit(centers)
    known.cluster_centers_ = np.asarray(centers, dtype=np.float32)
    return -known.score(rows)


def measure(name: str, n_workers: int, options: argparse.Namespace) -> dict[str, float]:
    """Time some fits on a cluster of so many workers."""
    import dask.array as da
    import distributed

    n_rows = options.rows // options.chunks
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0",
            silence_logs=logging.CRITICAL, memory_limit=0,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        # As many chunks with each worker; wherever Dask had put them, some would wait for others.
        workers = sorted(client.scheduler_info()["workers"])
        parts = [
            client.submit(
                rows_of_chunk, chunk, n_rows=n_rows, n_clusters=options.k,
                workers=[workers[chunk % n_workers]],
            )
            for chunk in range(options.chunks)
        ]  # fmt: skip
        rows = da.concatenate(
            [da.from_delayed(part, (n_rows, N_COLS), dtype=np.float32) for part in parts]
        ).persist()
        distributed.wait(rows)
        del parts
        start = rows[: options.k].compute()
        fitter(name, start, 2).fit(rows)  # imports and what is compiled on first use
        seconds = []
        for _ in range(options.repeat):
            model = fitter(name, start, options.iterations)
            begun = time.perf_counter()
            model.fit(rows)
            seconds.append(time.perf_counter() - begun)
        return {
            "seconds": min(seconds),
            "sse": sse(rows, model.cluster_centers_),
            "iterations": float(model.n_iter_),
        }


def in_fresh_process(name: str, n_workers: int, arguments: list[str]) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scale.bench_dask", *arguments]
    done = subprocess.run(
        [*command, "--only", name, "--workers", str(n_workers)],
        cwd=REPO_ROOT, check=True, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print a table of all contenders, and two ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=32_000_000)
    parser.add_argument("--chunks", type=int, default=16)
    parser.add_argument("--k", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only is not None:
        print(json.dumps(measure(options.only, options.workers, options)))
        return
    print(f"{options.rows:,} rows of {N_COLS} columns, float32, k={options.k}")
    found = {}
    for name in CONTENDERS:
        for n_workers in (1, 2):
            got = found[name, n_workers] = in_fresh_process(name, n_workers, sys.argv[1:])
            print(
                f"{name:8} {n_workers} worker(s)  {got['seconds']:7.2f} s  "
                f"{got['iterations']:3.0f} iterations  SSE {got['sse']:.6g}"
            )
    ours, theirs = (found[name, 2]["seconds"] for name in CONTENDERS)
    print(f"dask-ml / coterie, 2 workers: {theirs / ours:.2f}")
    print(f"coterie, 1 worker / 2 workers: {found['coterie', 1]['seconds'] / ours:.2f}")


if __name__ == "__main__":
    main()
