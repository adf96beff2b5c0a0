"""The methods that `best_method` compares: the labels that each gives for a number of clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._labels import number_by_first
from coterie.centroid import KMeans
from coterie.density import HDBSCAN
from coterie.density._condense import condense, single_linkage
from coterie.density._select import Selection, belong, select_clusters
from coterie.hierarchy import AgglomerativeClustering
from coterie.hierarchy._cut import cut_tree
from coterie.hierarchy._genie import genie_table
from coterie.hierarchy.linkage import linkage
from coterie.mixture import GaussianMixture
from coterie.neighbors import Index
from coterie.select._fits import labels_of
from coterie.select._quiet_fit import fit_quietly
from coterie.select._without_noise import nearest_for_noise

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

#: Above so many rows Ward's tree is that of so many micro-clusters.
WARD_ROWS, WARD_MICRO = 20_000, 2000
#: Above so many rows k-means and mixtures start once.
RESTART_ROWS = 50_000
GINI_THRESHOLDS = (0.1, 0.3, 0.5, 0.7)
MIN_SAMPLES = (5, 10, 20)
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


class Method(ABC):
    """A method, its `name`, and what it makes of the rows for any number of clusters."""

    name: str

    @abstractmethod
    def labels(self, k: int) -> Labels | None:
        """Labels of all rows, or None where the method has no partition into k clusters."""

    @abstractmethod
    def estimator(self, k: int) -> Any:
        """The estimator that gives them, not fitted."""

    def told(self, k: int) -> dict[str, Any]:
        """The parameters of the estimator that are not its defaults."""
        estimator = self.estimator(k)
        default = type(estimator)().get_params()
        return {
            name: value
            for name, value in estimator.get_params().items()
            if name in ("n_clusters", "n_components") or value != default[name]
        }

    def fitted(self, k: int, X: Any) -> Any:
        """The estimator, fitted to the rows as they were given."""
        return fit_quietly(self.estimator(k), X)


class Restarted(Method):
    """k-means or a mixture: fitted anew for each number of clusters, from the same seed."""

    def __init__(self, name: str, rows: Floats, count: str, kind: Any, **params: Any) -> None:
        self.name, self._rows, self._count = name, rows, count
        self._kind, self._params = kind, params

    def estimator(self, k: int) -> Any:
        return self._kind(**{self._count: k}, **self._params)

    def labels(self, k: int) -> Labels | None:
        if len(self._rows) < self._rows_needed(k):
            return None
        try:
            return labels_of(fit_quietly(self.estimator(k), self._rows), self._rows)
        except ValueError:  # such as a covariance that has no inverse
            return None

    def _rows_needed(self, k: int) -> int:
        """Rows that covariances with an inverse take: one more than columns for each."""
        n_covariances = {"full": k, "tied": 1}.get(self._params.get("covariance_type", ""), 0)
        return n_covariances * (self._rows.shape[1] + 1)


class Merged(Method):
    """A linkage: one table of merges, cut into any number of clusters."""

    def __init__(self, name: str, table: Floats, **params: Any) -> None:
        self.name, self._params = name, params
        self._children = table[:, :2].astype(np.int64)

    def estimator(self, k: int) -> Any:
        return AgglomerativeClustering(k, **self._params)

    def labels(self, k: int) -> Labels:
        return cut_tree(self._children, k)


class FromMeans(Method):
    """k-means, started once from the means of a linkage's clusters."""

    def __init__(self, start: Merged, rows: Floats) -> None:
        self.name, self._start, self._rows = f"k-means from {start.name}", start, rows

    def estimator(self, k: int) -> Any:
        labels = self._start.labels(k)
        sizes = np.bincount(labels, minlength=k)
        sums = [np.bincount(labels, column, k) for column in self._rows.T]
        return KMeans(k, init=np.transpose(sums) / sizes[:, None], n_init=1)

    def told(self, k: int) -> dict[str, Any]:
        return {"n_clusters": k, "init": f"means of {self._start.name}"}

    def labels(self, k: int) -> Labels:
        return labels_of(fit_quietly(self.estimator(k), self._rows), self._rows)


class DensestParts(Method):
    """HDBSCAN's leaves with the largest `min_cluster_size` that leaves k of them.

    The number of leaves falls as the size grows, so the size is found by halving. Noise rows get
    the label of the nearest row that has one.
    """

    def __init__(self, name: str, index: Index, rows: Floats, min_samples: int) -> None:
        self.name, self._rows, self._min_samples = name, rows, min_samples
        cores, _ = index.kth_distances(min_samples)
        self._merges = single_linkage(index.spanning_tree(cores))
        self._rule = Selection("leaf")
        self._sizes: dict[int, int] = {}

    def estimator(self, k: int) -> Any:
        return HDBSCAN(self._size(k) or 2, self._min_samples, cluster_selection_method="leaf")

    def labels(self, k: int) -> Labels | None:
        size = self._size(k)
        if size is None:
            return None
        tree = condense(self._merges, size)
        flat = select_clusters(tree, self._rule)
        own = belong(tree, flat, tree.row_cluster, tree.row_lambda).labels
        return nearest_for_noise(self._rows, own)

    def _n_leaves(self, size: int) -> int:
        if size not in self._sizes:
            tree = condense(self._merges, size)
            self._sizes[size] = select_clusters(tree, self._rule).n_clusters
        return self._sizes[size]

    def _size(self, k: int) -> int | None:
        """The largest size with k leaves; None where no size has just as many."""
        low, high = 2, len(self._rows) // k + 1
        if high <= low or self._n_leaves(low) < k:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._n_leaves(middle) >= k else (low, middle)
        return low if self._n_leaves(low) == k else None


def fits_for(rows: Floats, seed: int) -> list[Method]:
    """The methods that are fitted anew for each number of clusters: k-means and mixtures."""
    n_init = 10 if len(rows) <= RESTART_ROWS else 1
    found: list[Method] = [
        Restarted("k-means", rows, "n_clusters", KMeans, n_init=n_init, random_state=seed)
    ]
    for kind in COVARIANCE_TYPES:
        params = {
            "covariance_type": kind, "n_init": min(3, n_init), "random_state": seed,
            "reg_covar": "auto",  # a floor in the units of each column, as rows have one for all
        }  # fmt: skip
        name = f"Gaussian mixture ({kind})"
        found.append(Restarted(name, rows, "n_components", GaussianMixture, **params))
    return found


def ward_for(rows: Floats, seed: int, n_threads: int) -> Merged:
    """Ward's tree, of micro-clusters where rows are many."""
    compress: dict[str, Any] = {}
    if len(rows) > WARD_ROWS:
        compress = {"compress": WARD_MICRO, "random_state": seed}
    table = linkage(rows, "ward", n_threads=n_threads, **compress)
    return Merged("Ward", table, linkage="ward", **compress)


def spanning_for(rows: Floats, n_threads: int) -> list[Method]:
    """The methods that cut a spanning tree, built here, once for all numbers of clusters.

    Memory O(n d): no method is here that needs the distances of all pairs.
    """
    index = Index.over("best_method", rows, "euclidean", "auto", n_threads, {})
    tree = index.spanning_tree()
    found: list[Method] = []
    for gini in GINI_THRESHOLDS:
        params = {"linkage": "genie", "gini_threshold": gini}
        found.append(Merged(f"Genie ({gini})", genie_table(tree, gini), **params))
    found.append(Merged("single linkage", genie_table(tree, 1.0), linkage="single"))
    found += [
        DensestParts(f"HDBSCAN (min_samples={m})", index, rows, m)
        for m in MIN_SAMPLES
        if m < len(rows)
    ]
    return found


def usable(labels: Labels | None, k: int) -> Labels | None:
    """Labels numbered by their first rows, or None where they are not just k clusters."""
    if labels is None:
        return None
    numbered = number_by_first(labels)
    return numbered if int(numbered.max()) == k - 1 else None
