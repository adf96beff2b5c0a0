"""Threads of the kernels: same bits, fork, several callers, Ctrl-C, and no threads to be had."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from coterie import KMeans


def _rows(n: int, d: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=3, size=(12, d))
    return (centers[rng.integers(12, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def _same(a: KMeans, b: KMeans) -> bool:
    return (
        np.array_equal(a.labels_, b.labels_)
        and np.array_equal(a.cluster_centers_, b.cluster_centers_)
        and a.inertia_ == b.inertia_
        and a.n_iter_ == b.n_iter_
    )


# Enough rows for several chunks, so that helpers do come.
N_ROWS = 60_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("algorithm", ["lloyd", "hamerly", "yinyang"])
def test_same_bits_for_any_number_of_threads(dtype: Any, algorithm: str) -> None:
    X = _rows(N_ROWS, 9, dtype)
    weights = np.random.default_rng(1).uniform(0, 2, N_ROWS)

    def fit(n_threads: int) -> KMeans:
        model = KMeans(20, random_state=0, max_iter=8, algorithm=algorithm, n_threads=n_threads)
        return model.fit(X, sample_weight=weights)

    one = fit(1)
    for n_threads in (2, 3, 4):
        assert _same(one, fit(n_threads)), n_threads
    assert _same(fit(4), fit(4)), "and from run to run"


@pytest.mark.parametrize("init", ["k-means++", "random", "box", "farthest-first", "k-means||"])
def test_seedings_give_the_same_bits_for_any_number_of_threads(init: str) -> None:
    X = _rows(N_ROWS, 5)
    models = [
        KMeans(15, init=init, n_init=1, random_state=3, max_iter=1, n_threads=n_threads).fit(X)
        for n_threads in (1, 2, 4)
    ]
    assert _same(models[0], models[1])
    assert _same(models[0], models[2])


def test_sparse_rows_give_the_same_bits_for_any_number_of_threads() -> None:
    X = sp.random(N_ROWS, 40, density=0.1, format="csr", random_state=0, dtype=np.float64)
    models = [
        KMeans(8, random_state=0, max_iter=5, n_threads=n_threads).fit(X) for n_threads in (1, 2, 4)
    ]
    assert _same(models[0], models[1])
    assert _same(models[0], models[2])


def test_fits_in_several_python_threads_give_the_answers_of_one() -> None:
    tables = [_rows(N_ROWS, 6, seed=seed) for seed in range(4)]

    def fit(X: Any) -> KMeans:
        return KMeans(10, random_state=0, max_iter=10, n_threads=2).fit(X)

    alone = [fit(X) for X in tables]
    together: list[Any] = [None] * len(tables)

    def work(i: int) -> None:
        for _ in range(3):
            together[i] = fit(tables[i])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(len(tables))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert not worker.is_alive(), "a fit hangs"
    for one, other in zip(alone, together, strict=True):
        assert _same(one, other)


# Processes of their own: forking the test runner would take its threads along.

FIT = """
import os, signal, sys, time
from types import SimpleNamespace
import numpy as np
from coterie import KMeans
from coterie._kernels import kernels
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 6))
def fit():
    return KMeans(10, random_state=0, max_iter=10, n_threads=2).fit(X)
"""


def _run(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        **options,
    )


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_forked_child_fits() -> None:
    done = _run("""
before = fit()
child = os.fork()
if child == 0:
    signal.alarm(60)  # a child that hangs ends by a signal
    os._exit(0 if np.array_equal(fit().labels_, before.labels_) else 3)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert np.array_equal(fit().labels_, before.labels_), "the parent's pool still works"
""")
    assert done.returncode == 0, done.stderr


@needs_fork
def test_children_of_multiprocessing_fit() -> None:
    done = _run("""
import multiprocessing
before = fit()
def inertia(_):
    return fit().inertia_
with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map_async(inertia, range(4)).get(timeout=80)
assert found == [before.inertia_] * 4, found
""")
    assert done.returncode == 0, done.stderr


@needs_fork
def test_a_child_forked_during_a_fit_of_another_thread_fits() -> None:
    done = _run("""
import threading
expected = fit().inertia_
done = False
def keep_fitting():
    while not done:
        fit()
other = threading.Thread(target=keep_fitting)
other.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if fit().inertia_ == expected else 3)
    _, status = os.waitpid(child, 0)
    if status:
        break
done = True
other.join()
assert status == 0, status
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the stack limit is not inherited so")
def test_a_machine_that_gives_no_more_threads_still_fits() -> None:
    import resource

    def no_thread_fits_its_stack() -> None:
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 47, hard))

    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the stack limit cannot be raised")
    code = """
import threading
try:
    threading.Thread(target=print).start()
except RuntimeError:
    assert np.isfinite(fit().inertia_)
else:
    print("there are threads after all")
"""
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = _run(code, preexec_fn=no_thread_fits_its_stack, env={**os.environ, **one})
    assert done.returncode == 0, done.stderr
    if "after all" in done.stdout:
        pytest.skip("a thread was made in spite of the limit")


# Ctrl-C. Each of these would run for well over five seconds.
LONG = {
    "a fit of many passes": """
X = rng.normal(size=(300_000, 64)).astype(np.float32)
start = X[:256].copy()
def work():
    KMeans(256, init=start, n_init=1, max_iter=100_000, tol=0).fit(X)
""",
    "a pruned fit": """
X = rng.normal(size=(300_000, 64)).astype(np.float32)
start = X[:256].copy()
def work():
    KMeans(256, init=start, n_init=1, max_iter=100_000, tol=0, algorithm="hamerly").fit(X)
""",
    "one call of a kernel": """
X = rng.normal(size=(400_000, 64)).astype(np.float32)
centers = rng.normal(size=(20_000, 64))
space = SimpleNamespace(scale=0.125, shift=np.zeros(64, dtype=np.float32))
labels = np.empty(len(X), dtype=np.int32)
def work():
    kernels.assign(X, centers, space, labels, N_THREADS)
""",
    "a greedy seeding": """
X = rng.normal(size=(300_000, 64)).astype(np.float32)
def work():
    KMeans(3000, random_state=0, max_iter=1).fit(X)
""",
    "a linkage of rows": """
X = rng.normal(size=(300_000, 16)).astype(np.float32)
def work():
    coterie.linkage(X, "ward")
""",
    "a spanning tree of costly distances": """
X = rng.normal(size=(60_000, 24))
def work():
    coterie.spanning_tree(X, metric="minkowski", p=3)
""",
    "neighbours at costly distances": """
X = rng.normal(size=(60_000, 24))
def work():
    coterie.neighbors.knn(X, 5, metric="minkowski", p=3)
""",
    "eps from the rows": """
X = rng.normal(size=(300_000, 12))
def work():
    coterie.DBSCAN("auto").fit(X)
""",
    "a hierarchy of density": """
X = rng.normal(size=(300_000, 12))
def work():
    coterie.HDBSCAN().fit(X)
""",
    "single linkage": """
X = rng.normal(size=(200_000, 12))
def work():
    coterie.linkage(X, "single")
""",
    "a table of distances": """
X = rng.random((9_000, 9_000), dtype=np.float32)
def work():
    while True:
        coterie.DBSCAN(0.5, min_samples=5000, metric="precomputed").fit(X + X.T)
""",
    "linkages of distances": """
X = rng.normal(size=(8_000, 16)).astype(np.float32)
def work():
    while True:
        coterie.linkage(X, "average")
""",
}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_is_answered_within_a_second(work: str, n_threads: int) -> None:
    code = f"""
N_THREADS = {n_threads}
import coterie
coterie.set_options(n_threads=N_THREADS)
{LONG[work]}
print("ready", flush=True)
try:
    work()
    print("finished", flush=True)
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
print(np.isfinite(fit().inertia_))
"""
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FIT + code], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        pressed = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer, afterwards = child.communicate(timeout=240)[0].splitlines()
    finally:
        child.kill()
    assert answer != "finished", "too short to be interrupted"
    # The promise is one second; the rest is slack for a busy machine.
    assert float(answer) - pressed < 1.0 + 2.0
    assert afterwards == "True", "the next fit works"


# What a daemon thread is busy with when the interpreter exits.
BUSY = {
    "k-means": "KMeans(64, n_init=1, max_iter=100_000, tol=0, n_threads=2).fit(X)",
    "short fits": "KMeans(2, n_init=1, max_iter=2, n_threads=2).fit(X[:500])",
    "neighbours": "coterie.neighbors.knn(X, 20, n_threads=2)",
    "a spanning tree": "coterie.spanning_tree(X, n_threads=2)",
    "density": "coterie.HDBSCAN(n_threads=2).fit(X)",
    "a linkage": "coterie.linkage(X, 'ward', n_threads=2)",
    "a mixture": "coterie.GaussianMixture(5, tol=0, max_iter=10_000, n_threads=2).fit(X)",
}


@pytest.mark.parametrize("work", BUSY)
def test_the_interpreter_exits_while_a_daemon_thread_fits(work: str) -> None:
    code = f"""
import threading, warnings, coterie
warnings.simplefilter("ignore")
def busy():
    while True:
        {BUSY[work]}
threading.Thread(target=busy, daemon=True).start()
time.sleep(float(sys.argv[1]))
"""
    for seconds in ("0.2", "0.35", "0.6", "0.83"):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FIT + code, seconds],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, (seconds, done.returncode, done.stderr)
        assert done.stderr == "", done.stderr
