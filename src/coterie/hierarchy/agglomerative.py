"""Agglomerative clustering: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.cluster import hierarchy
from sklearn.utils.validation import check_is_fitted
from sklearn.utils.validation import check_memory as memory_for

from coterie._base import Clusterer
from coterie._checks import (
    ANY,
    ARRAY,
    CALLABLE,
    FLAG,
    NONE,
    Rule,
    check_enough_rows,
    check_memory,
    one_of,
    real,
    whole,
)
from coterie._doors import checked, given_distances, validated
from coterie._history import Event, Recorder, Stage
from coterie._stored import LATER_RECORDS, Array, Field, Nothing, Parts, Sizes, Whole
from coterie.distance import NAMES, Metric, as_metric, condensed
from coterie.hierarchy._children import children_of
from coterie.hierarchy._cut import count_at_height, cut_early, cut_tree
from coterie.hierarchy._nearest_cluster import ClusterRows, describe_clusters
from coterie.hierarchy._stored import check_cut_tree, check_order
from coterie.hierarchy._table_function import distances_to, table_of, takes_a_table
from coterie.hierarchy.linkage import EUCLIDEAN, GINI, METHODS, Linked, link, warn_of_square

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CACHE = Rule(
    lambda value: isinstance(value, str) or hasattr(value, "cache"), "a path or joblib.Memory"
)


def _gower_of_codes(who: str, learned: Mapping[str, Any]) -> Metric:
    """Gower's metric again, for rows that it has read already."""
    return as_metric("gower", who=who, **learned).of_prepared()


def _build_tree(
    rows: Any,
    method: str,
    metric: Any,
    params: dict[str, Any],
    connectivity: Any,
    compress: int | None,
    random_state: Any,
    gini_threshold: float,
    *,
    n_threads: int | None,
    who: str,
) -> Linked:
    """The merges, a function of values alone: joblib tells by them whether it knows the answer."""
    if isinstance(metric, str) and metric == "gower":
        metric, params = _gower_of_codes(who, params), {}
    elif connectivity is None and takes_a_table(metric, params):
        rows, metric, params = table_of(who, metric, rows, params), "precomputed", {}
    return link(
        rows, method, metric, connectivity=connectivity, compress=compress,
        random_state=random_state, gini_threshold=gini_threshold, n_threads=n_threads, who=who,
        **params,
    )  # fmt: skip


class AgglomerativeClustering(Clusterer):
    """Join the two nearest clusters, again and again, and cut the tree of merges.

    Drop-in for `sklearn.cluster.AgglomerativeClustering`: same parameters, attributes and label
    numbering; plus all eight linkages, the merge table `Z_`, `predict`, and cuts without another
    fit. See `coterie.linkage` for the linkages, time and memory. For `predict` the model keeps the
    centres of the clusters (ward, centroid, median) or a copy of X (the others).

    Parameters
    ----------
    n_clusters : int or None, default=2
        Must be None where `distance_threshold` is given.
    metric : str or callable, default="euclidean"
        A name in `coterie.distance.METRICS`, ``"l1"``, ``"l2"``, ``"precomputed"`` (X holds
        distances) or a function. One that needs two arguments is given two rows; one that can do
        with one, such as ``sklearn.metrics.pairwise.cosine_distances``, is given X and returns the
        distances of all pairs, as in scikit-learn; with `connectivity` every function is given two
        rows. Ward, centroid and median need ``"euclidean"``.
    memory : str, joblib.Memory or None, default=None
        Where to keep the tree, so that another fit of the same X that differs only in
        `n_clusters`, `distance_threshold` or `compute_full_tree` does not build it again. `cut`
        needs neither.
    connectivity : array, sparse matrix or callable, default=None
        Which rows may be joined, (n_rows, n_rows), or ``f(X)`` that returns it.
    compute_full_tree : bool or "auto", default="auto"
        As in scikit-learn: with `connectivity` and many clusters, `children_` stops at
        `n_clusters`. `Z_` is always whole.
    linkage : {"ward", "complete", "average", "single", "weighted", "centroid", "median", "genie"}
    gini_threshold : float from 0 to 1, default=0.3
        Of genie: how unequal the sizes of clusters may be before the smallest have to be joined.
    distance_threshold : float or None, default=None
        Undo merges at this height and above. Not for genie, whose merges are in no order of height.
    compute_distances : bool, default=False
        Accepted for scikit-learn's sake; `distances_` is always there.
    compress : int or None, default=None
        *Approximate*: link so many micro-clusters instead of the rows; see `coterie.linkage`.
    random_state : int, RandomState or None, default=None
        Of `compress`; nothing else is random.
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Attributes
    ----------
    labels_ : int64 array of shape (n_rows,)
        The cluster of each row.
    n_clusters_, n_leaves_, n_connected_components_, n_features_in_ : int
    children_ : int64 array of shape (n_rows - 1, 2)
        What each merge joined; merge i made node n_rows + i.
    distances_ : array of shape (n_rows - 1,)
        Heights of the merges.
    Z_ : array of shape (n_rows - 1, 4)
        The merge table of `scipy.cluster.hierarchy`.
    gower_ : dict
        Under ``metric="gower"``: ranges and categories of the columns, for `predict`.
    history_ : list of dict
        The stages with their seconds.
    events_ : list of dict
        Whether `connectivity` was in pieces and had to be completed.

    Examples
    --------
    >>> from coterie import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2).fit([[0.0], [1], [3], [10], [12]])
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.cut(height=2.5)
    array([1, 1, 2, 0, 0])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "n_leaves_": Whole(2, size="rows"),
        "n_clusters_": Whole(1, size="clusters"),
        "n_connected_components_": Whole(1),
        "Z_": Array("f8", ("merges", 4), finite=False),
        "labels_": Array("i8", ("rows",), 0),
        "children_": Array("i8", ("kept", 2), 0),
        "distances_": Array("f8", ("kept",), finite=False, optional=True),
        "clusters_": Parts(
            {
                "centers": Array("f8", ("clusters", "columns")),
                "sizes": Array("f8", ("clusters",), 1),
            }
        )
        | Parts(
            {
                "rows": Array("f", ("rows", None), finite=False, nan=True) | Nothing(),
                "order": Array("i8", ("rows",), 0),
                "starts": Array("i8", ("clusters",), 0),
                "shares": Array("f8", ("rows",), 0, 1),
            }
        ),
        "gower_": Parts(optional=True),
        "history_": LATER_RECORDS,
        "events_": LATER_RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": NONE | whole(1),
        "metric": one_of(*NAMES, "precomputed") | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "memory": NONE | _CACHE,
        "connectivity": NONE | ARRAY | CALLABLE,
        "compute_full_tree": one_of("auto") | FLAG,
        "linkage": one_of(*METHODS),
        "gini_threshold": GINI,
        "distance_threshold": NONE | real(0),
        "compute_distances": FLAG,
        "compress": NONE | whole(1),
        "n_threads": NONE | whole(1),
        "random_state": ANY,
    }

    labels_: Ints
    children_: Ints
    distances_: Floats
    Z_: Floats
    n_clusters_: int
    n_leaves_: int
    n_connected_components_: int
    history_: list[Stage]
    events_: list[Event]

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        gini_threshold: float = 0.3,
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        compress: int | None = None,
        random_state: Any = None,
        metric_params: Mapping[str, Any] | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.gini_threshold = gini_threshold
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.compress = compress
        self.random_state = random_state
        self.metric_params = metric_params
        self.n_threads = n_threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "gower"
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.allow_nan = tags.input_tags.categorical = self.metric == "gower"
        return tags

    def _metric_params(self) -> dict[str, Any]:
        """Arguments for the metric; given distances have none."""
        if self._is_precomputed() and self.metric_params:
            raise ValueError(
                f"AgglomerativeClustering: metric_params={self.metric_params!r} was given, and "
                "metric='precomputed' takes none; use None."
            )
        return dict(self.metric_params or {})

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the tree of the rows of X and cut it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features), or square distances
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        self._check_together()
        recorder = Recorder()
        rows = self._rows_to_link(X)
        warn_of_square(type(self).__name__, rows, self.metric)
        n_rows = rows.shape[0]
        if self.n_clusters is not None:
            check_enough_rows("AgglomerativeClustering", self.n_clusters, n_rows)
        given = X if self.metric == "gower" else rows
        recorder.stage("rows")
        graph = self.connectivity(given) if callable(self.connectivity) else self.connectivity
        keep = memory_for(self.memory).cache(_build_tree, ignore=["n_threads", "who"])
        linked = keep(
            rows, self.linkage, self.metric, self._known_of_metric(), graph, self.compress,
            self.random_state, self.gini_threshold, n_threads=self._n_threads(),
            who=type(self).__name__,
        )  # fmt: skip
        self.Z_, self.n_connected_components_ = linked.Z, linked.n_connected_components
        recorder.stage("merges")
        if linked.n_connected_components > 1:
            pieces = f"connectivity was in {linked.n_connected_components} pieces"
            recorder.event("connected", f"{pieces}, which were joined where they are closest")
        self.n_leaves_ = n_rows
        self._cut_first_time(children_of(linked, self.metric, connected=graph is not None))
        self._describe(rows)
        recorder.stage("cut")
        if (n_apart := self._n_apart()) < self.n_clusters_:
            recorder.event(
                "equal rows",
                f"n_clusters={self.n_clusters_} parted rows that are equal: {n_apart} of the "
                "clusters differ; lower n_clusters",
            )
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def _n_apart(self) -> int:
        """How many of the clusters that were asked for differ; the others are of equal rows.

        Such are parted where the cut undoes a merge at height 0. Of the linkages by midpoints and
        of genie, clusters at height 0 may differ, and so may those that rows were compressed to.
        """
        differ = self.linkage in ("centroid", "median", "genie") or self.compress is not None
        if self.n_clusters in (None, 1) or differ:
            return self.n_clusters_
        return int(np.count_nonzero(self.Z_[1 - self.n_clusters_ :, 2])) + 1

    def _rows_to_link(self, X: Any) -> Any:
        """Checked rows; a memory map that will be compressed is left on disk."""
        who = type(self).__name__
        if isinstance(X, np.memmap) and self.compress is not None:
            return self._check_rows(X, reset=True)
        if self.metric == "gower":  # of mixed tables with missing cells; knows how to read them
            validated(self, X, skip_check_array=True)
            metric = as_metric("gower", X, who=who, **self._metric_params())
            self.gower_ = dict(metric.learned)
            codes = metric.prepare(X)
            return checked(who, codes, ensure_all_finite=False, ensure_min_samples=2)
        if self._is_precomputed():
            return given_distances(self, X, None, sparse=False, reset=True)
        return self._dense_rows(X, reset=True, at_least=2)

    def _known_of_metric(self) -> dict[str, Any]:
        """Arguments for the metric; of Gower's, with what was learned from the rows of the fit."""
        return self.gower_ if self.metric == "gower" else self._metric_params()

    def _measure_again(self, X: Any) -> tuple[Any, Metric | None]:
        """Other rows like those of the fit, and the metric of the fit; or distances and None."""
        who = type(self).__name__
        if self.metric == "gower":
            validated(self, X, skip_check_array=True, reset=False)
            codes = as_metric("gower", who=who, **self.gower_).prepare(X)
            return codes, _gower_of_codes(who, self.gower_)
        if self._is_precomputed():
            return given_distances(self, X, self.n_leaves_, sparse=False), None
        rows = self._dense_rows(X, reset=False)
        fitted = self.clusters_.get("rows")  # from which the metric learns again
        if self._takes_a_table():
            assert (
                fitted is not None
            )  # means, of which there are no rows, need the Euclidean metric
            return distances_to(who, self.metric, rows, fitted, self._metric_params()), None
        learn_from = rows if fitted is None else fitted
        return rows, as_metric(self.metric, learn_from, who=who, **self._metric_params())

    def _takes_a_table(self) -> bool:
        return self.connectivity is None and takes_a_table(self.metric, self._metric_params())

    def _check_together(self) -> None:
        """Refuse parameters that contradict each other."""
        who = "AgglomerativeClustering"
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"{who}: Exactly one of n_clusters and distance_threshold has to be set, and the "
                f"other needs to be None; n_clusters={self.n_clusters} and "
                f"distance_threshold={self.distance_threshold} were given."
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise ValueError(
                f"{who}: compute_full_tree must be True if distance_threshold is set; leave it "
                "'auto'."
            )
        self._check_heights(who, "distance_threshold", self.distance_threshold)
        if self.linkage in EUCLIDEAN and self.metric not in ("euclidean", "l2"):
            raise ValueError(
                f"{who}: {self.metric} was provided as metric. {self.linkage.capitalize()} can "
                "only work with euclidean distances (i.e. 'euclidean' and 'l2'); use one of "
                "these, or another linkage."
            )

    def _check_heights(self, who: str, name: str, height: Any) -> None:
        """Refuse to cut at a height where merges are in no order of it."""
        if height is not None and self.linkage == "genie":
            raise ValueError(
                f"{who}: {name}={height!r} was given and the merges of linkage='genie' are in no "
                "order of height; use n_clusters."
            )

    def _cut_first_time(self, children: Ints) -> None:
        """Labels and the attributes of scikit-learn, from the merges."""
        heights = self.Z_[:, 2].copy()
        stops = self._stops_early()
        if self.distance_threshold is not None:
            self.n_clusters_ = count_at_height(heights, self.distance_threshold)
        else:
            assert self.n_clusters is not None
            self.n_clusters_ = self.n_clusters
        self.labels_ = (cut_early if stops else cut_tree)(children, self.n_clusters_)
        stops = stops and self.linkage != "single"  # of which scikit-learn keeps all merges
        n_kept = self.n_leaves_ - self.n_clusters_ if stops else len(children)
        self.children_, self.distances_ = children[:n_kept], heights[:n_kept]

    def _stops_early(self) -> bool:
        """Whether scikit-learn would not build the whole tree."""
        if self.connectivity is None or self.n_clusters is None:
            return False
        if self.compute_full_tree == "auto":
            return self.n_clusters >= max(100, 0.02 * self.n_leaves_)
        return not self.compute_full_tree

    def _check_together_loaded(self, sizes: Sizes) -> None:
        check_cut_tree(self, sizes)
        stored, has_centers = self.clusters_, self.linkage in ("ward", "centroid", "median")
        if has_centers != ("centers" in stored):
            raise ValueError("clusters_ is of another linkage")
        if not has_centers:
            check_order(stored["order"], stored["starts"])
            self._check_rows_loaded(stored["rows"])

    def _check_rows_loaded(self, rows: npt.NDArray[Any] | None) -> None:
        """Refuse kept rows that the metric could not have been given."""
        if (rows is None) != self._is_precomputed():
            raise ValueError("clusters_ has no rows, or rows that precomputed distances have not")
        if rows is not None and self.metric != "gower":
            if not np.isfinite(rows).all():
                raise ValueError("clusters_ has rows that are not finite")
            if rows.shape[1] != self.n_features_in_:
                raise ValueError("clusters_ and n_features_in_ differ in the number of columns")

    def _describe(self, rows: Any) -> None:
        """Keep what `predict` needs: centres where the linkage has them, else the rows."""
        self.clusters_ = describe_clusters(
            rows, self.linkage, self.Z_, self.labels_, self.n_clusters_,
            precomputed=self._is_precomputed(),
        )  # fmt: skip

    def predict(self, X: Any) -> Ints:
        """The nearest cluster of every row, under the distance of the linkage.

        A row x is compared with the clusters of `labels_` as a cluster of its own would be: by the
        least (single, genie), largest (complete) or mean distance (average) to their rows, by the
        mean in which the parts of every merge weigh the same (weighted), by the distance to their
        mean (centroid) or to the midpoint of midpoints (median), or by Ward's,
        sqrt(2 n / (n + 1)) times the distance to the mean of n rows. Ties go to the lower label.
        Rows of the fit may be nearer to another cluster than to the one that they were joined to.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            With ``metric="precomputed"``: distances to the rows of the fit.
        """
        check_is_fitted(self)
        rows, metric = self._measure_again(X)
        clusters = ClusterRows(**self.clusters_)
        return clusters.nearest(rows, self.linkage, metric, self._n_threads())

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> Ints:
        """Labels of another cut of the same tree; the model stays as it is.

        Parameters
        ----------
        n_clusters : int, optional
            So many clusters.
        height : float, optional
            Or: those left when merges at this height and above are undone.
        """
        check_is_fitted(self)
        if (n_clusters is None) == (height is None):
            raise ValueError(
                f"cut: n_clusters={n_clusters} and height={height} were given; use one of them."
            )
        self._check_heights("cut", "height", height)
        if height is not None:
            if not isinstance(height, Real) or np.isnan(float(height)):
                raise ValueError(f"cut: height={height!r} was given; use a number.")
            n_clusters = count_at_height(self.Z_[:, 2], height)
        if not whole(1).allows(n_clusters) or int(n_clusters or 0) > self.n_leaves_:
            raise ValueError(
                f"cut: n_clusters={n_clusters!r} was given; use a whole number from 1 to the "
                f"{self.n_leaves_} rows of the tree."
            )
        whole_tree = len(self.children_) == self.n_leaves_ - 1
        children = self.children_ if whole_tree else self.Z_[:, :2].astype(np.int64)
        return cut_tree(children, int(n_clusters or 0))

    def recut(self, X: Any, n_clusters: int) -> Self:
        """The model of another cut of the same tree, `predict` and all; this one stays as it is.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            The rows of the fit, given again.
        n_clusters : int
        """
        labels = self.cut(n_clusters)
        model = copy(self).set_params(n_clusters=int(n_clusters), distance_threshold=None)
        rows = model._rows_to_link(X)
        if rows.shape[0] != self.n_leaves_:
            raise ValueError(
                f"recut: X has {rows.shape[0]} rows and the model was fitted on {self.n_leaves_}; "
                "pass those."
            )
        model.labels_, model.n_clusters_ = labels, int(n_clusters)
        model._describe(rows)
        return model

    def cut_inconsistent(self, threshold: float, depth: int = 2) -> Ints:
        """Labels where merges much higher than those below them are undone.

        `scipy.cluster.hierarchy.fcluster` with ``criterion="inconsistent"``, numbered from 0.
        """
        check_is_fitted(self)
        labels = hierarchy.fcluster(self.Z_, threshold, criterion="inconsistent", depth=depth)
        return np.asarray(labels, dtype=np.int64) - 1

    def inconsistency(self, depth: int = 2) -> Floats:
        """Mean, deviation and count of heights down to `depth` below a merge, and its z-score."""
        check_is_fitted(self)
        return np.asarray(hierarchy.inconsistent(self.Z_, depth))

    def cophenetic_distances(self) -> Floats:
        """The height at which each pair of rows is first in one cluster, condensed.

        Memory: 8 bytes per pair, which is the result.
        """
        check_is_fitted(self)
        self._check_pairs()
        return np.asarray(hierarchy.cophenet(self.Z_))

    def cophenetic_correlation(self, X: Any) -> float:
        """Correlation of the cophenetic distances with those of the rows of the fit, given again.

        Sokal & Rohlf (1962). Memory: 16 bytes per pair.
        """
        check_is_fitted(self)
        self._check_pairs()
        if self._takes_a_table():
            rows = self._dense_rows(X, reset=False)
            who, params = type(self).__name__, self._metric_params()
            rows, metric = table_of(who, self.metric, rows, params), None
        else:
            rows, metric = self._measure_again(X)
        if rows.shape[0] != self.n_leaves_:
            raise ValueError(
                f"cophenetic_correlation: X has {rows.shape[0]} rows and the model was fitted on "
                f"{self.n_leaves_}; pass those."
            )
        if metric is None:
            lengths = rows[np.triu_indices(rows.shape[0], 1)]
        else:
            lengths = condensed(rows, metric, n_threads=self._n_threads())
        return float(np.corrcoef(lengths, self.cophenetic_distances())[0, 1])

    def _check_pairs(self) -> None:
        n_pairs = self.n_leaves_ * (self.n_leaves_ - 1) // 2
        check_memory(
            type(self).__name__, 16 * n_pairs, f"{n_pairs} cophenetic distances", "use fewer rows"
        )
