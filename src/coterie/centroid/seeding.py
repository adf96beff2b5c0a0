"""k-means++ by itself: starting centres for whoever wants them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._checks import NONE, check_enough_rows, check_params, whole
from coterie._config import resolve_n_threads
from coterie._doors import check_csr, check_weights, checked
from coterie._random import check_random_state
from coterie.centroid._checked_space import checked_space
from coterie.centroid._seeding import SEEDINGS
from coterie.data import Source, as_source, elsewhere

_RULES = {"n_clusters": whole(1), "n_local_trials": NONE | whole(1), "n_threads": NONE | whole(1)}


def kmeans_plusplus(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    x_squared_norms: Any = None,
    random_state: Any = None,
    n_local_trials: int | None = None,
    n_threads: int | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Choose rows of X as starting centres, far from each other but not only outliers.

    Arthur & Vassilvitskii (2007): each row is drawn with probability proportional to its squared
    distance from the rows drawn so far. Drop-in for `sklearn.cluster.kmeans_plusplus`, with the
    same draws for the same `random_state`. Exact; rows that the triangle inequality proves
    unaffected are skipped. Time O(n k d) a trial at most, memory 13 bytes per row, and from 64
    candidates on 4 more and one per column.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features), path, Dask collection or source
    n_clusters : int
        k, the number of clusters.
    sample_weight : array of shape (n_rows,) or None
        How often each row counts.
    x_squared_norms : array of shape (n_rows,) or None
        Accepted for scikit-learn's sake: its length is checked, its values are not needed.
    random_state : int, RandomState or None
        Seed or generator of all draws: the same seed, the same result.
    n_local_trials : int or None, default=None
        Draws at each step, of which the one that lowers the potential most is kept. None:
        2 + log(n_clusters), as scikit-learn; 1: the paper's method, which on 2^18 values or more
        draws with the same probabilities as scikit-learn but not the same rows.
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.

    Returns
    -------
    centers : array of shape (n_clusters, n_features)
    indices : int64 array of shape (n_clusters,)
        The rows that were chosen.
    """
    who = "kmeans_plusplus"
    given = {"n_clusters": n_clusters, "n_local_trials": n_local_trials, "n_threads": n_threads}
    check_params(who, given, _RULES)
    n_threads = resolve_n_threads(n_threads, who)
    blocks = _blocks(who, X, sample_weight, n_threads)
    check_enough_rows(who, n_clusters, blocks.n_rows)
    if x_squared_norms is not None:
        norms = checked(who, x_squared_norms, dtype=blocks.dtype, ensure_2d=False)
        if norms.shape[0] != blocks.n_rows:
            # The first words are scikit-learn's.
            raise ValueError(
                f"{who}: The length of x_squared_norms {norms.shape[0]} should be equal to the "
                f"length of n_samples {blocks.n_rows}; pass one number per row, or None."
            )
    _, space = checked_space(who, blocks)
    rng = check_random_state(random_state)
    seeds = SEEDINGS["k-means++"](blocks, space, n_clusters, rng, n_local_trials=n_local_trials)
    assert seeds.indices is not None
    return seeds.centers.astype(blocks.dtype), seeds.indices


def _blocks(who: str, X: Any, sample_weight: Any, n_threads: int) -> Source:
    """Checked rows with their weights, wherever they live."""
    source = elsewhere(X)
    if source is not None:
        n_rows = 0 if sample_weight is None else source.n_rows
        return as_source(source, check_weights(who, sample_weight, n_rows), n_threads)
    rows = checked(
        who, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    if sp.issparse(rows):
        rows = check_csr(who, rows)
    return as_source(rows, check_weights(who, sample_weight, rows.shape[0]), n_threads)
