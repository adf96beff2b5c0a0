"""HDBSCAN: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._checks import CALLABLE, FLAG, JOBS, NONE, Rule, one_of, positive, real, whole
from coterie._doors import check_symmetric, given_distances, validated
from coterie._history import Event, Recorder, Stage
from coterie._labels import number_by_first
from coterie._stored import RECORDS, Array, Field, Nothing, Parts, Real, Sizes, Whole
from coterie.density._advice import advise_sizes
from coterie.density._auto_size import SMALLEST, suggest_min_cluster_size
from coterie.density._centers import centroids, medoids
from coterie.density._condense import (
    CondensedTree,
    condense,
    find_levels,
    outlier_scores,
    single_linkage,
)
from coterie.density._reach import Reachability, ReachTree
from coterie.density._select import (
    METHODS,
    FlatClusters,
    Membership,
    Selection,
    belong,
    cluster_at,
    select_clusters,
)
from coterie.density._stored import check_rows_loaded, check_trees
from coterie.distance import NAMES, Metric, as_metric

Kinds = npt.NDArray[np.int8]

#: Kinds of rows; those that cannot be clustered are labelled by them, as in scikit-learn.
_FINITE, _INFINITE, _MISSING = 0, -2, -3


class HDBSCAN(Clusterer):
    """Clusters of varying density (Campello, Moulavi & Sander 2013).

    DBSCAN at every `eps` at once: rows are joined by mutual reachability, and of the clusters that
    exist at some density those are kept that last longest as the density rises. Rows that belong
    to none are noise, labelled -1. There is no distance to choose, only the size from which a
    group counts.

    Drop-in for `sklearn.cluster.HDBSCAN`: same parameters and attributes, and the same labels and
    probabilities up to ties. Exact: the spanning tree is the minimum one of all pairs. Equal
    lengths are one level of the tree, so clusters and scores do not depend on the order of rows.

    Memory beyond X: a copy of X for `predict`, which is independent of what becomes of X later
    (a memory map is read into memory, too), and O(n), about 140 bytes per row in two dimensions at
    the peak, of which 60 are results. Time: close to O(n log n) in few columns; at most O(n^2 d).

    Parameters
    ----------
    min_cluster_size : int or "auto", default=5
        Groups of fewer rows are no clusters. ``"auto"``: the start of the longest range of sizes
        that all give the same number of clusters.
    min_samples : int or None, default=None
        The core distance of a row is that to its `min_samples`-th nearest row, itself included;
        more makes clusters smoother and noise commoner. None: `min_cluster_size`, or 5 if "auto".
    cluster_selection_epsilon : float, default=0.0
        Clusters that were split at a smaller distance than this are taken up into what they were
        split from (Malzer & Baum 2020).
    max_cluster_size : int or None, default=None
        The most rows a cluster may have under ``"eom"``.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`; a function of two rows (slow: a call of Python for each
        pair); ``"precomputed"`` (X is a symmetric matrix of distances, dense or CSR, where
        distances not stored are far; a row is at distance 0 from itself, so the diagonal is not
        read).
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`.
    alpha : float, default=1.0
        Distances between rows are divided by it, core distances are not (robust single linkage,
        Chaudhuri & Dasgupta 2010).
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        Accepted for scikit-learn's sake; every way gives the same tree, and the fastest is taken.
    leaf_size : int, default=40
        Accepted for scikit-learn's sake.
    n_jobs : int or None, default=None
        As scikit-learn's: threads to use where `n_threads` is None.
    cluster_selection_method : {"eom", "leaf"}, default="eom"
        Keep the most stable clusters (excess of mass), or those that split no further: more and
        smaller ones.
    allow_single_cluster : bool, default=False
        Whether all rows may be found to be one cluster.
    store_centers : {None, "centroid", "medoid", "both"}, default=None
        Centres to publish; a medoid takes all distances within its cluster.
    copy : bool or "warn", default=False
        Accepted for scikit-learn's sake; X is never changed, and what is kept of it is a copy.
    n_threads : int or None, default=None
        None: `n_jobs`, the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result
        is the same for any number.

    Attributes
    ----------
    labels_ : int64 array of shape (n_rows,)
        The cluster of each row; -1 for noise, -2 for a row with an infinite value, -3 for a row
        with a missing one. Such rows take no part.
    probabilities_ : float64 array of shape (n_rows,)
        How strongly each row belongs to its cluster: 1 for the densest, 0 for noise and infinite
        rows, NaN for missing ones.
    outlier_scores_ : float64 array of shape (n_rows,)
        GLOSH (Campello et al. 2015), from 0 to 1: how much less dense a row is than the densest
        row of the cluster it falls from. Infinite rows have 1, missing ones NaN.
    min_cluster_size_ : int
        The size in use, given or chosen.
    centroids_, medoids_ : float64 arrays of shape (n_clusters, n_features)
        With `store_centers`; weighted by the probabilities.
    core_distances_ : float64 array
        Of the rows that take part; the arrays below count only these.
    spanning_tree_ : dict of arrays
        Edges of the mutual reachability tree, shortest first: ``heads``, ``tails``, ``lengths``.
    condensed_tree_ : dict of arrays
        Of each row: ``row_cluster`` it falls from at ``row_lambda`` (1 / distance). Of each cluster
        of the tree: ``parent``, ``size``, ``birth``, ``death``, ``peak``, ``stability`` and the
        ``label`` it has or lies in, -1 for none.
    selected_clusters_ : int32 array of shape (n_clusters,)
        The cluster of the condensed tree that each label is.
    least_lambda_ : float
        Rows that leave their clusters below it are noise; above 0 where all rows are one cluster.
    rows_ : array of shape (n_rows, n_features) or None
        A copy of the rows that take part, for `predict`; their codes under ``"gower"``. None
        under ``"precomputed"``.
    gower_ : dict
        What Gower's metric learned from X, with ``metric="gower"`` only.
    history_ : list of dict
        The stages with their seconds.
    events_ : list of dict
        Rows left out, and advice where the parameters hardly suit the rows; advice is given as a
        warning, too.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import HDBSCAN
    >>> X = np.array([[1, 2], [2, 2], [2, 3], [1, 3], [8, 7], [8, 8], [7, 8], [7, 7], [25, 80]])
    >>> HDBSCAN(min_cluster_size=3).fit(X).labels_
    array([ 0,  0,  0,  0,  1,  1,  1,  1, -1])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "labels_": Array("i8", ("rows",), _MISSING),
        "probabilities_": Array("f8", ("rows",), 0, 1, nan=True),
        "outlier_scores_": Array("f8", ("rows",), 0, 1, nan=True),
        "core_distances_": Array("f8", ("finite",), 0, finite=False),
        "rows_": Array("f", ("finite", "width"), finite=False, nan=True) | Nothing(),
        "min_cluster_size_": Whole(2),
        "spanning_tree_": Parts(
            {
                "heads": Array("i4", ("edges",), 0),
                "tails": Array("i4", ("edges",), 0),
                "lengths": Array("f8", ("edges",), 0, finite=False),
            }
        ),
        "condensed_tree_": Parts(
            {
                "row_cluster": Array("i4", ("finite",), 0),
                "row_lambda": Array("f8", ("finite",), 0, finite=False),
                "parent": Array("i4", ("clusters",), -1),
                "size": Array("i4", ("clusters",), 1),
                "birth": Array("f8", ("clusters",), 0, finite=False),
                "death": Array("f8", ("clusters",), 0, finite=False),
                "peak": Array("f8", ("clusters",), 0, finite=False),
                "stability": Array("f8", ("clusters",), finite=False, nan=True),
                "label": Array("i4", ("clusters",), -1),
            }
        ),
        "selected_clusters_": Array("i4", ("selected",), 0),
        "least_lambda_": Real(0, finite=False),
        "centroids_": Array("f", ("selected", "width"), finite=False, nan=True, optional=True),
        "medoids_": Array("f", ("selected", "width"), finite=False, nan=True, optional=True),
        "gower_": Parts(optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "min_cluster_size": whole(2) | one_of("auto"),
        "min_samples": NONE | whole(1),
        "cluster_selection_epsilon": real(0),
        "max_cluster_size": NONE | whole(1),
        "metric": one_of(*NAMES, "precomputed") | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "alpha": positive(),
        "algorithm": one_of("auto", "brute", "kd_tree", "ball_tree"),
        "leaf_size": whole(1),
        "n_jobs": JOBS,
        "cluster_selection_method": one_of(*METHODS),
        "allow_single_cluster": FLAG,
        "store_centers": NONE | one_of("centroid", "medoid", "both"),
        "copy": FLAG | one_of("warn"),
        "n_threads": NONE | whole(1),
    }

    labels_: npt.NDArray[np.int64]
    probabilities_: npt.NDArray[np.float64]
    outlier_scores_: npt.NDArray[np.float64]
    core_distances_: npt.NDArray[np.float64]
    spanning_tree_: dict[str, npt.NDArray[Any]]
    condensed_tree_: dict[str, npt.NDArray[Any]]
    selected_clusters_: npt.NDArray[np.int32]
    least_lambda_: float
    rows_: npt.NDArray[Any] | None
    history_: list[Stage]
    events_: list[Event]

    def __init__(
        self,
        min_cluster_size: int | str = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = False,
        *,
        n_threads: int | None = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), or (n_rows, n_rows)
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        if self.store_centers is not None and self.metric in ("precomputed", "gower"):
            raise ValueError(
                f"HDBSCAN: store_centers={self.store_centers!r} was given, and there are no "
                f"centres under metric={self.metric!r}; use None."
            )
        recorder = Recorder()
        if self.metric == "precomputed":
            kind, reach_tree = self._given(X)
        else:
            kind, reach_tree = self._measured(X, recorder)
        recorder.stage("mutual reachability tree")
        merges = single_linkage(reach_tree.tree)
        recorder.stage("single linkage")
        rule = self._selection()
        self.min_cluster_size_ = (
            suggest_min_cluster_size(merges, rule)
            if isinstance(self.min_cluster_size, str)
            else int(self.min_cluster_size)
        )
        tree = condense(merges, self.min_cluster_size_)
        flat = select_clusters(tree, rule)
        members = belong(tree, flat, tree.row_cluster, tree.row_lambda)
        recorder.stage("condensed tree")
        self._publish(kind, reach_tree, tree, flat, members)
        advice = advise_sizes(members.labels, flat.n_clusters, self.min_cluster_size_, self._k)
        if advice is not None:
            recorder.advise("HDBSCAN", *advice)
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:
        """Fit and return `labels_`."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The cluster that each row joins, -1 for none; see `predict_membership`."""
        return self.predict_membership(X).labels

    def predict_membership(self, X: Any) -> Membership:
        """The cluster that each row joins, and how strongly it belongs to it.

        A row hangs on the row of the fit that is nearest by mutual reachability (equals: by
        distance, then the lowest row), as if it were one more leaf of the spanning tree: it leaves
        clusters when that row does, or sooner where their mutual reachability is larger. The tree
        stays as it is. Rows of the fit, and rows equal to them, get their `labels_` and
        `probabilities_`.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Under ``metric="precomputed"`` the distances to the rows of the fit that took part.

        Returns
        -------
        Membership
            `labels` (int64) and `probabilities` (float64) of each row.
        """
        check_is_fitted(self)
        reach, cores = self._reachability(), self.core_distances_
        if self.metric == "precomputed":
            dists = given_distances(self, X, cores.size, sparse=False, finite=False)
            kind = np.zeros(dists.shape[0], dtype=np.int8)
            first = reach.first_by_table(dists, cores)
        else:
            assert self.rows_ is not None
            queries, kind, metric = self._measure_again(X)
            index = reach.index(metric.form(self.rows_), metric)
            first = reach.first_by_index(index, cores, metric.form(queries[kind == _FINITE]))
        tree, flat = self._stored_trees()
        with np.errstate(divide="ignore"):
            lam = np.minimum(1 / self._at_level(first.lengths), tree.row_lambda[first.ids])
        members = belong(tree, flat, cluster_at(tree, first.ids, lam), lam)
        return Membership(
            _to_all_rows(members.labels, kind),
            _to_all_rows(members.probabilities, kind, 0.0, np.nan),
        )

    def dbscan_clustering(
        self, cut_distance: float, min_cluster_size: int = 5
    ) -> npt.NDArray[np.int64]:
        """The clusters of DBSCAN without border rows, for one `eps`, out of the same tree.

        Rows are together where they are joined by mutual reachabilities below `cut_distance`.

        Parameters
        ----------
        cut_distance : float
        min_cluster_size : int, default=5
            Smaller groups are noise.

        Returns
        -------
        int64 array of shape (n_rows,)
            Clusters numbered by their lowest rows; -1 noise, -2 infinite, -3 missing rows.
        """
        check_is_fitted(self)
        edges = self.spanning_tree_
        n_short = int(np.searchsorted(edges["lengths"], cut_distance))
        heads, tails = edges["heads"][:n_short], edges["tails"][:n_short]
        n_rows = self.core_distances_.size
        graph = sp.coo_matrix((np.ones(n_short, dtype=np.int8), (heads, tails)), (n_rows, n_rows))
        _, group = csgraph.connected_components(graph, directed=False)
        kind = np.where(self.labels_ <= _INFINITE, self.labels_, _FINITE)
        return _to_all_rows(number_by_first(group, min_cluster_size), kind)

    def _measure_again(self, X: Any) -> tuple[Any, Kinds, Metric]:
        """Other rows like those of the fit with their kinds, and the metric of the fit."""
        if self.metric == "gower":
            validated(self, X, skip_check_array=True, reset=False)
            metric = as_metric("gower", who="HDBSCAN", **self.gower_)
            queries = metric.prepare(X)
            return queries, np.zeros(len(queries), dtype=np.int8), metric.of_prepared()
        queries = self._dense_rows(X, reset=False, finite=False)
        # The metric learns from the rows of the fit what it learned at the fit.
        return queries, _kinds(queries), self._metric(self.rows_)

    def _at_level(self, lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Lengths, and the height of its level for each that lies in a level of the tree."""
        edges = self.spanning_tree_["lengths"]
        below = np.searchsorted(edges, lengths, side="right")
        heights = np.concatenate([[0.0], find_levels(edges)])
        return np.maximum(lengths + 0.0, heights[below])

    # How fit does it.

    def _measured(self, X: Any, recorder: Recorder) -> tuple[Kinds, ReachTree]:
        """The kinds of the rows of X, and the tree of the finite ones under a metric."""
        if self.metric == "gower":  # of mixed tables with missing cells; knows how to read them
            validated(self, X, skip_check_array=True)
            metric = self._metric(X)
            self.gower_ = dict(metric.learned)
            self.rows_ = metric.prepare(X)
            self._check_n_rows(len(self.rows_))
            kind = np.zeros(len(self.rows_), dtype=np.int8)
            return kind, self._reach_tree(metric, self.rows_)
        rows = self._dense_rows(X, reset=True, finite=False, copy=True)
        kind = _kinds(rows)
        if kind.any():
            rows = rows[kind == _FINITE]
            detail = f"{kind.size - len(rows)} rows with infinite or missing values take no part"
            recorder.event("rows left out", detail)
        self._check_n_rows(len(rows))
        self.rows_ = rows
        metric = self._metric(rows)
        return kind, self._reach_tree(metric, metric.form(rows))

    def _reach_tree(self, metric: Metric, prepared: npt.NDArray[Any]) -> ReachTree:
        reach = self._reachability()
        return reach.of_rows(reach.index(prepared, metric))

    def _given(self, X: Any) -> tuple[Kinds, ReachTree]:
        """The tree of a checked matrix of distances."""
        if self.metric_params:
            raise ValueError(
                f"HDBSCAN: metric_params={self.metric_params!r} was given, and "
                "metric='precomputed' takes none; use None."
            )
        dists = given_distances(self, X, None, finite=False, reset=True)
        check_symmetric(dists, "HDBSCAN")
        self._check_n_rows(dists.shape[0])
        self.rows_ = None
        reach = self._reachability()
        tree = reach.of_graph(dists) if sp.issparse(dists) else reach.of_table(dists)
        return np.zeros(dists.shape[0], dtype=np.int8), tree

    def _check_n_rows(self, n_rows: int) -> None:
        if n_rows < 2:
            raise ValueError(
                f"HDBSCAN: n_samples={n_rows} rows to cluster; pass two or more without infinite "
                "or missing values."
            )
        if self._k > n_rows:
            raise ValueError(
                f"HDBSCAN: min_samples={self._k} must be at most the number of rows to cluster, "
                f"which is {n_rows}; lower min_samples (by default it is min_cluster_size) or "
                "pass more rows."
            )

    @property
    def _k(self) -> int:
        """Neighbours that the core distance reaches to."""
        if self.min_samples is not None:
            return int(self.min_samples)
        return SMALLEST if isinstance(self.min_cluster_size, str) else int(self.min_cluster_size)

    def _reachability(self) -> Reachability:
        return Reachability(self._k, float(self.alpha), self._n_threads())

    def _metric(self, X: Any) -> Metric:
        return as_metric(self.metric, X, who="HDBSCAN", **(self.metric_params or {}))

    def _selection(self) -> Selection:
        return Selection(
            self.cluster_selection_method,
            self.max_cluster_size,
            float(self.cluster_selection_epsilon),
            bool(self.allow_single_cluster),
        )

    def _publish(
        self,
        kind: Kinds,
        reach_tree: ReachTree,
        tree: CondensedTree,
        flat: FlatClusters,
        members: Membership,
    ) -> None:
        self.labels_ = _to_all_rows(members.labels, kind)
        self.probabilities_ = _to_all_rows(members.probabilities, kind, 0.0, np.nan)
        self.outlier_scores_ = _to_all_rows(outlier_scores(tree), kind, 1.0, np.nan)
        self.core_distances_ = reach_tree.cores
        edges = reach_tree.tree
        self.spanning_tree_ = {
            "heads": edges.heads, "tails": edges.tails, "lengths": edges.lengths
        }  # fmt: skip
        self.condensed_tree_ = {**vars(tree), "label": flat.label}
        self.selected_clusters_ = flat.selected
        self.least_lambda_ = flat.least_lambda
        if self.store_centers is not None:
            self._publish_centers(members, flat.n_clusters)

    def _publish_centers(self, members: Membership, n_clusters: int) -> None:
        rows, wanted = self.rows_, self.store_centers
        assert rows is not None
        if wanted in ("centroid", "both"):
            self.centroids_ = centroids(rows, members, n_clusters)
        if wanted in ("medoid", "both"):
            metric = self._metric(rows)
            self.medoids_ = medoids(rows, members, n_clusters, metric, self._n_threads())

    def _stored_trees(self) -> tuple[CondensedTree, FlatClusters]:
        """What `_publish` stored."""
        stored = self.condensed_tree_
        tree = CondensedTree(*(stored[field.name] for field in fields(CondensedTree)))
        return tree, FlatClusters(self.selected_clusters_, stored["label"], self.least_lambda_)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        n_rows = sizes["finite"]
        if n_rows < 1 or sizes["edges"] != n_rows - 1:
            raise ValueError("spanning_tree_ does not join the rows")
        if self._k > n_rows:
            raise ValueError("min_samples is more than there are rows")
        check_trees(*self._stored_trees(), n_rows, self.spanning_tree_)
        if np.count_nonzero(self.labels_ > _INFINITE) != n_rows:
            raise ValueError("labels_ and core_distances_ disagree about the rows")
        if self.rows_ is not None:
            check_rows_loaded(self, self.rows_, gower=self.metric == "gower")
        if (self.rows_ is None) != (self.metric == "precomputed"):
            raise ValueError(f"rows_ and metric={self.metric!r} contradict each other")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric != "precomputed"
        return tags


def _kinds(rows: npt.NDArray[Any]) -> Kinds:
    """Whether each row is finite, or has an infinite or a missing value."""
    kind = np.zeros(rows.shape[0], dtype=np.int8)
    with np.errstate(all="ignore"):
        all_finite = np.isfinite(rows.sum())  # which is quick to see
    if not all_finite:
        kind[np.isinf(rows).any(axis=1)] = _INFINITE
        kind[np.isnan(rows).any(axis=1)] = _MISSING
    return kind


def _to_all_rows(
    values: npt.NDArray[Any],
    kind: npt.NDArray[Any],
    infinite: float = _INFINITE,
    missing: float = _MISSING,
) -> npt.NDArray[Any]:
    """Values of the finite rows at their places among all rows."""
    if not kind.any():
        return values
    all_rows = np.empty(kind.size, dtype=values.dtype)
    all_rows[kind == _FINITE] = values
    all_rows[kind == _INFINITE] = infinite
    all_rows[kind == _MISSING] = missing
    return all_rows
