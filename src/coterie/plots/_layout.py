"""Where to draw the nodes of a graph: as far apart on paper as they are by their paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import shortest_path

Floats = npt.NDArray[np.float64]

#: Nodes up to which all pairs are laid out.
MOST_NODES = 1000
#: Passes at most, and the part by which stress must fall for another.
_PASSES, _FALL = 200, 1e-5
#: Parts of a graph without a path between them, against its longest path.
_APART = 1.2


def laid_out(square: Any, *, hops: bool) -> Floats:
    """Positions of the nodes, (n_nodes, 2): the least stress near where scaling puts them.

    The stress is sum_ij (|x_i - x_j| - d_ij)^2 / d_ij^2 for the shortest paths d, whatever their
    direction. It begins with classical scaling (Torgerson 1952) and never rises (Gansner, Koren
    & North 2005). No chance but a fixed one is in it. O(n^3) time, O(n^2) memory.
    """
    lengths = _path_lengths(square, hops=hops)
    places = _scaled(lengths)
    before = stress(places, lengths)
    spread = np.linalg.pinv(_laplacian(_weights(lengths)), hermitian=True)
    for _ in range(_PASSES):
        places = spread @ (_pull(places, lengths) @ places)
        reached = stress(places, lengths)
        if not reached < before * (1 - _FALL):
            break
        before = reached
    return places


def stress(places: Floats, lengths: Floats) -> float:
    """How much the distances on paper differ from `lengths`, each pair once."""
    return float((_weights(lengths) * (_distances(places) - lengths) ** 2).sum() / 2)


def _path_lengths(square: Any, *, hops: bool) -> Floats:
    """Lengths of shortest paths, both ways; those that there are not are longer than all."""
    lengths = np.asarray(shortest_path(square, directed=False, unweighted=hops))
    known = np.isfinite(lengths)
    longest = float(lengths.max(where=known, initial=0.0)) or 1.0
    lengths = np.where(known, lengths, _APART * longest)
    floor = 1e-3 * longest  # nodes at no distance are told apart
    return np.where(np.eye(len(lengths), dtype=bool), 0.0, np.maximum(lengths, floor))


def _scaled(lengths: Floats) -> Floats:
    """Classical scaling: the two widest directions of points with nearly these distances."""
    n = len(lengths)
    centering = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centering @ lengths**2 @ centering / 2)
    n_kept = min(2, n)
    widest = vectors[:, ::-1][:, :n_kept] * np.sqrt(np.maximum(values[::-1][:n_kept], 0.0))
    widest *= np.where(widest[np.abs(widest).argmax(axis=0), np.arange(n_kept)] < 0, -1.0, 1.0)
    places = np.zeros((n, 2))
    places[:, :n_kept] = widest
    # Nodes with the same friends would lie on each other for ever.
    jitter = np.random.default_rng(0).standard_normal((n, 2))
    return np.asarray(places + 1e-3 * lengths.max() * jitter)


def _distances(places: Floats) -> Floats:
    return np.asarray(np.linalg.norm(places[:, np.newaxis] - places, axis=2))


def _weights(lengths: Floats) -> Floats:
    return np.divide(1.0, lengths**2, out=np.zeros_like(lengths), where=lengths > 0)


def _laplacian(weights: Floats) -> Floats:
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def _pull(places: Floats, lengths: Floats) -> Floats:
    """The matrix B of the majorization: each pair weighted by what it wants over what it has."""
    have = _distances(places)
    wants = _weights(lengths) * lengths
    return _laplacian(np.divide(wants, have, out=np.zeros_like(have), where=have > 0))
