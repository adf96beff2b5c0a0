"""k-medoids: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._checks import (
    ANY,
    ARRAY,
    CALLABLE,
    FLAG,
    NONE,
    Rule,
    check_enough_rows,
    one_of,
    whole,
)
from coterie._distinct import distinct
from coterie._doors import check_symmetric, check_weights, given_distances, validated
from coterie._history import Event, Iteration, Recorder
from coterie._stored import RECORDS, Array, Field, Flag, Many, Name, Parts, Real, Sizes, Whole, Word
from coterie.data import Source
from coterie.data.written import given_or_written
from coterie.distance import NAMES, Metric, as_graph, as_metric
from coterie.medoid._find import METHODS, Asked, find_medoids
from coterie.medoid._geodesic import check_reached, find_on_graph
from coterie.medoid._gower_rows import rows_of_table
from coterie.medoid._nearest import (
    KnownMedoids,
    deviation_of_block,
    label_block,
    measure_block,
    nearest_medoids,
    total_of,
)
from coterie.medoid._pairs import GivenPairs, MeasuredPairs, Pairs
from coterie.medoid._starts import STARTS

Floats = npt.NDArray[np.float64]


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """k-medoids clustering: the k rows with the least total distance of all rows to the nearest.

    Minimises the total deviation TD = sum_i w_i min_j d(x_i, m_j) over medoids m_1, ..., m_k that
    are rows of X themselves, so any distance will do and a medoid can be looked at. FasterPAM
    (Schubert & Rousseeuw 2021) swaps a medoid for another row whenever that lowers TD, until no
    single swap does; that is checked for all n k of them, see `swap_optimal_`.

    Time: O(n^2) for each of a few rounds, whatever k is. Memory beyond X: the distances while n^2
    of them take at most 1 GB (n = 15 811 in float32, 11 180 in float64) and half of what is free;
    else they are measured again in each round, and a copy of X is all there is. Distances of
    float32 rows are rounded to float32, of float64 rows to float64.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`; a function of two rows (slow: a call of Python for each
        pair, and all n^2 distances are kept); or ``"precomputed"``: X holds the distances of all
        pairs, is symmetric, and is read where it is (float32 stays float32). ``"geodesic"``: X is a
        graph (see `coterie.distance.closeness`), distances are the lengths of shortest paths *to*
        the medoids, and the method is ``"alternate"`` whatever `method` says.
    metric_params : dict or None, default=None
        More arguments for the metric, see `coterie.distance.as_metric`.
    method : {"auto", "fasterpam", "pam", "alternate", "onebatch"}, default="auto"
        ``"fasterpam"``: see above. ``"pam"`` (Kaufman & Rousseeuw 1990) takes the best of all swaps
        each time: as good, slower. ``"alternate"`` (Maranzana 1963) moves each medoid to the
        middle of its cluster, as k-means does: quick, and stuck in worse optima. ``"onebatch"``
        (de Mathelin et al. 2025) is approximate: FasterPAM on the distances to one weighted sample
        of rows; labels and `inertia_` are exact for the medoids it finds. ``"auto"``:
        ``"fasterpam"`` with ``"precomputed"``, and while n^2 (d + 16) is at most 2e11 (n = 79 000
        for d = 16: some minutes of one processor) or, with a function, n^2 distances take at most
        1 GB; else ``"onebatch"``, with a warning.
    init : str or array, default="build"
        ``"build"`` (Kaufman & Rousseeuw 1990: always the row that lowers TD most; no chance in
        it), ``"k-medoids++"`` (drawn by distance), ``"random"``, ``"farthest-first"`` (Gonzalez
        1985); `n_clusters` row numbers; or as many rows, for which the nearest of X are taken.
    n_init : int, default=1
        Runs from different starts, of which the lowest TD is kept; ``"build"`` has only one.
    max_iter : int, default=300
        Rounds over all rows (fasterpam, onebatch), swaps (pam) or steps (alternate) at most.
    batch_size : int or None, default=None
        Rows sampled by ``"onebatch"``; None: 100 log(n_clusters n), as in the paper.
    random_state : int, RandomState or None, default=None
    verbose : bool, default=False
        Show progress on stderr.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called after every swap with a `Progress`; returning True stops.

    Attributes
    ----------
    medoid_indices_ : int64 array of shape (n_clusters,)
        The rows that are medoids.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Those rows; with ``metric="gower"`` the cells of the table (times in seconds), absent with
        ``metric="precomputed"``.
    labels_ : int32 array of shape (n_rows,)
        The nearest medoid of each row, ties to the lower; equal to ``predict(X)``.
    inertia_ : float
        The total deviation of `labels_`, in float64.
    method_ : str
        The method that was used.
    swap_optimal_ : bool
        Whether it was seen that no single swap lowers the total deviation.
    n_iter_ : int
    history_ : list of dict
        The total deviation at the start and after every swap (or step) of the run that was kept,
        never rising; with ``"onebatch"`` that of the sample.
    events_ : list of dict
        What else happened: an approximation, early stops, clusters without rows.
    medoid_nodes_ : list
        The medoids by their names, with ``metric="geodesic"`` and a networkx graph.
    gower_, metric_params_ : dict
        What the metric learned from X, for `predict`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMedoids
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> KMedoids(2).fit(X).cluster_centers_
    array([[ 1.,  2.],
           [10.,  2.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "medoid_indices_": Array("i8", ("clusters",), 0),
        "medoid_rows_": Array("f", ("clusters", "columns"), nan=True, optional=True),
        "labels_": Array("i4", ("rows",), 0),
        "inertia_": Real(0),
        "medoid_nodes_": Many(Whole() | Real() | Name(), "clusters", optional=True),
        "method_": Word(tuple(METHODS)),
        "swap_optimal_": Flag(),
        "n_iter_": Whole(),
        "gower_": Parts(optional=True),
        "metric_params_": Parts(optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": whole(1),
        "metric": one_of(*NAMES, "precomputed", "geodesic") | CALLABLE,
        "metric_params": NONE | Rule(lambda value: isinstance(value, Mapping), "a dict"),
        "method": one_of("auto", *METHODS),
        "init": one_of(*STARTS) | ARRAY,
        "n_init": whole(1),
        "max_iter": whole(1),
        "batch_size": NONE | whole(1),
        "random_state": ANY,
        "verbose": FLAG,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
    }

    medoid_indices_: npt.NDArray[np.int64]
    medoid_rows_: npt.NDArray[Any]
    labels_: npt.NDArray[np.int32]
    inertia_: float
    method_: str
    swap_optimal_: bool
    n_iter_: int
    medoid_nodes_: list[Any]
    gower_: dict[str, Any]
    metric_params_: dict[str, Any]
    history_: list[Iteration]
    events_: list[Event]
    _n_features_out: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        metric_params: Mapping[str, Any] | None = None,
        method: str = "auto",
        init: Any = "build",
        n_init: int = 1,
        max_iter: int = 300,
        batch_size: int | None = None,
        random_state: Any = None,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.method = method
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose
        self.n_threads = n_threads
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the medoids of the rows of X.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), or (n_rows, n_rows)
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts; one that counts nothing is no medoid either.

        Returns
        -------
        self
        """
        self._check_params()
        self._forget()
        if self.metric == "geodesic":
            return self._fit_graph(X, sample_weight)
        pairs = self._given(X) if self.metric == "precomputed" else self._measured(X)
        weights = check_weights("KMedoids", sample_weight, pairs.n_rows)
        allowed = None if weights is None else weights > 0
        n_possible = pairs.n_rows if allowed is None else int(allowed.sum())
        check_enough_rows("KMedoids", self.n_clusters, n_possible)
        asked = Asked(
            n_clusters=int(self.n_clusters),
            method=self.method,
            init=self.init,
            n_init=int(self.n_init),
            max_iter=int(self.max_iter),
            batch_size=self.batch_size,
            callback=self._callback(),
        )
        rng = check_random_state(self.random_state)
        method, run, recorder = find_medoids(pairs, weights, allowed, asked, rng)
        self.method_, self.medoid_indices_ = method, run.medoids
        self.swap_optimal_, self.n_iter_ = run.swap_optimal, run.n_iter
        self.history_, self.events_ = recorder.history, recorder.events
        self._n_features_out = asked.n_clusters
        self._publish(X, pairs, weights)
        self._advise(run.settled, recorder)
        return self

    def _fit_graph(self, X: Any, sample_weight: Any) -> Self:
        """Medoids of the nodes of a graph."""
        if self.method not in ("auto", "alternate"):
            raise ValueError(
                f"KMedoids: method={self.method!r} was given, and metric='geodesic' knows only "
                "'alternate'; leave method out, or pass the lengths of all paths with "
                "metric='precomputed'."
            )
        graph = as_graph("KMedoids", X)
        weights = check_weights("KMedoids", sample_weight, graph.n_nodes)
        n_possible = graph.n_nodes if weights is None else int((weights > 0).sum())
        check_enough_rows("KMedoids", self.n_clusters, n_possible)
        run, recorder = find_on_graph(
            "KMedoids", graph, weights, int(self.n_clusters), self.init, int(self.n_init),
            int(self.max_iter), check_random_state(self.random_state), self._n_threads(),
            self._callback(),
        )  # fmt: skip
        self.method_, self.medoid_indices_ = "alternate", run.medoids
        self.swap_optimal_, self.n_iter_ = False, run.n_iter
        self.history_, self.events_ = recorder.history, recorder.events
        self.n_features_in_, self._n_features_out = graph.n_nodes, int(self.n_clusters)
        self.labels_, nearest = graph.nearest(run.medoids)
        self.inertia_ = total_of("KMedoids", nearest, weights)
        names = range(graph.n_nodes) if graph.names is None else graph.names
        self.medoid_nodes_ = [names[medoid] for medoid in run.medoids]
        self._advise(run.settled, recorder)
        return self

    def _graph_lengths(self, X: Any) -> npt.NDArray[np.float64]:
        """Lengths of the paths of all nodes of a graph to every medoid."""
        graph = as_graph("KMedoids", X)
        if graph.n_nodes != self.labels_.size:
            raise ValueError(
                f"KMedoids: the graph has {graph.n_nodes} nodes and that of the fit had "
                f"{self.labels_.size}; pass a graph of the same nodes."
            )
        each = [graph.nearest(self.medoid_indices_[[j]])[1] for j in range(self._n_features_out)]
        return np.stack(each, axis=1)

    def _forget(self) -> None:
        """What only some fits leave."""
        for name in ("medoid_rows_", "gower_", "metric_params_", "medoid_nodes_"):
            self.__dict__.pop(name, None)

    def _given(self, X: Any) -> Pairs:
        """Checked distances of all pairs."""
        matrix = given_distances(self, X, None, sparse=False, reset=True)
        check_symmetric(matrix, "KMedoids")
        return GivenPairs("KMedoids", self._n_threads(), matrix)

    def _measured(self, X: Any) -> Pairs:
        """Checked rows, prepared for the metric."""
        if self.metric == "gower":  # of mixed tables with missing cells; knows how to read them
            validated(self, X, skip_check_array=True)
            metric = self._metric(X)
            self.gower_ = dict(metric.learned)
            return MeasuredPairs("KMedoids", self._n_threads(), metric.prepare(X), metric)
        rows = self._dense_rows(X, reset=True, finite=self.metric != "nan_euclidean")
        metric = self._metric(rows)
        self.metric_params_ = dict(metric.learned)
        prepared = metric.prepare(rows)
        dtype = np.result_type(rows.dtype, prepared.dtype)
        prepared = prepared.astype(dtype, copy=False)
        return MeasuredPairs("KMedoids", self._n_threads(), prepared, metric, given=rows)

    def _metric(self, X: Any, **learned: Any) -> Metric:
        params = {**(self.metric_params or {}), **learned}
        return as_metric(self.metric, X, who="KMedoids", **params)

    def _publish(self, X: Any, pairs: Pairs, weights: Floats | None) -> None:
        """Labels and total deviation by the medoids as they are published."""
        if isinstance(pairs, MeasuredPairs):
            given = pairs.rows if pairs.given is None else pairs.given
            self.medoid_rows_ = np.array(given[self.medoid_indices_])
            known = KnownMedoids(pairs.metric, pairs.rows[self.medoid_indices_])
            self.labels_, nearest = nearest_medoids(known, pairs.rows, pairs.n_threads)
        else:
            assert isinstance(pairs, GivenPairs)
            lengths = pairs.matrix[:, self.medoid_indices_]
            self.labels_ = lengths.argmin(axis=1).astype(np.int32)
            nearest = lengths.min(axis=1).astype(np.float64)
        self.inertia_ = total_of("KMedoids", nearest, weights)

    def _advise(self, settled: bool, recorder: Recorder) -> None:
        """Events about the result, and a warning where clusters have no rows."""
        if not settled and not recorder.stopped:
            recorder.event(
                "not settled",
                f"the total deviation was still falling after max_iter={self.max_iter}",
                iteration=self.n_iter_,
            )
        n_used = distinct(self.labels_).size
        if n_used < self.n_clusters:
            recorder.event(
                "fewer clusters", f"only {n_used} of {self.n_clusters} clusters have rows"
            )
            warnings.warn(
                f"KMedoids: only {n_used} of n_clusters={self.n_clusters} clusters have rows, "
                "since some medoids are at distance 0 from each other; lower n_clusters.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def cluster_centers_(self) -> npt.NDArray[Any]:
        """The rows that are medoids."""
        if "medoid_rows_" not in self.__dict__:
            raise AttributeError(
                "KMedoids has cluster_centers_ after a fit to rows; with metric='precomputed' "
                "there are only medoid_indices_."
            )
        if self.metric == "gower":
            return rows_of_table(self.medoid_rows_, self.gower_["categories"])
        return self.medoid_rows_

    def _known(self) -> KnownMedoids:
        """The medoids and the metric of the fit."""
        if self.metric == "gower":
            metric = as_metric("gower", who="KMedoids", **self.gower_)
            return KnownMedoids(metric, self.medoid_rows_)
        metric = self._metric(self.medoid_rows_, **self.metric_params_)
        return KnownMedoids(metric, metric.prepare(self.medoid_rows_))

    def _blocks_like_the_fit(self, X: Any, sample_weight: Any = None) -> Source:
        """Rows like those of the fit; with Gower's metric prepared already."""
        check_is_fitted(self)
        if self.metric == "gower":
            validated(self, X, skip_check_array=True, reset=False)
            rows = self._known().metric.prepare(X)
            return self._blocks(rows, check_weights("KMedoids", sample_weight, rows.shape[0]))
        return self._source(X, sample_weight, reset=False)

    def _known_of_blocks(self) -> KnownMedoids:
        """The same for such rows."""
        known = self._known()
        if self.metric == "gower":
            return KnownMedoids(known.metric.of_prepared(), known.prepared)
        return known

    def predict(self, X: Any, *, out: Any = None) -> Any:
        """The nearest medoid of every row; ties go to the lower index.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
            With ``metric="precomputed"`` the distances to the rows of the fit, (n_rows, n_fitted).
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int32 array of shape (n_rows,), or the path of `out`
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            return self._given_lengths(X).argmin(axis=1).astype(np.int32)
        if self.metric == "geodesic":
            labels = as_graph("KMedoids", X).nearest(self.medoid_indices_)[0]
            check_reached("KMedoids", labels)
            return labels
        blocks = self._blocks_like_the_fit(X)
        known = self._known_of_blocks()
        return given_or_written(blocks, out, "label", label_block, known, dtype=np.int32)

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """Distance of every row to every medoid, (n_rows, n_clusters); see `predict`."""
        check_is_fitted(self)
        if self.metric == "precomputed":
            return self._given_lengths(X)
        if self.metric == "geodesic":
            return self._graph_lengths(X)
        blocks = self._blocks_like_the_fit(X)
        names = [f"distance_{medoid}" for medoid in range(self.medoid_indices_.size)]
        known = self._known_of_blocks()
        return given_or_written(blocks, out, names, measure_block, known, dtype=blocks.dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the total deviation of these rows from the fitted medoids."""
        check_is_fitted(self)
        if self.metric == "precomputed":
            nearest = self._given_lengths(X).min(axis=1).astype(np.float64)
            weights = check_weights("KMedoids", sample_weight, nearest.size)
            return -total_of("KMedoids", nearest, weights)
        if self.metric == "geodesic":
            nearest = self._graph_lengths(X).min(axis=1)
            return -total_of(
                "KMedoids", nearest, check_weights("KMedoids", sample_weight, nearest.size)
            )
        blocks = self._blocks_like_the_fit(X, sample_weight)
        return -float(blocks.total(deviation_of_block, self._known_of_blocks()))

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int32]:
        """Fit and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[Any]:
        """Fit, then `transform` the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _given_lengths(self, X: Any) -> npt.NDArray[Any]:
        """Distances to the medoids, out of those to all rows of the fit."""
        given = given_distances(self, X, self.labels_.size, sparse=False)
        return np.asarray(given[:, self.medoid_indices_])

    def _check_together_loaded(self, sizes: Sizes) -> None:
        if sizes["clusters"] < 1:
            raise ValueError("medoid_indices_ names no row")
        if self.labels_.size and self.labels_.max() >= sizes["clusters"]:
            raise ValueError("labels_ names clusters that have no medoid")
        if self.medoid_indices_.max() >= self.labels_.size:
            raise ValueError("medoid_indices_ names rows that labels_ does not have")
        if distinct(self.medoid_indices_).size < sizes["clusters"]:
            raise ValueError("medoid_indices_ names a row twice")
        given = self.metric in ("precomputed", "geodesic")
        if given != ("medoid_rows_" not in self.__dict__):
            raise ValueError("medoid_rows_ is missing, or there are some of a precomputed metric")
        if given and sizes["columns"] != self.labels_.size:
            raise ValueError("there must be a column for each row of the fit")
        if (self.metric == "gower") != hasattr(self, "gower_"):
            raise ValueError("gower_ is missing, or there is one under another metric")
        if not given and (self.metric == "gower" or self.metric in NAMES):
            if self.metric != "gower" and not hasattr(self, "metric_params_"):
                raise ValueError("metric_params_ is missing")
            for name, learned in getattr(self, "metric_params_", {}).items():
                if getattr(learned, "dtype", np.float64) != np.float64:
                    raise ValueError(f"metric_params_[{name!r}] is not of type float64")
            self._known()  # refuses what is no metric
        self._n_features_out = sizes["clusters"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
