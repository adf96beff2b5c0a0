"""How far every row is from its nearest seed, kept up to date as seeds are added."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.centroid._passes import survey
from coterie.centroid._space import Space
from coterie.data import RowsByNumber

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: From how many candidates on a sketch of the rows pays for itself.
_SKETCH_CANDIDATES = 64
#: Columns a sketch can have.
_SKETCH_COLUMNS = 65536


class SeedDistances(ABC):
    """The nearest seed of every row and how far it is, kept up to date as seeds are added.

    Memory is 13 bytes per row, and with many candidates to compare 4 more and one per column; it is
    in unnamed temporary files when the rows are on disk themselves.
    Squared distances are in the frame's units, times ``space.scale**2``.

    Attributes
    ----------
    seeds
        Row indices of the seeds, in the order they came.
    closest, nearest
        Of each row, the squared distance to its nearest seed and that seed's number; ties go to
        the earlier seed.
    """

    def __init__(self, blocks: RowsByNumber, space: Space) -> None:
        self.blocks = blocks
        self.scale = space.scale
        self.seeds: list[int] = []
        self.closest: Floats = scratch(blocks, np.float64, blocks.n_rows)
        self.closest[:] = np.inf
        self.nearest: npt.NDArray[np.int32] = scratch(blocks, np.int32, blocks.n_rows)

    @property
    @abstractmethod
    def potential(self) -> float:
        """Weighted sum of `closest`."""

    @property
    @abstractmethod
    def patience(self) -> int:
        """How many draws in vain cost about as much as adding seeds, which is a pass."""

    @abstractmethod
    def draw(self, quantiles: Floats) -> Ints:
        """The rows at these quantiles of weight times `closest`; needs a positive potential."""

    def share_left(self, row: int, centers: Floats) -> float:
        """What part of `closest` would be left to a row with these seeds, in the rows' units."""
        gaps = (centers - self.blocks.take(np.array([row]))) * self.scale
        return float(np.square(gaps).sum(axis=1).min() / self.closest[row])

    @abstractmethod
    def expect(self, n_candidates: int) -> None:
        """Prepare for the `gains` of so many rows in all, where that pays."""

    @abstractmethod
    def gains(self, row_ids: Ints) -> Floats:
        """By how much each row, made a seed, would lower the potential."""

    @abstractmethod
    def add(self, row_ids: Ints) -> None:
        """Make these rows seeds."""

    @abstractmethod
    def add_measured(self, row_ids: Ints, best: int) -> None:
        """Make ``row_ids[best]`` a seed, right after `gains` of `row_ids`."""


class DenseSeedDistances(SeedDistances):
    """`SeedDistances` of an array's rows.

    Rows that the triangle inequality or a quick distance proves to stay with their seed are
    skipped; the result is that of computing every distance. Where many candidates are expected,
    quick distances are those of a sketch, the rows rounded to one byte per column.
    """

    def __init__(self, blocks: RowsByNumber, space: Space) -> None:
        super().__init__(blocks, space)
        self._hints: npt.NDArray[np.uint8] = scratch(blocks, np.uint8, blocks.n_rows)
        self._totals = np.zeros(kernels.n_seeding_chunks(blocks.n_rows, blocks.n_cols))
        self._buffer = np.empty((16, blocks.n_cols))
        self._measured = self._buffer[:0]  # the rows whose gains are known
        self._sketch: tuple[npt.NDArray[np.uint8], Floats, float, float] | None = None

    @property
    def potential(self) -> float:
        return float(np.cumsum(self._totals)[-1])

    @property
    def patience(self) -> int:
        return min(64, self.blocks.n_rows * self.blocks.n_cols >> 18)

    @property
    def _centers(self) -> Floats:
        return self._buffer[: len(self.seeds)]

    def draw(self, quantiles: Floats) -> Ints:
        row_ids = np.empty(len(quantiles), dtype=np.int64)
        kernels.draw_rows(
            self.blocks.weights,
            self.closest,
            self._totals,
            self.blocks.n_cols,
            quantiles * self.potential,
            row_ids,
        )
        return row_ids

    def expect(self, n_candidates: int) -> None:
        blocks = self.blocks
        if n_candidates < _SKETCH_CANDIDATES or blocks.n_cols > _SKETCH_COLUMNS:
            return
        columns = blocks.total(survey)
        low = columns.min * self.scale
        widest = float(np.max(columns.max * self.scale - low))
        per_unit = 127 / widest if widest > 1e-30 else 0.0
        size = kernels.n_sketch_bytes(blocks.n_rows, blocks.n_cols)
        levels: npt.NDArray[np.uint8] = scratch(blocks, np.uint8, size)
        args = (blocks.rows, self.scale, low, per_unit, levels, blocks.n_threads)
        self._sketch = levels, low, per_unit, kernels.sketch_rows(*args)

    def gains(self, row_ids: Ints) -> Floats:
        gains = np.empty(len(row_ids))
        self._measured = self.blocks.take(row_ids)
        kernels.measure_gains(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._sketch,
            self._centers,
            self._measured,
            self.closest,
            self.nearest,
            self._hints,
            gains,
            self.blocks.n_threads,
        )
        return gains

    def add(self, row_ids: Ints) -> None:
        n_old = len(self.seeds)
        self._append(row_ids, self.blocks.take(row_ids))
        kernels.add_seeds(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._centers,
            n_old,
            self.closest,
            self.nearest,
            self._totals,
            self.blocks.n_threads,
        )

    def add_measured(self, row_ids: Ints, best: int) -> None:
        self._append(row_ids[best : best + 1], self._measured[best : best + 1])
        kernels.add_measured_seed(
            self.blocks.rows,
            self.blocks.weights,
            self.scale,
            self._centers,
            best,
            self._hints,
            self.closest,
            self.nearest,
            self._totals,
            self.blocks.n_threads,
        )

    def _append(self, row_ids: Ints, rows: Floats) -> None:
        n_old = len(self.seeds)
        self.seeds.extend(row_ids.tolist())
        if len(self.seeds) > len(self._buffer):
            spare = np.empty((len(self.seeds), self.blocks.n_cols))
            self._buffer = np.concatenate([self._buffer[:n_old], spare])
        self._centers[n_old:] = rows


class SparseSeedDistances(SeedDistances):
    """`SeedDistances` of CSR rows, by |x|^2 - 2 x.c + |c|^2.

    Every distance costs one sparse product. Differences too small for that form, relative to the
    rows' lengths, count as none. Holds the stored values once more, as float64.
    """

    def __init__(self, blocks: RowsByNumber, space: Space) -> None:
        super().__init__(blocks, space)
        self._rows = blocks.rows.astype(np.float64) * space.scale
        self._sq_norms = np.asarray(self._rows.multiply(self._rows).sum(axis=1)).ravel()
        self._weights = np.ones(blocks.n_rows) if blocks.weights is None else blocks.weights

    @property
    def potential(self) -> float:
        return float(self._weights @ self.closest)

    @property
    def patience(self) -> int:
        return 0

    def draw(self, quantiles: Floats) -> Ints:
        sums = np.cumsum(self._weights * self.closest)
        # Only rows that add something, even if a target is 0 or rounded beyond the end.
        targets = np.clip(quantiles * self.potential, np.finfo(np.float64).tiny, sums[-1])
        return np.asarray(np.searchsorted(sums, targets), dtype=np.int64)

    def expect(self, n_candidates: int) -> None:
        pass

    def gains(self, row_ids: Ints) -> Floats:
        return np.array([self._weights @ self._lowered_by(row) for row in row_ids])

    def add(self, row_ids: Ints) -> None:
        for row in row_ids.tolist():
            sq_dists = self._sq_dists(row)
            nearer = sq_dists < self.closest
            self.closest[nearer] = sq_dists[nearer]
            self.nearest[nearer] = len(self.seeds)
            self.seeds.append(row)

    def add_measured(self, row_ids: Ints, best: int) -> None:
        self.add(row_ids[best : best + 1])

    def _lowered_by(self, row: int) -> Floats:
        """How much nearer each row would get to its nearest seed with this one."""
        return np.maximum(self.closest - self._sq_dists(row), 0.0)

    def _sq_dists(self, row: int) -> Floats:
        """Squared distance of every row to this one."""
        seed = self._rows[[row]].toarray()[0]
        reach = self._sq_norms + self._sq_norms[row]
        sq_dists = np.asarray(reach - 2 * (self._rows @ seed))
        n_stored = np.diff(self._rows.indptr)
        noise = 4 * (n_stored + n_stored[row] + 4) * np.finfo(np.float64).eps * reach
        sq_dists[sq_dists <= noise] = 0.0
        return sq_dists


def seed_distances(blocks: RowsByNumber, space: Space) -> SeedDistances:
    """Distances to no seed yet; see `SeedDistances`."""
    return (
        SparseSeedDistances(blocks, space) if blocks.sparse else DenseSeedDistances(blocks, space)
    )


def scratch(blocks: RowsByNumber, dtype: npt.DTypeLike, size: int) -> npt.NDArray[Any]:
    """So many zeros, on disk if the rows are."""
    if blocks.in_memory:
        return np.zeros(size, dtype=dtype)
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=(size,))
