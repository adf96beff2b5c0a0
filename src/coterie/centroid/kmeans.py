"""k-means: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
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
    check_weights,
    one_of,
    real,
    whole,
)
from coterie._history import Event, Iteration, Recorder
from coterie._stored import RECORDS, Array, Field, Real, Sizes, Whole
from coterie.centroid._layout import lay_out_for
from coterie.centroid._lloyd import LloydRun, PlainStep, Tally, improves, lloyd
from coterie.centroid._passes import all_dists, assign, sum_sq_dists
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._space import Columns, Space
from coterie.centroid._sphere import on_sphere, start_on_sphere, unit_rows
from coterie.centroid._steps import ALGORITHMS, choose_step
from coterie.data import Blocks

Floats = npt.NDArray[np.float64]

#: What is lowered under each metric.
_OBJECTIVES = {
    "euclidean": "sum of squared errors",
    "cosine": "sum of squared errors on the sphere",
}
#: Seedings of which one run is usually enough; the others get ten.
_ONE_RUN = {"k-means++", "farthest-first", "k-means||"}


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """What k-means, mini-batch and bisecting k-means share: everything after the fit."""

    cluster_centers_: npt.NDArray[Any]
    labels_: npt.NDArray[np.int32]
    inertia_: float
    _n_features_out: int

    _stores: ClassVar[Mapping[str, Field]] = {
        "cluster_centers_": Array("f", ("clusters", "columns")),
        "labels_": Array("i", ("rows",), 0, optional=True),
        "inertia_": Real(0, optional=True),
        "n_iter_": Whole(optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }

    def _metric(self) -> str:
        return str(getattr(self, "metric", "euclidean"))

    def _rows_to_cluster(self, X: Any, *, reset: bool) -> Any:
        """Checked rows, put on the unit sphere where the metric is cosine."""
        rows = self._check_rows(X, reset=reset)
        return unit_rows(rows) if self._metric() == "cosine" else rows

    def _lay_out(self, blocks: Blocks, centers: Floats | None = None) -> tuple[Columns, Space]:
        names = getattr(self, "feature_names_in_", None)
        return lay_out_for(type(self).__name__, blocks, centers, names)

    def _publish(self, centers: Floats, labels: npt.NDArray[np.int32], inertia: float) -> None:
        self.cluster_centers_ = centers
        self.labels_ = labels
        self.inertia_ = inertia
        self._n_features_out = int(centers.shape[0])

    def _centers(self) -> Floats:
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The nearest centre of every row; ties go to the lower index.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        labels : int32 array of shape (n_rows,)
        """
        check_is_fitted(self)
        blocks = self._blocks(self._rows_to_cluster(X, reset=False))
        centers = self._centers()
        return assign(blocks, centers, self._lay_out(blocks, centers)[1])

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Distance of every row to every centre (cosine: on the unit sphere).

        Memory: n_rows x n_clusters, which is the result.
        """
        check_is_fitted(self)
        blocks = self._blocks(self._rows_to_cluster(X, reset=False))
        centers = self._centers()
        return all_dists(blocks, centers, self._lay_out(blocks, centers)[1])

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[Any]:
        """Fit, then `transform` the same rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[np.int32]:
        """Fit and return `labels_`."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared errors of these rows under the fitted centres."""
        check_is_fitted(self)
        rows = self._rows_to_cluster(X, reset=False)
        weights = check_weights(type(self).__name__, sample_weight, rows.shape[0])
        blocks = self._blocks(rows, weights)
        centers = self._centers()
        _, space = self._lay_out(blocks, centers)
        return -sum_sq_dists(blocks, centers, space, assign(blocks, centers, space))

    def _check_together_loaded(self, sizes: Sizes) -> None:
        if sizes["clusters"] < 1:
            raise ValueError("cluster_centers_ has no centre")
        if sizes.get("rows") and self.labels_.max() >= sizes["clusters"]:
            raise ValueError("labels_ names clusters that have no centre")
        self._n_features_out = sizes["clusters"]


class KMeans(CentroidClusterer):
    """k-means clustering: the k centres with the least sum of squared errors, by Lloyd's descent.

    Minimises SSE = sum_i w_i min_j |x_i - c_j|^2 by alternating two steps, neither of which can
    raise it: every row to its nearest centre, every centre to the mean of its rows (Lloyd 1982).
    The result depends on the start, hence the seedings and restarts.

    Drop-in for `sklearn.cluster.KMeans`: same parameters, attributes, label numbering and dtypes.

    Time O(n k d) an iteration at most. Memory beyond X: 4 bytes a row for the labels, 4 more for
    the bounds of the pruned algorithms; X is never copied (cosine: once).

    Parameters
    ----------
    n_clusters : int, default=8
    init : str, array of shape (n_clusters, n_features) or callable, default="k-means++"
        How to start. ``"k-means++"`` (Arthur & Vassilvitskii 2007), ``"random"`` (rows),
        ``"random-labels"``, ``"box"`` (uniform in the bounding box), ``"farthest-first"``
        (Gonzalez 1985), ``"k-means||"`` (Bahmani et al. 2012); the centres themselves; or
        ``f(X, n_clusters, random_state=...)`` that returns them.
    n_init : int or "auto", default="auto"
        Runs from different starts, of which the lowest SSE is kept. "auto": one for k-means++,
        farthest-first, k-means|| and given centres, else ten.
    max_iter : int, default=300
    tol : float, default=1e-4
        A run settles once the summed squared move of the centres is at most ``tol`` times the
        mean variance of the columns, or no label changes.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
    copy_x : bool, default=True
        Accepted for scikit-learn's sake; X is neither changed nor copied.
    algorithm : {"auto", "lloyd", "hamerly", "yinyang", "elkan"}, default="auto"
        All are exact and give the same labels and centres. "lloyd" looks at every pair;
        "hamerly" (2010) proves most rows unchanged with two bounds a row; "yinyang" (Ding et al.
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
        Called once an iteration with a `Progress`; returning True stops.
    keep : {None, "parameters"}, default=None
        "parameters" stores the centres of every iteration in `history_`.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_rows,)
        Equal to ``predict(X)``.
    inertia_ : float
        SSE of `labels_` against `cluster_centers_`.
    n_iter_ : int
    history_ : list of dict
        One entry an iteration of the run that was kept: objective after each half-step, shift,
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
        rows = self._rows_to_cluster(X, reset=True)
        blocks = self._blocks(rows, check_weights("KMeans", sample_weight, rows.shape[0]))
        check_enough_rows("KMeans", self.n_clusters, blocks.n_rows)
        columns, space = self._lay_out(blocks)
        tol = self.tol * float(columns.variance.mean())
        del columns
        rng = check_random_state(self.random_state)
        n_init = self._n_runs()

        best: LloydRun | None = None
        for restart in range(n_init):
            recorder = Recorder(
                self.max_iter,
                self._callback(),
                self.keep == "parameters",
                restart,
                n_init,
                objective_name=_OBJECTIVES[self.metric],
            )
            run = self._run(blocks, space, rng, tol, recorder)
            if best is None or improves(run.objective, run.centers, best.objective, best.centers):
                best, kept = run, recorder
            if recorder.stopped:
                if kept is not recorder:
                    kept.events.append(recorder.events[-1])
                break
            if restart + 1 < n_init:
                best = best.without_step()  # what it knows of every row would be in memory twice
        assert best is not None
        return self._publish_run(best, kept, blocks, space)

    def _run(
        self,
        blocks: Blocks,
        space: Space,
        rng: np.random.RandomState,
        tol: float,
        recorder: Recorder,
    ) -> LloydRun:
        """One descent from one start."""
        return lloyd(
            self._start(blocks, space, rng),
            choose_step(self._algorithm(), Tally(blocks, space, self.n_clusters), recorder),
            max_iter=self.max_iter,
            tol=tol,
            recorder=recorder,
            project=on_sphere if self.metric == "cosine" else None,
        )

    def _start(self, blocks: Blocks, space: Space, rng: np.random.RandomState) -> Floats:
        start = given_centers("KMeans", self.init, self.n_clusters, blocks)
        if start is None:
            start = seed(self, blocks, space, self.n_clusters, rng)
        return start_on_sphere(start) if self.metric == "cosine" else start

    def _algorithm(self) -> str:
        return "lloyd" if self.algorithm == "elkan" and self.n_clusters == 1 else self.algorithm

    def _n_runs(self) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            if self.n_init not in ("auto", 1):
                warnings.warn(
                    "Explicit initial center position passed: performing only one init in KMeans "
                    f"instead of n_init={self.n_init}.",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init in _ONE_RUN else 10
        return int(self.n_init)

    def _publish_run(self, run: LloydRun, recorder: Recorder, blocks: Blocks, space: Space) -> Self:
        """Round the centres to the type of X; labels and SSE are those of the rounded centres."""
        step = run.step or PlainStep(Tally(blocks, space, self.n_clusters), recorder)
        run.centers = run.centers.astype(blocks.dtype).astype(np.float64)
        step.finish(run.centers)
        tally = step.tally
        inertia = sum_sq_dists(blocks, run.centers, space, tally.labels)
        self._publish(run.centers.astype(blocks.dtype), tally.labels, inertia)
        self.n_iter_ = run.n_iter
        if not run.settled and run.n_iter == self.max_iter:
            recorder.event(
                "not settled",
                f"the centres were still moving after max_iter={self.max_iter} iterations",
                iteration=run.n_iter,
            )
        self.history_, self.events_ = recorder.history, recorder.events
        n_used = int(np.count_nonzero(~tally.empty))
        if n_used < self.n_clusters:
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


def given_centers(who: str, init: Any, n_clusters: int, blocks: Blocks) -> Floats | None:
    """The centres a user passed as `init`, checked; None when `init` is a method."""
    if isinstance(init, str) or callable(init):
        return None
    return _checked_centers(who, init, n_clusters, blocks)


def seed(
    model: Any, blocks: Blocks, space: Space, n_clusters: int, rng: np.random.RandomState
) -> Floats:
    """Starting centres by the method or function that is `model.init`."""
    if callable(model.init):
        centers = model.init(blocks.rows, n_clusters, random_state=rng)
        return _checked_centers(type(model).__name__, centers, n_clusters, blocks)
    seeding = SEEDINGS[model.init]
    return seeding(blocks, space, n_clusters, rng, n_local_trials=model.n_local_trials).centers


def _checked_centers(who: str, centers: Any, n_clusters: int, blocks: Blocks) -> Floats:
    # Rounded to the type of X first, as scikit-learn does.
    with np.errstate(over="ignore", invalid="ignore"):  # in its test for finite values
        checked = check_array(centers, dtype=blocks.dtype, order="C", input_name="init")
    shape = (n_clusters, blocks.n_cols)
    for axis, name in enumerate(("clusters", "features of the data")):
        if checked.shape[axis] != shape[axis]:
            raise ValueError(
                f"{who}: The shape of the initial centers {checked.shape} does not match the "
                f"number of {name} {shape[axis]}; pass an array of shape {shape}."
            )
    return np.array(checked, dtype=np.float64)
