"""`--dask` when something fails: Ctrl-C, a killed worker, a lost scheduler; told in one line.

Each command runs in a process of its own, on files that workers are slow to read, and fails while
the cluster is in the middle of the pass that a test names.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("distributed")

import distributed

from clusters import left_on, nothing_is_left, small_cluster
from coterie.cli import main

#: Seconds that anything may take on a busy machine.
PATIENCE = 120

# The command as installed, but for files that are slow to read.
SLOW = """
import sys, time
import coterie.data.dask_files as files
from _coterie_command import main

seconds, read = float(sys.argv.pop(1)), files.dask_rows

def slowly(part):
    time.sleep(seconds)
    return part

files.dask_rows = lambda *asked: read(*asked).map_partitions(slowly)
sys.exit(main())
"""


@pytest.fixture(scope="module")
def client():
    with small_cluster() as client:
        yield client


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A pattern of eight files; commands and tests run in an empty directory beside them."""
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(4000, 3)) + 9 * rng.choice(3, size=(4000, 1))
    files, here = tmp_path / "files", tmp_path / "here"
    files.mkdir()
    here.mkdir()
    for part in range(8):
        columns = dict(zip("abc", rows[part * 500 : (part + 1) * 500].T, strict=True))
        pq.write_table(pa.table(columns), files / f"{part}.parquet")
    monkeypatch.chdir(here)
    return str(files / "*.parquet")


def begin(seconds, *arguments):
    """A command, of which every worker needs so many seconds to read a file."""
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, str(seconds), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    """What a command printed."""
    try:
        return process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()


def wait_for_pass(client, name, process):
    """Wait until workers are at a pass; who is."""

    def workers_at(dask_scheduler):  # by value: a scheduler elsewhere cannot import the tests
        return sorted({
            task.processing_on.address
            for task in dask_scheduler.tasks.values()
            if task.processing_on is not None and name in str(task.key)
        })  # fmt: skip

    for _ in range(20 * PATIENCE):
        at_it = client.run_on_scheduler(workers_at)
        if at_it:
            return at_it
        if process.poll() is not None:
            raise AssertionError(f"it ended before {name}: {process.communicate()}")
        time.sleep(0.05)
    process.kill()
    raise TimeoutError(f"{name} never begins")


KMEANS = ("fit", "-k", 3, "--init", "random", "--no-scale", "--n-init", 1, "-o", "out")
DBSCAN = ("fit", "--method", "dbscan", "--eps", 0.1, "-o", "out")
PREDICT = ("predict", "../model", "-o", "labels.csv")


@pytest.mark.parametrize(
    ("asked", "at"),
    [
        (KMEANS, "count_rows"),
        (KMEANS, "sum_nearest"),
        (DBSCAN, "block_moments"),
        (DBSCAN, "deal_out"),
        (PREDICT, "fill_labels"),
    ],
    ids=lambda what: what if isinstance(what, str) else what[0],
)
def test_ctrl_c_leaves_nothing_behind(client, data, asked, at):
    if asked is PREDICT:
        assert main(["fit", data, "-k", "3", "-o", "../fitted"]) == 0
        os.rename("../fitted/model.coterie", "../model")
    command, *options = asked
    places = [options.pop(0), data] if asked is PREDICT else [data]
    process = begin(0.5, command, *places, *options, "--dask", client.scheduler.address)
    wait_for_pass(client, at, process)
    process.send_signal(signal.SIGINT)
    assert ended(process) == ("", "coterie: interrupted\n")
    assert process.returncode == 130
    assert os.listdir() == []
    assert nothing_is_left(client), left_on(client)


@pytest.mark.parametrize(
    ("asked", "at"), [(KMEANS, "sum_nearest"), (DBSCAN, "deal_out")], ids=["kmeans", "dbscan"]
)
def test_a_killed_worker_changes_nothing(client, data, asked, at):
    command, *options = map(str, asked)
    assert main([command, data, *options]) == 0
    wanted = Path("out/labels.csv").read_bytes()
    os.rename("out", "../wanted")
    pids = client.run(os.getpid)
    process = begin(0.1, command, data, *options, "--dask", client.scheduler.address)
    victim = pids[wait_for_pass(client, at, process)[0]]
    os.kill(victim, signal.SIGKILL)
    out, err = ended(process)
    assert (process.returncode, err) == (0, "")
    assert "rows        4,000\n" in out
    assert Path("out/labels.csv").read_bytes() == wanted
    client.wait_for_workers(2, timeout=PATIENCE)
    assert victim not in client.run(os.getpid).values()
    assert nothing_is_left(client), left_on(client)


def test_a_lost_scheduler_is_one_line(data, tmp_path):
    file = tmp_path / "scheduler.json"
    processes = []
    try:
        for part, *options in (
            ("scheduler", "--port", "0"),
            ("worker", "--nthreads", "1", "--no-nanny"),
        ):
            module = f"distributed.cli.dask_{part}"
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", module, *options, "--no-dashboard",
                     "--scheduler-file", str(file)],
                    cwd=tmp_path,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
        wait_for_file(file)
        with distributed.Client(scheduler_file=str(file), timeout=PATIENCE) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            address = client.scheduler.address
            command, *options = KMEANS
            process = begin(0.5, command, data, *options, "--dask", address)
            wait_for_pass(client, "sum_nearest", process)
        processes[0].kill()
        out, err = ended(process)
    finally:
        for one in processes:
            one.kill()
            one.wait()
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("coterie: The Dask cluster, or rows that only it had, went away during a")
    assert err.endswith("; start it anew and ask again.\n")
    assert os.listdir() == []

    # and one that is not there at all
    process = begin(0, command, data, *options, "--dask", address)
    out, err = ended(process)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    assert f"no Dask scheduler answers at '{address}'" in err
    assert os.listdir() == []


def wait_for_file(file):
    for _ in range(10 * PATIENCE):
        if file.exists():
            return
        time.sleep(0.1)
    raise TimeoutError(f"{file} does not come")
