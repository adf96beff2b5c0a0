"""Product quantization: learn codebooks and encode all rows, against FAISS.

Rows are weakly clustered: many overlapping groups whose columns depend on each other, as those of
image descriptors do.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _peers as peers
from .._data import Arrays
from .._harness import N_THREADS, Call, Outcome, Workload


def make(n_rows: int, n_features: int = 128) -> Arrays:
    """Overlapping groups, mixed by a matrix that ties neighbouring columns to each other."""
    rng = np.random.default_rng(0)
    near = np.exp(-np.abs(np.subtract.outer(np.arange(n_features), np.arange(n_features))) / 4)
    centers = rng.standard_normal((1000, n_features), dtype=np.float32)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    X += centers[rng.integers(len(centers), size=n_rows)]
    return {"X": X @ near.astype(np.float32)}


def coterie_product(n_parts: int, bits: int, rotate: bool, arrays: Arrays) -> Call:
    """Ours."""
    from coterie import ProductQuantizer

    X = arrays["X"]
    model = ProductQuantizer(n_parts, bits=bits, rotate=rotate, random_state=0, n_threads=N_THREADS)

    def call() -> Outcome:
        codes = model.fit(X).encode(X)
        return Outcome(_packed(codes, model.codewords_, model.rotation_), len(model.history_))

    return call


def faiss_product(n_parts: int, bits: int, rotate: bool, arrays: Arrays) -> Call:
    """FAISS's quantizer alone, without the polysemous training of its index."""
    faiss = peers.import_faiss()
    X = arrays["X"]

    def call() -> Outcome:
        rows: Any = X
        rotation = None
        if rotate:
            turn = faiss.OPQMatrix(X.shape[1], n_parts)
            turn.train(X)
            rows = turn.apply(X)
            rotation = faiss.vector_to_array(turn.A).reshape(X.shape[1], -1).T
        quantizer = faiss.ProductQuantizer(X.shape[1], n_parts, bits)
        quantizer.train(rows)
        codes = quantizer.compute_codes(rows)
        if bits == 4:
            codes = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(X), n_parts)
        words = faiss.vector_to_array(quantizer.centroids).reshape(n_parts, 1 << bits, -1)
        return Outcome(_packed(codes, np.hstack(list(words)), rotation))

    return call


def _packed(
    codes: NDArray[Any], codewords: NDArray[Any], rotation: NDArray[Any] | None
) -> NDArray[Any]:
    """All that is judged in one array of bytes."""
    rotation = np.eye(codewords.shape[1]) if rotation is None else rotation
    parts = (codewords.astype(np.float32), rotation.astype(np.float32), codes.astype(np.uint8))
    return np.concatenate([np.ascontiguousarray(part).view(np.uint8).ravel() for part in parts])


def judge(n_parts: int, bits: int, arrays: Arrays, packed: NDArray[Any]) -> float:
    """The mean squared error of what the codes stand for."""
    n_rows, d = arrays["X"].shape
    n_codes = 1 << bits
    tables = packed[: 4 * d * (n_codes + d)].view(np.float32).reshape(-1, d)
    codes = packed[4 * d * (n_codes + d) :].reshape(n_rows, n_parts)
    words = tables[:n_codes].reshape(n_codes, n_parts, d // n_parts)
    decoded = words[codes, np.arange(n_parts)].reshape(n_rows, d)
    return float(np.square(arrays["X"] @ tables[n_codes:] - decoded).sum(axis=1).mean())


def _workload(name: str, title: str, n_parts: int, bits: int, rotate: bool = False) -> Workload:
    return Workload(
        name,
        f"{title}, learned and encoded, n=2e5 d=128",
        200_000,
        make,
        [
            peers.coterie(functools.partial(coterie_product, n_parts, bits, rotate)),
            peers.faiss(functools.partial(faiss_product, n_parts, bits, rotate)),
        ],
        functools.partial(judge, n_parts, bits),
        judged_by="MSE",
    )


WORKLOADS = [
    _workload("pq-16x8", "product quantization 16 x 8 bit", 16, 8),
    _workload("pq-32x4", "product quantization 32 x 4 bit", 32, 4),
    _workload("opq-16x8", "optimized product quantization 16 x 8 bit", 16, 8, True),
]
