"""A vocabulary tree that holds rows at its leaves, and finds the nearest of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from coterie._checks import check_memory, check_params, whole
from coterie._in_memory import rows_in_memory
from coterie.data import ArraySource, Source
from coterie.quantize._leaf_lists import LeafLists, search_lists
from coterie.quantize._tree import Floats, Ints, Labels
from coterie.quantize._tree_descent import find_leaf
from coterie.quantize._tree_estimator import TreeClusterer

#: The next one has to be a number, too.
_LARGEST_ID = 2**63 - 1


class TreeSearch(TreeClusterer):
    """The part of the estimator that searches."""

    leaf_rows_: npt.NDArray[Any]
    leaf_row_ids_: Ints
    leaf_row_starts_: Ints

    def add(self, X: Any, ids: Any = None) -> Self:
        """Hold more rows for `search`, each at the leaf it reaches.

        Memory: these rows and 8 bytes each; those held before are copied.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
        ids : int array of shape (n_rows,) or None
            What `search` is to call them, from 0 on; several may have one, as descriptors of an
            image do. None: numbers from the largest so far on.

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
        check_memory(
            who, 16 * len(asked) * int(k), f"{k} neighbours of {len(asked)} queries",
            "ask for fewer at a time",
        )  # fmt: skip
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

    def _lists(self) -> LeafLists:
        if not hasattr(self, "leaf_rows_"):
            return LeafLists.empty(
                self.n_leaves_, self.tree_centers_.shape[1], self.tree_centers_.dtype
            )
        return LeafLists(self.leaf_rows_, self.leaf_row_ids_, self.leaf_row_starts_)

    def _hold(self, source: Source, leaves: Labels, ids: Any) -> None:
        """Put rows, whose leaves are known, to those held."""
        who = type(self).__name__
        held, leaves = self._lists(), np.asarray(leaves)  # which are with the rows on a cluster
        if ids is None:
            first = int(held.ids.max(initial=-1)) + 1
            numbers = np.arange(first, first + leaves.size, dtype=np.int64)
        else:
            numbers = np.asarray(ids)
            if numbers.shape != leaves.shape or numbers.dtype.kind not in "iu":
                raise ValueError(
                    f"{who}: ids has shape {numbers.shape} of {numbers.dtype} and X has "
                    f"{leaves.size} rows; pass a whole number per row."
                )
            least, most = (int(edge(initial=0)) for edge in (numbers.min, numbers.max))
            if least < 0 or most >= _LARGEST_ID:
                raise ValueError(
                    f"{who}: ids has {least if least < 0 else most}; pass numbers from 0 to "
                    "2^63 - 2."
                )
            numbers = numbers.astype(np.int64)
        rows = np.asarray(rows_in_memory(who, source, "search"))
        lists = held.with_rows(rows, numbers, leaves)
        self.leaf_rows_, self.leaf_row_ids_ = lists.rows, lists.ids
        self.leaf_row_starts_ = lists.starts
