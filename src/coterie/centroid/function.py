"""k-means as a function, for code that wants arrays rather than a model."""

from __future__ import annotations

from typing import Any

from coterie.centroid.kmeans import KMeans


def k_means(
    X: Any,
    n_clusters: int,
    *,
    sample_weight: Any = None,
    init: Any = "k-means++",
    n_init: Any = "auto",
    max_iter: int = 300,
    verbose: Any = False,
    tol: float = 1e-4,
    random_state: Any = None,
    copy_x: bool = True,
    algorithm: str = "auto",
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Cluster the rows of X: `KMeans(...).fit(X)` as one call.

    Drop-in for `sklearn.cluster.k_means`. Time and memory as `KMeans`.

    Parameters
    ----------
    X : array, data frame, CSR matrix or memory map of shape (n_rows, n_features)
    n_clusters : int
        k, the number of clusters.
    sample_weight : array of shape (n_rows,) or None
        How often each row counts.
    init, n_init, max_iter, verbose, tol, random_state, copy_x, algorithm
        See `KMeans`.
    return_n_iter : bool, default=False
        Whether to return the number of iterations as well.

    Returns
    -------
    centroid : array of shape (n_clusters, n_features)
    label : int32 array of shape (n_rows,)
    inertia : float
    best_n_iter : int
        Iterations of the run that was kept; only with `return_n_iter`.
    """
    model = KMeans(
        n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        verbose=verbose,
        tol=tol,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = (model.cluster_centers_, model.labels_, model.inertia_)
    return (*found, model.n_iter_) if return_n_iter else found
