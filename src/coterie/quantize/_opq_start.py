"""Where the rotation of optimized product quantization starts: two starts and ways to compare them.

Ge, He, Ke & Sun (2013), "Optimized product quantization for approximate nearest neighbor search".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import scipy.linalg

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.neighbors.index import Index
from coterie.quantize._part_means import PartRows, PartRun, part_means, start_part_means

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
#: What a start loses on some rows; the smaller, the better.
Loss = tuple[float, ...]

#: Rows and steps by which the starts are compared.
_TRIAL_ROWS, _TRIAL_STEPS = 1 << 13, 4
#: One row in so many asks for so many neighbours; fewer rows than this are not asked.
_ASKS_ONE_IN, _NEIGHBORS, _FEWEST_ROWS = 16, 10, 64


def better_start(
    wanted: str,
    centered: Rows,
    starts: Ints,
    n_codes: int,
    rng: np.random.RandomState,
    n_threads: int,
) -> Rows:
    """The columns as they are or balanced axes: what loses less after some steps on some rows.

    Parameters
    ----------
    wanted
        The name of a loss in `LOSSES`.
    centered
        Training rows about their mean.
    starts
        Of the parts.
    n_codes
        Codewords of each part.
    """
    some = np.ascontiguousarray(centered[:: max(1, len(centered) // _TRIAL_ROWS)])
    covariance = cross(centered, centered, n_threads) / len(centered)
    tried = [np.eye(centered.shape[1], dtype=np.float32), balanced_axes(covariance, starts)]
    losses = LOSSES[wanted](some, tried, starts, n_codes, rng, n_threads)
    return tried[min(range(len(tried)), key=losses.__getitem__)]


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


def errors(
    rows: Rows,
    rotations: list[Rows],
    starts: Ints,
    n_codes: int,
    rng: np.random.RandomState,
    n_threads: int,
) -> list[Loss]:
    """The squared error of the rows under every rotation."""
    runs = (_trial(rows, rotation, starts, n_codes, rng, n_threads) for rotation in rotations)
    return [(run.sse,) for run, _ in runs]


def missed_neighbors(
    rows: Rows,
    rotations: list[Rows],
    starts: Ints,
    n_codes: int,
    rng: np.random.RandomState,
    n_threads: int,
) -> list[Loss]:
    """How many neighbours codes do not find under every rotation; equals by the squared error.

    One row in sixteen is left out and asks for its ten nearest, among the others and among what
    the codes of these stand for. Time O(n^2 d / 16) for n rows, besides the codebooks.
    """
    if len(rows) < _FEWEST_ROWS:
        return errors(rows, rotations, starts, n_codes, rng, n_threads)
    asks = np.arange(len(rows)) % _ASKS_ONE_IN == 0
    asked, others = rows[asks], np.ascontiguousarray(rows[~asks])
    true = _nearest(others, asked, n_threads)
    losses: list[Loss] = []
    for rotation in rotations:
        run, turned = _trial(others, rotation, starts, n_codes, rng, n_threads)
        codes = np.ascontiguousarray(run.codes.T)
        kernels.decode_parts(codes, run.centers.astype(np.float32), starts, turned, n_threads)
        found = _nearest(turned, turn(asked, rotation, n_threads), n_threads)
        n_found = (true[:, :, None] == found[:, None, :]).sum()
        losses.append((float(true.size - n_found), run.sse))
    return losses


#: Ways to compare starts.
LOSSES: Mapping[str, Callable[..., list[Loss]]] = {
    "error": errors,
    "neighbors": missed_neighbors,
}


def cross(x: Rows, y: Rows, n_threads: int) -> Floats:
    """``x.T @ y``, the same on any number of threads."""
    out = np.empty((x.shape[1], x.shape[1]))
    kernels.cross_products(x, y, out, n_threads)
    return out


def turn(rows: Rows, rotation: Rows, n_threads: int, out: Rows | None = None) -> Rows:
    """``rows @ rotation``, the same on any number of threads; in `out`, if there is any."""
    turned = np.empty_like(rows) if out is None else out
    kernels.rotate_rows(rows, rotation, turned, n_threads)
    return turned


def _trial(
    rows: Rows,
    rotation: Rows,
    starts: Ints,
    n_codes: int,
    rng: np.random.RandomState,
    n_threads: int,
) -> tuple[PartRun, Rows]:
    """Codebooks after some steps with one rotation, and the rows times it."""
    turned = turn(rows, rotation, n_threads)
    split = PartRows.split(turned, starts, np.zeros_like(rotation[0]), n_threads)
    centers = start_part_means(split, n_codes, rng)
    return part_means(split, centers, _TRIAL_STEPS, rng, Recorder()), turned


def _nearest(rows: Rows, queries: Rows, n_threads: int) -> Ints:
    """The numbers of the nearest rows of every query."""
    index = Index.over("ProductQuantizer", rows, n_threads=n_threads)
    return index.knn(_NEIGHBORS, queries).ids
