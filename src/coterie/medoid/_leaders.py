"""The leader algorithm: one pass, in which a row that no leader is near becomes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import Block
from coterie.distance import Metric
from coterie.medoid._nearest import KnownMedoids

Labels = npt.NDArray[np.int32]

#: Rows that are compared with all leaders at a time, and leaders that they are compared with.
_ROWS = 2048
_LEADERS = 1024


@dataclass(frozen=True)
class Near:
    """Leaders as they are compared, and how near is near."""

    metric: Metric
    prepared: npt.NDArray[Any]
    threshold: float

    @property
    def known(self) -> KnownMedoids:
        return KnownMedoids(self.metric, self.prepared)


def first_near(near: Near, rows: Any, n_threads: int) -> Labels:
    """The first leader within the threshold of every prepared row; -1 where there is none."""
    labels = np.full(rows.shape[0], -1, dtype=np.int32)
    for row in range(0, rows.shape[0], _ROWS):
        part = slice(row, min(rows.shape[0], row + _ROWS))
        left = np.arange(part.start, part.stop)
        for start in range(0, near.prepared.shape[0], _LEADERS):
            if not left.size:
                break
            some = near.prepared[start : start + _LEADERS]
            # Rows of a slice where all are left: CSR rows are made dense in order.
            here = rows[part] if left.size == part.stop - part.start else rows[left]
            within = near.metric.lengths(here, some, n_threads) <= near.threshold
            found = within.any(axis=1)
            labels[left[found]] = start + within[found].argmax(axis=1)
            left = left[~found]
    return labels


def follow_or_lead(near: Near, rows: Any, n_threads: int) -> tuple[Labels, npt.NDArray[np.int64]]:
    """Labels of prepared rows that come one after the other, and which of them became leaders.

    Hartigan (1975), chapter 3: a row goes to the first leader within the threshold, and becomes the
    last leader if there is none. What the loop over rows would do, but each new leader is
    compared with all rows of a part at once: a row it is near to had no other before.
    """
    labels = np.full(rows.shape[0], -1, dtype=np.int32)
    leaders: list[int] = []
    n_before = near.prepared.shape[0]
    for row in range(0, rows.shape[0], _ROWS):
        part = slice(row, min(rows.shape[0], row + _ROWS))
        here = labels[part]
        some = np.asarray(rows[part])
        here[:] = first_near(near, some, n_threads)
        if leaders:
            left = np.flatnonzero(here < 0)
            ours = Near(near.metric, rows[np.array(leaders)], near.threshold)
            late = first_near(ours, some[left], n_threads)
            here[left] = np.where(late < 0, -1, late + n_before)
        left = np.flatnonzero(here < 0)
        while left.size:
            one = some[left[:1]]
            within = near.metric.lengths(one, some[left], n_threads)[0] <= near.threshold
            within[0] = True  # also where a metric says otherwise
            here[left[within]] = n_before + len(leaders)
            leaders.append(row + int(left[0]))
            left = left[~within]
    return labels, np.array(leaders, dtype=np.int64)


def label_near(block: Block, near: Near, labels: Labels) -> None:
    """Fill in the first leader near each row."""
    labels[:] = first_near(near, near.metric.prepare_tiles(block.rows), block.n_threads)
