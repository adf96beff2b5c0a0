"""One pass over the rows of a block for each thing k-means asks, dense or sparse alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._kernels import kernels
from coterie.centroid._space import Columns, Space, space_of
from coterie.data import Block, Blocks

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


class NotFiniteError(ValueError):
    """The rows hold NaN or infinity."""


def _csr(rows: Any) -> tuple[Any, Any, Any]:
    return rows.data, rows.indices, rows.indptr


def survey(block: Block) -> Columns:
    """Describe the columns of a block."""
    n_cols = int(block.rows.shape[1])
    out = np.empty((4, n_cols))
    if sp.issparse(block.rows):
        n_rows = kernels.column_stats_csr(*_csr(block.rows), n_cols, out, block.n_threads)
    else:
        n_rows = kernels.column_stats(block.rows, out, block.n_threads)
    return Columns(n_rows, *out)


def assign_and_sum(
    block: Block, centers: Floats, space: Space, labels: Labels, sums: Ints, weight_sums: Ints
) -> int:
    """Label the block's rows and move the sums of those that changed; how many did."""
    weights = None if block.weights is None else block.weights / space.weight_unit
    grid = (space.step_inverse, space.origin, space.weight_step_inverse)
    into = (labels[block.span], sums, weight_sums, block.n_threads)
    if sp.issparse(block.rows):
        return int(
            kernels.assign_and_sum_csr(
                *_csr(block.rows), weights, centers, space.scale, *grid, *into
            )
        )
    return int(
        kernels.assign_and_sum(
            block.rows, weights, centers, space.scale, space.shift, *grid, *into
        )
    )


def assign(blocks: Blocks, centers: Floats, space: Space) -> Labels:
    """The nearest centre of every row; ties go to the lower index."""
    labels = np.empty(blocks.n_rows, dtype=np.int32)
    for block in blocks:
        here = labels[block.span]
        if sp.issparse(block.rows):
            kernels.assign_csr(*_csr(block.rows), centers, space.scale, here, block.n_threads)
        else:
            kernels.assign(
                block.rows, centers, space.scale, space.shift, here, block.n_threads
            )
    return labels


def sum_sq_dists(
    blocks: Blocks, centers: Floats, space: Space, labels: Labels, sq_dists: Floats | None = None
) -> float:
    """Weighted sum of squared distances to each row's own centre; row by row into `sq_dists`."""
    total = 0.0
    for block in blocks:
        rows = _csr(block.rows) if sp.issparse(block.rows) else (block.rows,)
        kernel = kernels.sum_sq_dists_csr if sp.issparse(block.rows) else kernels.sum_sq_dists
        into = None if sq_dists is None else sq_dists[block.span]
        total += kernel(
            *rows, block.weights, centers, space.scale, labels[block.span], into, block.n_threads
        )
    if sq_dists is not None:
        sq_dists /= space.scale
        sq_dists /= space.scale
    return total / space.scale / space.scale


def all_dists(blocks: Blocks, centers: Floats, space: Space) -> npt.NDArray[Any]:
    """Distance of every row to every centre: the one array of n_rows x n_clusters a user asks for."""
    dists = np.empty((blocks.n_rows, centers.shape[0]), dtype=blocks.dtype)
    for block in blocks:
        here = dists[block.span]
        if sp.issparse(block.rows):
            kernels.all_dists_csr(*_csr(block.rows), centers, space.scale, here, block.n_threads)
        else:
            kernels.all_dists(block.rows, centers, space.scale, here, block.n_threads)
    return dists


def lay_out(blocks: Blocks) -> tuple[Columns, Space]:
    """Look at the columns once and choose the coordinates to compute in."""
    columns = blocks.total(survey)
    if not columns.finite:
        raise NotFiniteError
    space = space_of(blocks, columns)
    if blocks.weights is not None:
        nobody = np.zeros(blocks.n_rows, dtype=np.int32)
        origin = (space.origin / space.step_inverse)[np.newaxis]
        space = replace(space, total_scatter=sum_sq_dists(blocks, origin, space, nobody))
    return columns, space
