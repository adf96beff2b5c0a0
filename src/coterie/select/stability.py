"""How well each cluster would be found again: resampling, and the best match by Jaccard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import CALLABLE, NONE, Rule, check_params, one_of, real, whole
from coterie._distinct import distinct
from coterie._in_memory import held
from coterie._progress import says_stop
from coterie._random import check_random_state
from coterie.evaluate import contingency_matrix
from coterie.select._fits import check_estimator, labels_of, seeded
from coterie.select._problem import in_memory, take
from coterie.select._quiet_fit import fit_quietly
from coterie.select.k_choice import SelectionProgress

Floats = npt.NDArray[np.float64]

#: Hennig's bars: below the first a cluster has dissolved, from the second on it is found again.
DISSOLVED, RECOVERED = 0.5, 0.75

_RULES = {
    "scheme": one_of("bootstrap", "subsample"),
    "n_resamples": whole(2),
    "share": Rule(lambda value: real(0, 1).allows(value) and value > 0, "a share of the rows"),
    "level": Rule(
        lambda value: real(0, 1).allows(value) and 0 < value < 1, "a number between 0 and 1"
    ),
    "callback": NONE | CALLABLE,
}


@dataclass(frozen=True)
class Stability:
    """How well clusters come back; `stability` makes one. Noise (label -1) is no cluster.

    Attributes
    ----------
    clusters : array of shape (n_clusters,)
        Labels of the clusters.
    sizes : array of shape (n_clusters,)
        Rows in each.
    jaccard : array of shape (n_clusters,)
        The mean, over resamples, of the Jaccard index with the cluster that is most alike.
    low, high : array of shape (n_clusters,)
        Between these lie the indices of a share `level` of the resamples.
    recovered, dissolved : array of shape (n_clusters,)
        The share of resamples with an index of at least 0.75, and of at most 0.5.
    samples : array of shape (n_resamples, n_clusters)
        All indices; NaN where a resample had no row of a cluster.
    labels : array of shape (n_rows,)
        The clustering that was judged.
    model : estimator
        What made it.
    """

    clusters: npt.NDArray[Any]
    sizes: npt.NDArray[np.int64]
    jaccard: Floats
    low: Floats
    high: Floats
    recovered: Floats
    dissolved: Floats
    samples: Floats
    labels: npt.NDArray[Any]
    model: Any

    @property
    def table(self) -> list[dict[str, float]]:
        """A row for every cluster."""
        columns = {
            "cluster": self.clusters, "size": self.sizes, "jaccard": self.jaccard,
            "low": self.low, "high": self.high,
            "recovered": self.recovered, "dissolved": self.dissolved,
        }  # fmt: skip
        return [
            {name: values[j].item() for name, values in columns.items()}
            for j in range(len(self.clusters))
        ]

    @property
    def summary(self) -> str:
        """Which clusters to trust, in words."""
        kinds = {
            "stable (0.85 or more)": self.jaccard >= 0.85,
            "likely (0.75 to 0.85)": (self.jaccard >= RECOVERED) & (self.jaccard < 0.85),
            "a pattern with doubtful members (0.6 to 0.75)": (self.jaccard >= 0.6)
            & (self.jaccard < RECOVERED),
            "not to be trusted (below 0.6)": self.jaccard < 0.6,
        }
        found = [
            f"{words}: {', '.join(str(label) for label in self.clusters[here].tolist())}"
            for words, here in kinds.items()
            if here.any()
        ]
        if not found:
            return "There are no clusters."
        over = f"over {len(self.samples)} resamples"
        return f"Clusters by mean Jaccard index {over}, {'; '.join(found)}."


def stability(
    X: Any,
    estimator: Any,
    *,
    scheme: str = "bootstrap",
    n_resamples: int = 100,
    share: float = 0.5,
    level: float = 0.95,
    random_state: Any = None,
    callback: Callable[[SelectionProgress], Any] | None = None,
) -> Stability:
    """Cluster resampled rows again and again, and tell how well each cluster comes back.

    Hennig (2007): for a cluster C and the clusters D of a resample, max over D of the Jaccard index
    |C and D| / |C or D|, both restricted to rows of the resample. A row that was drawn twice counts
    once in it, but twice in the fit. A cluster can be stable for reasons other than being real:
    outliers far away are, and so is the tree cut into two of anything.

    Time: `n_resamples` fits. Memory: that of a fit, a copy of the rows, a number for each cluster
    and resample.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_features), or what says where rows are; distances
        where the metric of the estimator is "precomputed"
        Rows elsewhere are taken into memory.
    estimator
        Anything with `fit` and labels: centroids, mixtures, trees, densities.
    scheme : {"bootstrap", "subsample"}, default="bootstrap"
        As many rows with replacement, or a share of them without.
    n_resamples : int, default=100
    share : float, default=0.5
        Of the rows in a subsample.
    level : float, default=0.95
        Share of the resamples between `low` and `high`.
    random_state : int, RandomState or None, default=None
        Also of an estimator that has none of its own.
    callback : callable or None, default=None
        Called after every fit with a `SelectionProgress`; returning True ends with the resamples so
        far, of which there must be two.

    Returns
    -------
    Stability
        `jaccard`, `low`, `high`, `recovered`, `dissolved`, `summary`, `table`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> from coterie.select import stability
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 0.1, (30, 2)) for m in (0, 1, 2)])
    >>> stability(X, KMeans(3), n_resamples=10, random_state=0).jaccard.tolist()
    [1.0, 1.0, 1.0]
    """
    who = "stability"
    given = {name: value for name, value in locals().items() if name in _RULES}
    check_params(who, given, _RULES)
    check_estimator(who, estimator)
    X = in_memory(who, held(who, X, "resampling"))
    rng = check_random_state(random_state)
    model = fit_quietly(seeded(estimator, rng), X)
    labels = labels_of(model, X)
    clusters = distinct(labels[labels >= 0])
    square = getattr(estimator, "metric", None) == "precomputed"
    n_rows, samples = len(labels), []
    for done in range(n_resamples):
        drawn = _draw(n_rows, scheme, share, rng)
        again = labels_of_rows(seeded(estimator, rng), take(X, drawn, square=square))
        once = first_of_each(drawn)
        samples.append(best_jaccard(labels[drawn[once]], again[once], clusters))
        told = SelectionProgress("stability", len(clusters), done + 1)
        if callback is not None and says_stop(callback(told)) and done > 0:
            break
    return _published(np.array(samples).reshape(len(samples), -1), clusters, labels, level, model)


def labels_of_rows(model: Any, rows: Any) -> npt.NDArray[Any]:
    """Labels of rows, by a model fitted to them."""
    return labels_of(fit_quietly(model, rows), rows)


def _draw(
    n_rows: int, scheme: str, share: float, rng: np.random.RandomState
) -> npt.NDArray[np.int64]:
    """Rows of a resample, by number, in rising order."""
    if scheme == "bootstrap":
        return np.sort(rng.randint(n_rows, size=n_rows).astype(np.int64))
    size = min(n_rows, max(2, round(share * n_rows)))
    return np.sort(rng.permutation(n_rows)[:size].astype(np.int64))


def first_of_each(drawn: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Where sorted row numbers occur for the first time."""
    return np.concatenate([[True], drawn[1:] != drawn[:-1]])


def best_jaccard(
    labels: npt.NDArray[Any], again: npt.NDArray[Any], clusters: npt.NDArray[Any]
) -> Floats:
    """The largest Jaccard index of every cluster with one of the other labelling.

    NaN for a cluster without rows here; 0 where none of its rows is in a cluster of the other.
    """
    found = np.full(len(clusters), np.nan)
    present = distinct(labels[labels >= 0])
    if not present.size:
        return found
    others = distinct(again)
    both = np.asarray(contingency_matrix(labels, again), dtype=np.float64)
    both = both[np.isin(distinct(labels), present)]
    sizes = both.sum(axis=1)[:, np.newaxis]
    other_sizes = np.array([np.count_nonzero(again == other) for other in others])
    alike = both / (sizes + other_sizes - both)
    alike[:, others < 0] = 0.0  # noise is no cluster
    found[np.isin(clusters, present)] = alike.max(axis=1)
    return found


def _published(
    samples: Floats, clusters: npt.NDArray[Any], labels: npt.NDArray[Any], level: float, model: Any
) -> Stability:
    """Means, intervals and shares over the resamples that had rows of a cluster."""
    known = ~np.isnan(samples)
    counts = np.maximum(known.sum(axis=0), 1)
    columns = [samples[here, j] for j, here in enumerate(known.T)]
    edges = [(1 - level) / 2, (1 + level) / 2]
    bounds = np.array([np.quantile(c, edges) if c.size else (np.nan, np.nan) for c in columns])
    bounds = bounds.reshape(-1, 2)
    return Stability(
        clusters=clusters,
        sizes=np.array([np.count_nonzero(labels == label) for label in clusters], dtype=np.int64),
        jaccard=np.array([c.mean() if c.size else np.nan for c in columns]),
        low=bounds[:, 0],
        high=bounds[:, 1],
        recovered=np.asarray((samples >= RECOVERED).sum(axis=0) / counts),
        dissolved=np.asarray((samples <= DISSOLVED).sum(axis=0) / counts),
        samples=samples,
        labels=labels,
        model=model,
    )
