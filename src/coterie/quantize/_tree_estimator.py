"""What a fitted vocabulary tree does: its leaves, and which of them a row reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from coterie._base import Clusterer
from coterie._checks import check_params, whole
from coterie._doors import dense
from coterie.centroid._fitted import Fitted
from coterie.data import Source
from coterie.data.written import given_or_written
from coterie.quantize._tree import Floats, Ints, Labels, Tree, number_leaves, parents_of
from coterie.quantize._tree_descent import FittedTree, find_leaf, sse_at_leaves


class TreeClusterer(Clusterer):
    """A clusterer whose clusters are the leaves of a tree."""

    beam: int
    tree_centers_: npt.NDArray[Any]
    tree_starts_: Labels

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


class _Dense:
    """Sparse rows as dense ones, where these fit into memory."""

    def __init__(self, who: str) -> None:
        self.who = who

    def __call__(self, rows: Any) -> npt.NDArray[Any]:
        return dense(self.who, rows)
