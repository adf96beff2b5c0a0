"""Optimized product quantization: the rotation after which parts lose least.

Ge, He, Ke & Sun (2013), "Optimized product quantization for approximate nearest neighbor search".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie._threads import one_blas_thread
from coterie.quantize._part_means import (
    PartRows,
    PartRun,
    column_means,
    part_means,
    seed_part_means,
)

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Rows and steps by which the two starts are compared.
_TRIAL_ROWS, _TRIAL_STEPS = 1 << 13, 4


@dataclass(frozen=True)
class RotatedRun:
    """A rotation, float32, and codewords of rows times it."""

    rotation: Rows
    codewords: Floats
    shift: Rows
    run: PartRun


def rotated_part_means(
    rows: Rows,
    starts: Ints,
    n_codes: int,
    n_iter: int,
    rng: np.random.RandomState,
    recorder: Recorder,
    n_threads: int,
) -> RotatedRun:
    """Alternate codebooks and rotation, then finish the codebooks.

    The non-parametric solution of Ge et al.: with the rotation R fixed, a step of k-means in every
    part, from the codebooks of the step before; with the codes fixed, the R that takes rows X
    nearest to their codewords Y, which is orthogonal Procrustes: X^T Y = U S V^T, R = U V^T.
    Neither can raise the error. It starts from the columns as they are or from the parametric
    solution, whichever loses less on some rows. Time O(n d (k + d)) a rotation, and O(d^3).

    Parameters
    ----------
    rows
        Training rows, float32, C order.
    starts
        Of the parts.
    n_codes
        Codewords of each part.
    n_iter
        How often a rotation is found, and steps of k-means with the last.
    """
    mean = column_means(rows)
    centered = rows - mean
    with one_blas_thread():  # others of its threads would spin beside ours
        rotation, run = _alternate(centered, starts, n_codes, n_iter, rng, recorder, n_threads)
    shift = (mean.astype(np.float64) @ rotation).astype(np.float32)
    return RotatedRun(rotation, run.centers + shift, shift, run)


def _alternate(
    centered: Rows,
    starts: Ints,
    n_codes: int,
    n_iter: int,
    rng: np.random.RandomState,
    recorder: Recorder,
    n_threads: int,
) -> tuple[Rows, PartRun]:
    """The rotation of rows about their mean, and the codebooks of rows times it."""
    rotation = _better_start(centered, starts, n_codes, rng, n_threads)
    turned, data, words = (np.empty_like(centered) for _ in range(3))
    split = _split_turned(centered, rotation, starts, n_threads, turned, data)
    run = part_means(split, seed_part_means(split, n_codes, rng), 1, rng, recorder)
    for _ in range(n_iter):
        if recorder.stopped:
            break
        codes = np.ascontiguousarray(run.codes.T)
        kernels.decode_parts(codes, run.centers.astype(np.float32), starts, words, n_threads)
        rotation = procrustes(centered, words, n_threads)
        split = _split_turned(centered, rotation, starts, n_threads, turned, data)
        run = part_means(split, run.centers, 1, rng, recorder)
    if not recorder.stopped:
        run = part_means(split, run.centers, n_iter, rng, recorder)
    return rotation, run


def procrustes(rows: Rows, words: Rows, n_threads: int) -> Rows:
    """The orthogonal R for which ``rows @ R`` is nearest to `words`; Schönemann (1966)."""
    left, _, right = scipy.linalg.svd(_cross(rows, words, n_threads))
    return np.ascontiguousarray(left @ right, dtype=np.float32)


def balanced_axes(covariance: Floats, starts: Ints) -> Rows:
    """The parametric solution: principal axes, dealt to the parts so that these are alike.

    For Gaussian rows the error is least where parts are independent and the products of their
    variances equal: each axis, from the widest on, goes to the part with the smallest product that
    has room.
    """
    variances, axes = scipy.linalg.eigh(covariance)
    floor = max(float(variances.max()) * 1e-10, np.finfo(np.float64).tiny)
    logs = np.log(np.maximum(variances, floor) / floor)  # none is below zero
    room, filled = np.diff(starts), np.zeros(starts.size - 1)
    dealt: list[list[int]] = [[] for _ in room]
    for axis in np.argsort(-variances, kind="stable"):
        open_parts = [m for m in range(room.size) if len(dealt[m]) < room[m]]
        chosen = min(open_parts, key=lambda m: filled[m])
        dealt[chosen].append(int(axis))
        filled[chosen] += logs[axis]
    order = [axis for part in dealt for axis in part]
    return np.ascontiguousarray(axes[:, order], dtype=np.float32)


def _better_start(
    centered: Rows, starts: Ints, n_codes: int, rng: np.random.RandomState, n_threads: int
) -> Rows:
    """The columns as they are or balanced axes: what loses less after some steps on some rows."""
    some = np.ascontiguousarray(centered[:: max(1, len(centered) // _TRIAL_ROWS)])
    covariance = _cross(centered, centered, n_threads) / len(centered)
    starts_tried = [np.eye(centered.shape[1], dtype=np.float32), balanced_axes(covariance, starts)]
    losses = []
    for rotation in starts_tried:
        split = _split_turned(some, rotation, starts, n_threads)
        centers = seed_part_means(split, n_codes, rng)
        losses.append(part_means(split, centers, _TRIAL_STEPS, rng, Recorder()).sse)
    return starts_tried[int(np.argmin(losses))]


def _cross(x: Rows, y: Rows, n_threads: int) -> Floats:
    """``x.T @ y``, the same on any number of threads."""
    out = np.empty((x.shape[1], x.shape[1]))
    kernels.cross_products(x, y, out, n_threads)
    return out


def _split_turned(
    centered: Rows,
    rotation: Rows,
    starts: Ints,
    n_threads: int,
    turned: Rows | None = None,
    data: Rows | None = None,
) -> PartRows:
    """Rows times a rotation by parts, in memory that is there already, if any."""
    turned = np.empty_like(centered) if turned is None else turned
    kernels.rotate_rows(centered, rotation, turned, n_threads)
    room = None if data is None else data.reshape(-1)
    return PartRows.split(turned, starts, np.zeros_like(rotation[0]), n_threads, room)
