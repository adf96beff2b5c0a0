"""Criteria that read the falling curve of squared errors: elbow, penalty, growth.

The sum of squared errors falls with every cluster more, whether there are clusters or not, so each
of these needs an idea of how fast it falls without any.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.evaluate import sum_of_squared_errors
from coterie.select._fits import Fits
from coterie.select._problem import Measured, Problem, smallest

Floats = npt.NDArray[np.float64]

#: An elbow is one where the fall after it is at most this share of the fall up to it. The least
#: share of 60 sets of 300 uniform rows, in one to ten columns and up to k = 10, was 0.286.
ELBOW = 0.25
#: Hartigan's: another cluster is worth its place above this.
_WORTH = 10.0


def squares(problem: Problem) -> Floats:
    """The sum of squared errors about the means at every k."""
    return squares_of(problem.fits, problem.ks)


def squares_of(fits: Fits, ks: tuple[int, ...]) -> Floats:
    """The sum of squared errors about the means of the labels at every k."""
    found = [sum_of_squared_errors(fits.X, fits.labels(k), noise="drop") for k in ks]
    return np.array(found, dtype=np.float64)


def slopes(ks: Floats, values: Floats) -> Floats:
    """How steeply log SSE falls with log k between neighbours.

    Without clusters SSE is about k^(-2/d) (Zador 1982), a straight line in these coordinates.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.diff(np.log(values)) / np.diff(np.log(ks)))


def by_elbow(problem: Problem) -> Measured:
    """The k at which the curve of squared errors turns, in logarithms; or none.

    A weak criterion: values are the errors themselves, and whether there is an elbow is a matter of
    taste (Ketchen & Shook 1996; Schubert 2023).
    """
    values = squares(problem)
    steep = slopes(np.array(problem.ks, dtype=np.float64), values)
    before, after = steep[:-1], steep[1:]
    if not before.size:
        return Measured(values, None, "an elbow needs three numbers of clusters or more")
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(before > 0, np.maximum(after, 0) / before, np.inf)
    share[np.isnan(share)] = np.inf
    place = int(np.argmin(share))
    k = problem.ks[place + 1]
    if share[place] > ELBOW:
        return Measured(values, None, f"there is no elbow (the sharpest bend is at k = {k})")
    return Measured(values, k, f"the curve turns at k = {k}")


def by_penalty(problem: Problem) -> Measured:
    """Squared errors plus the price of saying which clusters there are and where each row is.

    n d log(SSE / (n d)) + 2 n log k + (k d + 1) log n: BIC of round clusters of one width and equal
    shares, each row wholly in its own. In other words the length of a message with the centres, the
    labels and the errors.
    """
    n_rows, n_cols = problem.n_rows, int(problem.X.shape[1])
    errors, ks = squares(problem), np.array(problem.ks, dtype=np.float64)
    with np.errstate(divide="ignore"):
        fit = n_rows * n_cols * np.log(errors / (n_rows * n_cols))
    values = fit + 2 * n_rows * np.log(ks) + (ks * n_cols + 1) * np.log(n_rows)
    values[np.isneginf(values)] = np.nan  # every row is a centre: nothing is left to be said
    return smallest(problem, values, "penalised sum of squares")


def by_growth(problem: Problem) -> Measured:
    """Add clusters while each is worth its place: Hartigan's rule (1975).

    H(k) = (SSE_k / SSE_{k+1} - 1) (n - k - 1), like an F statistic; the first k with H(k) <= 10 is
    chosen. A weak criterion: splitting noise gains a share of the errors that does not shrink with
    n, while the bar stays where it is, so with many rows it seldom stops.
    """
    errors, ks = squares(problem), np.array(problem.ks, dtype=np.float64)
    values = np.full(len(ks), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = (errors[:-1] / errors[1:] - 1) / np.diff(ks)
    values[:-1] = gain * (problem.n_rows - ks[:-1] - 1)
    stops = np.flatnonzero(values <= _WORTH)
    if not stops.size:
        return Measured(values, None, f"another cluster still pays at k = {problem.ks[-1]}")
    k = problem.ks[int(stops[0])]
    return Measured(values, k, f"after k = {k} another cluster does not pay")
