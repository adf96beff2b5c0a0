"""k-medoids: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

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
from coterie._doors import check_weights
from coterie._history import Recorder
from coterie._random import check_random_state
from coterie._stored import Array, Field, Flag, Many, Name, Real, Whole, Word
from coterie.distance import NAMES, as_graph
from coterie.medoid._find import METHODS, Asked, find_medoids
from coterie.medoid._geodesic import find_on_graph, label_nodes, lengths_of_paths
from coterie.medoid._indexed_centers import IndexedCenters
from coterie.medoid._nearest import (
    KnownMedoids,
    deviation_of_block,
    label_block,
    label_prepared,
    nearest_medoids,
    total_of,
)
from coterie.medoid._onebatch_streamed import find_in_stream
from coterie.medoid._pairs import GivenPairs, MeasuredPairs, Pairs, affordable
from coterie.medoid._starts import STARTS
from coterie.medoid._swap import MedoidRun


class KMedoids(IndexedCenters):
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
        k, the number of clusters.
    metric : str or callable, default="euclidean"
        Any of `coterie.distance.METRICS`; a function of two rows (slow: a call of Python for each
        pair, and all n^2 distances are kept); or ``"precomputed"``: X holds the distances of all
        pairs, is symmetric, and is read where it is (float32 stays float32). ``"geodesic"``: X is a
        graph (see `coterie.distance.closeness`), distances are the lengths of shortest paths *to*
        the medoids, and the method is ``"alternate"``.
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
        Runs from different starts (and, by fasterpam, in different orders), of which the lowest TD
        is kept; ``"build"`` has only one.
    max_iter : int, default=300
        Rounds over all rows (fasterpam, onebatch), swaps (pam) or steps (alternate) at most.
    batch_size : int or None, default=None
        Rows sampled by ``"onebatch"``; None: 100 log(n_clusters n), as in the paper, and no fewer
        than 64 per cluster.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
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
        Iterations of the run that was kept.
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
        **IndexedCenters._stores,
        "medoid_indices_": Array("i8", ("clusters",), 0),
        "inertia_": Real(0),
        "medoid_nodes_": Many(Whole() | Real() | Name(), "clusters", optional=True),
        "method_": Word(tuple(METHODS)),
        "swap_optimal_": Flag(),
        "n_iter_": Whole(),
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

    _center = "medoid"
    _indices_name = "medoid_indices_"

    medoid_indices_: npt.NDArray[np.int64]
    inertia_: float
    method_: str
    swap_optimal_: bool
    n_iter_: int
    medoid_nodes_: list[Any]

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
            Or a path, Dask collection or source of rows: ``"onebatch"`` reads them block by block,
            the other methods take them into memory.
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts; one that counts nothing is no medoid either.

        Returns
        -------
        self
        """
        self._check_params()
        self._forget()
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
        if self.metric == "geodesic":
            method, run, recorder = self._fit_graph(X, sample_weight, asked, rng)
        elif self.method in ("auto", "onebatch") and self._can_stream(X):
            method, run, recorder = self._fit_source(X, sample_weight, asked, rng)
        else:
            method, run, recorder = self._fit_pairs(X, sample_weight, asked, rng)
        self.method_, self.swap_optimal_, self.n_iter_ = method, run.swap_optimal, run.n_iter
        self.history_, self.events_ = recorder.history, recorder.events
        self._n_features_out = asked.n_clusters
        if not run.settled and not recorder.stopped:
            recorder.event(
                "not settled",
                f"the total deviation was still falling after max_iter={self.max_iter}",
                iteration=self.n_iter_,
            )
        self._tell_of_copies(recorder)
        return self

    def _fit_pairs(
        self, X: Any, sample_weight: Any, asked: Asked, rng: np.random.RandomState
    ) -> tuple[str, MedoidRun, Recorder]:
        """Of rows in memory, or of given distances."""
        pairs: Pairs
        if self.metric == "precomputed":
            pairs = GivenPairs(self._who, self._n_threads(), self._given_square(X))
        else:
            rows, prepared, metric = self._rows_and_metric(X)
            prepared = prepared.astype(np.result_type(rows.dtype, prepared.dtype), copy=False)
            pairs = MeasuredPairs(self._who, self._n_threads(), prepared, metric)
        weights = check_weights(self._who, sample_weight, pairs.n_rows)
        allowed = self._allowed(weights, pairs.n_rows)
        found = find_medoids(pairs, weights, allowed, asked, rng)
        medoids = self.medoid_indices_ = found[1].medoids
        if isinstance(pairs, MeasuredPairs):
            self.center_rows_ = np.array(rows[medoids])
            known = KnownMedoids(pairs.metric, pairs.rows[medoids])
            self.labels_ = label_prepared(known, pairs.rows, pairs.n_threads)
            nearest = nearest_medoids(known, pairs.rows, pairs.n_threads)[1]
        else:
            assert isinstance(pairs, GivenPairs)
            lengths = pairs.matrix[:, medoids]
            self.labels_ = lengths.argmin(axis=1).astype(np.int32)
            nearest = lengths.min(axis=1).astype(np.float64)
        self.inertia_ = total_of(self._who, nearest, weights)
        return found

    def _allowed(self, weights: Any, n_rows: int) -> npt.NDArray[np.bool_] | None:
        """Which rows may be medoids, None for all; refused where they are too few."""
        allowed = None if weights is None else weights > 0
        n_possible = n_rows if allowed is None else int(allowed.sum())
        check_enough_rows(self._who, self.n_clusters, n_possible)
        return allowed

    def _fit_source(
        self, X: Any, sample_weight: Any, asked: Asked, rng: np.random.RandomState
    ) -> tuple[str, MedoidRun, Recorder]:
        """Of rows that are elsewhere: they stay there, unless "auto" can afford all pairs."""
        blocks = self._source(X, sample_weight, reset=True)
        metric = self._metric(None)
        if self.method == "auto" and affordable(metric, blocks.n_rows, blocks.n_cols):
            return self._fit_pairs(blocks, sample_weight, asked, rng)
        self._allowed(blocks.weights, blocks.n_rows)
        self.metric_params_ = dict(metric.learned)
        run, recorder = find_in_stream(self._who, blocks, metric, asked, rng)
        self.medoid_indices_ = run.medoids
        self.center_rows_ = blocks.take(run.medoids).astype(blocks.dtype)
        known = self._known()
        self.labels_ = blocks.map(label_block, known, dtype=np.int32)
        self.inertia_ = float(blocks.total(deviation_of_block, known))
        return "onebatch", run, recorder

    def _fit_graph(
        self, X: Any, sample_weight: Any, asked: Asked, rng: np.random.RandomState
    ) -> tuple[str, MedoidRun, Recorder]:
        """Of the nodes of a graph."""
        if self.method not in ("auto", "alternate"):
            raise ValueError(
                f"KMedoids: method={self.method!r} was given, and metric='geodesic' knows only "
                "'alternate'; leave method out, or pass the lengths of all paths with "
                "metric='precomputed'."
            )
        graph = as_graph(self._who, X)
        weights = check_weights(self._who, sample_weight, graph.n_nodes)
        self._allowed(weights, graph.n_nodes)
        run, recorder = find_on_graph(self._who, graph, weights, asked, rng, self._n_threads())
        self.medoid_indices_, self.n_features_in_ = run.medoids, graph.n_nodes
        self.labels_, nearest = graph.nearest(run.medoids)
        self.inertia_ = total_of(self._who, nearest, weights)
        names = range(graph.n_nodes) if graph.names is None else graph.names
        self.medoid_nodes_ = [names[medoid] for medoid in run.medoids]
        return "alternate", run, recorder

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("medoid_nodes_", None)

    def predict(self, X: Any, *, out: Any = None) -> Any:
        check_is_fitted(self)
        if self.metric == "geodesic":
            return label_nodes(self._who, X, self.medoid_indices_)
        return super().predict(X, out=out)

    predict.__doc__ = IndexedCenters.predict.__doc__

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """Distance of every row to every medoid, (n_rows, n_clusters); see `predict`."""
        check_is_fitted(self)
        if self.metric == "geodesic":
            return lengths_of_paths(self._who, X, self.medoid_indices_, self.labels_.size)
        return super().transform(X, out=out)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the total deviation of these rows from the fitted medoids."""
        check_is_fitted(self)
        if self.metric in ("precomputed", "geodesic"):
            nearest = self.transform(X).min(axis=1).astype(np.float64)
            weights = check_weights(self._who, sample_weight, nearest.size)
            return -total_of(self._who, nearest, weights)
        blocks, known = self._like_the_fit(X, sample_weight)
        return -float(blocks.total(deviation_of_block, known))

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int32]:
        """Fit and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[Any]:
        """Fit, then `transform` the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)
