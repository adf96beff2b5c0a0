"""DBSCAN: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_is_fitted

from coterie._base import Clusterer
from coterie._checks import CALLABLE, JOBS, NONE, Rule, one_of, positive, whole
from coterie._doors import check_csr, check_finite, given_distances, validated
from coterie._history import Event, Recorder, Stage
from coterie._in_memory import rows_in_memory
from coterie._labels import NOISE
from coterie._stored import LATER_RECORDS, RECORDS, Array, Field, Parts, Real, Sizes, Sparse, Whole
from coterie.data import Source, is_remote
from coterie.density._advice import advise
from coterie.density._euclidean import cluster_rows, label_by_core
from coterie.density._knee import read_eps
from coterie.density._lookup import (
    cluster_graph,
    cluster_precomputed,
    count_one_way,
    find_core_again,
    label_by_distances,
    label_by_equality,
    label_by_walks,
)
from coterie.density._partition import cluster_cells, count_not_finite, fill_by_core
from coterie.density._rule import BORDERS, Clustering, DensityRule
from coterie.density._slabs import cluster_by_distances, label_rows
from coterie.density._stored import check_rows_loaded
from coterie.distance import NAMES, Metric, as_metric
from coterie.neighbors import Index

#: From rows and what is asked of them to their clusters.
Cluster = Callable[[Any, DensityRule], Clustering]

#: Metrics where X holds distances, not rows.
_GIVEN = ("precomputed", "graph")
#: Metrics that have a power.
_WITH_POWER = ("minkowski", "p")
#: Minkowski's metrics with a name of their own.
_OF_POWER = {"euclidean": 2, "l2": 2, "manhattan": 1, "cityblock": 1, "l1": 1}
_KINDS = np.array(["noise", "border", "core"])


class DBSCAN(Clusterer):
    """Density-based clustering of applications with noise (Ester, Kriegel, Sander & Xu 1996).

    A row is *core* when at least `min_samples` rows, itself included, lie within distance `eps` of
    it. Core rows within `eps` of each other share a cluster; rows near a core row but not core are
    its *border*; all others are *noise*, labelled -1. Clusters may have any shape, and their number
    is found, not asked for.

    Drop-in for `sklearn.cluster.DBSCAN`: same parameters, attributes and, with ``border="first"``,
    the same labels. Exact: within means that the squared distance, summed directly in float64, is
    at most ``eps * eps``.

    Memory beyond X and what is published: O(n), about 40 bytes per row in two dimensions; no
    neighbourhood is kept. Time: close to O(n) for up to three columns; at most O(n^2 d).

    Parameters
    ----------
    eps : float or "auto", default=0.5
        How near rows must be to be neighbours. ``"auto"``: what `coterie.select.suggest_eps` reads
        from the distances of the rows, without regard to weights; `eps_` tells it, and a warning
        where the distances have no knee to read it from.
    min_samples : int, default=5
        The rows (or their weight) that make a row core, itself included.
    metric : str or callable, default="euclidean"
        ``"euclidean"`` (by far the fastest); any other of `coterie.distance.METRICS`, or a function
        of two rows (slow: a call of Python for each pair, up to three times); ``"precomputed"`` (X
        is a matrix of distances, dense or CSR; a CSR row lists its neighbours, and entries not
        stored are far); ``"graph"`` (X is a CSR matrix of edge lengths, distances are those of
        shortest paths; a copy of the matrix is kept for `predict`).
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Accepted for scikit-learn's sake; every way gives the same labels, and the fastest is taken.
    leaf_size : int, default=30
        Accepted for scikit-learn's sake.
    p : float or None, default=None
        The power of ``metric="minkowski"``; None is 2. Other metrics have none, and warn.
    n_jobs : int or None, default=None
        As scikit-learn's: threads to use where `n_threads` is None.
    border : {"first", "nearest", "noise"}, default="first"
        Where a border row goes: to the first cluster, in number, that has a core row within `eps`,
        as in scikit-learn; to the cluster of its nearest core row (ties: the lowest row); or
        nowhere (DBSCAN*, Campello et al. 2013).
    n_threads : int or None, default=None
        None: `n_jobs`, the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result
        is the same for any number.

    Attributes
    ----------
    labels_ : int64 array of shape (n_rows,)
        The cluster of each row, numbered by their lowest core rows; -1 for noise.
    core_sample_indices_ : int64 array of shape (n_core,)
    components_ : array of shape (n_core, n_features)
        The core rows.
    point_kind_ : array of str of shape (n_rows,)
        ``"core"``, ``"border"`` or ``"noise"``.
    eps_ : float
        The eps that was used.
    n_one_way_ : int
        With given distances: pairs of rows within `eps` one way and not, or not so far, the other
        way. Clusters then depend on the order of rows, as in scikit-learn, and `predict` refuses.
    graph_ : CSR matrix
        A copy of X, with ``metric="graph"`` only.
    gower_ : dict
        What Gower's metric learned from X, with ``metric="gower"`` only.
    metric_params_ : dict
        What another metric learned from X where `metric_params` does not give it, for `predict`:
        ``V`` of ``"seuclidean"``, ``VI`` and ``center`` of ``"mahalanobis"``.
    history_ : list of dict
        The stages with their seconds.
    events_ : list of dict
        Advice where the parameters hardly suit the rows; given as a warning, too.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DBSCAN
    >>> X = np.array([[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    >>> DBSCAN(eps=3, min_samples=2).fit(X).labels_
    array([ 0,  0,  0,  1,  1, -1])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "eps_": Real(5e-324),
        "labels_": Array("i8", ("rows",), -1),
        "core_sample_indices_": Array("i8", ("cores",), 0),
        "components_": Array("f", ("cores", "width"), finite=False, nan=True)
        | Sparse(("cores", "width")),
        "graph_": Sparse(("rows", "rows"), optional=True),
        "gower_": Parts(optional=True),
        "metric_params_": Parts(optional=True),
        "n_one_way_": Whole(0),
        "history_": LATER_RECORDS,
        "events_": RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "eps": positive() | one_of("auto"),
        "min_samples": whole(1),
        "metric": one_of(*NAMES, *_GIVEN) | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute"),
        "leaf_size": whole(1),
        "p": NONE | positive(),
        "n_jobs": JOBS,
        "border": one_of(*BORDERS),
        "n_threads": NONE | whole(1),
    }

    labels_: npt.NDArray[np.int64]
    core_sample_indices_: npt.NDArray[np.int64]
    components_: Any
    eps_: float
    n_one_way_: int
    history_: list[Stage]
    events_: list[Event]

    def __init__(
        self,
        eps: float | str = 0.5,
        *,
        min_samples: int = 5,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
        border: str = "first",
        n_threads: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.border = border
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), or (n_rows, n_rows)
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How much each row counts towards `min_samples`. A row of weight `min_samples` is core
            by itself; a negative weight keeps its neighbours from being core.

        Returns
        -------
        self
        """
        self._check_params()
        recorder = Recorder()
        self._check_power(recorder)
        rows, cluster = self._given(X) if self.metric in _GIVEN else self._measured(X)
        n_rows = rows.n_rows if isinstance(rows, Source) else rows.shape[0]
        weights = _signed_weights(sample_weight, n_rows)
        recorder.stage("rows")
        if self.eps == "auto":
            self.eps_ = self._choose_eps(rows, recorder)
            recorder.stage("choice of eps")
        else:
            self.eps_ = float(self.eps)
        rule = self._rule(weights)
        found = cluster(rows, rule)
        recorder.stage("clusters")
        self.labels_ = found.labels
        self.core_sample_indices_ = np.flatnonzero(found.core)
        if isinstance(rows, Source):
            self.components_ = rows.pick(self.core_sample_indices_).rows
        else:
            self.components_ = rows[self.core_sample_indices_]
        self._note_one_way(rows, recorder)
        pairs = replace(rule, min_samples=2.0, weights=None, border="noise")
        for what, sentence in advise(found, rule, lambda: cluster(rows, pairs).n_clusters > 0):
            recorder.advise("DBSCAN", what, sentence)
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int64]:
        """Fit and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The cluster that each row joins, by the rule for border rows; -1 for none.

        Rows of the fit get their `labels_`. With ``border="noise"`` only rows equal to a core row
        belong to a cluster. Under ``metric="precomputed"`` X holds the distances to the rows of the
        fit, under ``metric="graph"`` the lengths of edges to them, (n_rows, n_rows of the fit);
        refused where those of the fit were not the same both ways (`n_one_way_`).
        """
        check_is_fitted(self)
        if self.metric in _GIVEN:
            return self._predict_given(X)
        core_labels = self.labels_[self.core_sample_indices_]
        if is_remote(X):
            source = self._source(X, reset=False)
            if self.metric == "euclidean" and source.dtype == self.components_.dtype:
                return source.map(
                    fill_by_core, self.components_, core_labels, self._rule(None), dtype=np.int64
                )
            X = rows_in_memory("DBSCAN", source, f"metric={self.metric!r}")
        rows, metric = self._measure_again(X)
        if core_labels.size == 0:
            return np.full(rows.shape[0], NOISE, dtype=np.int64)
        if self.border == "noise":
            return label_by_equality(self.components_, core_labels, rows)
        rule = self._rule(None)
        if metric.name == "euclidean":
            return label_by_core(self.components_, core_labels, rows, rule)
        if metric.name != "gower":
            rows, core_rows = metric.prepare(rows), metric.prepare(self.components_)
        else:
            core_rows = self.components_
        if metric.is_euclidean:
            return label_by_core(core_rows, core_labels, rows, rule)
        distances = partial(metric.lengths, n_threads=rule.n_threads)
        return label_rows(core_rows, core_labels, rows, distances, rule)

    def _predict_given(self, X: Any) -> npt.NDArray[np.int64]:
        """`predict` from distances or edges to the rows of the fit."""
        if self.n_one_way_:
            raise ValueError(
                f"DBSCAN: {self.n_one_way_} pairs of the fit's matrix were within "
                f"eps={self.eps_:g} one way only, so distances to its rows tell no cluster; "
                f"labels_ has the clusters of its rows, and for others {_MAKE_SYMMETRIC}."
            )
        given = self._check_given(X, self.labels_.size)
        core_ids, core_labels = self.core_sample_indices_, self.labels_[self.core_sample_indices_]
        rule = self._rule(None)
        if self.border == "noise":
            rule = replace(rule, border="nearest", eps=_NO_DISTANCE)
        if self.metric == "graph":
            labels = label_by_walks(self.graph_, given, core_ids, core_labels, rule)
        else:
            labels = label_by_distances(given[:, core_ids], core_labels, rule)
        if given.shape[0] == self.labels_.size:
            again = core_ids[find_core_again(given, self.components_, core_ids)]
            labels[again] = self.labels_[again]
        return labels

    @property
    def point_kind_(self) -> npt.NDArray[np.str_]:
        """What each row is: ``"core"``, ``"border"`` or ``"noise"``."""
        kind = (self.labels_ != NOISE).astype(np.int8)
        kind[self.core_sample_indices_] = 2
        return _KINDS[kind]

    def _rule(self, weights: Any) -> DensityRule:
        n_threads = self._n_threads()
        return DensityRule(self.eps_, float(self.min_samples), weights, self.border, n_threads)

    def _metric(self, X: Any, **learned: Any) -> Metric:
        params = dict(self.metric_params or {})
        if self.metric in _WITH_POWER and self.p is not None:
            params.setdefault("p", self.p)
        return as_metric(self.metric, X, who="DBSCAN", **params, **learned)

    def _check_power(self, recorder: Recorder) -> None:
        """Warn of parameters of a metric that are not used."""
        if self.metric_params and self.metric in _GIVEN:
            recorder.advise(
                "DBSCAN",
                "metric_params are not used",
                f"metric_params={self.metric_params!r} was given, and metric={self.metric!r} takes "
                "none; leave metric_params out.",
                depth=1,
            )
        if self.p is None:
            return
        if self.metric not in _WITH_POWER:
            if self.metric not in _OF_POWER or _OF_POWER[self.metric] != self.p:
                recorder.advise(
                    "DBSCAN",
                    "p is not used",
                    f"p={self.p!r} was given, and metric={self.metric!r} takes none; leave p out "
                    "or use metric='minkowski'.",
                    depth=1,
                )
        elif (self.metric_params or {}).get("p", self.p) != self.p:
            # The words and the kind of scikit-learn's, which tools look for.
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ "
                "is ignored.",
                SyntaxWarning,
                stacklevel=3,
            )

    def _note_one_way(self, given: Any, recorder: Recorder) -> None:
        """Count the pairs whose given distances differ by direction, and advise on them."""
        self.n_one_way_ = 0
        if self.metric not in _GIVEN:
            return
        lengths_matter = self.metric == "graph" or self.border == "nearest"
        self.n_one_way_ = count_one_way(given, self.eps_, lengths_matter)
        if self.n_one_way_:
            recorder.advise(
                "DBSCAN",
                "distances differ by direction",
                f"{self.n_one_way_} pairs of rows are within eps={self.eps_:g} one way only, so "
                f"clusters depend on the order of rows; {_MAKE_SYMMETRIC}.",
                depth=1,
            )

    def _choose_eps(self, rows: Any, recorder: Recorder) -> float:
        """The eps that the distances of checked rows suggest."""
        if self.metric in _GIVEN:
            raise ValueError(
                f"DBSCAN: eps='auto' looks at distances between rows, and with metric="
                f"{self.metric!r} X holds none; pass a number."
            )
        if self.metric == "gower":  # whose rows are prepared by now
            metric = as_metric("gower", **self.gower_)
        else:
            metric = self._metric(rows, **self.metric_params_)
            rows = metric.form(rows)
        index = Index.over_prepared("DBSCAN", rows, metric, n_threads=self._n_threads())
        found = read_eps("DBSCAN", index, self.min_samples)
        if not (found.has_knee or found.has_level):
            sentence = f"eps='auto' took eps={found.eps:g}: {found.reason}."
            recorder.advise("DBSCAN", "no knee", sentence, depth=1)
        return found.eps

    def _measured(self, X: Any) -> tuple[Any, Cluster]:
        """Checked rows, and how to cluster them by a metric."""
        if self.metric == "gower":  # of mixed tables with missing cells; knows how to read them
            validated(self, X, skip_check_array=True)
            metric = self._metric(X)
            self.gower_ = dict(metric.learned)
            return metric.prepare(X), partial(_cluster_by_metric, metric)
        if is_remote(X):
            source = self._finite_source(X)
            if self.metric == "euclidean" and self.eps != "auto":
                self.metric_params_ = dict(self._metric(None).learned)
                return source, cluster_cells
            what = f"metric={self.metric!r} with eps={self.eps!r}"
            X = rows_in_memory("DBSCAN", source, what)
        rows = self._dense_rows(X, reset=True)
        metric = self._metric(rows)
        self.metric_params_ = dict(metric.learned)
        if metric.name == "euclidean":
            return rows, cluster_rows
        if metric.is_euclidean:
            return rows, lambda rows, rule: cluster_rows(metric.prepare(rows), rule)
        return rows, lambda rows, rule: _cluster_by_metric(metric, metric.prepare(rows), rule)

    def _finite_source(self, X: Any) -> Source:
        """Rows on a cluster, looked through for what is not finite."""
        source = self._source(X, reset=True)
        if source.total(count_not_finite):
            for block in source:
                check_finite("DBSCAN", block.rows, source.names, start=block.start)
        return source

    def _measure_again(self, X: Any) -> tuple[Any, Metric]:
        """Other rows like those of the fit, and the metric of the fit."""
        if self.metric == "gower":
            validated(self, X, skip_check_array=True, reset=False)
            metric = as_metric("gower", who="DBSCAN", **self.gower_)
            return metric.prepare(X), metric
        rows = self._dense_rows(X, reset=False).astype(self.components_.dtype, copy=False)
        return rows, self._metric(rows, **self.metric_params_)

    def _given(self, X: Any) -> tuple[Any, Cluster]:
        """A checked matrix of distances or edge lengths, and how to cluster by it."""
        given = self._check_given(X, None, reset=True)
        if self.metric == "graph":
            self.graph_ = given = given.copy()
        return given, cluster_graph if self.metric == "graph" else cluster_precomputed

    def _check_given(self, X: Any, n_fitted: int | None, *, reset: bool = False) -> Any:
        """Distances or edge lengths to all rows of the fit, or of X itself; CSR for a graph."""
        given = given_distances(self, X, n_fitted, reset=reset)
        if self.metric == "graph" and not sp.issparse(given):
            given = check_csr("DBSCAN", sp.csr_matrix(given))
        return given

    def _check_together_loaded(self, sizes: Sizes) -> None:
        ids, labels = self.core_sample_indices_, self.labels_
        if ids.size and not ids.max() < labels.size:
            raise ValueError("core_sample_indices_ names rows that labels_ does not have")
        if (np.diff(ids) <= 0).any():
            raise ValueError("core_sample_indices_ is not in order")
        if ids.size and labels[ids].min() < 0:
            raise ValueError("a core row has no cluster")
        if labels.size and labels.max() >= labels.size:
            raise ValueError("labels_ has more clusters than rows")
        if self.metric in _GIVEN and sizes["width"] != labels.size:
            raise ValueError("components_ must have a column for each row of the fit")
        if (self.metric == "graph") != hasattr(self, "graph_"):
            raise ValueError("graph_ is missing, or there is one under another metric")
        if self.metric in NAMES and self.metric != "gower":
            metric = self._metric(None, **self.metric_params_)  # refuses what is no metric
            if ids.size:
                metric.prepare(self.components_[:1])
        check_rows_loaded(self, self.components_, gower=self.metric == "gower")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def dbscan(
    X: Any,
    eps: float | str = 0.5,
    *,
    min_samples: int = 5,
    metric: Any = "minkowski",
    metric_params: Mapping[str, Any] | None = None,
    algorithm: str = "auto",
    leaf_size: int = 30,
    p: float | None = 2,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """`DBSCAN` as a function, as `sklearn.cluster.dbscan`; see there for the parameters.

    Returns
    -------
    core_samples : int64 array of shape (n_core,)
        The core rows.
    labels : int64 array of shape (n_rows,)
        The cluster of each row; -1 for noise.
    """
    model = DBSCAN(
        eps,
        min_samples=min_samples,
        metric=metric,
        metric_params=metric_params,
        algorithm=algorithm,
        leaf_size=leaf_size,
        p=p if metric == "minkowski" else None,
        n_jobs=n_jobs,
    )
    model.fit(X, sample_weight=sample_weight)
    return model.core_sample_indices_, model.labels_


_MAKE_SYMMETRIC = "fit a symmetric matrix, such as (X + X.T) / 2, or X.maximum(X.T) if sparse"
#: Only rows in the same place are within this.
_NO_DISTANCE = 5e-324


def _cluster_by_metric(metric: Metric, prepared: Any, rule: DensityRule) -> Clustering:
    distances = partial(metric.lengths, n_threads=rule.n_threads)
    return cluster_by_distances(distances, prepared, rule)


def _signed_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """One float64 per row, of any sign, or None where each weighs one."""
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"DBSCAN: sample_weight.shape == {weights.shape}, expected {(n_rows,)}; "
            "pass one weight per row."
        )
    if not weights.any():
        raise ValueError(
            "DBSCAN: sample_weight must contain at least one non-zero number; give some rows a "
            "weight."
        )
    return weights
