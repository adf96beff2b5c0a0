"""A cluster of two processes for tests, which ends with them."""

from __future__ import annotations

import gc
import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import distributed


@contextmanager
def small_cluster(n_workers: int = 2, **options: Any) -> Iterator[Any]:
    """A client of a new cluster on this machine, the one in force inside the context."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")
        with (
            distributed.LocalCluster(
                n_workers=n_workers,
                memory_limit="1GB",
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
                **{"threads_per_worker": 1, **options},
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            if n_workers:
                client.wait_for_workers(n_workers, timeout=120)
            yield client


@contextmanager
def in_force(request: Any) -> Iterator[str]:
    """The scheduler that a fixture's parameter names: "cluster", by the fixture client, or Dask's.

    A cluster must have nothing left of what was asked of it.
    """
    if request.param == "cluster":
        client = request.getfixturevalue("client")
        with client.as_current():
            yield "cluster"
            assert nothing_is_left(client), left_on(client)
    else:
        with dask.config.set(scheduler=request.param):
            yield request.param


def nothing_is_left(client: Any) -> bool:
    """Whether the scheduler knows of no task, after a while for the news to spread."""
    gc.collect()
    for _ in range(100):
        if not left_on(client):
            return True
        time.sleep(0.05)
    return False


def left_on(client: Any) -> list[str]:
    """The tasks that wait, run, have a result or are wanted by anybody.

    A task that was asked for again while it was being released may stay known to the scheduler as
    released: it has no result and nobody wants it.
    """
    return client.run_on_scheduler(_tasks)  # type: ignore[no-any-return]


def _tasks(dask_scheduler: Any) -> list[str]:
    tasks = dask_scheduler.tasks.values()
    return [str(task.key) for task in tasks if task.state != "released" or task.who_wants]
