"""How two labellings of the same rows meet: the contingency table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import check_memory
from coterie._doors import check_weights, checked
from coterie.evaluate._coded import Coded, Ints, Noise, code_labels

Floats = npt.NDArray[np.float64]

#: A table with at most so many cells per row, or so many in all, is counted cell by cell.
_CELLS_A_ROW = 8
_FEW_CELLS = 1 << 16
#: From so many rows on float64 does not know each number of them.
_MOST_ROWS = 2.0**53


@dataclass(frozen=True)
class Contingency:
    """The cells of a contingency table that are not zero, row by row.

    `counts[i]` rows, or so much weight, are in class `classes[i]` and cluster `clusters[i]`; the
    table has `shape`. No class and no cluster is empty, unless the table was given so.
    """

    classes: Ints
    clusters: Ints
    counts: npt.NDArray[Any]
    shape: tuple[int, int]

    @cached_property
    def total(self) -> Any:
        """All rows, or their weight."""
        return self.counts.sum()

    @cached_property
    def whole(self) -> bool:
        """Whether all counts are whole numbers, so that they may be numbers of rows."""
        if self.counts.dtype.kind in "iu":
            return True
        return self.total < _MOST_ROWS and bool((self.counts == np.rint(self.counts)).all())

    @cached_property
    def class_sizes(self) -> Floats:
        """Rows of each class."""
        return _sums_at(self.classes, self.counts, self.shape[0])

    @cached_property
    def cluster_sizes(self) -> Floats:
        """Rows of each cluster."""
        return _sums_at(self.clusters, self.counts, self.shape[1])

    def sparse(self, dtype: Any = None) -> sp.csr_matrix:
        """The table as a CSR matrix, which scikit-learn gives as well."""
        counts = self.counts if dtype is None else self.counts.astype(dtype)
        return sp.csr_matrix((counts, (self.classes, self.clusters)), shape=self.shape)

    def dense(self, who: str) -> npt.NDArray[Any]:
        """The table with its zeros; refused where it would not fit."""
        n_bytes = 8 * self.shape[0] * self.shape[1]
        check_memory(
            who, n_bytes, f"{self.shape[0]} x {self.shape[1]} cells", "merge some of the clusters"
        )
        table = np.zeros(self.shape, dtype=self.counts.dtype)
        table[self.classes, self.clusters] = self.counts
        return table


def _sums_at(places: Ints, counts: npt.NDArray[Any], size: int) -> Floats:
    """The counts of every place."""
    return np.asarray(np.bincount(places, counts, minlength=size), dtype=np.float64)


def read_table(
    who: str,
    labels_true: Any,
    labels_pred: Any,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> Contingency:
    """The table of two labellings, or the given one."""
    if contingency is None:
        if labels_true is None or labels_pred is None:
            raise ValueError(
                f"{who}: labels_true and labels_pred are needed, and one is None; pass both, or a "
                "table as contingency."
            )
        coded = (
            code_labels(who, labels_true, "labels_true", noise),
            code_labels(who, labels_pred, "labels_pred", noise),
        )
        return count_pairs(who, *coded, sample_weight)
    if labels_true is not None or labels_pred is not None:
        raise ValueError(
            f"{who}: labels and contingency were given, and one follows from the other; pass "
            "either of them."
        )
    if sample_weight is not None or noise != "cluster":
        raise ValueError(
            f"{who}: contingency was given with sample_weight or noise={noise!r}, which are of "
            "rows; weigh the table itself, or leave rows of it out."
        )
    return _given_table(who, contingency)


def count_pairs(who: str, true: Coded, pred: Coded, sample_weight: Any = None) -> Contingency:
    """How often every pair of codes occurs, in O(n) where the table is small."""
    n_rows = true.codes.size
    if pred.codes.size != n_rows:
        raise ValueError(
            f"{who}: Found input variables with inconsistent numbers of samples: "
            f"[{n_rows}, {pred.codes.size}]; labels_true and labels_pred need one label per row."
        )
    weights = None if sample_weight is None else check_weights(who, sample_weight, n_rows)
    place = true.codes.astype(np.int64) * pred.n_clusters + pred.codes
    if true.left_out or pred.left_out or weights is not None:
        kept = (true.codes >= 0) & (pred.codes >= 0)
        if weights is not None:
            kept &= weights > 0  # a row of no weight is not there
            weights = weights[kept]
        place = place[kept]
    n_cells = true.n_clusters * pred.n_clusters
    if n_cells <= max(_FEW_CELLS, _CELLS_A_ROW * place.size):
        cells = np.bincount(place, weights, minlength=n_cells)
        found = np.flatnonzero(cells)
        counts = cells[found]
    elif weights is None:
        found, counts = np.unique(place, return_counts=True)
    else:
        found, at = np.unique(place, return_inverse=True)
        counts = np.bincount(at.ravel(), weights)
    n_clusters = max(1, pred.n_clusters)
    return _without_empty(who, found // n_clusters, found % n_clusters, counts)


def _without_empty(
    who: str, classes: Ints, clusters: Ints, counts: npt.NDArray[Any]
) -> Contingency:
    """A table numbered anew, since leaving rows out may have emptied some clusters."""
    with np.errstate(over="ignore"):
        if np.isinf(counts.sum(dtype=np.float64)):
            raise ValueError(
                f"{who}: counts or weights are so large that their sum overflows float64; divide "
                "them by a constant."
            )
    kept_classes, classes = np.unique(classes, return_inverse=True)
    kept_clusters, clusters = np.unique(clusters, return_inverse=True)
    return Contingency(
        classes.ravel(), clusters.ravel(), counts, (kept_classes.size, kept_clusters.size)
    )


def _given_table(who: str, contingency: Any) -> Contingency:
    """A table of counts, weights or probabilities, dense or sparse."""
    if not sp.issparse(contingency) and (kind := np.asarray(contingency).dtype).kind in "SUT":
        raise ValueError(f"{who}: contingency holds {kind}; pass counts or probabilities.")
    given = checked(
        who, contingency, "contingency", accept_sparse=["csr", "csc", "coo"], dtype="numeric",
        ensure_all_finite=False,
    )  # fmt: skip
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{who}: contingency holds {given.dtype}; pass counts or probabilities.")
    if not np.isfinite(given.data if sp.issparse(given) else given).all():
        raise ValueError(
            f"{who}: contingency has cells that are NaN or infinite; a class and a cluster that "
            "share no row have 0 in their cell."
        )
    stored = sp.coo_array(given)
    stored.sum_duplicates()
    kept = stored.data != 0
    classes, clusters = (np.asarray(at[kept], dtype=np.int64) for at in stored.coords)
    counts = stored.data[kept]
    if (counts < 0).any():
        raise ValueError(
            f"{who}: contingency has negative values (the smallest is {counts.min():g}); counts "
            "and probabilities are zero or more."
        )
    if not counts.size:
        raise ValueError(f"{who}: contingency is all zeros; pass a table of some rows.")
    with np.errstate(over="ignore"):
        few = counts.sum(dtype=np.float64) < _MOST_ROWS
    whole = counts.dtype.kind != "f" or bool((counts == np.rint(counts)).all())
    counts = counts.astype(np.int64 if few and whole else np.float64)
    order = np.lexsort((clusters, classes))
    return _without_empty(who, classes[order], clusters[order], counts[order])


def contingency_matrix(
    labels_true: Any,
    labels_pred: Any,
    *,
    eps: float | None = None,
    sparse: bool = False,
    dtype: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> Any:
    """Count how many rows every class and every cluster share.

    C[i, j] is the number of rows, or their weight, of class i in cluster j; classes and clusters
    come in the order of their labels. Time O(n) for whole numbers, O(n log n) for other labels;
    memory some 30 bytes per row and 8 bytes per cell.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_rows,)
        Numbers or strings, numbered in any way.
    eps : float or None, default=None
        What is added to every cell, lest logarithms meet zeros.
    sparse : bool, default=False
        Whether to give a CSR matrix, for thousands of clusters.
    dtype : dtype or None, default=None
        None: int64, or float64 with weights.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How often each row counts; rows of weight 0 are not there.
    noise : {"cluster", "drop", "singletons"}, default="cluster"
        What the label -1 means. "cluster": a label as any other, as scikit-learn has it. "drop":
        rows that either labelling calls noise are left out. "singletons": each such row is a
        cluster of its own, in the order of rows behind the others.

    Returns
    -------
    array or CSR matrix of shape (n_classes, n_clusters)

    Examples
    --------
    >>> from coterie.evaluate import contingency_matrix
    >>> contingency_matrix(["a", "a", "b", "b"], [0, 0, 0, 1]).tolist()
    [[2, 0], [1, 1]]
    """
    who = "contingency_matrix"
    if eps is not None and sparse:
        raise ValueError(
            f"{who}: Cannot set 'eps' when sparse=True, as no cell stays empty; use sparse=False."
        )
    table = read_table(who, labels_true, labels_pred, None, sample_weight, noise)
    if sparse:
        return table.sparse(dtype)
    cells = table.dense(who)
    if eps is not None:
        return cells + eps
    return cells if dtype is None else cells.astype(dtype)
