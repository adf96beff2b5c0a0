"""Voronoi iteration: rows to their nearest medoid, medoids to the middle of their rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.medoid._nearest import total_of
from coterie.medoid._pairs import Pairs
from coterie.medoid._swap import MedoidRun

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]


def alternate(
    pairs: Pairs,
    search: kernels.Medoids,
    start: Ids,
    weights: Floats | None,
    *,
    max_iter: int,
    recorder: Recorder,
) -> MedoidRun:
    """Label every row by its nearest medoid, take the medoid of every cluster, and again.

    Maranzana (1963); Lloyd's descent with medoids for means. Cheap and easily stuck: a medoid
    never leaves its cluster, so the optima are worse than those of swaps (`fasterpam`). A step
    costs O(n k) and O(sum of n_j^2) for the clusters; memory O(n).
    """
    medoids = start.copy()
    labels, total, _ = _nearest(pairs, search, medoids, weights)
    if recorder.iteration(
        medoids.astype(np.float64), iteration=0, objective_assign=total, objective_update=total
    ):
        return MedoidRun(medoids, total, 0, False, False)
    for n_iter in range(1, max_iter + 1):
        moved = medoids.copy()
        search.cluster_medoids(labels, moved, pairs.n_threads)
        _keep_apart(moved, medoids)
        again, reached, after_move = _nearest(pairs, search, moved, weights, labels)
        settled = not reached < total  # the same medoids, or as good but for rounding
        if not settled:
            medoids, labels = moved, again
        stopped = recorder.iteration(
            medoids.astype(np.float64),
            iteration=n_iter,
            objective_assign=total,
            objective_update=total if settled else min(after_move, total),
        )
        total = min(reached, total)
        if settled or stopped:
            return MedoidRun(medoids, total, n_iter, settled, False)
    return MedoidRun(medoids, total, max_iter, False, False)


def _keep_apart(moved: Ids, before: Ids) -> None:
    """Give clusters whose medoid another has taken, a copy of it, one that nobody has now."""
    first = np.unique(moved, return_index=True)[1]
    doubles = np.delete(np.arange(moved.size), first)
    unused = sorted(set(before.tolist()) - set(moved.tolist()))
    moved[doubles] = unused[: doubles.size]


def _nearest(
    pairs: Pairs,
    search: kernels.Medoids,
    medoids: Ids,
    weights: Floats | None,
    before: Labels | None = None,
) -> tuple[Labels, float, float]:
    """Labels by the nearest medoid, their total deviation, and that of the labels before."""
    lengths, held = np.empty(pairs.n_rows), np.empty(pairs.n_rows)
    nearest = np.full(pairs.n_rows, np.inf)
    labels = np.zeros(pairs.n_rows, dtype=np.int32)
    for slot, medoid in enumerate(medoids.tolist()):
        search.lengths(medoid, lengths, pairs.n_threads)
        nearer = lengths < nearest
        nearest[nearer], labels[nearer] = lengths[nearer], slot
        if before is not None:
            np.copyto(held, lengths, where=before == slot)
    if not np.isfinite(nearest).all():
        raise pairs.lost(int(np.argmax(~np.isfinite(nearest))))
    if before is None:
        held = nearest
    total = total_of(pairs.who, nearest, weights)
    return labels, total, total_of(pairs.who, held, weights)
