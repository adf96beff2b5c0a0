"""All rows at once: where they lie, how they spread, and how narrow a component may get."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie.data import Block, Source
from coterie.mixture._covariance import diagonal_of

Floats = npt.NDArray[np.float64]

#: The automatic floor is this share of the rows' own covariance,
_FLOOR_SHARE = 1e-6
#: once no direction of that is narrower than this beside the columns' variances.
_LEAST_CORRELATION = 1e-2


@dataclass(frozen=True)
class Overview:
    """Total weight, mean (d,) and scatter about it (d, d), or its diagonal where that suffices.

    `eps` is the relative rounding of the rows' type, in which products of them are summed.
    """

    weight: float
    mean: Floats
    scatter: Floats
    eps: float = float(np.finfo(np.float64).eps)

    @property
    def covariance(self) -> Floats:
        return self.scatter / self.weight

    @cached_property
    def spread(self) -> Floats:
        """The rows' covariance made fit to be a unit: positive definite in any case.

        Where columns are collinear no direction of it is narrower than what columns with a
        correlation of 0.99 have.
        """
        covariance = self.covariance
        variances = diagonal_of(covariance)
        least = np.square(np.finfo(np.float64).eps * np.maximum(np.abs(self.mean), 1e-140))
        varies = variances > least
        # A constant column has no scale of its own: it borrows one from the others.
        spare = variances[varies].min() if varies.any() else 1.0
        alone = np.where(varies, variances, np.maximum(spare, least))
        if covariance.ndim == 1:
            return alone
        scale = np.sqrt(alone)
        correlation = np.where(varies, covariance / scale / scale[:, np.newaxis], 0.0)
        np.fill_diagonal(correlation, 1.0)
        values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
        wide = (vectors * np.maximum(values, _LEAST_CORRELATION)) @ vectors.T
        return np.asarray(wide * scale * scale[:, np.newaxis])

    @cached_property
    def floor(self) -> Floats:
        """The least covariance a component may have: a millionth of the rows' own, so that no
        unit, and hardly a rotation, matters.
        """
        return _FLOOR_SHARE * self.spread


@dataclass(frozen=True)
class _Sums:
    """Weight, and moments about a given point."""

    weight: float
    first: Floats
    second: Floats

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(
            self.weight + other.weight, self.first + other.first, self.second + other.second
        )


def look_over(blocks: Source, near: Floats, *, diagonal: bool = False) -> Overview:
    """Weight, mean and scatter (or its `diagonal`) of all rows, given a point `near` their mean."""
    total = blocks.total(sum_about, near, diagonal)
    with np.errstate(over="ignore", invalid="ignore"):  # `check_squares` tells of it
        shift = total.first / total.weight
        square = np.square(shift) if diagonal else np.outer(shift, shift)
        scatter = total.second - total.weight * square
        mean = near + shift
    return Overview(total.weight, mean, scatter, float(np.finfo(blocks.dtype).eps))


def sum_about(block: Block, near: Floats, diagonal: bool) -> _Sums:
    """Weight and moments of a block about a point."""
    n_cols = near.size
    unit = np.ones((1, n_cols)) if diagonal else np.eye(n_cols)[np.newaxis]
    counts, first, second = np.zeros(2), np.zeros((1, n_cols)), np.zeros_like(unit)
    kernels.gaussian_pass(
        block.rows, block.weights, np.zeros(1), near[np.newaxis], unit,
        np.zeros(1), -np.inf, None, None, None, counts, first, second, block.n_threads,
    )  # fmt: skip
    return _Sums(float(counts[0]), first[0], second[0])


def check_squares(who: str, overview: Overview) -> None:
    """Refuse rows so far apart, so heavy or so far out that squares are no numbers."""
    with np.errstate(over="ignore"):
        far = np.square(np.finfo(np.float64).eps * overview.mean)  # the least a variance is told by
    if not (np.isfinite(overview.scatter).all() and np.isfinite(far).all()):
        raise ValueError(
            f"{who}: the values of X (times sample_weight) are so large that their squares "
            "overflow float64; divide X by a constant, such as its largest absolute value."
        )
