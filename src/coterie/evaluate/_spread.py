"""Where clusters are and how far their rows are from there: two passes over any source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.evaluate._passes import Part
from coterie.evaluate._rows import LabelledRows

Floats = npt.NDArray[np.float64]

#: Mean squares below this have lost digits to underflow, if they have not vanished.
_LEAST_SQUARE = 1e-290


@dataclass(frozen=True)
class Spread:
    """Of every cluster its weight, its mean, and the sums of what its rows are away from it.

    `means` are relative to `origin`, a row, so that large offsets cost no digits.
    """

    weights: Floats
    means: Floats
    origin: Floats
    sq_sums: Floats
    length_sums: Floats

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def centers(self) -> Floats:
        """The means in the units of the rows."""
        return self.means + self.origin

    @property
    def grand_mean(self) -> Floats:
        """The mean of all rows, relative to `origin`."""
        return np.asarray((self.weights[:, np.newaxis] * self.means).sum(axis=0) / self.total)

    @property
    def within(self) -> float:
        """The sum of squares about the means of the clusters: the trace of S_W."""
        return float(self.sq_sums.sum())

    @property
    def between(self) -> float:
        """The sum of squares of these about the mean of all rows: the trace of S_B."""
        away = np.square(self.means - self.grand_mean).sum(axis=1)
        return float((self.weights * away).sum())


def find_means(given: LabelledRows) -> tuple[Floats, Floats, Floats]:
    """Weights of the clusters, their means relative to an origin, and that origin."""
    origin = given.first_row()
    sums = given.summed(_add_rows, origin, shape=(given.n_clusters, origin.size + 1))
    if not np.isfinite(sums).all():
        given.check_finite()
        refuse_overflow(given.who)
    weights = np.ascontiguousarray(sums[:, -1])
    return weights, np.ascontiguousarray(sums[:, :-1] / weights[:, np.newaxis]), origin


def _add_rows(part: Part, origin: Floats, sums: Floats) -> None:
    with np.errstate(all="ignore"):
        kernels.sum_by_label(part.rows, part.weights, part.codes, origin, sums, part.n_threads)


def spread_about(given: LabelledRows, centers: Floats) -> tuple[Floats, Floats]:
    """Sums of squared distances and of distances of rows to the centre of their cluster."""
    sums = given.summed(_add_lengths, centers, shape=(given.n_clusters, 2))
    if not np.isfinite(sums).all():
        given.check_finite()
        refuse_overflow(given.who)
    return np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1])


def _add_lengths(part: Part, centers: Floats, sums: Floats) -> None:
    kernels.spread_by_label(part.rows, part.weights, part.codes, centers, sums, part.n_threads)


def measure_spread(given: LabelledRows) -> Spread:
    """The spread of all clusters about their means.

    Two passes, O(n d) time; memory some hundred partial sums at most, of k (d + 1) numbers each.
    """
    weights, means, origin = find_means(given)
    return Spread(weights, means, origin, *spread_about(given, means + origin))


def measure_ratios(given: LabelledRows) -> Spread:
    """The spread of clusters whose sums are divided by each other, so that they must not vanish."""
    spread = measure_spread(given)
    if spread.within + spread.between < _LEAST_SQUARE * spread.total:
        n_differing = given.summed(_count_differing, spread.origin, shape=(1,))
        if n_differing[0]:
            raise ValueError(
                f"{given.who}: the rows differ by so little that squared distances underflow "
                "float64; multiply X by a constant (for example 1e150)."
            )
    return spread


def _count_differing(part: Part, origin: Floats, sums: Floats) -> None:
    differs = (part.rows != origin).any(axis=1)
    sums += np.count_nonzero(differs & (part.codes >= 0))


def refuse_overflow(who: str) -> None:
    """Say that squares are beyond all numbers."""
    raise ValueError(
        f"{who}: squared distances of the rows overflow float64; divide X by a constant."
    )
