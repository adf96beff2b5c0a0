"""Mini-batch k-means: the estimator."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

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
from coterie._history import Event, Iteration, Recorder
from coterie._in_memory import taken_in
from coterie._random import check_random_state
from coterie._restarts import best_of, recorders
from coterie._stored import Array, Field, Whole
from coterie.centroid._clusterer import CentroidClusterer
from coterie.centroid._kmeans import improves
from coterie.centroid._local_search import improve_seeds
from coterie.centroid._minibatch import Plateau, RunningMeans, minibatch, reassign, take_steps
from coterie.centroid._one_pass import one_pass
from coterie.centroid._passes import assign, sum_sq_dists
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._space import Space
from coterie.data import Source, is_once

Floats = npt.NDArray[np.float64]

#: How fast `fit` forgets; see `take_steps`.
_FORGET = 4.0
#: The smoothed inertia looks back over about the rows of X divided by this.
_RECENT = 4.0
#: Swaps tried on the seeds of k-means++.
_SWAPS = 50
#: Values of the rows they are tried on, and products it takes to begin, at most.
_MOST_VALUES, _MOST_PRODUCTS = 1 << 22, 1 << 29


class _Seeds(NamedTuple):
    """Centres to start from, and their SSE on some rows."""

    centers: Floats
    inertia: float


class MiniBatchKMeans(CentroidClusterer):
    """k-means clustering by small random batches: nearly the SSE of `KMeans`, in fewer passes.

    Each step draws `batch_size` rows, gives every one to its nearest centre and moves each centre
    towards the mean of the rows it got (Sculley 2010). Rows are drawn with replacement, in
    proportion to their weights. In `fit` a centre is a mean of the rows it was ever given in which
    a row counts in proportion to the fourth power of how many came before it (polynomial-decay
    averaging, Shamir and Zhang 2013), so that where the seeds were is soon forgotten; in
    `partial_fit` all rows count alike, as in scikit-learn.

    Drop-in for `sklearn.cluster.MiniBatchKMeans`: same parameters, attributes and dtypes.

    An iterator of batches is read in one pass, see `fit`.

    Time O(batch_size k d) per step, and a pass over X to look at its columns and another for the
    labels. Memory beyond X: one batch, 4 bytes per row for the labels, 8 with weights.

    Parameters
    ----------
    n_clusters : int, default=8
        k, the number of clusters.
    init : str, array of shape (n_clusters, n_features) or callable, default="k-means++"
        How to start, from `init_size` random rows; the choices are those of `KMeans`. Seeds of
        ``"k-means++"`` are improved by local search on some of these rows (Lattanzi and Sohler
        2019), since small steps seldom find a cluster that was left without a seed.
    max_iter : int, default=100
        Steps are taken for at most this many times the rows of X.
    batch_size : int, default=1024
        Rows per step.
    verbose : bool, default=False
        Show progress on stderr.
    compute_labels : bool, default=True
        Whether `fit` ends with a pass for `labels_` and the exact `inertia_`.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    tol : float, default=0.0
        Stop once the summed squared move of the centres in a step is at most ``tol`` times the
        mean variance of the columns, for a plain mean as in scikit-learn; `fit` forgets and so
        moves five times as far. 0: never.
    max_no_improvement : int or None, default=10
        Stop once the exponentially smoothed inertia of the batches has not reached a new low for
        this many steps in a row; None: never.
    init_size : int or None, default=None
        Rows to seed from; None: ``3 * batch_size``, or ``3 * n_clusters`` if that is too few.
    n_init : int or "auto", default="auto"
        Seedings tried, of which the one of lowest SSE on random rows is used. "auto": one for
        k-means++, farthest-first, k-means|| and given centres, else three.
    reassignment_ratio : float, default=0.01
        A centre that has seen less than this share of the rows of the most popular one is put
        on a random row; 0: never.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called about ten times per pass over X with a `Progress`; returning True stops.
    keep : {None, "parameters"}, default=None
        "parameters" stores the centres with every entry of `history_`.
    n_local_trials : int or None, default=None
        Candidates tried at each step of k-means++; None: 2 + log(n_clusters).

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centres.
    labels_ : int32 array of shape (n_rows,)
        Equal to ``predict(X)``; of the batch, after `partial_fit`. Not there after a fit to an
        iterator, whose rows are gone, nor without `compute_labels`: call `predict`.
    inertia_ : float
        SSE of `labels_` against `cluster_centers_`; an estimate from the last batches where there
        are no labels: after an iterator, the mean squared distance of about the last quarter of
        the rows to their centres then, times all rows.
    n_iter_ : int
        Passes over X that the steps amount to; 1 after an iterator.
    n_steps_ : int
        Batches so far.
    counts_ : array of shape (n_clusters,)
        Weight of the rows each centre has taken in.
    history_ : list of dict
        About ten entries per pass over X, a thousand at most: step, smoothed SSE, last shift,
        seconds. Of an iterator: an entry a window, with the mean squared distance.
    events_ : list of dict
        Centres reassigned, and why the steps ended.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import MiniBatchKMeans
    >>> X = np.repeat([[1.0, 2], [10, 2]], 50, axis=0)
    >>> model = MiniBatchKMeans(2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **CentroidClusterer._stores,
        "counts_": Array("f8", ("clusters",), 0),
        "n_steps_": Whole(),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": whole(1),
        "init": one_of(*SEEDINGS) | CALLABLE | ARRAY,
        "max_iter": whole(1),
        "batch_size": whole(1),
        "verbose": FLAG,
        "compute_labels": FLAG,
        "random_state": ANY,
        "tol": real(0),
        "max_no_improvement": NONE | whole(0),
        "init_size": NONE | whole(1),
        "n_init": one_of("auto") | whole(1),
        "reassignment_ratio": real(0),
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
        "n_local_trials": NONE | whole(1),
    }

    n_iter_: int
    n_steps_: int
    counts_: Floats
    history_: list[Iteration]
    events_: list[Event]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: Any = False,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: Any = "auto",
        reassignment_ratio: float = 0.01,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
        n_local_trials: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.n_threads = n_threads
        self.callback = callback
        self.keep = keep
        self.n_local_trials = n_local_trials

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, data frame, CSR matrix, memory map, path or source of shape (n_rows, n_features)
            Or an iterator of such batches of rows (a generator, a `pyarrow.RecordBatchReader`),
            which is read once, every row of it used once. Seeds come from its first `init_size`
            rows; `max_iter`, `tol` and `max_no_improvement` do not apply, and there are no
            `labels_`. Memory: a batch, and a window of 65,536 rows or so to shuffle.
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts; None for an iterator.

        Returns
        -------
        self
        """
        self._check_params()
        if is_once(X):
            return self._fit_once(X, sample_weight)
        blocks = self._blocks_to_cluster(X, sample_weight, reset=True)
        columns, space = self._checked_space(blocks)
        check_enough_rows("MiniBatchKMeans", self.n_clusters, columns.n_rows)
        rng = check_random_state(self.random_state)
        start = self._best_start(blocks, space, rng, self._n_starts(3))

        batch_size = min(int(self.batch_size), blocks.n_rows)
        max_steps = int(self.max_iter) * blocks.n_rows // batch_size
        recorder = Recorder(
            max_steps, self._callback(), self.keep == "parameters",
            objective_name="smoothed sum of squared errors", step_name="step",
        )  # fmt: skip
        run = minibatch(
            blocks,
            space,
            start,
            rng,
            batch_size=batch_size,
            max_steps=max_steps,
            plateau=Plateau(
                memory=min(1.0, _RECENT * batch_size / (blocks.n_rows + 1)),
                # Steps that forget are so many times longer than those of a plain mean.
                tol=self.tol * float(columns.variance.mean()) * (1 + _FORGET) ** 2,
                max_no_improvement=self.max_no_improvement,
            ),
            forget=_FORGET,
            low_ratio=self.reassignment_ratio,
            recorder=recorder,
        )
        self.n_steps_ = run.n_steps
        self.n_iter_ = -(-run.n_steps * batch_size // blocks.n_rows)
        self.history_, self.events_ = recorder.history, recorder.events
        self._random_state = rng
        total = blocks.n_rows if blocks.weights is None else float(blocks.weights.sum())
        return self._publish_means(
            run.means, blocks, space, blocks.dtype, run.batch_inertia / batch_size * total
        )

    def _fit_once(self, X: Any, sample_weight: Any) -> Self:
        """Fit to an iterator of batches, in the one pass that there is."""
        if sample_weight is not None:
            raise ValueError(
                "MiniBatchKMeans: sample_weight was given for an iterator of batches, of which the "
                "rows are not known beforehand; call partial_fit with each batch and its weights."
            )
        blocks = self._once(X)
        first = blocks.first(self._n_rows_to_seed_from(sys.maxsize))
        check_enough_rows("MiniBatchKMeans", self.n_clusters, first.n_rows)
        rng = check_random_state(self.random_state)
        start = self._best_start(first, self._checked_space(first)[1], rng, self._n_starts(3))
        recorder = Recorder(
            0, self._callback(), self.keep == "parameters",
            objective_name="smoothed mean squared distance", step_name="step",
        )  # fmt: skip
        run = one_pass(
            blocks,
            start,
            rng,
            space_for=lambda window, centers: self._checked_space(window, centers)[1],
            batch_size=int(self.batch_size),
            forget=_FORGET,
            low_ratio=self.reassignment_ratio,
            recorder=recorder,
        )
        self.n_steps_, self.n_iter_ = run.n_steps, 1
        self.history_, self.events_ = recorder.history, recorder.events
        self._random_state = rng
        self._publish_centers(run.means, blocks.dtype)
        self.__dict__.pop("labels_", None)
        self.inertia_ = run.inertia
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take one step, with the rows of X as the batch.

        The first call seeds the centres from X. Every row counts alike, whenever it came:
        c += sum w (x - c) / counts.

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
        first = not hasattr(self, "cluster_centers_")
        self._check_params()
        blocks = self._blocks_to_cluster(X, sample_weight, reset=first)
        if first:
            check_enough_rows("MiniBatchKMeans", self.n_clusters, blocks.n_rows)
        _, space = self._checked_space(blocks)
        if first or not hasattr(self, "_random_state"):
            self._random_state = check_random_state(self.random_state)
        if first:
            self.n_steps_, self.history_, self.events_ = 0, [], []
            rng, n_tries = self._random_state, self._n_starts(3)
            start = self._best_start(blocks, space, rng, n_tries)
            means = RunningMeans(start, np.zeros(self.n_clusters))
        else:
            means = self._resume()
        blocks = taken_in("MiniBatchKMeans", blocks, "a batch of partial_fit")
        everything = np.arange(blocks.n_rows, dtype=np.int64)
        take_steps(blocks, space, means, everything[np.newaxis], weights=blocks.weights)
        self.n_steps_ += 1
        if means.just_checked:
            n_moved = reassign(
                means, blocks, everything, self.reassignment_ratio, self._random_state
            )
            if n_moved:
                self.events_.append(
                    Event(
                        what="reassigned",
                        where=None,
                        iteration=self.n_steps_,
                        detail=f"{n_moved} centres of low count were put on random rows",
                    )
                )
        dtype = blocks.dtype if first else self.cluster_centers_.dtype
        return self._publish_means(means, blocks, space, dtype, None)

    def _resume(self) -> RunningMeans:
        """The centres where the last step left them, unrounded unless they were set since."""
        centers = getattr(self, "_exact_centers", self.cluster_centers_)
        if not np.array_equal(centers.astype(self.cluster_centers_.dtype), self.cluster_centers_):
            centers = self.cluster_centers_
        return RunningMeans(
            np.array(centers, dtype=np.float64, order="C"),
            self.counts_.copy(),
            getattr(self, "_rows_since_check", 0),
        )

    def _best_start(
        self, blocks: Source, space: Space, rng: np.random.RandomState, n_tries: int
    ) -> Floats:
        """The best of some seedings, each from some of the rows; given centres as they are."""
        if not isinstance(self.init, str) and not callable(self.init):
            return self._start(blocks, space, int(self.n_clusters), rng)
        size = self._n_rows_to_seed_from(blocks.n_rows)
        if self.init_size is not None and self.init_size < self.n_clusters:
            warnings.warn(
                f"init_size={self.init_size} should be larger than n_clusters={self.n_clusters}. "
                "Setting it to min(3*n_clusters, n_samples)",
                RuntimeWarning,
                stacklevel=3,
            )
        judges = blocks.sample(size, int(self.n_clusters), rng) if n_tries > 1 else None
        best: tuple[_Seeds, Recorder] | None = None
        for recorder in recorders(n_tries, 1):
            some = blocks.sample(size, int(self.n_clusters), rng)
            centers = self._start(some, space, int(self.n_clusters), rng)
            if self.init == "k-means++":
                centers = self._search(some, space, centers, rng)
            sse = 0.0
            if judges is not None:
                sse = sum_sq_dists(judges, centers, space)
            best = best_of(best, _Seeds(centers, sse), recorder, improves)
        assert best is not None
        return best[0].centers

    def _n_rows_to_seed_from(self, n_rows: int) -> int:
        size = self.init_size
        if size is None:
            size = 3 * min(int(self.batch_size), n_rows)
        return int(size) if size >= self.n_clusters else 3 * int(self.n_clusters)

    def _search(
        self, blocks: Source, space: Space, centers: Floats, rng: np.random.RandomState
    ) -> Floats:
        """Improve seeds on some thousand rows, unless even ten per cluster would take too long."""
        n_clusters = int(self.n_clusters)
        n_rows = max(10 * n_clusters, min(8192, _MOST_VALUES // blocks.n_cols))
        if n_clusters == 1 or n_rows * n_clusters * max(16, blocks.n_cols) > _MOST_PRODUCTS:
            return centers
        few = blocks.sample(n_rows, n_clusters, rng)
        return improve_seeds(few, space, centers, rng, n_tries=_SWAPS)

    def _publish_means(
        self, means: RunningMeans, blocks: Source, space: Space, dtype: Any, estimate: float | None
    ) -> Self:
        """Publish the centres; labels and SSE are those of the rounded ones."""
        self._publish_centers(means, dtype)
        if self.compute_labels:
            exact = self.cluster_centers_.astype(np.float64)
            labels = assign(blocks, exact, space)
            self._publish(self.cluster_centers_, labels, sum_sq_dists(blocks, exact, space))
        else:
            self.__dict__.pop("labels_", None)
            if estimate is not None:
                self.inertia_ = float(estimate)
        return self

    def _publish_centers(self, means: RunningMeans, dtype: Any) -> None:
        """Round the centres to the type of X; keep what the next step needs."""
        self.cluster_centers_ = means.centers.astype(dtype)
        self.counts_ = means.counts
        self._exact_centers = means.centers
        self._rows_since_check = means.rows_since_check
        self._n_features_out = int(self.cluster_centers_.shape[0])

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Nothing, but with the reason where a fit has left no labels."""
            why = ""
            if name == "labels_" and "cluster_centers_" in self.__dict__:
                why = (
                    ": the rows of an iterator are not kept, nor are labels made with "
                    "compute_labels=False; call predict with rows to label"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}")
