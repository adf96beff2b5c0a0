"""Recall and error of codes beside FAISS's, over many seeds: means and their standard errors.

    python -m benchmarks.search.study_recall FOLDER [N_SEEDS [CASE ...]]

FOLDER holds `bigann_base.npy`, `bigann_query.npy` and `bigann_groundtruth_ids.npy`: rows, queries
and the numbers of the nearest rows, nearest first. Both sides learn from all rows of the base set
(FAISS would by itself take 256 a codeword), from their own seeds 0, 1, ..., and else as they do by
default. R@k is how often the nearest row is among the first k, 10@10 how many of the ten nearest
are among the first ten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS

MEASURES = ("error", "R@1", "R@10", "R@100", "10@10")
DEPTH, N_LISTS = 100, 64
NPROBES = (4, 16, 64)

#: Answers by the name of what gave them: mean squared error of the codes, and what was found.
Answers = Iterator[tuple[str, float, NDArray[Any]]]
Case = Callable[[Arrays, int], Answers]


def measure(arrays: Arrays, error: float, ids: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of one answer, in the order of `MEASURES`."""
    truth = arrays["truth"]
    hit = ids == truth[:, :1]
    ten = np.mean([np.isin(a, b).mean() for a, b in zip(truth[:, :10], ids[:, :10], strict=True)])
    recalls = [hit[:, :k].any(axis=1).mean() for k in (1, 10, 100)]
    return np.array([error, *recalls, ten])


def flat(arrays: Arrays, seed: int) -> Answers:
    """All rows, exactly; there is nothing to learn."""
    from coterie.search import FlatIndex

    X, queries = arrays["X"], arrays["queries"]
    ours = FlatIndex(metric="sqeuclidean", n_threads=N_THREADS).add(X)
    yield "coterie", 0.0, ours.search(queries, DEPTH).ids
    theirs = peers.import_faiss().IndexFlatL2(X.shape[1])
    theirs.add(X)
    yield "faiss", 0.0, theirs.search(queries, DEPTH)[1]


def codes(n_parts: int, bits: int, rotate: bool = False) -> Case:
    """Codes of all rows: `PQIndex`, and `IndexPQ` with and without the fast scan of 4 bits."""

    def answers(arrays: Arrays, seed: int) -> Answers:
        from coterie import ProductQuantizer
        from coterie.search import PQIndex

        X, queries = arrays["X"], arrays["queries"]
        for wanted in (True, "neighbors") if rotate else (False,):
            quantizer = ProductQuantizer(
                n_parts, bits=bits, rotate=wanted, random_state=seed, n_threads=N_THREADS
            ).fit(X)
            ours = PQIndex(quantizer, metric="sqeuclidean", n_threads=N_THREADS).add(X)
            who = f"coterie, rotate={wanted!r}" if rotate else "coterie"
            yield who, quantizer.distortion(X), ours.search(queries, DEPTH).ids

        faiss = peers.import_faiss()
        plain = faiss.IndexPQ(X.shape[1], n_parts, bits)
        plain.do_polysemous_training = False  # it orders codewords, and changes none
        _learn_by(plain.pq.cp, seed, len(X))
        trial = faiss.ProductQuantizer(X.shape[1], n_parts, bits)  # held: a rotation does not
        _learn_by(trial.cp, seed, len(X))
        theirs = _rotated(faiss, plain, trial) if rotate else plain
        theirs.train(X)
        theirs.add(X)
        error = _error(theirs, X)
        yield "faiss", error, theirs.search(queries, DEPTH)[1]
        if bits == 4:
            turned = theirs.chain.at(0).apply(queries) if rotate else queries
            yield "faiss fast scan", error, faiss.IndexPQFastScan(plain).search(turned, DEPTH)[1]

    return answers


def _rotated(faiss: Any, plain: Any, trial: Any) -> Any:
    """FAISS's OPQ, told by `trial` how many codewords there will be, before codes."""
    rotation = faiss.OPQMatrix(plain.d, plain.pq.M)
    rotation.pq = trial
    return faiss.IndexPreTransform(rotation, plain)


def lists(n_parts: int, bits: int, rotate: bool = False) -> Case:
    """Codes of residuals in lists: `IVFPQIndex`, and `IndexIVFPQ`, also by the fast scan.

    Coterie rotates the residuals, FAISS the rows.
    """

    def answers(arrays: Arrays, seed: int) -> Answers:
        from coterie.search import IVFPQIndex

        X, queries = arrays["X"], arrays["queries"]
        ours = IVFPQIndex(
            N_LISTS, n_parts, bits, rotate=rotate, metric="sqeuclidean", random_state=seed,
            n_threads=N_THREADS,
        )  # fmt: skip
        ours.fit(X).add(X)
        error = ours.quantizer.training_distortion_
        for nprobe in NPROBES:
            found = ours.search(queries, DEPTH, nprobe=nprobe).ids
            yield f"coterie, nprobe {nprobe}", error, found

        faiss = peers.import_faiss()
        coarse = faiss.IndexFlatL2(X.shape[1])
        plain = faiss.IndexIVFPQ(coarse, X.shape[1], N_LISTS, n_parts, bits)
        _learn_by(plain.cp, seed, len(X))
        _learn_by(plain.pq.cp, seed, len(X))
        trial = faiss.ProductQuantizer(X.shape[1], n_parts, bits)  # held: a rotation does not
        _learn_by(trial.cp, seed, len(X))
        theirs = _rotated(faiss, plain, trial) if rotate else plain
        theirs.train(X)
        theirs.add(X)
        error = _error(theirs, X)
        turned = theirs.chain.at(0).apply(queries) if rotate else queries
        kinds = {"faiss": plain}
        if bits == 4:
            kinds["faiss fast scan"] = faiss.IndexIVFPQFastScan(plain)
        for kind, index in kinds.items():
            for nprobe in NPROBES:
                index.nprobe = nprobe
                yield f"{kind}, nprobe {nprobe}", error, index.search(turned, DEPTH)[1]

    return answers


def _learn_by(parameters: Any, seed: int, n_rows: int) -> None:
    """Tell one of FAISS's k-means its seed, and to learn from all rows."""
    parameters.seed, parameters.max_points_per_centroid = 1234 + seed, n_rows


def _error(index: Any, X: NDArray[Any]) -> float:
    """Mean squared distance of rows to what their codes stand for."""
    decoded = index.sa_decode(index.sa_encode(X))
    return float(np.square(X - decoded, dtype=np.float64).sum(axis=1).mean())


CASES: Mapping[str, Case] = {
    "flat": flat,
    "pq-8x8": codes(8, 8),
    "pq-16x8": codes(16, 8),
    "pq-16x4": codes(16, 4),
    "pq-32x4": codes(32, 4),
    "opq-8x8": codes(8, 8, rotate=True),
    "opq-16x8": codes(16, 8, rotate=True),
    "opq-16x4": codes(16, 4, rotate=True),
    "opq-32x4": codes(32, 4, rotate=True),
    "lists-8x8": lists(8, 8),
    "lists-16x8": lists(16, 8),
    "lists-16x4": lists(16, 4),
    "lists-32x4": lists(32, 4),
    "rotated-lists-8x8": lists(8, 8, rotate=True),
    "rotated-lists-16x8": lists(16, 8, rotate=True),
    "rotated-lists-16x4": lists(16, 4, rotate=True),
    "rotated-lists-32x4": lists(32, 4, rotate=True),
}


def table(name: str, arrays: Arrays, n_seeds: int) -> Iterator[str]:
    """Lines of Markdown, one for everyone who answered: mean ± standard error of every measure."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for seed in range(n_seeds):
        for who, error, ids in CASES[name](arrays, seed):
            found.setdefault(who, []).append(measure(arrays, error, ids))
    for who, numbers in found.items():
        mean = np.mean(numbers, axis=0)
        spread = np.std(numbers, axis=0, ddof=1) / len(numbers) ** 0.5
        shown = [f"{mean[0]:.0f} ± {spread[0]:.0f}"]
        shown += [f"{m:.4f} ± {s:.4f}" for m, s in zip(mean[1:], spread[1:], strict=True)]
        yield f"| {name} | {who} | {' | '.join(shown)} |"


def main(folder: str, n_seeds: str = "20", *names: str) -> None:
    """Print the table of the named cases, or of all."""
    rows = np.load(Path(folder, "bigann_base.npy")).astype(np.float32)
    queries = np.load(Path(folder, "bigann_query.npy")).astype(np.float32)
    truth = np.load(Path(folder, "bigann_groundtruth_ids.npy"))
    arrays = {"X": rows, "queries": queries, "truth": truth}
    print(f"| codes | | {' | '.join(MEASURES)} |")
    print("|---" * (len(MEASURES) + 2) + "|")
    for name in names or CASES:
        for line in table(name, arrays, int(n_seeds)):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
