"""k-means: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coterie._checks import (
    ANY,
    ARRAY,
    CALLABLE,
    FLAG,
    NONE,
    Rule,
    check_enough_rows,
    one_of,
    real,
    whole,
)
from coterie._history import Event, Iteration
from coterie._random import check_random_state
from coterie._restarts import recorders
from coterie.centroid._clusterer import CentroidClusterer
from coterie.centroid._kmeans import kmeans
from coterie.centroid._lloyd import LloydRun
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._sphere import on_sphere
from coterie.centroid._steps import ALGORITHMS
from coterie.data import Source

#: What is lowered under each metric.
_OBJECTIVES = {
    "euclidean": "sum of squared errors",
    "cosine": "sum of squared errors on the sphere",
}


class KMeans(CentroidClusterer):
    """k-means clustering: the k centres with the least sum of squared errors, by Lloyd's descent.

    Minimises SSE = sum_i w_i min_j |x_i - c_j|^2 by alternating two steps, neither of which can
    raise it: every row to its nearest centre, every centre to the mean of its rows (Lloyd 1982).
    The result depends on the start, hence the seedings and restarts.

    Drop-in for `sklearn.cluster.KMeans`: same parameters, attributes, label numbering and dtypes.

    Time O(n k d) per iteration at most. Memory beyond X: 4 bytes per row for the labels, 4 more for
    the bounds of the pruned algorithms, 4 more with restarts; X is never copied (cosine: once).

    Parameters
    ----------
    n_clusters : int, default=8
        k, the number of clusters.
    init : str, array of shape (n_clusters, n_features) or callable, default="k-means++"
        How to start. ``"k-means++"`` (Arthur & Vassilvitskii 2007), ``"random"`` (rows),
        ``"random-labels"``, ``"box"`` (uniform in the bounding box), ``"farthest-first"``
        (Gonzalez 1985), ``"k-means||"`` (Bahmani et al. 2012); the centres themselves; or
        ``f(X, n_clusters, random_state=...)`` that returns them.
    n_init : int or "auto", default="auto"
        Runs from different starts, of which the lowest SSE is kept. "auto": one for k-means++,
        farthest-first, k-means|| and given centres, else ten.
    max_iter : int, default=300
        Iterations of a run, at most.
    tol : float, default=1e-4
        A run settles once the summed squared move of the centres is at most ``tol`` times the
        mean variance of the columns, or no label changes.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    copy_x : bool, default=True
        Accepted for scikit-learn's sake; X is neither changed nor copied.
    algorithm : {"auto", "lloyd", "hamerly", "yinyang", "elkan"}, default="auto"
        All are exact and give the same labels and centres. "lloyd" looks at every pair;
        "hamerly" (2010) proves most rows unchanged with two bounds per row; "yinyang" (Ding et al.
        2015) keeps a bound for each of eight groups of centres; "elkan" is an alias of "yinyang".
        "auto" chooses from the shape of the problem and what was pruned so far, see `events_`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is spherical k-means (Dhillon & Modha 2001): rows and centres on the unit sphere.
    n_local_trials : int or None, default=None
        Candidates tried at each step of k-means++; None: 2 + log(n_clusters) as scikit-learn,
        1: the textbook's.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called once per iteration with a `Progress`; returning True stops.
    keep : {None, "parameters"}, default=None
        "parameters" stores the centres of every iteration in `history_`.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centres.
    labels_ : int32 array of shape (n_rows,)
        Equal to ``predict(X)``.
    inertia_ : float
        SSE of `labels_` against `cluster_centers_`.
    n_iter_ : int
        Iterations of the run that was kept.
    history_ : list of dict
        One entry per iteration of the run that was kept: objective after each half-step, shift,
        changed labels, rows scanned, seconds.
    events_ : list of dict
        What else happened: the algorithm chosen, empty clusters relocated, early stops.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> KMeans(2, random_state=0).fit(X).cluster_centers_
    array([[10.,  2.],
           [ 1.,  2.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": whole(1),
        "init": one_of(*SEEDINGS) | CALLABLE | ARRAY,
        "n_init": one_of("auto") | whole(1),
        "max_iter": whole(1),
        "tol": real(0),
        "verbose": FLAG,
        "copy_x": FLAG,
        "algorithm": one_of(*ALGORITHMS),
        "metric": one_of("euclidean", "cosine"),
        "n_local_trials": NONE | whole(1),
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
        "random_state": ANY,
    }

    n_iter_: int
    history_: list[Iteration]
    events_: list[Event]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: Any = False,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "auto",
        metric: str = "euclidean",
        n_local_trials: int | None = None,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.metric = metric
        self.n_local_trials = n_local_trials
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, data frame, CSR matrix or memory map of shape (n_rows, n_features)
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_params()
        if self._algorithm() != self.algorithm:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=2,
            )
        blocks = self._blocks_to_cluster(X, sample_weight, reset=True)
        columns, space = self._checked_space(blocks)
        check_enough_rows("KMeans", self.n_clusters, columns.n_rows)
        tol = self.tol * float(columns.variance.mean())
        del columns
        n_init, keep = self._n_starts(10), self.keep == "parameters"
        run = kmeans(
            blocks,
            space,
            int(self.n_clusters),
            check_random_state(self.random_state),
            start=self._start,
            algorithm=self._algorithm(),
            max_iter=self.max_iter,
            tol=tol,
            runs=recorders(n_init, self.max_iter, self._callback(), keep, _OBJECTIVES[self.metric]),
            project=on_sphere if self.metric == "cosine" else None,
        )
        return self._publish_run(run, blocks)

    def _algorithm(self) -> str:
        return "lloyd" if self.algorithm == "elkan" and self.n_clusters == 1 else self.algorithm

    def _publish_run(self, run: LloydRun, blocks: Source) -> Self:
        """Round the centres to the type of X; labels and SSE are those of the rounded centres."""
        centers = run.centers.astype(blocks.dtype)
        exact = centers.astype(np.float64)
        self._publish(centers, *run.relabel(exact))
        self.n_iter_ = run.n_iter
        recorder = run.recorder
        self.history_, self.events_ = recorder.history, recorder.events
        if not run.settled and run.n_iter == self.max_iter:
            recorder.event(
                "not settled",
                f"the centres were still moving after max_iter={self.max_iter} iterations",
                iteration=run.n_iter,
            )
        if run.step.tally.any_empty:
            n_used = int(np.count_nonzero(~run.step.tally.empty))
            recorder.event(
                "fewer clusters", f"only {n_used} of {self.n_clusters} clusters have rows"
            )
            warnings.warn(
                f"Number of distinct clusters ({n_used}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self
