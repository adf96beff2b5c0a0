"""Hierarchical k-means, the vocabulary tree: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from coterie._checks import ANY, CALLABLE, FLAG, NONE, Rule, one_of, real, whole
from coterie._history import Event, Iteration, Recorder
from coterie._random import check_random_state
from coterie._stored import RECORDS, Array, Field, Real, Sizes, Whole
from coterie.centroid._checked_space import checked_space
from coterie.centroid._passes import sq_dists
from coterie.data import ArraySource
from coterie.quantize._tree import Ints, Labels, check_tree
from coterie.quantize._tree_build import grow_tree
from coterie.quantize._tree_descent import find_leaf, sse_at_leaves
from coterie.quantize._tree_learn import Plan
from coterie.quantize._tree_search import TreeSearch
from coterie.quantize._tree_seeds import ROWS_A_CHILD
from coterie.quantize._tree_words import TreeWords


class HierarchicalKMeans(TreeSearch, TreeWords):
    """The vocabulary tree: k-means of k-means, many thousand clusters at the price of few.

    All rows are split into `branching` parts by k-means, the rows of each part again, and so on,
    `depth` times (Nister & Stewenius 2006): up to ``branching ** depth`` leaves, each a cluster. A
    row finds its leaf by going to the nearest child at every node: ``branching * depth`` distances
    instead of ``branching ** depth``. The price is a somewhat higher SSE than that of `KMeans` with
    as many clusters: a row can be nearer to a leaf on the far side of a border above. A `beam`
    follows several nodes per level instead of one, and finds the nearest leaf itself once it is as
    wide as a level.

    Time O(n b d) per iteration of a level, b being `branching`, whatever the number of leaves.
    Memory beyond X: 20 bytes per row (in memory; nothing of that order where rows stream), 32 bytes
    for every coordinate of a level's centres, and 8 b rows a node of a level.

    Parameters
    ----------
    branching : int, default=32
        Children of a node, at most; at least 2. A node with fewer distinct rows has one for each.
    depth : int, default=3
        Levels below the root.
    init : {"k-means++", "random"}, default="k-means++"
        How each node starts, from rows drawn half evenly and half by their squared distance to the
        node's centre (Bachem et al. 2018): 8 b of them, seeded by k-means++, or b of them as they
        are.
    max_iter : int, default=25
        Iterations of a level, at most.
    n_init : int, default=1
        Runs of each level from different starts; every node keeps that of its lowest SSE.
    tol : float, default=1e-3
        A node settles once the summed squared move of its children's centres is at most ``tol``
        times the mean variance of the columns of its rows.
    beam : int, default=1
        Nodes that `predict` and `search` follow a level. 1 is the greedy descent.
    store_rows : bool, default=False
        Keep the rows of the fit, leaf by leaf, for `search`.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called once per iteration of a level with a `Progress`; returning True stops, with the tree
        as far as it has grown.

    Attributes
    ----------
    labels_ : int32 array of shape (n_rows,)
        The leaf of every row: equal to ``predict(X)``.
    inertia_ : float
        SSE of the rows to the leaves they reach.
    counts_ : int64 array of shape (n_leaves,)
        Rows of every leaf.
    tree_centers_ : array of shape (n_nodes, n_features)
        Centres of all nodes, level by level; the first is the mean of all rows.
    tree_starts_ : int32 array of shape (n_nodes + 1,)
        The children of node i are the nodes from ``tree_starts_[i]`` to ``tree_starts_[i + 1]``;
        none where it is a leaf.
    tree_counts_ : int64 array of shape (n_nodes,)
        Rows of every node as the tree was learned.
    idf_ : float64 array of shape (n_leaves,)
        Inverse document weights, once `learn_idf` was called.
    n_iter_ : int
        Iterations of all levels.
    history_ : list of dict
        One entry per iteration: its level, the SSE after it, how many nodes still learn, seconds.
    events_ : list of dict
        What else happened: nodes with few distinct rows, empty ones, levels that did not settle.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import HierarchicalKMeans
    >>> X = np.array([[0.0], [1], [10], [11], [50], [51], [60], [61]])
    >>> model = HierarchicalKMeans(branching=2, depth=2, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 10.5, 50.5, 60.5]
    >>> model.tree_starts_.tolist()
    [1, 3, 5, 7, 7, 7, 7, 7]
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "branching": whole(2),
        "depth": whole(1),
        "init": one_of(*ROWS_A_CHILD),
        "max_iter": whole(1),
        "n_init": whole(1),
        "tol": real(0),
        "beam": whole(1),
        "store_rows": FLAG,
        "verbose": FLAG,
        "random_state": ANY,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
    }
    _stores: ClassVar[Mapping[str, Field]] = {
        "tree_centers_": Array("f", ("nodes", "columns")),
        "tree_starts_": Array("i4", ("starts",), 1),
        "tree_counts_": Array("i8", ("nodes",), 0),
        "counts_": Array("i8", ("leaves",), 0),
        "labels_": Array("i4", ("rows",), 0),
        "inertia_": Real(0),
        "n_iter_": Whole(),
        "idf_": Array("f8", ("leaves",), 0, optional=True),
        "leaf_rows_": Array("f", ("held", "columns"), optional=True),
        "leaf_row_ids_": Array("i8", ("held",), optional=True),
        "leaf_row_starts_": Array("i8", ("list starts",), 0, optional=True),
        "history_": RECORDS,
        "events_": RECORDS,
    }

    labels_: Labels
    inertia_: float
    counts_: Ints
    tree_counts_: Ints
    n_iter_: int
    history_: list[Iteration]
    events_: list[Event]

    def __init__(
        self,
        branching: int = 32,
        depth: int = 3,
        *,
        init: str = "k-means++",
        max_iter: int = 25,
        n_init: int = 1,
        tol: float = 1e-3,
        beam: int = 1,
        store_rows: bool = False,
        verbose: Any = False,
        random_state: Any = None,
        n_threads: int | None = None,
        callback: Any = None,
    ) -> None:
        self.branching = branching
        self.depth = depth
        self.init = init
        self.max_iter = max_iter
        self.n_init = n_init
        self.tol = tol
        self.beam = beam
        self.store_rows = store_rows
        self.verbose = verbose
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree over the rows of X.

        Rows that are not in memory are read once for every iteration of a level, and twice more
        per level.

        Parameters
        ----------
        X : array, data frame, CSR matrix, memory map of shape (n_rows, n_features), path or source
            Sparse rows are made dense.
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_params()
        for name in ("idf_", "leaf_rows_", "leaf_row_ids_", "leaf_row_starts_"):
            self.__dict__.pop(name, None)  # of another tree
        source = self._dense_source(X, sample_weight, reset=True)
        names = getattr(self, "feature_names_in_", None)
        _, space = checked_space(type(self).__name__, source, None, names)
        plan = Plan(
            int(self.branching), int(self.depth), self.init, int(self.n_init), int(self.max_iter),
            float(self.tol),
        )  # fmt: skip
        recorder = Recorder(plan.depth * plan.n_init * plan.max_iter, self._callback())
        grown = grow_tree(source, space, plan, check_random_state(self.random_state), recorder)

        self.tree_centers_ = grown.tree.centers.astype(source.dtype)
        self.tree_starts_ = grown.tree.starts
        self.tree_counts_ = grown.n_rows
        self.history_, self.events_ = recorder.history, recorder.events
        self.n_iter_ = len(recorder.history)
        fitted = self._fitted(self.beam)
        self.labels_ = grown.labels
        if self.beam > 1:
            self.labels_ = source.map(find_leaf, fitted, dtype=np.int32)
        if isinstance(source, ArraySource):
            (block,) = source
            self.inertia_ = sq_dists(block, fitted.leaf_centers, space, self.labels_)
        else:
            self.inertia_ = source.total(sse_at_leaves, fitted)
        self.counts_ = np.bincount(self.labels_, minlength=self.n_leaves_).astype(np.int64)
        if self.store_rows:
            self._hold(source, self.labels_, None)
        return self

    def _check_together_loaded(self, sizes: Sizes) -> None:
        if sizes["starts"] != sizes["nodes"] + 1:
            raise ValueError(f"tree_starts_ has {sizes['starts']} entries")
        check_tree(self.tree_starts_)
        if sizes["leaves"] != self.n_leaves_:
            raise ValueError(f"counts_ has {sizes['leaves']} entries")
        if sizes["rows"] and self.labels_.max() >= sizes["leaves"]:
            raise ValueError("labels_ names leaves that do not exist")
        held = [hasattr(self, f"leaf_row{name}_") for name in ("s", "_ids", "_starts")]
        if any(held):
            if not all(held):
                raise ValueError("the rows held are incomplete")
            starts = self.leaf_row_starts_
            if (
                sizes["list starts"] != sizes["leaves"] + 1
                or starts[0] != 0
                or starts[-1] != sizes["held"]
                or (np.diff(starts) < 0).any()
            ):
                raise ValueError("leaf_row_starts_ does not lead to the rows held")
