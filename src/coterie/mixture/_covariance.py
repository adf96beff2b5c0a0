"""The four shapes a Gaussian's covariance may have, and their algebra."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dtrtri

from coterie._kernels import kernels

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
_SMALLEST_NORMAL = float(np.finfo(np.float64).smallest_normal)
_LOG_2_PI = float(np.log(2 * np.pi))


def diagonal_of(matrix: Floats) -> Floats:
    """The diagonal of a matrix, or what is known to be one already."""
    return matrix if matrix.ndim == 1 else np.diagonal(matrix)


class Shape(ABC):
    """One way to describe the covariances of k Gaussians in d dimensions.

    `factors` are scikit-learn's `precisions_cholesky_`: U with U U^T = precision, so that
    (x - mean) U is white noise.
    """

    name: str
    #: Whether only the diagonals of scatter matrices matter.
    diagonal = False

    @abstractmethod
    def dims(self, n_components: int, n_cols: int) -> tuple[int, ...]:
        """Shape of the array of covariances."""

    @abstractmethod
    def n_parameters(self, n_components: int, n_cols: int) -> int:
        """Free numbers in it."""

    @abstractmethod
    def pooled(self, counts: Floats, scatter: Floats) -> Floats:
        """Covariances from each component's scatter about its own mean: (k, d, d), or (k, d)."""

    @abstractmethod
    def add_to_diagonal(self, covariances: Floats, amount: Any) -> Floats:
        """The covariances with this much (a number, or one per column) more variance."""

    @abstractmethod
    def exceed(self, covariances: Floats, floor: Floats) -> bool:
        """Whether all are certainly wider than the matrix (or diagonal) `floor`: `clip` would leave
        them as they are.
        """

    @abstractmethod
    def clip(self, covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
        """The covariances with no direction narrower than the matrix (or diagonal) `floor`.

        The likeliest covariances under that constraint; and in how many directions each of them
        had to be widened.
        """

    def repeat(self, covariance: Floats, n_components: int) -> Floats:
        """Every component with this one matrix, as nearly as the shape allows.

        Where only diagonals matter it may be just that, (d,).
        """
        own = diagonal_of(covariance) if self.diagonal else covariance
        stack = np.broadcast_to(own, (n_components, *own.shape))
        return self.pooled(np.ones(n_components), stack)

    @abstractmethod
    def factor(
        self, covariances: Floats, least: float = 0.0
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Factors, and which components have none (not positive definite); those hold NaN.

        `least` is the share of a column's variance that rounding may have made: a column of which
        the others leave no more unexplained is no base for a factor.
        """

    @abstractmethod
    def full(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        """The same covariances as matrices (k, d, d)."""

    @abstractmethod
    def variances(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        """The variance of every column, (k, d)."""

    @abstractmethod
    def precisions(self, factors: Floats) -> Floats:
        """U U^T."""

    @abstractmethod
    def inverted(self, precisions: Floats) -> Floats | None:
        """Covariances of these precisions; None where those are not positive definite."""

    @abstractmethod
    def kernel_factors(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        """As the native pass wants them: (k, d, d), (1, d, d) shared, or (k, d) diagonal."""

    @abstractmethod
    def diagonals(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        """Diagonals of the factors, (k, d)."""

    def log_dets(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        """Logarithms of the factors' determinants, (k,)."""
        return np.asarray(np.log(self.diagonals(factors, n_components, n_cols)).sum(axis=1))

    def log_norms(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        """log N(x) + |(x - mean) U|^2 / 2 of each component."""
        return self.log_dets(factors, n_components, n_cols) - n_cols / 2 * _LOG_2_PI


def invert_lower(lower: Floats) -> Floats:
    """The inverse of a lower triangular matrix with zeros above its diagonal.

    Not by `solve_triangular`: OpenBLAS wakes all its threads for that, however small the matrix.
    """
    if lower.size == 0:  # of which LAPACK would complain
        return lower
    inverse, _ = dtrtri(lower, lower=1)
    return np.asarray(inverse)


def _factor_matrices(covariances: Floats, least: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Upper triangular U with U U^T = inverse, for each matrix of a stack."""
    n_matrices, n_cols = covariances.shape[:2]
    least = max(least, 8 * n_cols * _EPS)
    factors, found = np.empty(covariances.shape), np.empty(n_matrices, dtype=bool)
    kernels.factor_inverses(
        np.ascontiguousarray(covariances), np.full(n_matrices, least), factors, found
    )
    return factors, np.logical_not(found)


def clip_matrices(covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
    """Eigenvalues in units of the floor are raised to one."""
    unit = np.sqrt(np.diagonal(floor))
    lower = np.asarray(np.linalg.cholesky(floor / unit / unit[:, np.newaxis]), dtype=np.float64)
    inverse = invert_lower(lower)
    relative = covariances / unit / unit[:, np.newaxis]
    relative[~np.isfinite(relative).all(axis=(1, 2))] = 0.0
    relative = inverse @ relative @ inverse.T
    values, vectors = np.linalg.eigh((relative + relative.transpose(0, 2, 1)) / 2)
    n_raised = np.count_nonzero(values < 1, axis=1).astype(np.intp)
    clipped = covariances.copy()
    for j in np.flatnonzero(n_raised):
        axes = lower @ (vectors[j] * np.sqrt(np.maximum(values[j], 1)))
        clipped[j] = (axes @ axes.T) * unit * unit[:, np.newaxis]
    return clipped, n_raised


def is_symmetric(matrices: Floats) -> bool:
    """Whether each of one or more matrices is its own mirror image, to rounding."""
    mirrored = np.swapaxes(matrices, -1, -2)
    return bool((matrices == mirrored).all()) or np.allclose(matrices, mirrored)


def _factor_variances(variances: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """1 / sqrt of each, and which rows hold one that is not positive or has no inverse."""
    if variances.min() >= _SMALLEST_NORMAL and variances.max() < np.inf:  # nearly always
        return 1 / np.sqrt(variances), np.zeros(len(variances), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fine = np.isfinite(variances) & (variances > 0) & np.isfinite(1 / variances)
        factors = np.where(fine, 1 / np.sqrt(variances), np.nan)
    return factors, np.logical_not(fine.reshape(fine.shape[0], -1).all(axis=1))


class Full(Shape):
    """Every component its own matrix."""

    name = "full"

    def dims(self, n_components: int, n_cols: int) -> tuple[int, ...]:
        return n_components, n_cols, n_cols

    def n_parameters(self, n_components: int, n_cols: int) -> int:
        return n_components * n_cols * (n_cols + 1) // 2

    def pooled(self, counts: Floats, scatter: Floats) -> Floats:
        return scatter / counts[:, np.newaxis, np.newaxis]

    def add_to_diagonal(self, covariances: Floats, amount: Any) -> Floats:
        n_cols = covariances.shape[-1]
        return covariances + np.eye(n_cols) * np.broadcast_to(amount, n_cols)

    def exceed(self, covariances: Floats, floor: Floats) -> bool:
        stack = np.ascontiguousarray(covariances.reshape(-1, *floor.shape))
        return kernels.all_exceed(stack, np.ascontiguousarray(floor))

    def clip(self, covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
        return clip_matrices(covariances, floor)

    def factor(
        self, covariances: Floats, least: float = 0.0
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        return _factor_matrices(covariances, least)

    def full(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return covariances

    def variances(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        every = self.full(covariances, n_components, n_cols)
        return np.diagonal(every, axis1=1, axis2=2)

    def precisions(self, factors: Floats) -> Floats:
        return factors @ factors.transpose(0, 2, 1)

    def inverted(self, precisions: Floats) -> Floats | None:
        factors, bad = self.factor(precisions)
        if bad.any() or not is_symmetric(precisions):
            return None
        return self.precisions(factors)

    def kernel_factors(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return factors

    def diagonals(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return np.diagonal(factors, axis1=1, axis2=2)


class Tied(Full):
    """One matrix for all components."""

    name = "tied"

    def dims(self, n_components: int, n_cols: int) -> tuple[int, ...]:
        return n_cols, n_cols

    def n_parameters(self, n_components: int, n_cols: int) -> int:
        return n_cols * (n_cols + 1) // 2

    def pooled(self, counts: Floats, scatter: Floats) -> Floats:
        return scatter.sum(axis=0) / counts.sum()

    def clip(self, covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
        clipped, n_raised = clip_matrices(covariances[np.newaxis], floor)
        return clipped[0], n_raised

    def factor(
        self, covariances: Floats, least: float = 0.0
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        factors, bad = _factor_matrices(covariances[np.newaxis], least)
        return factors[0], bad

    def full(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return np.broadcast_to(covariances, (n_components, n_cols, n_cols))

    def precisions(self, factors: Floats) -> Floats:
        return factors @ factors.T

    def kernel_factors(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return np.ascontiguousarray(factors[np.newaxis])

    def diagonals(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return np.broadcast_to(np.diagonal(factors), (n_components, n_cols))


class Diagonal(Shape):
    """Every component its own variance for each column."""

    name = "diag"
    diagonal = True

    def dims(self, n_components: int, n_cols: int) -> tuple[int, ...]:
        return n_components, n_cols

    def n_parameters(self, n_components: int, n_cols: int) -> int:
        return n_components * n_cols

    def pooled(self, counts: Floats, scatter: Floats) -> Floats:
        return scatter / counts[:, np.newaxis]

    def add_to_diagonal(self, covariances: Floats, amount: Any) -> Floats:
        return covariances + amount

    def exceed(self, covariances: Floats, floor: Floats) -> bool:
        return bool((covariances >= diagonal_of(floor)).all())

    def clip(self, covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
        least = diagonal_of(floor)
        narrow = ~(covariances >= least)
        return np.where(narrow, least, covariances), np.count_nonzero(narrow, axis=1)

    def factor(
        self, covariances: Floats, least: float = 0.0
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        return _factor_variances(covariances)

    def full(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return covariances[:, :, np.newaxis] * np.eye(n_cols)

    def variances(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return covariances

    def precisions(self, factors: Floats) -> Floats:
        return np.square(factors)

    def inverted(self, precisions: Floats) -> Floats | None:
        return 1 / precisions if (precisions > 0).all() else None

    def kernel_factors(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return factors

    def diagonals(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return factors


class Spherical(Diagonal):
    """Every component one variance for all columns."""

    name = "spherical"

    def dims(self, n_components: int, n_cols: int) -> tuple[int, ...]:
        return (n_components,)

    def n_parameters(self, n_components: int, n_cols: int) -> int:
        return n_components

    def pooled(self, counts: Floats, scatter: Floats) -> Floats:
        return scatter.mean(axis=1) / counts

    def add_to_diagonal(self, covariances: Floats, amount: Any) -> Floats:
        return covariances + np.mean(amount)

    def exceed(self, covariances: Floats, floor: Floats) -> bool:
        return bool((covariances >= diagonal_of(floor).mean()).all())

    def clip(self, covariances: Floats, floor: Floats) -> tuple[Floats, Counts]:
        least, n_cols = diagonal_of(floor).mean(), floor.shape[0]
        narrow = ~(covariances >= least)
        return np.where(narrow, least, covariances), n_cols * narrow.astype(np.intp)

    def full(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return covariances[:, np.newaxis, np.newaxis] * np.eye(n_cols)

    def variances(self, covariances: Floats, n_components: int, n_cols: int) -> Floats:
        return np.broadcast_to(covariances[:, np.newaxis], (n_components, n_cols))

    def kernel_factors(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return factors.repeat(n_cols).reshape(n_components, n_cols)

    def log_dets(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return np.asarray(n_cols * np.log(factors))

    def diagonals(self, factors: Floats, n_components: int, n_cols: int) -> Floats:
        return np.broadcast_to(factors[:, np.newaxis], (n_components, n_cols))


SHAPES: dict[str, Shape] = {
    shape.name: shape for shape in (Full(), Tied(), Diagonal(), Spherical())
}
