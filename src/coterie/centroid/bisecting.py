"""Bisecting k-means: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from coterie._checks import (
    ANY,
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
from coterie._random import check_random_state
from coterie._restarts import recorders
from coterie._stored import Array, Field, Sizes
from coterie.centroid._bisect import STRATEGIES, Node, Tree, as_tree, bisect, walk_down, walk_in
from coterie.centroid._clusterer import CentroidClusterer
from coterie.centroid._kmeans import kmeans
from coterie.centroid._lloyd import LloydRun
from coterie.centroid._passes import (
    assign,
    choose_space,
    labels_of,
    sq_dists,
    sum_sq_dists,
    survey,
)
from coterie.centroid._seeding import SEEDINGS
from coterie.centroid._shares import Split, everything
from coterie.centroid._space import Columns, Space
from coterie.centroid._steps import ALGORITHMS, new_tally
from coterie.data import Block, Source
from coterie.data.written import given_or_written

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]


class BisectingKMeans(CentroidClusterer):
    """k-means by repeated splitting in two: a tree of clusters, in time that grows with its depth.

    Starts from one cluster of all rows and splits the worst one by 2-means until there are
    `n_clusters` (Steinbach, Karypis and Kumar 2000). Less sensitive to the start than `KMeans` and
    faster for many clusters; the SSE is often somewhat higher, as a split is never undone.

    Drop-in for `sklearn.cluster.BisectingKMeans`: same parameters, attributes, label numbering
    and dtypes; `predict` walks down the tree.

    Time O(n d) per iteration of a split of n rows. Memory beyond X: the rows of the largest cluster
    but the first, and 12 bytes per row.

    Parameters
    ----------
    n_clusters : int, default=8
        k, the number of clusters.
    init : str or callable, default="random"
        How each split starts: any seeding of `KMeans`, or ``f(X, 2, random_state=...)``.
    n_init : int, default=1
        Runs of 2-means for each split, of which the one of lowest SSE is kept.
    random_state : int, RandomState or None, default=None
        Seed or generator of all draws: the same seed, the same result.
    max_iter : int, default=300
        Iterations of a run of 2-means, at most.
    verbose : bool, default=False
        Show progress on stderr.
    tol : float, default=1e-4
        A run settles once the summed squared move of its centres is at most this, as in
        scikit-learn: in the units of X squared, not relative to its variance as in `KMeans`.
    copy_x : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    algorithm : {"lloyd", "elkan", "auto", "hamerly", "yinyang"}, default="lloyd"
        See `KMeans`; all give the same result.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which cluster to split next: that of the largest SSE, or that of the most rows.
    n_local_trials : int or None, default=None
        Candidates tried at each step of k-means++.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called after every split with a `Progress`; returning True stops.
    keep : {None, "parameters"}, default=None
        "parameters" stores the centres after every split in `history_`.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        Fewer than asked for where no cluster could be split further.
    labels_ : int32 array of shape (n_rows,)
        Equal to ``predict(X)``: leaves of the tree, from left to right.
    inertia_ : float
        SSE of `labels_` against `cluster_centers_`.
    tree_centers_ : array of shape (n_nodes, n_features)
        Centres of all clusters ever made; the first is that of all rows.
    tree_children_ : int32 array of shape (n_nodes, 2)
        The two halves of each of them, -1 where it was not split.
    history_ : list of dict
        One entry per split: SSE after it, rows concerned, seconds.
    events_ : list of dict
        Why there are fewer clusters than asked for, if so.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import BisectingKMeans
    >>> X = np.array([[1, 1], [3, 1], [2, 1], [10, 0], [10, 2], [10, 8], [10, 10]])
    >>> model = BisectingKMeans(3, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.tolist())
    [[2.0, 1.0], [10.0, 1.0], [10.0, 9.0]]
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **CentroidClusterer._stores,
        "tree_centers_": Array("f", ("nodes", "columns")),
        "tree_children_": Array("i4", ("nodes", 2), -1),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_clusters": whole(1),
        "init": one_of(*SEEDINGS) | CALLABLE,
        "n_init": whole(1),
        "random_state": ANY,
        "max_iter": whole(1),
        "verbose": FLAG,
        "tol": real(0),
        "copy_x": FLAG,
        "algorithm": one_of(*ALGORITHMS),
        "bisecting_strategy": one_of(*STRATEGIES),
        "n_local_trials": NONE | whole(1),
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
        "keep": NONE | one_of("parameters"),
    }

    tree_centers_: npt.NDArray[Any]
    tree_children_: Labels
    history_: list[Iteration]
    events_: list[Event]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        n_init: int = 1,
        random_state: Any = None,
        max_iter: int = 300,
        verbose: Any = False,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
        n_local_trials: int | None = None,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy
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
        blocks = self._blocks_to_cluster(X, sample_weight, reset=True)
        columns, space = self._checked_space(blocks)
        check_enough_rows("BisectingKMeans", self.n_clusters, columns.n_rows)
        rng = check_random_state(self.random_state)
        recorder = Recorder(
            self.n_clusters - 1, self._callback(), self.keep == "parameters", step_name="split"
        )

        root = one_cluster(blocks, columns, space)
        leaves = bisect(
            blocks,
            root,
            int(self.n_clusters),
            two_means=lambda some: self._two_means(some, rng),
            strategy=STRATEGIES[self.bisecting_strategy],
            recorder=recorder,
        )
        if len(leaves) < self.n_clusters and not recorder.stopped:
            warnings.warn(
                f"Number of distinct clusters ({len(leaves)}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        tree = as_tree(root)
        self.tree_centers_, self.tree_children_ = tree.centers, tree.children
        centers = np.array([leaf.center for leaf in leaves])
        exact = centers.astype(np.float64)
        labels = blocks.map(walk_in, space, tree, dtype=np.int32)
        self._publish(centers, labels, blocks.total(sse_at_leaves, exact, space, tree))
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def predict(self, X: Any, *, out: Any = None) -> Any:
        """The cluster every row reaches by going down the tree to the nearer half each time.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int32 array of shape (n_rows,), or the path of `out`
        """
        check_is_fitted(self)
        blocks = self._blocks_to_cluster(X, reset=False)
        tree = Tree(self.tree_centers_, self.tree_children_)
        return given_or_written(
            blocks, out, "label", walk_down, self._known(), tree, dtype=np.int32
        )

    def _two_means(self, blocks: Source, rng: np.random.RandomState) -> Split | None:
        """Split some rows in two; None where those with weight cannot be told apart."""
        if not blocks.total(survey_heavy).vary:
            return None
        _, space = choose_space(blocks)
        run = kmeans(
            blocks,
            space,
            2,
            rng,
            start=self._start,
            algorithm=self.algorithm,
            max_iter=self.max_iter,
            tol=self.tol,
            runs=recorders(self.n_init, self.max_iter),
        )
        return publish_split(blocks, space, run)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        super()._check_together_loaded(sizes)
        children, n_nodes = self.tree_children_, sizes["nodes"]
        if n_nodes != 2 * sizes["clusters"] - 1:
            raise ValueError(f"tree_children_ has {n_nodes} rows")
        is_leaf = (children == -1).all(axis=1)
        # Every node but the first is the half of exactly one node before it.
        inner = np.flatnonzero(~is_leaf)
        halves = children[inner]
        if not (
            np.array_equal(np.sort(halves, axis=None), np.arange(1, n_nodes))
            and (halves > inner[:, np.newaxis]).all()
        ):
            raise ValueError("tree_children_ is not a tree")


def survey_heavy(block: Block) -> Columns:
    """Describe the columns of the rows with weight."""
    if block.weights is None:
        return survey(block)
    heavy = np.flatnonzero(block.weights)
    if heavy.size == 0:
        return Columns.of_nothing(int(block.rows.shape[1]))
    return survey(Block(block.rows[heavy], None, 0, block.n_threads))


def sse_at_leaves(block: Block, centers: Floats, space: Space, tree: Tree) -> float:
    """Weighted sum of squared distances of the rows to the leaves they reach."""
    labels = np.empty(block.n_rows, dtype=np.int32)
    walk_in(block, space, tree, labels)
    return sq_dists(block, centers, space, labels)


def one_cluster(blocks: Source, columns: Columns, space: Space) -> Node:
    """The cluster of all rows, at their mean."""
    tally = new_tally(blocks, space, 1)
    anywhere = columns.mean[np.newaxis]
    tally.assign(anywhere)
    center = tally.means(anywhere).astype(blocks.dtype)
    inertia = sum_sq_dists(blocks, center.astype(np.float64), space)
    return Node(center[0], inertia, everything(blocks))


@dataclass(frozen=True)
class _Halves:
    """Rows and SSE of two clusters."""

    n_rows: npt.NDArray[np.int64]
    inertias: Floats

    def __add__(self, other: _Halves) -> _Halves:
        return _Halves(self.n_rows + other.n_rows, self.inertias + other.inertias)


def _count_halves(block: Block, centers: Floats, space: Space) -> _Halves:
    labels = labels_of(block, centers, space)
    dists = np.empty(block.n_rows)
    sq_dists(block, centers, space, labels, dists)
    dists = dists / space.scale / space.scale
    if block.weights is not None:
        dists *= block.weights
    return _Halves(
        np.bincount(labels, minlength=2), np.array([dists[labels == half].sum() for half in (0, 1)])
    )


def publish_split(blocks: Source, space: Space, run: LloydRun) -> Split | None:
    """Round the centres to the type of the rows and label these anew; None if one side is empty.

    So rows go down the tree at `predict` as they did here.
    """
    centers = run.centers.astype(blocks.dtype)
    exact = centers.astype(np.float64)
    found = blocks.total(_count_halves, exact, space)
    if not found.n_rows.all():
        return None
    labels = assign(blocks, exact, space) if blocks.in_memory else None
    return Split(centers, found.inertias, found.n_rows, labels)
