"""Means and covariances as free numbers, in units of the rows' own spread."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from coterie.mixture._covariance import Shape, invert_lower
from coterie.mixture._family import Floats

#: No covariance is packed that exceeds the floor by less than this share of the rows' own.
_LEAST_ABOVE = 1e-9


class Chart(ABC):
    """Numbers without constraint for the means and covariances of k Gaussians of one shape.

    The unit is C with C C^T = `spread`, about the rows' own covariance. A deviation from the rows'
    mean is C v. A covariance is what it exceeds a floor by: Sigma = floor + L L^T with L = C T, T
    lower triangular, its diagonal as logarithms. So no covariance is singular, and the floor biases
    no optimum that does not lie on it. `dims` is the shape of all T, `log_widths` tells which
    numbers of one are logarithms.
    """

    dims: tuple[int, ...]
    log_widths: npt.NDArray[np.bool_]

    @abstractmethod
    def pack_deviations(self, deviations: Floats) -> Floats:
        """v of each."""

    @abstractmethod
    def deviations(self, numbers: Floats) -> Floats:
        """C v of each."""

    @abstractmethod
    def deviation_slopes(self, slopes: Floats) -> Floats:
        """Gradient by v from that by C v."""

    @abstractmethod
    def pack_covariances(self, covariances: Floats) -> Floats:
        """T of each; what hardly exceeds the floor is widened a little first."""

    @abstractmethod
    def covariances(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Covariances and their precision factors, in the family's shape."""

    @abstractmethod
    def covariance_slopes(self, numbers: Floats, slopes: Floats) -> Floats:
        """Gradient by the numbers from that by the covariances."""


class Triangles(Chart):
    """Matrices: one per component, or one for all."""

    def __init__(self, shape: Shape, spread: Floats, floor: Floats, n_components: int) -> None:
        self._shape, self._spread = shape, spread
        self._unit = _lower(spread[np.newaxis])[0]
        self._per_unit = invert_lower(self._unit)
        self._floors = shape.repeat(floor, n_components)
        # The floor's own L, in units of C.
        self._least = self._per_unit @ _lower(floor[np.newaxis])[0]
        self._at = np.tril_indices(spread.shape[0])
        self.dims = (int(np.prod(self._floors.shape[:-2])), self._at[0].size)
        self.log_widths = self._at[0] == self._at[1]

    def pack_deviations(self, deviations: Floats) -> Floats:
        return np.asarray(deviations @ self._per_unit.T)

    def deviations(self, numbers: Floats) -> Floats:
        return np.asarray(numbers @ self._unit.T)

    def deviation_slopes(self, slopes: Floats) -> Floats:
        return np.asarray(slopes @ self._unit)

    def pack_covariances(self, covariances: Floats) -> Floats:
        above, _ = self._shape.clip(covariances - self._floors, _LEAST_ABOVE * self._spread)
        lower = _lower(above.reshape(-1, *self._unit.shape))
        numbers = (self._per_unit @ lower)[:, *self._at]
        numbers[:, self.log_widths] = np.log(numbers[:, self.log_widths])
        return np.asarray(numbers)

    def covariances(self, numbers: Floats) -> tuple[Floats, Floats]:
        inner = self._inner(numbers)
        least = np.broadcast_to(self._least, inner.shape)
        # Sigma = C R^T R C^T with [T, least]^T = Q R, without ever forming a sum that cancels.
        upper = np.linalg.qr(np.concatenate([inner, least], axis=2).transpose(0, 2, 1), mode="r")
        upper *= np.copysign(1.0, np.diagonal(upper, axis1=1, axis2=2))[:, :, np.newaxis]
        lower = self._unit @ upper.transpose(0, 2, 1)
        covariances = lower @ lower.transpose(0, 2, 1)
        factors = np.stack([invert_lower(one).T for one in lower])
        return covariances.reshape(self._floors.shape), factors.reshape(self._floors.shape)

    def covariance_slopes(self, numbers: Floats, slopes: Floats) -> Floats:
        inner = self._inner(numbers)
        # d(L L^T) = dL L^T + L dL^T, and L = C T.
        by_lower = 2 * slopes.reshape(-1, *self._unit.shape) @ self._unit @ inner
        by_inner = (self._unit.T @ by_lower)[:, *self._at]
        return np.asarray(np.where(self.log_widths, by_inner * inner[:, *self._at], by_inner))

    def _inner(self, numbers: Floats) -> Floats:
        """T of each."""
        inner = np.zeros((numbers.shape[0], *self._unit.shape))
        inner[:, *self._at] = numbers
        np.einsum("jii->ji", inner)[:] = np.exp(numbers[:, self.log_widths])
        return inner


class Widths(Chart):
    """Variances: one per column, or one for all columns."""

    def __init__(self, shape: Shape, spread: Floats, floor: Floats, n_components: int) -> None:
        self._variances = shape.repeat(spread, n_components)
        self._floors = shape.repeat(floor, n_components)
        self._unit = np.broadcast_to(np.sqrt(self._variances[0]), spread.shape[:1])
        self.dims = self._variances.shape
        self.log_widths = np.ones(self.dims[-1], dtype=bool)

    def pack_deviations(self, deviations: Floats) -> Floats:
        return deviations / self._unit

    def deviations(self, numbers: Floats) -> Floats:
        return numbers * self._unit

    def deviation_slopes(self, slopes: Floats) -> Floats:
        return slopes * self._unit

    def pack_covariances(self, covariances: Floats) -> Floats:
        above = (covariances - self._floors) / self._variances
        return np.asarray(np.log(np.maximum(above, _LEAST_ABOVE)) / 2)

    def covariances(self, numbers: Floats) -> tuple[Floats, Floats]:
        variances = self._floors + self._above(numbers)
        return variances, 1 / np.sqrt(variances)

    def covariance_slopes(self, numbers: Floats, slopes: Floats) -> Floats:
        return 2 * self._above(numbers) * slopes

    def _above(self, numbers: Floats) -> Floats:
        return np.asarray(self._variances * np.exp(2 * numbers))


def make_chart(shape: Shape, spread: Floats, floor: Floats, n_components: int) -> Chart:
    """The chart for a shape."""
    return (Widths if shape.diagonal else Triangles)(shape, spread, floor, n_components)


def _lower(matrices: Floats) -> Floats:
    """Cholesky factors; units are set aside first, so that they do not matter."""
    scale = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    plain = matrices / scale[:, np.newaxis, :] / scale[:, :, np.newaxis]
    return np.asarray(np.linalg.cholesky(plain) * scale[:, :, np.newaxis])
