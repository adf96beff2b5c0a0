"""The methods fit for a table, and what each makes of its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from coterie import (
    HDBSCAN,
    AgglomerativeClustering,
    GaussianMixture,
    KMeans,
    KMedoids,
    MixedMixture,
    StudentTMixture,
)
from coterie._labels import number_by_first
from coterie.data.raw_table import RawTable
from coterie.report._prepared import Prepared
from coterie.select._fits import labels_of
from coterie.select._quiet_fit import fit_quietly
from coterie.select._without_noise import nearest_for_noise

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: What `best_method` calls its candidates, and their estimators.
_KINDS = {
    "k-means": KMeans, "Gaussian mixture": GaussianMixture, "Ward": AgglomerativeClustering,
    "Genie": AgglomerativeClustering, "single linkage": AgglomerativeClustering,
    "HDBSCAN": HDBSCAN,
}  # fmt: skip
#: A mixture with full covariances has d^2 / 2 numbers per component: not in more places than this.
MOST_FULL = 12
#: Above so many rows the distances of all pairs are too many for one method among several.
_MOST_MEDOID_ROWS = 3000


@dataclass(frozen=True)
class Recipe:
    """A method with its parameters; `on_cells` where it takes columns as they are, not points."""

    name: str
    estimator: Any
    on_cells: bool = False

    @property
    def family(self) -> str:
        """The method without what tells its variants apart."""
        return self.name.partition(" (")[0]

    @property
    def is_centred(self) -> bool:
        """Whether clusters are where a model says, not where rows lie next to each other."""
        return not isinstance(self.estimator, (AgglomerativeClustering, HDBSCAN))

    def fit(self, rows: Floats, cells: RawTable) -> Any:
        """A fresh copy of the estimator, fitted."""
        return fit_quietly(clone(self.estimator), cells if self.on_cells else rows)

    def labels(self, rows: Floats, cells: RawTable) -> Labels | None:
        """Labels numbered by their first rows, none of them noise; None where it fails."""
        try:
            model = self.fit(rows, cells)
            found = labels_of(model, cells if self.on_cells else rows)
        except (ValueError, np.linalg.LinAlgError):  # such as a covariance without an inverse
            return None
        filled = nearest_for_noise(rows, np.asarray(found, dtype=np.int64))
        return None if filled is None else number_by_first(filled)

    def for_share(self, share: float) -> Recipe:
        """The same for a share of the rows: sizes of clusters shrink with them."""
        if not isinstance(self.estimator, HDBSCAN):
            return self
        size = max(2, round(share * float(self.estimator.min_cluster_size)))
        return replace(self, estimator=clone(self.estimator).set_params(min_cluster_size=size))


def recipe_of(name: str, parameters: dict[str, Any]) -> Recipe:
    """The recipe of a candidate of `best_method`."""
    kind = next(kind for start, kind in _KINDS.items() if name.startswith(start))
    return Recipe(name, kind(**parameters))


def more_recipes(ready: Prepared, rows: Floats, k: int, seed: int) -> list[Recipe]:
    """What else fits the columns: heavy tails among numbers, tables of several kinds."""
    n_rows, n_places = rows.shape
    found: list[Recipe] = []
    if ready.is_discrete:
        mixed = MixedMixture(k, kinds=mixture_kinds(ready), n_init=3, random_state=seed)
        found.append(Recipe("Mixed mixture", mixed, on_cells=True))
        if n_rows <= _MOST_MEDOID_ROWS:
            found.append(Recipe("k-medoids (Gower)", KMedoids(k, metric="gower"), on_cells=True))
    elif n_places <= MOST_FULL:
        found.append(Recipe("Student-t mixture", StudentTMixture(k, n_init=3, random_state=seed)))
    return found


def mixture_kinds(ready: Prepared) -> list[str]:
    """What a mixed mixture is told of the columns that are used."""
    kinds = {"binary": "categorical", "categorical": "categorical"}
    return [kinds.get(kind.kind, "numeric") for kind in ready.used]
