"""Conjugate priors of Gaussians, as rows that were seen beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import real
from coterie.mixture._arrays import given_array
from coterie.mixture._covariance import Shape, diagonal_of
from coterie.mixture._overview import Overview

Floats = npt.NDArray[np.float64]

#: What `prior=` may say.
PRIOR_KEYS = ("concentration", "mean", "mean_precision", "degrees_of_freedom", "scale")


@dataclass(frozen=True)
class Prior:
    """mu ~ N(mean, Sigma / mean_precision), Sigma ~ inverse Wishart(degrees_of_freedom, scale).

    Under the log-posterior each component has, besides its rows, `mean_precision` rows at `mean`
    when its own mean is sought, and `mass` rows of total scatter `scale` when its covariance is:

        log p(mu, Sigma) = -1/2 [mass log|Sigma| + tr(Sigma^-1 (scale + kappa (mu - m)(mu - m)^T))]

    `scale` is (d, d), or (d,) where only the diagonal matters. Where one covariance is shared,
    each component holds its part of `mass` and `scale`.
    """

    mean: Floats
    mean_precision: float
    scale: Floats
    mass: float

    def shift(self, first: Floats, counts: Floats, means: Floats) -> Floats:
        """How far the means move, from sums of mass (x - mean) about these means."""
        pulled = first + self.mean_precision * (self.mean - means)
        return np.asarray(pulled / (counts + self.mean_precision)[:, np.newaxis])

    def scatter(self, means: Floats) -> Floats:
        """What the prior adds to each component's scatter, (k, d, d) or (k, d)."""
        away = means - self.mean
        own = np.square(away)
        if self.scale.ndim == 2:
            own = away[:, :, np.newaxis] * away[:, np.newaxis, :]
        return np.asarray(self.scale + self.mean_precision * own)


def make_prior(
    who: str, given: Any, overview: Overview, shape: Shape, n_components: int
) -> tuple[Prior | None, float]:
    """The prior that `prior=` describes (None: none), and the concentration of the weights' own.

    What is not given is Fraley & Raftery's (2007) choice: the rows' mean with a hundredth of a
    row's say, d + 2 degrees of freedom, and the rows' covariance over k^(2/d), about what each of
    k components has that share the rows' volume. Theirs averages the columns' variances for
    diagonal covariances; here each column keeps its own, so that units do not matter.
    """
    if given is None:
        return None, 1.0
    d = overview.mean.size
    asked: Mapping[str, Any] = {} if given == "auto" else given
    scale = overview.covariance / n_components ** (2 / d)
    if "scale" in asked:
        scale = given_array(who, "prior['scale']", asked["scale"], (d, d), "pair of columns of X")
        if not (np.allclose(scale, scale.T) and (np.linalg.eigvalsh(scale) >= 0).all()):
            raise ValueError(
                f"{who}: prior['scale'] must be a symmetric matrix without negative eigenvalues; "
                "check its values."
            )
    mean = overview.mean
    if "mean" in asked:
        mean = given_array(who, "prior['mean']", asked["mean"], (d,), "column of X")
    kappa = _number(who, "mean_precision", asked, 0.01, 0.0)
    freedom = _number(who, "degrees_of_freedom", asked, d + 2.0, d - 1.0)
    concentration = _number(who, "concentration", asked, 1.0, 1.0)
    share, mass = _PSEUDO_ROWS[shape.name](scale, freedom, d, n_components)
    return Prior(mean, kappa, share, mass), concentration


def _for_each(scale: Floats, freedom: float, d: int, k: int) -> tuple[Floats, float]:
    return scale, freedom + d + 2


def _for_all(scale: Floats, freedom: float, d: int, k: int) -> tuple[Floats, float]:
    """One inverse Wishart for all, but a normal prior of the mean for each."""
    return scale / k, (freedom + d + 1 + k) / k


def _by_column(scale: Floats, freedom: float, d: int, k: int) -> tuple[Floats, float]:
    """An inverse gamma per column."""
    return diagonal_of(scale), freedom + 3


def _by_ball(scale: Floats, freedom: float, d: int, k: int) -> tuple[Floats, float]:
    """One inverse gamma for all columns: its scale is the mean variance, shared among them."""
    mean = diagonal_of(scale).mean()
    return np.full(d, mean / d), (freedom + d + 2) / d


_PSEUDO_ROWS = {"full": _for_each, "tied": _for_all, "diag": _by_column, "spherical": _by_ball}


def _number(
    who: str, name: str, asked: Mapping[str, Any], default: float, at_least: float
) -> float:
    value = asked.get(name, default)
    rule = real(at_least)
    if not rule.allows(value):
        raise ValueError(f"{who}: prior[{name!r}] is {value!r}; use {rule.words}.")
    return float(value)
