"""Where rows are compared: their coded columns, or the principal components of many of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.report._plan import MOST_PLACES

Floats = npt.NDArray[np.float64]

#: Share of the variance that principal components keep, where there is room for it.
_KEPT = 0.95


@dataclass(frozen=True)
class Space:
    """Points about `center` along `axes`, of shape (n_places, n_axes); as they are without axes."""

    center: Floats
    axes: Floats | None
    share: float

    def rows(self, points: Floats) -> Floats:
        """Points as they are compared."""
        if self.axes is None:
            return points
        return np.ascontiguousarray((points - self.center) @ self.axes)

    @property
    def note(self) -> str | None:
        """What a reader should know of it."""
        if self.axes is None:
            return None
        return (
            f"Rows are compared by {self.axes.shape[1]} principal components of "
            f"{self.axes.shape[0]} coded columns, which keep {self.share:.0%} of the variance."
        )


def learn_space(points: Floats) -> Space:
    """All places where they are few, else the first principal components: O(n d min(n, d)).

    As many as keep 95% of the variance, 30 at most, and no more than a fifth of the rows.
    """
    n_rows, n_places = points.shape
    center = points.mean(axis=0)
    if n_places <= MOST_PLACES:
        return Space(center, None, 1.0)
    _, lengths, axes = np.linalg.svd(points - center, full_matrices=False)
    variances = np.square(lengths)
    shares = np.cumsum(variances) / max(float(variances.sum()), 1e-300)
    most = max(2, min(MOST_PLACES, n_rows // 5))
    kept = min(most, int(np.searchsorted(shares, _KEPT)) + 1, len(lengths))
    # The sign of an axis is open: its largest part is above 0.
    axes = (
        axes[:kept]
        * np.sign(axes[:kept][np.arange(kept), np.abs(axes[:kept]).argmax(axis=1)])[:, np.newaxis]
    )
    return Space(center, np.ascontiguousarray(axes.T), float(shares[kept - 1]))
