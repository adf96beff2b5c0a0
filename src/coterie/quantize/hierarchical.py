"""Hierarchical k-means, the vocabulary tree: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._checks import ANY, CALLABLE, FLAG, NONE, Rule, check_params, one_of, real, whole
from coterie._doors import dense
from coterie._history import Event, Iteration, Recorder
from coterie._in_memory import rows_in_memory
from coterie._stored import RECORDS, Array, Field, Real, Sizes, Whole
from coterie.centroid._checked_space import checked_space
from coterie.centroid._fitted import Fitted
from coterie.centroid._passes import sq_dists
from coterie.data import ArraySource, Source
from coterie.data.written import given_or_written
from coterie.quantize._bags import (
    NORMS,
    bag_distances,
    count_words,
    documents_of,
    inverse_frequencies,
    weigh_bags,
)
from coterie.quantize._leaf_lists import LeafLists, search_lists
from coterie.quantize._tree import Floats, Ints, Labels, Tree, check_tree, number_leaves, parents_of
from coterie.quantize._tree_build import grow_tree
from coterie.quantize._tree_descent import FittedTree, find_leaf, sse_at_leaves
from coterie.quantize._tree_learn import Plan
from coterie.quantize._tree_seeds import ROWS_A_CHILD


class HierarchicalKMeans(Clusterer):
    """The vocabulary tree: k-means of k-means, many thousand clusters at the price of few.

    All rows are split into `branching` parts by k-means, the rows of each part again, and so on,
    `depth` times (Nister & Stewenius 2006): up to ``branching ** depth`` leaves, each a cluster. A
    row finds its leaf by going to the nearest child at every node: ``branching * depth`` distances
    instead of ``branching ** depth``. The price is a somewhat higher SSE than that of `KMeans` with
    as many clusters: a row can be nearer to a leaf on the far side of a border above. A `beam`
    follows several nodes a level instead of one, and finds the nearest leaf itself once it is as
    wide as a level.

    Time O(n b d) an iteration of a level, b being `branching`, whatever the number of leaves.
    Memory beyond X: 20 bytes a row (in memory; nothing of that order where rows stream), 32 bytes
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
        Called once an iteration of a level with a `Progress`; returning True stops, with the tree
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
        One entry an iteration: its level, the SSE after it, how many nodes still learn, seconds.
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
    tree_centers_: npt.NDArray[Any]
    tree_starts_: Labels
    tree_counts_: Ints
    idf_: Floats
    leaf_rows_: npt.NDArray[Any]
    leaf_row_ids_: Ints
    leaf_row_starts_: Ints
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

    @property
    def leaf_nodes_(self) -> Ints:
        """The node of every leaf; leaves are numbered from left to right."""
        numbers = number_leaves(self.tree_starts_)
        nodes = np.flatnonzero(numbers >= 0)
        return nodes[np.argsort(numbers[nodes])]

    @property
    def cluster_centers_(self) -> npt.NDArray[Any]:
        """Centres of the leaves, shape (n_leaves, n_features)."""
        return self.tree_centers_[self.leaf_nodes_]

    @property
    def n_leaves_(self) -> int:
        """How many leaves, that is clusters, there are."""
        return int((np.diff(self.tree_starts_) == 0).sum())

    @property
    def tree_parents_(self) -> Labels:
        """The parent of every node, -1 for the first."""
        return parents_of(self.tree_starts_)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree over the rows of X.

        Rows that are not in memory are read once for every iteration of a level, and twice more a
        level.

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

    def predict(self, X: Any, *, beam: int | None = None, out: Any = None) -> Any:
        """The leaf that every row reaches: the nearest of those its beam ends at.

        A wider beam never finds a leaf that is farther away; one as wide as the widest level finds
        the nearest of all. Ties go to the lower leaf.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
        beam : int or None
            Nodes to follow a level; None: the estimator's.
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        labels : int32 array of shape (n_rows,), or the path of `out`
        """
        check_is_fitted(self)
        fitted = self._fitted(self._beam(beam))
        source = self._dense_source(X, reset=False)
        return given_or_written(source, out, "label", find_leaf, fitted, dtype=np.int32)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances of these rows to the leaves they reach."""
        check_is_fitted(self)
        source = self._dense_source(X, sample_weight, reset=False)
        return -source.total(sse_at_leaves, self._fitted(self.beam))

    def add(self, X: Any, ids: Any = None) -> Self:
        """Hold more rows for `search`, each at the leaf it reaches.

        Memory: these rows and 8 bytes each; those held before are copied.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
        ids : int array of shape (n_rows,) or None
            What `search` is to call them, not negative; None: numbers from the largest so far on.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        source = self._dense_source(X, reset=False)
        leaves = source.map(find_leaf, self._fitted(self.beam), dtype=np.int32)
        self._hold(source, leaves, ids)
        return self

    def search(self, queries: Any, k: int = 10, *, beam: int | None = None) -> tuple[Floats, Ints]:
        """The k nearest of the rows held, among those in the leaves that each query reaches.

        The rows found with a beam are among those looked at with a wider one, so distances never
        grow with it; with a beam of all leaves (`n_leaves_`) they are the nearest of all rows.

        Parameters
        ----------
        queries : array or CSR matrix of shape (n_queries, n_features), path or source
        k : int, default=10
        beam : int or None
            Leaves to look into; None: the estimator's.

        Returns
        -------
        distances : float64 array of shape (n_queries, k)
            Euclidean, nearest first; infinite where fewer than k rows were found.
        ids : int64 array of shape (n_queries, k)
            Of these rows, -1 where there is none; ties go to the lower.
        """
        check_is_fitted(self)
        who = type(self).__name__
        check_params(who, {"k": k}, {"k": whole(1)})
        width = self._beam(beam)
        if not hasattr(self, "leaf_rows_"):
            raise ValueError(
                f"{who}: search was asked for and no rows are held; fit with store_rows=True or "
                "call add(rows)."
            )
        source = self._dense_source(queries, reset=False)
        asked = np.ascontiguousarray(rows_in_memory(who, source, "search"), dtype=np.float64)
        # Coordinates that suit the queries, the nodes and the rows held.
        reach = float(np.abs(self.leaf_rows_).max(initial=0.0))
        tree = self._tree()
        corners = np.full((2, tree.centers.shape[1]), reach) * [[1.0], [-1.0]]
        known = self._known(np.concatenate([tree.centers, corners]))
        (block,) = ArraySource(asked, None, source.n_threads)
        found = search_lists(
            asked, tree, self._lists(), known.space(block).scale, k, width, source.n_threads
        )
        return found.distances, found.ids

    def bag_of_words(self, X: Any, groups: Any, *, beam: int | None = None) -> sp.csr_matrix:
        """How often the rows of each document reach each leaf.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
            Rows of all documents, for example descriptors of images.
        groups : array of shape (n_rows,)
            The document of each row: numbers or text.
        beam : int or None
            As in `predict`.

        Returns
        -------
        bags : CSR matrix of int64, shape (n_documents, n_leaves)
            Documents in the order of their sorted names.
        """
        words = self.predict(X, beam=beam)
        documents, places = documents_of(groups, words.size, type(self).__name__)
        return count_words(words, places, documents.size, self.n_leaves_)

    def learn_idf(self, bags: Any) -> Self:
        """Weigh the leaves by how few documents have them: `idf_` = log(N / N_i).

        Parameters
        ----------
        bags : CSR matrix of shape (n_documents, n_leaves)
            Of `bag_of_words`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.idf_ = inverse_frequencies(self._checked_bags(bags))
        return self

    def tf_idf(self, bags: Any, *, norm: str = "l1") -> sp.csr_matrix:
        """Bags times `idf_`, each of length one in the l1 or l2 norm.

        Parameters
        ----------
        bags : CSR matrix of shape (n_documents, n_leaves)
        norm : {"l1", "l2"}, default="l1"
            That of the paper's best results is l1.

        Returns
        -------
        weighed : CSR matrix of float64 of the same shape
        """
        check_is_fitted(self)
        check_params(type(self).__name__, {"norm": norm}, {"norm": one_of(*NORMS)})
        if not hasattr(self, "idf_"):
            raise ValueError(
                f"{type(self).__name__}: tf_idf was asked for and idf_ is not known; call "
                "learn_idf(bags) with the bags of the documents first."
            )
        return weigh_bags(self._checked_bags(bags), self.idf_, norm)

    def document_distances(self, queries: Any, documents: Any, *, norm: str = "l1") -> Floats:
        """Distance of every document asked about to every document known, by tf-idf.

        The score of Nister & Stewenius: |q / |q| - d / |d|| of bags weighed by `idf_`; 0 for the
        same bag, 2 (l1) or sqrt(2) (l2) where no weighed word is shared. Memory: the result.

        Parameters
        ----------
        queries, documents : CSR matrices of shape (n_queries, n_leaves) and (n_documents, n_leaves)
            Of `bag_of_words`.
        norm : {"l1", "l2"}, default="l1"

        Returns
        -------
        distances : float64 array of shape (n_queries, n_documents)
        """
        return bag_distances(
            self.tf_idf(queries, norm=norm), self.tf_idf(documents, norm=norm), norm
        )

    def _dense_source(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Source:
        source = self._source(X, sample_weight, reset=reset)
        return (
            source.through(_Dense(type(self).__name__), sparse=False) if source.sparse else source
        )

    def _beam(self, beam: int | None) -> int:
        if beam is None:
            beam = self.beam
        check_params(type(self).__name__, {"beam": beam}, {"beam": whole(1)})
        return int(beam)

    def _tree(self) -> Tree:
        centers = np.ascontiguousarray(self.tree_centers_, dtype=np.float64)
        return Tree(centers, self.tree_starts_, number_leaves(self.tree_starts_))

    def _known(self, centers: Floats) -> Fitted:
        return Fitted(type(self).__name__, centers, getattr(self, "feature_names_in_", None))

    def _fitted(self, beam: int) -> FittedTree:
        tree = self._tree()
        leaf_centers = self.cluster_centers_.astype(np.float64)
        return FittedTree(tree, leaf_centers, self._known(tree.centers), int(beam))

    def _lists(self) -> LeafLists:
        if not hasattr(self, "leaf_rows_"):
            return LeafLists.empty(
                self.n_leaves_, self.tree_centers_.shape[1], self.tree_centers_.dtype
            )
        return LeafLists(self.leaf_rows_, self.leaf_row_ids_, self.leaf_row_starts_)

    def _hold(self, source: Source, leaves: Labels, ids: Any) -> None:
        """Put rows, whose leaves are known, to those held."""
        who = type(self).__name__
        held = self._lists()
        if ids is None:
            first = int(held.ids.max(initial=-1)) + 1
            numbers = np.arange(first, first + leaves.size, dtype=np.int64)
        else:
            numbers = np.asarray(ids)
            if numbers.shape != leaves.shape or numbers.dtype.kind not in "iu":
                raise ValueError(
                    f"{who}: ids has shape {numbers.shape} of {numbers.dtype} and X has "
                    f"{leaves.size} rows; pass a whole number a row."
                )
            if numbers.size and int(numbers.min()) < 0:
                raise ValueError(
                    f"{who}: ids has {int(numbers.min())}; pass numbers that are not negative."
                )
            numbers = numbers.astype(np.int64)
        rows = np.asarray(rows_in_memory(who, source, "search"))
        lists = held.with_rows(rows, numbers, leaves)
        self.leaf_rows_, self.leaf_row_ids_ = lists.rows, lists.ids
        self.leaf_row_starts_ = lists.starts

    def _checked_bags(self, bags: Any) -> sp.csr_matrix:
        counts = sp.csr_matrix(bags)
        if counts.shape[1] != self.n_leaves_ or counts.shape[0] < 1:
            raise ValueError(
                f"{type(self).__name__}: bags has shape {counts.shape} and the tree has "
                f"{self.n_leaves_} leaves; pass what bag_of_words returns."
            )
        return counts

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


class _Dense:
    """Sparse rows as dense ones, where these fit into memory."""

    def __init__(self, who: str) -> None:
        self.who = who

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        return dense(self.who, rows)
