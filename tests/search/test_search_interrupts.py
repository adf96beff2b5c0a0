"""Ctrl-C inside long work of quantizers and indexes: answered soon, and all stays usable."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

#: All in one process, one after the other: what is done until Ctrl-C, and what is so afterwards.
CODE = """
import sys, time, warnings
import numpy as np
import coterie
from coterie import HierarchicalKMeans, ProductQuantizer, VectorQuantizer
from coterie.search import FlatIndex, IVFPQIndex, PQIndex
warnings.simplefilter("ignore")
coterie.set_options(n_threads=2)
X = np.random.default_rng(0).normal(size=(60_000, 32)).astype(np.float32)
few = X[:400]

def unfitted(model):
    return not any(name.endswith("_") and not name.endswith("in_") for name in vars(model))

def again(model):
    model.set_params(**{n: 2 for n in ("n_iter", "max_iter", "n_init") if n in model.get_params()})
    return bool(model.fit(few)) and unfitted(model) is False

def fitting(model):
    return lambda: model.fit(X), lambda: unfitted(model) and again(model)

parts = ProductQuantizer(4, bits=4, random_state=0).fit(few)

def adding(index):
    index.add(few)
    def work():
        while True:
            index.add(X)
            index.remove(index.ids[400:])
    def fine():
        index.remove(index.ids[400:])
        return index.n_rows == 400 and (index.search(few[:3], 1).ids.shape == (3, 1))
    return work, fine

def searching(index):
    index.add(X)
    before = index.search(few[:3], 5).ids
    def work():
        index.search(np.concatenate([X] * 20), 100)
    return work, lambda: np.array_equal(index.search(few[:3], 5).ids, before)

WORK = {
    "codebook": lambda: fitting(VectorQuantizer(300, max_iter=100_000, tol=0, random_state=0)),
    "tree": lambda: fitting(HierarchicalKMeans(30, 2, n_init=1000, tol=0, random_state=0)),
    "parts": lambda: fitting(ProductQuantizer(8, n_iter=100_000, random_state=0)),
    "rotated": lambda: fitting(ProductQuantizer(8, n_iter=100_000, rotate=True, random_state=0)),
    "flat add": lambda: adding(FlatIndex()),
    "pq add": lambda: adding(PQIndex(parts)),
    "ivf add": lambda: adding(IVFPQIndex(4, 4, 4, random_state=0).fit(few)),
    "flat search": lambda: searching(FlatIndex()),
    "pq search": lambda: searching(PQIndex(parts)),
    "ivf search": lambda: searching(IVFPQIndex(4, 4, 4, nprobe=4, random_state=0).fit(few)),
}
for name in sys.argv[1:]:
    work, fine = WORK[name]()
    print("ready", flush=True)
    try:
        work()
        print("finished", flush=True)
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    print(bool(fine()), flush=True)
"""


@pytest.mark.parametrize(
    "names",
    [
        ["codebook", "tree", "parts", "rotated"],
        ["flat add", "pq add", "ivf add"],
        ["flat search", "pq search", "ivf search"],
    ],
    ids=["fit", "add", "search"],
)
def test_ctrl_c_is_answered_soon_and_nothing_is_half_done(names: list[str]) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CODE, *names], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        for name in names:
            assert child.stdout.readline() == "ready\n", name
            time.sleep(0.3)
            pressed = time.monotonic()
            child.send_signal(signal.SIGINT)
            answer, usable = child.stdout.readline(), child.stdout.readline()
            assert answer != "finished\n", f"{name} is too short to be interrupted"
            # The promise is one second; the rest is slack for a busy machine.
            assert float(answer) - pressed < 1.0 + 2.0, name
            assert usable == "True\n", name
    finally:
        child.kill()
        child.communicate()
