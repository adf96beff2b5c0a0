"""Approximate linkage of many rows: by way of weighted micro-clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._doors import check_finite
from coterie._in_memory import rows_in_memory
from coterie._random import check_random_state
from coterie.centroid._kmeans import kmeans, seeded
from coterie.centroid._passes import choose_space
from coterie.centroid._space import NotFiniteError
from coterie.data import Source
from coterie.hierarchy._single import merge_table
from coterie.hierarchy._vectors import link_vectors
from coterie.neighbors import SpanningTree

Floats = npt.NDArray[np.float64]

#: Passes of k-means; micro-clusters need to be small, not optimal.
_PASSES = 10


def link_compressed(
    blocks: Source, n_micro: int, method: str, *, random_state: Any, n_threads: int, who: str
) -> Floats:
    """The merge table of all rows, where rows of one micro-cluster join at height 0.

    O(n_rows * n_micro * n_cols) time for k-means, O(n_micro^2 * n_cols) for the linkage; memory
    for a block of rows, the labels and the table.
    """
    if n_micro >= blocks.n_rows:
        rows = rows_in_memory(who, blocks, "compress= of at least as many micro-clusters as rows")
        check_finite(who, rows)
        return link_vectors(rows, method, n_threads=n_threads, who=who)
    nearest, means = micro_clusters(blocks, n_micro, random_state, who)
    kept, labels = np.unique(np.asarray(nearest), return_inverse=True)
    sizes = np.bincount(labels).astype(np.float64)
    table = link_vectors(
        np.ascontiguousarray(means[kept]), method, sizes=sizes, n_threads=n_threads, who=who
    )
    return carry_rows(table, labels)


def micro_clusters(
    blocks: Source, n_micro: int, random_state: Any, who: str
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Labels and means of some passes of k-means from k-means++ seeds."""
    try:
        _, space = choose_space(blocks, None)
    except NotFiniteError:
        for block in blocks:
            check_finite(who, block.rows, start=block.start)
        raise
    rng = check_random_state(random_state)
    start = seeded("k-means++", n_local_trials=1)
    run = kmeans(blocks, space, n_micro, rng, start=start, max_iter=_PASSES)
    return run.step.tally.labels_now(), run.centers


def carry_rows(table: Floats, labels: npt.NDArray[Any]) -> Floats:
    """The merge table of all rows, from that of the groups they are labelled with."""
    order = np.argsort(labels, kind="stable")
    grouped = labels[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])
    first = order[starts]  # a row of each group
    others = np.delete(order, starts)
    row_of = _rows_of_nodes(table, first)
    merges = table[:, :2].astype(np.int64)
    return merge_table(
        SpanningTree(
            np.concatenate([first[labels[others]], row_of[merges[:, 0]]]).astype(np.int32),
            np.concatenate([others, row_of[merges[:, 1]]]).astype(np.int32),
            np.concatenate([np.zeros(others.size), table[:, 2]]),
        )
    )


def _rows_of_nodes(table: Floats, first: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A row of every leaf and every union of a merge table."""
    n_groups = first.size
    row_of = np.empty(2 * n_groups - 1, dtype=np.int64)
    row_of[:n_groups] = first
    for i, part in enumerate(table[:, 0].astype(np.int64), n_groups):
        row_of[i] = row_of[part]
    return row_of
