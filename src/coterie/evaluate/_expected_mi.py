"""The mutual information two labellings share by chance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie.evaluate._contingency import Contingency


def expected_mi(who: str, table: Contingency) -> float:
    """The mean mutual information, in nats, over all labellings with clusters of these sizes.

    Vinh, Epps & Bailey (2010), equation 24a; exact to rounding. Clusters of equal size share their
    terms, so time is that of the distinct sizes: at most O(n) pairs of them, and for each some
    standard deviations of a hypergeometric variable.
    """
    if not table.whole:
        raise ValueError(
            f"{who}: chance is over numberings of rows, and the table holds parts of rows, or more "
            "than 2**53 of them; pass counts, or use normalized_mutual_info_score for "
            "probabilities."
        )
    if min(table.shape) <= 1:
        return 0.0
    sizes = _distinct_sizes(table.class_sizes), _distinct_sizes(table.cluster_sizes)
    n_threads = resolve_n_threads(None, who)
    return kernels.expected_mi(*sizes[0], *sizes[1], int(table.total), n_threads)


def _distinct_sizes(
    sizes: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The sizes that occur, and how many clusters have each."""
    found, counts = np.unique(sizes.astype(np.int64), return_counts=True)
    return found, counts.astype(np.int64)
