"""Many small k-means at once: the codebooks of all parts, trained together.

The centres of all parts stand in one array of shape (n_codes, n_cols): codeword j of part m is its
row j in the columns of m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from coterie._history import Recorder
from coterie._kernels import kernels
from coterie.quantize._parts import part_of_column

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

#: Rows for each codeword among which the first centres are drawn.
_SEEDED_FROM = 32


@dataclass(frozen=True)
class _Care:
    """How much a start is worth: candidates for each seed, seedings, and steps to compare these."""

    n_tries: int
    n_starts: int = 1
    n_steps: int = 0


#: Few centres are quick to seed and prone to settle badly; many are neither.
_CARE = {16: _Care(8, 4, 8), 256: _Care(3)}


@dataclass(frozen=True)
class PartRows:
    """Rows less `shift`, part after part in `data`: every part has its rows side by side.

    `squares` are the sums of squares of the parts.
    """

    data: Rows
    starts: Ints
    shift: Rows
    squares: Floats
    n_threads: int

    @classmethod
    def split(
        cls, rows: Rows, starts: Ints, shift: Rows, n_threads: int, data: Rows | None = None
    ) -> PartRows:
        """Lay rows out by parts, in `data` or in memory of its own: once that of the rows."""
        data = np.empty(rows.size, dtype=np.float32) if data is None else data
        squares = np.empty(starts.size - 1)
        kernels.split_parts(rows, starts, shift, data, squares, n_threads)
        return cls(data, starts, shift, squares, n_threads)

    @property
    def n_rows(self) -> int:
        return int(self.data.size // self.starts[-1])

    def part(self, m: int) -> Rows:
        """The rows of one part, shape (n_rows, width)."""
        first, end = self.n_rows * self.starts[m], self.n_rows * self.starts[m + 1]
        return self.data[first:end].reshape(self.n_rows, -1)


def column_means(rows: Rows) -> Rows:
    """The means of the columns, summed in float64."""
    return np.asarray(rows.mean(axis=0, dtype=np.float64), dtype=np.float32)


@dataclass(frozen=True)
class PartRun:
    """Centres about the shift, and the nearest of every row: `codes` is (n_parts, n_rows).

    `errors` are the sums of squared errors of the parts.
    """

    centers: Floats
    codes: Bytes
    counts: Ints
    errors: Floats
    settled: bool

    @property
    def sse(self) -> float:
        return float(self.errors.sum())


def start_part_means(rows: PartRows, n_codes: int, rng: np.random.RandomState) -> Floats:
    """Where to start in every part: seeds, or the best of several after some steps each.

    With 16 codewords per part, k-means settles in poor places often enough to make the comparison
    worth its 32 steps; with 256 it hardly matters.
    """
    care = _CARE[n_codes]
    if care.n_starts == 1:
        return seed_part_means(rows, n_codes, care.n_tries, rng)
    best, least = np.empty(0), np.full(rows.squares.size, np.inf)
    for _ in range(care.n_starts):
        seeds = seed_part_means(rows, n_codes, care.n_tries, rng)
        run = part_means(rows, seeds, care.n_steps, rng, Recorder())
        better = (run.errors < least)[part_of_column(rows.starts)]
        best = np.where(better, run.centers, best) if best.size else run.centers
        least = np.minimum(least, run.errors)
    return best


def seed_part_means(
    rows: PartRows, n_codes: int, n_tries: int, rng: np.random.RandomState
) -> Floats:
    """Seeds of all parts: k-means++ among some rows, the best of some tries each.

    Arthur & Vassilvitskii (2007). Time O(n_codes^2 n_tries) per column.
    """
    size = min(rows.n_rows, _SEEDED_FROM * n_codes)
    chosen = sample_without_replacement(rows.n_rows, size, random_state=rng).astype(np.int64)
    uniforms = rng.random_sample((rows.starts.size - 1, n_codes, n_tries))
    centers = np.empty((n_codes, int(rows.starts[-1])))
    kernels.seed_part_means(rows.data, rows.starts, chosen, uniforms, centers, rows.n_threads)
    return centers


def part_means(
    rows: PartRows,
    centers: Floats,
    n_iter: int,
    rng: np.random.RandomState,
    recorder: Recorder,
) -> PartRun:
    """Lloyd's descent in every part: codes to the nearest centres, centres to the means.

    Lloyd (1982), for all parts in each step; ends once no code changes. A centre without rows
    moves to a row that is drawn by squared distance from its own. Time O(n k d) per step, whatever
    the number of parts, memory 1 byte per row and part.

    Parameters
    ----------
    rows
        Training rows by parts.
    centers
        Where to start, shape (n_codes, n_cols), about the shift of the rows.
    n_iter
        Steps at most.
    rng
        For centres without rows.
    recorder
        Told the sum of squared errors over all parts before and after the means are taken.
    """
    n_parts, n_codes = rows.starts.size - 1, centers.shape[0]
    codes = np.zeros((n_parts, rows.n_rows), dtype=np.uint8)
    sums = np.empty_like(centers)
    counts = np.empty((n_parts, n_codes), dtype=np.int64)
    changed = np.empty(n_parts, dtype=np.int64)
    column_part = part_of_column(rows.starts)
    settled, errors = False, rows.squares
    for step in range(n_iter):
        kernels.assign_part_means(
            rows.data, rows.starts, centers, codes, sums, counts, changed, rows.n_threads
        )
        sizes = counts.T[:, column_part]
        moved = np.where(sizes > 0, sums / np.maximum(sizes, 1), centers)
        before = rows.squares.sum() + float((centers * (sizes * centers - 2 * sums)).sum())
        gains = np.add.reduceat((moved * sums).sum(axis=0), rows.starts[:-1])
        errors = np.maximum(rows.squares - gains, 0.0)
        settled = step > 0 and not changed.any()
        stop = recorder.iteration(
            moved,
            iteration=len(recorder.history) + 1,
            objective_assign=max(0.0, float(before)),
            objective_update=float(errors.sum()),
            n_changed=int(changed.sum()) if step > 0 else codes.size,
        )
        if step + 1 < n_iter and not settled and not stop:
            _fill_empty(rows, moved, codes, counts, rng)
        centers = moved
        if settled or stop:
            break
    return PartRun(centers, codes, counts, errors, settled)


def _fill_empty(
    rows: PartRows, centers: Floats, codes: Bytes, counts: Ints, rng: np.random.RandomState
) -> None:
    """Move centres without rows to rows drawn by their squared errors; in place.

    Left alone where every row is a centre already: there are no more distinct rows.
    """
    for m in np.flatnonzero((counts == 0).any(axis=1)):
        columns = slice(rows.starts[m], rows.starts[m + 1])
        part = rows.part(int(m))
        errors = np.square(part - centers[codes[m], columns]).sum(axis=1)
        empty = np.flatnonzero(counts[m] == 0)
        size = min(empty.size, int(np.count_nonzero(errors)))
        if size:
            drawn = rng.choice(errors.size, size, replace=False, p=errors / errors.sum())
            centers[empty[:size], columns] = part[drawn]
