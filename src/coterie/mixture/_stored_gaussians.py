"""What Gaussian components look like in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._stored import Array, Field
from coterie.mixture._covariance import Shape

_FLOATS = "f"
_MATRICES: Field = (
    Array(_FLOATS, ("components", "columns", "columns"))
    | Array(_FLOATS, ("components", "columns"))
    | Array(_FLOATS, ("columns", "columns"))
    | Array(_FLOATS, ("components",))
)

#: Fitted attributes of Gaussian components of any covariance type.
GAUSSIANS: dict[str, Field] = {
    "means_": Array(_FLOATS, ("components", "columns")),
    "covariances_": _MATRICES,
    "precisions_cholesky_": _MATRICES,
    "precisions_": _MATRICES,
}


def check_gaussians(model: Any, shape: Shape) -> None:
    """Refuse matrices of another covariance type, and those that are no covariances."""
    k, d = model.means_.shape
    for name in ("covariances_", "precisions_cholesky_", "precisions_"):
        values = getattr(model, name)
        if values.shape != shape.dims(k, d):
            raise ValueError(f"{name} has shape {values.shape} instead of {shape.dims(k, d)}")
        diagonal = values if shape.diagonal else np.diagonal(values, axis1=-2, axis2=-1)
        if not (diagonal > 0).all():
            raise ValueError(f"{name} has a diagonal that is not positive")
    if not shape.diagonal:
        covariances = model.covariances_
        deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1).astype(np.float64))
        most = deviations[..., :, np.newaxis] * deviations[..., np.newaxis, :]
        if not (np.abs(covariances) <= (1 + 1e-3) * most).all():
            raise ValueError("covariances_ has covariances larger than the variances allow")
