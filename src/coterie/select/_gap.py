"""The gap statistic: squared errors against those of rows without clusters."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from coterie.select._by_squares import squares, squares_of
from coterie.select._problem import Measured, Problem

Floats = npt.NDArray[np.float64]

#: The largest gap speaks against one cluster where it leads the gap of that by so many errors and,
#: a gap being the logarithm of a sum of squares, a tenth: a box around a square that lies askew has
#: as much to itself. `benchmarks/select/study_choose_k.py` counts on tables that no number was
#: chosen by, 60 x 2, 200 x 2, 200 x 10 and 1000 x 5. Of 40 each this was wrong about 5 of 1280 of
#: eight kinds of one heap (uniform in straight and askew boxes and in balls, normal, correlated,
#: rounded, heavy tails, one skewed factor) and 17 of 480 of 2 to 5 groups, all of them two groups 4
#: deviations apart (15 of 60 x 2). It is no judge of corners and long tails: wrong about all 40
#: simplices and 32 exponential tables of 1000 x 5, 14 lognormal ones of 60 x 2, and 12 of the other
#: 360. Two groups 4 deviations apart lead by less than a tenth in 20 columns; a bar that falls with
#: the columns would find them, and clusters in mildly skewed heaps of many rows.
_BY_FAR, _A_TENTH = 5, 0.1


def by_gap(problem: Problem) -> Measured:
    """Tibshirani, Walther & Hastie (2001): the first k with Gap(k) >= Gap(k+1) - s_{k+1}.

    It can say 1, and does so too often: clusters in pairs make the gap dip before it rises.
    """
    gap = measure_gap(problem)
    values, errors = gap.values, gap.errors
    if len(problem.ks) < 2:
        return Measured(values, None, "a gap is compared with that of the next k", errors)
    if np.isnan(values).all():
        return Measured(values, None, "there are no errors to compare", errors)
    enough = np.flatnonzero(values[:-1] >= values[1:] - errors[1:])
    if not enough.size:
        return Measured(values, None, f"the gap still grows at k = {problem.ks[-1]}", errors)
    k = problem.ks[int(enough[0])]
    reason = f"k = {k} is the first whose gap the next does not beat"
    most = int(np.nanargmax(values))
    lead = values[most] - values[enough[0]]
    if problem.ks[most] > k and lead > errors[most]:
        reason += f", though that of k = {problem.ks[most]} does"
    return Measured(values, k, reason, errors, _finds_one(problem, gap))


def by_largest_gap(problem: Problem) -> Measured:
    """Dudoit & Fridlyand (2002): the first k with a gap no less than the largest minus its s.

    It can say 1.
    """
    gap = measure_gap(problem)
    values, errors = gap.values, gap.errors
    if np.isnan(values).all():
        return Measured(values, None, "there are no errors to compare", errors)
    most = int(np.nanargmax(values))
    k = problem.ks[int(np.flatnonzero(values >= values[most] - errors[most])[0])]
    edge = ", the largest k tried: widen the range" if most == len(values) - 1 > 0 else ""
    reason = f"k = {k} has as large a gap as any{edge}"
    return Measured(values, k, reason, errors, _finds_one(problem, gap))


def _finds_one(problem: Problem, gap: Gap) -> bool:
    """Whether no gap is larger by far than that of one cluster, whichever k the rule picks."""
    if problem.ks[0] != 1 or np.isnan(gap.values[0]):
        return False
    most = int(np.nanargmax(gap.values))
    return bool(gap.values[most] - gap.values[0] <= max(_BY_FAR * gap.errors[most], _A_TENTH))


class Gap(NamedTuple):
    """Gap(k) for every k, and s: the deviation over references times sqrt(1 + 1/B)."""

    values: Floats
    errors: Floats


def measure_gap(problem: Problem) -> Gap:
    """Gap(k) = E* log W_k - log W_k (Tibshirani, Walther & Hastie 2001).

    W_k is the sum of squared errors, E* its mean over B sets of reference rows, drawn uniformly
    from a box along the principal axes of the rows. What was measured is kept for the other rule.
    """
    known = problem.kept.get("gap")
    if known is not None:
        return cast(Gap, known)
    rng = problem.draws("gap")
    given = np.asarray(problem.X)
    dtype = given.dtype if given.dtype == np.float32 else np.dtype(np.float64)
    rows = np.ascontiguousarray(given, dtype=np.float64)
    box = PrincipalBox(rows)
    n_references = problem.settings.n_references
    logs = np.empty((n_references, len(problem.ks)))
    with np.errstate(divide="ignore", invalid="ignore"):  # where no errors are left
        for place in range(n_references):
            reference = box.draw(len(rows), rng).astype(dtype, copy=False)
            logs[place] = np.log(squares_of(problem.fits_on(reference, rng), problem.ks))
        values = logs.mean(axis=0) - np.log(squares(problem))
        errors = logs.std(axis=0) * np.sqrt(1 + 1 / n_references)
    values[~np.isfinite(values)] = np.nan  # as many clusters as distinct rows
    gap = Gap(values, errors)
    problem.kept["gap"] = gap
    return gap


class PrincipalBox:
    """The smallest box around rows whose sides lie along their principal axes."""

    def __init__(self, rows: Floats) -> None:
        self.mean = rows.mean(axis=0)
        centred = rows - self.mean
        _, self.axes = np.linalg.eigh(np.einsum("ni,nj->ij", centred, centred))
        along = centred @ self.axes
        self.low, self.high = along.min(axis=0), along.max(axis=0)

    def draw(self, n_rows: int, rng: np.random.RandomState) -> npt.NDArray[Any]:
        """Rows that are uniform in the box."""
        return np.asarray(
            rng.uniform(self.low, self.high, size=(n_rows, len(self.low))) @ self.axes.T + self.mean
        )
