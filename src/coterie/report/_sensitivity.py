"""What would change the answer: another scale, no outliers, another method, another seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from coterie._distinct import distinct
from coterie.data.raw_table import RawTable
from coterie.evaluate import adjusted_rand_score
from coterie.neighbors import Index
from coterie.report._chosen import Chosen
from coterie.report._shortlist import Recipe
from coterie.select.best_method import best_method

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: The share of rows that are left out as outliers, and the neighbours that tell them.
_OUTLIERS, _NEIGHBORS = 0.05, 10


@dataclass(frozen=True)
class Change:
    """Something done otherwise: the adjusted Rand index with the answer, and what it says."""

    what: str
    agreement: float
    n_clusters: int

    @property
    def sentence(self) -> str:
        """The index in words."""
        words = (
            "the answer stays" if self.agreement >= 0.9
            else "most of the answer stays" if self.agreement >= 0.7
            else "part of the answer changes" if self.agreement >= 0.4
            else "the answer changes"
        )  # fmt: skip
        return f"{self.what}: {words}."


def changes(
    chosen: Chosen, rows: Floats, cells: RawTable, seed: int, has_time: Callable[[], bool]
) -> Iterator[Change]:
    """What comes out when something is done otherwise, as long as there is time."""
    best = chosen.best
    runner_up = chosen.runner_up
    if runner_up is not None:
        yield _compared(f"The runner-up, {runner_up.recipe.name}", best.labels, runner_up.labels)
    for way in (_by_ranks, _without_outliers, _other_seed):
        if not has_time():
            return
        found = way(best.recipe, best.labels, rows, cells, seed)
        if found is not None:
            yield found


def _by_ranks(
    recipe: Recipe, labels: Labels, rows: Floats, cells: RawTable, seed: int
) -> Change | None:
    """Every column by its ranks, so that no long tail counts."""
    if recipe.on_cells:
        return None
    ranks = rankdata(rows, axis=0)
    spread = ranks.std(axis=0)
    scale = rows.std(axis=0) / np.where(spread > 0, spread, 1.0)
    again = recipe.labels(np.ascontiguousarray((ranks - ranks.mean(axis=0)) * scale), cells)
    return None if again is None else _compared("Columns by their ranks", labels, again)


def _without_outliers(
    recipe: Recipe, labels: Labels, rows: Floats, cells: RawTable, seed: int
) -> Change | None:
    """Without the rows that have no others near."""
    if len(rows) < 2 * _NEIGHBORS:
        return None
    far = Index(rows).knn(_NEIGHBORS + 1).dists[:, -1]
    n_kept = len(rows) - max(1, round(_OUTLIERS * len(rows)))
    kept = np.sort(np.argsort(far, kind="stable")[:n_kept])
    again = recipe.labels(np.ascontiguousarray(rows[kept]), cells.take(kept))
    what = f"Without the {len(rows) - n_kept:,} rows that lie farthest out"
    return None if again is None else _compared(what, labels[kept], again)


def _other_seed(
    recipe: Recipe, labels: Labels, rows: Floats, cells: RawTable, seed: int
) -> Change | None:
    """The contest of methods once more, with another seed and as many clusters."""
    k = int(labels.max()) + 1
    found = best_method(rows, n_clusters=k, random_state=seed + 1)
    return _compared(f"Another seed, which takes {found.name}", labels, found.labels)


def _compared(what: str, labels: Labels, again: Labels) -> Change:
    return Change(what, float(adjusted_rand_score(labels, again)), len(distinct(again)))
