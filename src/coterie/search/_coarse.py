"""The coarse half of an inverted file: centres of lists, and what they leave of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie.centroid._checked_space import checked_space
from coterie.centroid._fitted import Fitted, label_any
from coterie.centroid._kmeans import kmeans
from coterie.data import ArraySource, Block, Source
from coterie.quantize._training_rows import training_rows
from coterie.search._code_space import to_length_one

Floats = npt.NDArray[Any]
Doubles = npt.NDArray[np.float64]

#: Rows that are learned from: for every list and for every codeword of a part, and at least.
_ROWS_A_LIST, _ROWS_A_CODEWORD, _FEWEST_ROWS = 128, 256, 1 << 14
#: More iterations hardly change the centres of lists.
_N_ITER = 20
#: Rows whose residuals are taken together.
_BLOCK = 1 << 14


class Coarse(NamedTuple):
    """Centres of lists, and the residuals that codebooks are to be learned from."""

    centers: Doubles
    residuals: npt.NDArray[np.float32]


def learn_lists(
    who: str,
    source: Source,
    n_lists: int,
    n_words: int,
    rng: np.random.RandomState,
    *,
    unit: bool,
    n_threads: int,
) -> Coarse:
    """Centres of `n_lists` lists by k-means on some of the rows, and what they leave of these.

    Jegou, Douze and Schmid (2011), section 4. `n_words` is how many codewords a part will have:
    more of them need more rows. With `unit`, of rows over their length.
    """
    size = max(_ROWS_A_LIST * n_lists, _ROWS_A_CODEWORD * n_words, _FEWEST_ROWS)
    rows: Floats = training_rows(who, source, size, rng, Recorder())
    if unit:
        rows = to_length_one(rows).astype(np.float32)
    if len(rows) < n_lists:
        raise ValueError(
            f"{who}: n_lists={n_lists} but X has {len(rows)} rows; lower n_lists or pass more rows."
        )
    blocks = ArraySource(rows, None, n_threads)
    columns, space = checked_space(who, blocks)
    tol = 1e-4 * float(columns.variance.mean())
    centers = kmeans(blocks, space, n_lists, rng, max_iter=_N_ITER, tol=tol).centers
    return Coarse(centers, residuals(rows, centers, nearest_center(who, rows, centers, n_threads)))


def nearest_center(
    who: str, rows: Floats, centers: Doubles, n_threads: int
) -> npt.NDArray[np.int32]:
    """The list of every row; ties go to the lower."""
    labels = np.empty(len(rows), dtype=np.int32)
    label_any(Block(rows, None, 0, n_threads), Fitted(who, centers), labels)
    return labels


def residuals(
    rows: Floats, centers: Doubles, labels: npt.NDArray[np.int32]
) -> npt.NDArray[np.float32]:
    """Rows less their centres, subtracted in float64."""
    left = np.empty(rows.shape, dtype=np.float32)
    for begin in range(0, len(rows), _BLOCK):
        here = slice(begin, begin + _BLOCK)
        left[here] = rows[here] - centers[labels[here]]
    return left
