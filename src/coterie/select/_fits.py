"""Fits of one estimator along numbers of clusters: warm starts, or one tree for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from coterie._random import check_random_state
from coterie.centroid import KMeans
from coterie.data import Source, as_source, is_dask, is_elsewhere
from coterie.data import open as open_rows
from coterie.hierarchy import AgglomerativeClustering
from coterie.mixture import GaussianMixture
from coterie.select._grow import add_centers, halved, start_at, table_of, with_halves
from coterie.select._label_starts import LabelStarts
from coterie.select._quiet_fit import fit_quietly

Labels = npt.NDArray[Any]
#: Is told after every fit of what has just been done.
Tick = Callable[[str, int], None]

#: Iterations after which the halves of components are compared.
_TRIAL = 3
#: Parameters that say how many clusters there are.
_COUNTS = "n_clusters", "n_components"


def check_estimator(who: str, estimator: Any) -> None:
    """Refuse what is no estimator, such as a name or a class."""
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ValueError(
            f"{who}: estimator={estimator!r} is no estimator; pass one, such as KMeans()."
        )


def count_of(who: str, estimator: Any) -> str:
    """The parameter of an estimator that says how many clusters to find."""
    known = estimator.get_params(deep=False)
    for name in _COUNTS:
        if name in known:
            return name
    raise ValueError(
        f"{who}: estimator={type(estimator).__name__} has neither n_clusters nor n_components, so "
        "there is no number to choose; pass one that has."
    )


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """A fresh copy of an estimator whose randomness, where it was left open, comes from `rng`."""
    model, seed = clone(estimator), int(rng.randint(2**31))
    if "random_state" in model.get_params(deep=False) and model.random_state is None:
        model.set_params(random_state=seed)
    return model


def n_rows_of(X: Any) -> int:
    """How many rows there are, wherever they live."""
    if is_elsewhere(X):
        return open_rows(X).n_rows
    return as_source(X).n_rows if is_dask(X) or isinstance(X, Source) else len(X)


def labels_of(model: Any, X: Any) -> Labels:
    """Labels of the rows of the fit."""
    return np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))


class Fits(ABC):
    """Models of the same rows, one for each number of clusters; each is made when asked for."""

    def __init__(self, estimator: Any, X: Any, ks: Sequence[int], tick: Tick) -> None:
        self.estimator, self.X, self.ks, self.tick = estimator, X, tuple(ks), tick
        self._labels: dict[int, Labels] = {}

    @abstractmethod
    def model(self, k: int) -> Any:
        """The model with k clusters."""

    def labels(self, k: int) -> Labels:
        """Labels of the rows with k clusters."""
        if k not in self._labels:
            self._labels[k] = labels_of(self.model(k), self.X)
        return self._labels[k]

    def assign(self, k: int, rows: Any) -> Labels:
        """Labels the model with k clusters has for other rows."""
        return np.asarray(self.model(k).predict(rows))


class OneTree(Fits):
    """One tree of merges, cut at every number of clusters."""

    def __init__(self, estimator: Any, X: Any, ks: Sequence[int], tick: Tick) -> None:
        super().__init__(estimator, X, ks, tick)
        whole = clone(estimator).set_params(n_clusters=max(ks), distance_threshold=None)
        self._tree = fit_quietly(whole, X)
        tick("tree", max(ks))

    def model(self, k: int) -> Any:
        return self._tree.recut(self.X, k)

    def labels(self, k: int) -> Labels:
        if k not in self._labels:
            self._labels[k] = self._tree.cut(k)
        return self._labels[k]


class OneByOne(Fits):
    """A fit for each number of clusters, in rising order, each from the last where that helps."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        ks: Sequence[int],
        tick: Tick,
        starts: Sequence[LabelStarts] = (),
    ) -> None:
        super().__init__(estimator, X, ks, tick)
        self._starts = starts
        self._count = count_of("choose_k", estimator)
        self._blank = clone(estimator)
        self.made: dict[int, Any] = {}

    def model(self, k: int) -> Any:
        for lower in (other for other in sorted(self.ks) if other <= k):
            if lower not in self.made:
                self.made[lower] = self._fit(lower)
                self.tick("fit", lower)
        return self.made[k]

    def _fit(self, k: int) -> Any:
        wanted = deepcopy(self._blank)  # what a clone is, without reading its signature anew
        setattr(wanted, self._count, k)
        runs = self._fresh(wanted, k)
        if self.made:
            runs.append(grow(self.made[max(self.made)], wanted, self.X))
        return reduce(_better, (run for run in runs if run is not None))

    def _fresh(self, wanted: Any, k: int) -> list[Any]:
        """Fits from the starts that were handed down, or from the estimator's own."""
        starts = [starts.start(k, wanted.covariance_type) for starts in self._starts]
        known = [start for start in starts if start is not None]
        if not known:
            return [fit_quietly(copy(wanted), self.X)]
        return [_go_on(wanted, self.X, **start._asdict()) for start in known]


def fits_along(estimator: Any, X: Any, ks: Sequence[int], tick: Tick) -> Fits:
    """Fits along numbers of clusters, in the cheapest way the estimator allows."""
    kind = OneTree if isinstance(estimator, AgglomerativeClustering) else OneByOne
    return kind(estimator, X, ks, tick)


def grow(before: Any, wanted: Any, X: Any) -> Any:
    """Fit `wanted` from where `before`, with fewer clusters, ended; None where there is no way.

    k-means goes on with more centres, drawn as k-means++ does. A mixture of Gaussians goes on with
    the component split that makes the rows likeliest, the halves being those of a few iterations.
    """
    if isinstance(wanted, KMeans) and isinstance(wanted.init, str):
        rows, n_more = table_of(X), wanted.n_clusters - before.n_clusters
        if rows is None:
            return None
        rng = check_random_state(wanted.random_state)
        centers = add_centers(rows, before.cluster_centers_, n_more, rng)
        return None if centers is None else _go_on(wanted, X, init=centers)
    if isinstance(wanted, GaussianMixture) and wanted.n_components == before.n_components + 1:
        given = (wanted.weights_init, wanted.means_init, wanted.precisions_init)
        if all(part is None for part in given):
            return _grow_mixture(before, wanted, X)
    return None


def _grow_mixture(before: Any, wanted: Any, X: Any) -> Any:
    """Cut all components in two at once, see which cut pays most, and go on with that one alone."""
    k, halves = before.n_components, halved(before)
    if n_rows_of(X) >= 2 * k:
        tried = {"n_components": 2 * k, "max_iter": _TRIAL}
        halves = _go_on(wanted, X, **tried, **start_at(halves)._asdict())
    grown = [with_halves(before, halves, j) for j in range(k)]
    best = grown[0] if k == 1 else max(grown, key=lambda model: model.score(X))
    return _go_on(wanted, X, **start_at(best)._asdict())


def _go_on(wanted: Any, X: Any, **start: Any) -> Any:
    """The wanted model from a given start; a parameter of the start does not stay in the model."""
    before = {name: getattr(wanted, name) for name in (*start, "n_init")}
    model = copy(wanted)  # which has not been fitted, so that it is a clone
    vars(model).update({"n_init": 1, **start})
    fit_quietly(model, X)
    vars(model).update(before)
    return model


def _better(one: Any, other: Any) -> Any:
    """The model with the lower sum of squares or the higher bound; of equals the first."""
    if hasattr(one, "inertia_"):
        return other if other.inertia_ < one.inertia_ else one
    return other if other.lower_bound_ > one.lower_bound_ else one
