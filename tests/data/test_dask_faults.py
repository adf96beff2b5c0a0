"""Dask clusters that fail: the same model where work can be done again, one clear error elsewhere.

Covers coterie.data._cluster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")
import dask.array as da
import distributed

from clusters import left_on, nothing_is_left, small_cluster
from coterie import KMeans
from coterie.data import as_source

#: Where a scheduler of its own finds this module and what it imports.
PLACES = [str(folder) for folder in Path(__file__).parents[:2]]


@pytest.fixture
def client() -> Iterator[Any]:
    with small_cluster() as client:
        yield client


@pytest.fixture
def rows() -> Any:
    rng = np.random.default_rng(0)
    return rng.normal(size=(4000, 4)) + 8 * rng.integers(3, size=(4000, 1))


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_killed_worker_does_not_change_the_model(
    client: Any, rows: Any, persisted: bool, weighted: bool
) -> None:
    weights = np.random.default_rng(1).uniform(size=4000) if weighted else None
    model = KMeans(6, init=rows[:6], max_iter=12, tol=0)
    wanted = KMeans(6, init=rows[:6], max_iter=12, tol=0).fit(rows, sample_weight=weights)
    lazy = da.from_array(rows, chunks=(250, 4)).map_blocks(slowly, meta=np.empty((0, 0)))
    lazy = lazy.persist() if persisted else lazy
    if persisted:
        distributed.wait(lazy)
    killed: list[int] = []

    def kill_once(progress: Any) -> None:
        if progress.iteration == 3 and not killed:
            killed.extend(client.run(os.getpid).values())
            # The other half of the time, in the middle of a pass rather than between two.
            threading.Timer(0.05, os.kill, (killed[0], signal.SIGKILL)).start()

    model.set_params(callback=kill_once).fit(lazy, sample_weight=weights)
    assert killed
    np.testing.assert_array_equal(model.cluster_centers_, wanted.cluster_centers_)
    np.testing.assert_array_equal(model.labels_.compute(), wanted.labels_)
    assert model.n_iter_ == wanted.n_iter_
    assert killed[0] not in client.run(os.getpid).values()


def slowly(block: Any) -> Any:
    time.sleep(0.01)
    return block


def test_a_pass_that_raises_is_one_error(client: Any, rows: Any) -> None:
    source = as_source(da.from_array(rows, chunks=(250, 4)))
    with pytest.raises(LookupError, match=r"^'row 1000 is not to be seen'$") as caught:
        source.total(refuse_row, 1000)
    assert caught.value.__cause__ is None
    del caught, source
    assert nothing_is_left(client), left_on(client)


def refuse_row(block: Any, row: int) -> int:
    if block.start <= row < block.start + block.n_rows:
        raise KeyError(f"row {row} is not to be seen")
    return 1


def test_rows_that_cannot_be_read_are_one_error(client: Any, rows: Any) -> None:
    broken = da.from_array(rows, chunks=(250, 4)).map_blocks(unreadable, meta=np.empty((0, 0)))
    with pytest.raises(OSError, match=r"^the disk is gone$"):
        KMeans(3).fit(broken)
    del broken
    assert nothing_is_left(client), left_on(client)


def unreadable(block: Any) -> Any:
    raise OSError("the disk is gone")


def test_bad_values_are_told_as_in_memory(client: Any, rows: Any) -> None:
    rows[1234, 2] = np.nan
    with pytest.raises(ValueError, match="NaN") as told:
        KMeans(3).fit(rows)
    with pytest.raises(ValueError, match="NaN") as ours:
        KMeans(3).fit(da.from_array(rows, chunks=(250, 4)))
    words = str(told.value).partition(" (row")[0]
    assert str(ours.value).startswith(words)
    del ours, told
    assert nothing_is_left(client), left_on(client)


def test_workers_that_always_die_are_told(rows: Any) -> None:
    with small_cluster(1) as client:
        client.run_on_scheduler(allow_no_failure)
        deadly = da.from_array(rows, chunks=(4000, 4)).map_blocks(die, meta=np.empty((0, 0)))
        with pytest.raises(RuntimeError, match=r"^1 workers of the Dask cluster died .*memory"):
            KMeans(3).fit(deadly)


def allow_no_failure(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 0


def die(block: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def test_an_interrupt_cancels_what_runs(client: Any, rows: Any) -> None:
    slow = da.from_array(rows, chunks=(250, 4)).map_blocks(very_slowly, meta=np.empty((0, 0)))
    weights = np.random.default_rng(1).uniform(size=4000)
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        KMeans(3).fit(slow, sample_weight=weights)
    assert time.monotonic() - begun < 6  # 16 blocks of 2 s would take two workers 16 s a pass
    del slow
    assert nothing_is_left(client), left_on(client)
    assert not client.futures
    # and the cluster is as good as before
    assert as_source(da.from_array(rows, chunks=(250, 4))).total(count) == 4000


def very_slowly(block: Any) -> Any:
    time.sleep(2)
    return block


def count(block: Any) -> int:
    return int(block.n_rows)


def test_a_lost_scheduler_is_one_error(rows: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    processes = []
    try:
        for part in (
            ["scheduler", "--port", "0", "--no-dashboard"],
            ["worker", "--nthreads", "1", "--no-dashboard", "--no-nanny"],
        ):
            command = [sys.executable, "-m", "distributed.cli.dask_" + part[0]]
            processes.append(
                subprocess.Popen(
                    [*command, *part[1:], "--scheduler-file", str(file)],
                    cwd=tmp_path,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(PLACES)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        wait_for(file)
        with distributed.Client(scheduler_file=str(file), timeout=120) as client:
            client.wait_for_workers(1, timeout=120)
            slow = da.from_array(rows, chunks=(250, 4)).map_blocks(
                very_slowly, meta=np.empty((0, 0))
            )
            threading.Timer(1.0, processes[0].kill).start()
            with pytest.raises(ConnectionError, match=r"The Dask cluster.* start it anew") as told:
                KMeans(3).fit(slow)
            assert "\n" not in str(told.value)
            client.close(timeout=1)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_for(file: Path) -> None:
    for _ in range(600):
        if file.exists():
            return
        time.sleep(0.1)
    raise TimeoutError(f"{file} does not come")
