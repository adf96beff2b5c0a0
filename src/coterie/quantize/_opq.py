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
from coterie.quantize._opq_start import better_start, cross, turn
from coterie.quantize._part_means import (
    PartRows,
    PartRun,
    column_means,
    part_means,
    start_part_means,
)

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RotatedRun:
    """A rotation, float32, and codewords of rows times it."""

    rotation: Rows
    codewords: Floats
    shift: Rows
    run: PartRun


def rotated_part_means(
    wanted: str,
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
    solution, whichever loses less on some rows: the only place where `wanted` matters. Time
    O(n d (k + d)) a rotation, and O(d^3).

    Parameters
    ----------
    wanted
        What a start should have little of, "error" or missed "neighbors": see `better_start`.
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
        rotation, run = _alternate(
            wanted, centered, starts, n_codes, n_iter, rng, recorder, n_threads
        )
    shift = (mean.astype(np.float64) @ rotation).astype(np.float32)
    return RotatedRun(rotation, run.centers + shift, shift, run)


def _alternate(
    wanted: str,
    centered: Rows,
    starts: Ints,
    n_codes: int,
    n_iter: int,
    rng: np.random.RandomState,
    recorder: Recorder,
    n_threads: int,
) -> tuple[Rows, PartRun]:
    """The rotation of rows about their mean, and the codebooks of rows times it."""
    rotation = better_start(wanted, centered, starts, n_codes, rng, n_threads)
    turned, data, words = (np.empty_like(centered) for _ in range(3))
    split = _split_turned(centered, rotation, starts, n_threads, turned, data)
    run = part_means(split, start_part_means(split, n_codes, rng), 1, rng, recorder)
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
    left, _, right = scipy.linalg.svd(cross(rows, words, n_threads))
    return np.ascontiguousarray(left @ right, dtype=np.float32)


def _split_turned(
    centered: Rows, rotation: Rows, starts: Ints, n_threads: int, turned: Rows, data: Rows
) -> PartRows:
    """Rows times a rotation, in `turned`, and by parts, in `data`."""
    turn(centered, rotation, n_threads, turned)
    return PartRows.split(turned, starts, np.zeros_like(rotation[0]), n_threads, data.reshape(-1))
