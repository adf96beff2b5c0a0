"""Rows that another thread changes meanwhile: any labels, but no crash and no endless fit."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIBBLE = """
import sys, threading, warnings
import numpy as np, scipy.sparse as sp
from coterie import BisectingKMeans, KMeans, MiniBatchKMeans, kmeans_plusplus

warnings.simplefilter("ignore")
kind, dtype = sys.argv[1:]
rng = np.random.default_rng(0)
X = rng.normal(size=(8000, 6)).astype(dtype)
rows = sp.csr_matrix(X) if kind == "csr" else X
values = rows.data if kind == "csr" else X
ink = rng.normal(size=values.shape) * 10.0 ** rng.integers(-30, 30, size=values.shape)
ink = ink.astype(dtype)
flat = ink.reshape(-1)
flat[rng.integers(flat.size, size=flat.size // 20)] = np.nan
flat[rng.integers(flat.size, size=flat.size // 50)] = np.inf
clean, go, done = values.copy(), threading.Event(), threading.Event()

def scribble():
    while not done.is_set():
        if go.wait(0.001):
            values[::3] = ink[::3]
            values[1::5] = ink[1::5]
            values[:] = clean

writer = threading.Thread(target=scribble)
writer.start()
# Rows change once they have been looked at for NaN and an iteration is over.
params = dict(random_state=0, n_threads=2, callback=lambda progress: go.set())
fits = [
    *(lambda a=a: KMeans(40, algorithm=a, max_iter=15, **params).fit(rows)
      for a in ("lloyd", "hamerly", "yinyang", "auto")),
    lambda: KMeans(20, init="k-means||", n_init=2, max_iter=5, **params).fit(rows).predict(rows),
    lambda: KMeans(2000, init="random", n_init=1, max_iter=3, **params).fit(rows),
    lambda: KMeans(20, init="farthest-first", n_init=2, max_iter=5, **params).fit(rows),
    lambda: MiniBatchKMeans(20, max_iter=3, **params).fit(rows).predict(rows),
    lambda: BisectingKMeans(8, max_iter=5, **params).fit(rows).predict(rows),
    lambda: go.set() or kmeans_plusplus(rows, 30, random_state=0, n_threads=2),
]
n_ended = 0
try:
    for fit in fits * 2:
        go.clear()
        values[:] = clean
        try:
            fit()
            n_ended += 1
        except ValueError as error:
            known = ("NaN", "infinity", "overflow", "not finite")
            assert any(word in str(error) for word in known), error
finally:
    done.set()
    writer.join()
assert n_ended > 0
print("done")
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_that_change_meanwhile_do_no_damage(kind, dtype):
    run = subprocess.run(
        [sys.executable, "-c", SCRIBBLE, kind, dtype],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout == "done\n"
