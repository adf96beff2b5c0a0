"""Clustering tendency: is there anything to find in these rows?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._config import resolve_n_threads
from coterie._doors import FLOATS, check_csr, check_finite, checked, dense, trusted
from coterie._random import check_random_state
from coterie.data import as_source, elsewhere
from coterie.distance import condensed
from coterie.select._replay import Replay, replay
from coterie.select._ties import FEW_VALUES, n_values, spread_ties
from coterie.select.dip import DipTest, dip_p_value, dip_test
from coterie.select.hopkins import Hopkins, hopkins_of

__all__ = ["Tendency", "tendency"]

Floats = npt.NDArray[np.float64]

#: Rows looked at along principal components, and those compared or clustered.
_MOST_ROWS, _MOST_COMPARED = 20_000, 1000
#: Principal components that are tested.
_COMPONENTS = 3
#: The level of `has_structure`.
LEVEL = 0.05
#: Fewer rows than this tell nothing.
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class Tendency:
    """Whether rows have structure, and what says so.

    `p_value` is the least of three chances (of projections, `distances`, `replay`), times three;
    `verdict` says it in a sentence. `hopkins` is for information: it does not count. `n_used` rows
    were looked at, `n_compared` of them pair by pair. `component_p_value` is the least chance of
    the components, `column_p_value` that of the columns as they are given, each times their number,
    and the less of both, times two, is the chance of projections. `columns` has the dips by the
    places of columns; it is empty where there is one column, or all have few values.
    """

    p_value: float
    verdict: str
    components: tuple[DipTest, ...]
    component_p_value: float
    columns: dict[int, DipTest]
    distances: DipTest
    replay: Replay
    hopkins: Hopkins
    n_used: int
    n_compared: int

    @property
    def has_structure(self) -> bool:
        """Whether `p_value` is at most 5%."""
        return self.p_value <= LEVEL

    @property
    def column(self) -> int | None:
        """The place of the column whose dip has the least chance, the first of equals."""
        return min(self.columns, key=lambda place: self.columns[place].p_value, default=None)

    @property
    def column_p_value(self) -> float:
        """The least chance of the columns, times their number; 1 where none was tested."""
        if self.column is None:
            return 1.0
        return min(1.0, len(self.columns) * self.columns[self.column].p_value)

    @property
    def projection_p_value(self) -> float:
        """The chance of the dips of components and columns together."""
        if not self.columns:
            return self.component_p_value
        return min(1.0, 2 * min(self.component_p_value, self.column_p_value))


def tendency(X: Any, *, random_state: Any = None) -> Tendency:
    """Test whether rows have any structure before they are clustered.

    The null is one heap: unimodal, uniform, Gaussian, skewed or correlated. Three tests, each at
    a third of the level (Bonferroni):

    - Hartigans' dip (`dip_test`) of the first three principal components, and of the columns;
    - the dip of the distances between rows (Adolfsson, Ackerman & Brownstein 2019), as if there
      were as many distances as rows, since that is what they know;
    - null replay: k-means with 2 to 21 clusters on the first principal components (one for every
      ten rows), as they are and all of one variance, the deepest dip between two neighbouring
      clusters, and the chance of one as deep when rows that are uniform in the box of the principal
      components, or Gaussian with the same covariance, are clustered the same way; both must be
      unlikely.

    Columns count as they are scaled: standardise those in different units. Equal values of a column
    are spread over the least step between them, since rounding is no structure; but columns of ten
    values or fewer stay, and may look like modes: the verdict says so where most rows are equal to
    another.

    At most 20000 rows are drawn, and 1000 of them for distances, replay and Hopkins, so time is
    that of drawing the rows and a few seconds at most (least where there is nothing); memory is
    that of 20000 rows and of half a million distances. A file is read where rows are drawn only,
    so a missing cell elsewhere goes unseen.

    Parameters
    ----------
    X : array, data frame, CSR matrix, or anything that says where rows are
    random_state : int, RandomState or None
        For the rows drawn and the replays.
    """
    who = "tendency"
    rng = check_random_state(random_state)
    given = _draw_rows(who, X, rng)
    drawn = spread_ties(given, rng)
    rows = _principal(drawn)
    compared = rng.permutation(rows.shape[0])[:_MOST_COMPARED]
    some = rows[compared]
    components = tuple(dip_test(column, method="table") for column in rows.T[:_COMPONENTS])
    p_components = min([1.0, *(len(components) * test.p_value for test in components)])
    distances = _dip_of_distances(some)
    # In the columns as given: the box of the components of a square may be twice as large as it.
    n_probes = max(1, min(some.shape[0], 100, max(10, some.shape[0] // 10)))
    probes = hopkins_of(drawn[compared], n_probes, rng)
    replayed = replay(some, rng)
    found = Tendency(
        1.0, "", components, p_components, _dips_of_columns(drawn), distances, replayed, probes,
        rows.shape[0], some.shape[0],
    )  # fmt: skip
    if rows.shape[0] >= _FEWEST_ROWS:
        chances = (found.projection_p_value, distances.p_value, replayed.p_value)
        found = replace(found, p_value=min(1.0, 3 * min(chances)))
    return replace(found, verdict=_verdict(found, given))


def _draw_rows(who: str, X: Any, rng: np.random.RandomState) -> Floats:
    """Some rows of X, finite, as float64."""
    source = elsewhere(X)
    if source is None:
        given = checked(
            who, trusted(who, X), accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2
        )
        given = check_csr(who, given) if sp.issparse(given) else given
        if given.shape[0] > _MOST_ROWS:
            given = given[np.sort(rng.permutation(given.shape[0])[:_MOST_ROWS])]
        return np.asarray(dense(who, given), dtype=np.float64)
    source = as_source(source, None, resolve_n_threads(None, who))
    if source.n_rows < 2:
        there = f"{source.n_rows} row{'s' * (source.n_rows != 1)}"
        raise ValueError(f"{who}: X has {there}, which tell nothing; pass two or more.")
    drawn = source.sample(_MOST_ROWS, 2, rng)
    rows = drawn.take(np.arange(drawn.n_rows))
    check_finite(who, rows, source.names)
    return rows


def _principal(rows: Floats) -> Floats:
    """The principal components that vary, those of most variance first; one at least.

    O(n d min(n, d)).
    """
    unit = np.abs(rows).max()
    rows = rows / unit if unit > 0 else rows
    rows = rows - rows.mean(axis=0)
    unit = np.abs(rows).max()
    rows = rows / unit if unit > 0 else rows
    if rows.shape[0] < rows.shape[1]:
        left, deviations, _ = np.linalg.svd(rows, full_matrices=False)
        kept = deviations > deviations[0] * 1e-6
        kept[0] = True
        return np.ascontiguousarray((left * deviations)[:, kept])
    variances, axes = np.linalg.eigh(rows.T @ rows)
    kept = variances > variances[-1] * 1e-12
    kept[-1] = True
    return np.ascontiguousarray(rows @ axes[:, kept][:, ::-1])


def _dip_of_distances(rows: Floats) -> DipTest:
    """The dip of all distances between rows, with the chance of one in as many values as rows."""
    found = dip_test(condensed(rows, "euclidean"), method="table")
    p_value = dip_p_value(found.statistic, rows.shape[0])
    return DipTest(found.statistic, p_value, found.low, found.high, found.n_values)


def _dips_of_columns(rows: Floats) -> dict[int, DipTest]:
    """The dips of columns by their places, but of those of few values.

    One column is its own principal component, and not tested twice.
    """
    return {
        place: dip_test(column, method="table")
        for place, column in enumerate(rows.T)
        if rows.shape[1] > 1 and n_values(column) > FEW_VALUES
    }


def _verdict(found: Tendency, rows: Floats) -> str:
    """What was found, in a sentence."""
    p_value = found.p_value
    chance = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
    if (rows == rows[0]).all():
        return "All rows are equal, so there is nothing to cluster."
    if rows.shape[0] < _FEWEST_ROWS:
        return f"{rows.shape[0]} rows are too few to tell structure from chance."
    if p_value > LEVEL:
        return (
            f"No structure was found ({chance}): the rows could be one heap, so clusters of them "
            "may be mere slices of it."
        )
    best = int(np.argmin([test.p_value for test in found.components]))
    share = 2 if found.columns else 1
    reasons = {
        f"principal component {best + 1} has more than one mode": share * found.component_p_value,
        "a column by itself has more than one mode": share * found.column_p_value,
        "the distances between rows have more than one mode": found.distances.p_value,
        f"the gap between two of {found.replay.n_clusters} clusters is deeper than rows without "
        "structure show": found.replay.p_value,
    }
    told = [reason for reason, p in reasons.items() if 3 * p <= LEVEL]
    n_distinct = np.unique(rows, axis=0).shape[0]
    equal = f"; but only {n_distinct} of {rows.shape[0]} rows differ, which alone looks like modes"
    listed = ", and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    return (
        f"There is structure ({chance}): {listed}"
        f"{equal if 2 * n_distinct <= rows.shape[0] else ''}."
    )
