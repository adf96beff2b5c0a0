"""`linkage`: the merge table of agglomerative clustering."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._checks import NONE, check_params, one_of, real, whole
from coterie._config import resolve_n_threads
from coterie._doors import check_square, check_symmetric, is_symmetric, numbers_of
from coterie._in_memory import rows_in_memory
from coterie.data import Source, as_source, elsewhere
from coterie.distance import Metric, RowFunction, as_metric
from coterie.errors import AdviceWarning
from coterie.hierarchy._compress import link_compressed
from coterie.hierarchy._connectivity import Lengths, check_graph, lengths_of, link_connected
from coterie.hierarchy._genie import genie_table, triangle_tree
from coterie.hierarchy._scale import exponent_for, scale_down, scale_up
from coterie.hierarchy._single import merge_table
from coterie.hierarchy._triangle import given_triangle, link_triangle, triangle_of
from coterie.hierarchy._vectors import link_vectors
from coterie.neighbors import Index, SpanningTree

Floats = npt.NDArray[np.float64]

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward", "genie")
#: Methods about means of rows, which only Euclidean distances have.
EUCLIDEAN = ("ward", "centroid", "median")
#: What the threshold of genie may be.
GINI = real(0, 1)


def linkage(
    X: Any,
    method: str = "ward",
    metric: str | RowFunction | Metric = "euclidean",
    *,
    gini_threshold: float = 0.3,
    connectivity: Any = None,
    compress: int | None = None,
    random_state: Any = None,
    n_threads: int | None = None,
    overwrite: bool = False,
    **metric_params: Any,
) -> Floats:
    """Join the two nearest clusters, again and again, until one is left.

    The distance of two clusters is, by `method`, the least (``"single"``), the largest
    (``"complete"``) or the mean (``"average"``) of the distances between their rows; the mean of
    the distances of the parts of the one joined last (``"weighted"``); the distance of their means
    (``"centroid"``) or of the midpoints of their parts (``"median"``); or the root of twice the
    growth of the sum of squared errors when they are joined (``"ward"``). ``"genie"`` (Gagolewski,
    Bartoszuk and Cena 2016) is single linkage that, while the Gini index of the k cluster sizes,
    sum_{i < j} |c_i - c_j| / ((k - 1) n), exceeds `gini_threshold`, joins only clusters of the
    least size with others, along the shortest edge of the minimum spanning tree that does so.

    Exact. Without ties the merges and heights are SciPy's, to rounding; among ties the result is
    deterministic and every merge joins a pair at the smallest distance there is. The same bits for
    any number of threads.

    Time O(n^2 d) (single, genie: less, in few columns). Memory: O(n d) for ward, centroid, median,
    single and genie on rows; for the others and for given distances one triangle, n (n - 1) / 2
    numbers in the precision of X: what is not available is refused before anything is computed.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), (n_rows, n_rows) or (n_rows * (n_rows - 1) / 2,)
        Rows; or, with ``metric="precomputed"``, distances, square or condensed. One dimension is
        always read as condensed distances.
    method : {"single", "complete", "average", "weighted", "centroid", "median", "ward", "genie"}
        Ward, centroid and median are about means: on rows they need the Euclidean metric, and
        given distances are taken for Euclidean.
    metric : name in `coterie.distance.METRICS`, ``"precomputed"`` or callable of two rows
    gini_threshold : float from 0 to 1, default=0.3
        Of genie: how unequal the sizes of clusters may be before the smallest have to be joined.
        At 1 it is single linkage.
    connectivity : sparse or dense array of shape (n_rows, n_rows), optional
        Only clusters with a connection between them are joined, as in scikit-learn: where a
        pair of parts is not connected its distance is left out. A graph in pieces is completed
        by the shortest links, with a warning.
    compress : int, optional
        *Approximate.* Put the rows into so many micro-clusters by k-means and link these, weighted
        by their rows; O(compress^2) instead of O(n^2). Rows of a micro-cluster join at
        height 0. Ward, centroid or median on rows; those that are not in memory (a memory map, a
        path, a Dask collection) are read in blocks.
    random_state : int, RandomState or None
        Of the k-means of `compress`.
    n_threads : int or None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    overwrite : bool
        Whether given condensed distances may be used up as scratch; saves a copy.
    **metric_params
        See `coterie.distance.as_metric`.

    Returns
    -------
    Z : float64 array of shape (n_rows - 1, 4)
        SciPy's: row i holds the two clusters joined into cluster n_rows + i, the distance between
        them and the number of rows of both. For `scipy.cluster.hierarchy`'s functions. Heights
        of centroid, median and genie may fall; those of genie are the lengths of edges of the
        spanning tree, and only the order of the rows of Z tells which merges to undo for k
        clusters: the last k - 1.

    Examples
    --------
    >>> import coterie
    >>> coterie.linkage([[0.0], [1], [5]], "single")
    array([[0., 1., 1., 2.],
           [2., 3., 4., 3.]])
    """
    warn_of_square("linkage", X, metric)
    return link(
        X, method, metric, gini_threshold=gini_threshold, connectivity=connectivity,
        compress=compress, random_state=random_state, n_threads=n_threads, overwrite=overwrite,
        who="linkage", **metric_params,
    ).Z  # fmt: skip


class Linked(NamedTuple):
    """A merge table, and how many pieces the connections were in."""

    Z: Floats
    n_connected_components: int
    tree: SpanningTree | None = None  # where the merges are the edges of one


def link(
    X: Any,
    method: str,
    metric: str | RowFunction | Metric,
    *,
    connectivity: Any,
    compress: int | None,
    random_state: Any,
    n_threads: int | None,
    who: str,
    gini_threshold: float = 0.3,
    overwrite: bool = False,
    **metric_params: Any,
) -> Linked:
    """Choose the way; see `linkage`."""
    threads = resolve_n_threads(n_threads, who)
    asked = {"method": method, "gini_threshold": gini_threshold}
    check_params(who, asked, {"method": one_of(*METHODS), "gini_threshold": GINI})
    source = elsewhere(X)
    if source is not None:
        if compress is None:
            X = rows_in_memory(who, source, f"{method} linkage without compress=")
        else:
            X = source
    if source is None and _is_precomputed(X, metric):
        _refuse(who, "compress", compress, "distances")
        if connectivity is not None:
            return _link_connected_square(X, method, connectivity, gini_threshold, who)
        lengths, n_rows = given_triangle(X, method, overwrite=overwrite, who=who)
        if method == "genie":
            return Linked(genie_table(triangle_tree(lengths, n_rows), gini_threshold), 1)
        return Linked(link_triangle(lengths, method, n_rows, n_threads=threads), 1)
    found = as_metric(metric, None if X is source else X, who=who, **metric_params)
    if method in EUCLIDEAN:
        _check_euclidean(who, method, found)
        found = as_metric("euclidean", who=who)  # which leaves rows as they are
    if compress is not None:
        return Linked(
            _link_compressed(X, method, found, connectivity, compress, random_state, threads, who),
            1,
        )
    rows = found.prepare(X)
    exponent = exponent_for(found, rows)
    if exponent:
        X = rows = scale_down(rows, exponent)
    linked = _link_rows(X, rows, method, found, connectivity, gini_threshold, threads, who)
    scale_up(linked.Z[:, 2], exponent)
    found.check_lengths(linked.Z[:, 2], who)
    return linked


def _link_rows(
    X: Any,
    rows: npt.NDArray[Any],
    method: str,
    metric: Metric,
    connectivity: Any,
    gini_threshold: float,
    n_threads: int,
    who: str,
) -> Linked:
    """Rows as given and as the metric has prepared them, by the way that needs least memory."""
    if connectivity is not None:
        graph = check_graph(connectivity, rows.shape[0], who)
        lengths_between = lengths_of(metric, rows, n_threads)
        return _link_graph(graph, method, lengths_between, rows, gini_threshold, who)
    if method in ("single", "genie"):
        tree = Index.over_prepared(who, rows, metric, n_threads=n_threads).spanning_tree()
        metric.check_lengths(tree.lengths, who)
        if method == "genie":
            return Linked(genie_table(tree, gini_threshold), 1)
        return Linked(merge_table(tree), 1, tree)
    if method in EUCLIDEAN:
        return Linked(link_vectors(rows, method, n_threads=n_threads, who=who), 1)
    if rows.dtype == np.float32 and not _is_single(X):  # 0 and 1 of wider numbers
        rows = rows.astype(np.float64)
    lengths = triangle_of(metric, rows, method, n_threads=n_threads, who=who)
    return Linked(link_triangle(lengths, method, rows.shape[0], n_threads=n_threads), 1)


def _link_connected_square(
    X: Any, method: str, connectivity: Any, gini_threshold: float, who: str
) -> Linked:
    """Given distances, of which only those of connected rows matter."""
    table = numbers_of(who, X).astype(np.float64, copy=False)
    if table.ndim != 2 or method in EUCLIDEAN:
        raise ValueError(
            f"{who}: connectivity= with given distances needs a square table and a method of "
            f"distances, and X has shape {table.shape} with method={method!r}; pass rows, or use "
            "'single', 'genie', 'complete', 'average' or 'weighted'."
        )
    check_square(who, table.shape)
    check_symmetric(table, who)
    graph = check_graph(connectivity, table.shape[0], who)
    return _link_graph(graph, method, lambda i, j: table[np.ix_(i, j)], None, gini_threshold, who)


def _link_graph(
    graph: Any, method: str, lengths: Lengths, rows: Any, gini_threshold: float, who: str
) -> Linked:
    """Connected clusters only; genie takes the edges of single linkage in another order."""
    if method != "genie":
        return Linked(*link_connected(graph, method, lengths, rows, who=who))
    _, n_pieces, tree = link_connected(graph, "single", lengths, rows, who=who)
    assert tree is not None
    return Linked(genie_table(tree, gini_threshold), n_pieces)


def _link_compressed(
    X: Any,
    method: str,
    metric: Metric,
    connectivity: Any,
    compress: Any,
    random_state: Any,
    n_threads: int,
    who: str,
) -> Floats:
    """Micro-clusters instead of rows, which are left where they are."""
    check_params(who, {"compress": compress}, {"compress": whole(1) | NONE})
    if method not in EUCLIDEAN or connectivity is not None:
        raise ValueError(
            f"{who}: compress={compress} stands for rows by their means, which serves methods "
            f"{', '.join(EUCLIDEAN)} without connectivity=, and method={method!r} was given; use "
            "one of these."
        )
    streamed = isinstance(X, np.memmap) and X.dtype in (np.float32, np.float64) and X.ndim == 2
    streamed = streamed or isinstance(X, Source)
    blocks = as_source(X if streamed else metric.prepare(X), None, n_threads)
    return link_compressed(
        blocks, int(compress), method, random_state=random_state, n_threads=n_threads, who=who
    )


def _is_single(X: Any) -> bool:
    """Whether X holds float32, as an array or as a data frame."""
    given = X if hasattr(X, "dtype") else np.asarray(X)
    return bool(given.dtype == np.float32)


def _is_precomputed(X: Any, metric: Any) -> bool:
    if isinstance(metric, str) and metric == "precomputed":
        return True
    try:
        return np.ndim(X) == 1
    except ValueError:  # lists of unequal lengths, which the check of rows names
        return False


def warn_of_square(who: str, X: Any, metric: Any, stacklevel: int = 3) -> None:
    """Advise where rows look like a table of distances: square, zero diagonal, symmetric."""
    if _is_precomputed(X, metric):
        return
    if isinstance(X, (list, tuple)) and len({np.size(row) for row in X}) != 1:
        return  # no table; the check of rows says so
    shape = np.shape(X) if isinstance(X, (np.ndarray, list, tuple)) else ()
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 3:
        return
    cells = np.asarray(X)
    if cells.dtype.kind not in "biuf" or np.diagonal(cells).any() or not cells.any():
        return
    if (cells >= 0).all() and is_symmetric(cells):
        warnings.warn(
            f"{who}: X is a symmetric table of {shape[0]} x {shape[0]} numbers with zeros on the "
            "diagonal and is taken as rows, though it looks like distances; if it holds such, "
            "give metric='precomputed'.",
            AdviceWarning,
            stacklevel=stacklevel,
        )


def _check_euclidean(who: str, method: str, metric: Metric) -> None:
    if metric.name != "euclidean" or metric.native is None:
        raise ValueError(
            f"{who}: method={method!r} with metric={metric.name!r}: means of rows exist in "
            "Euclidean space only; use metric='euclidean', or another method."
        )


def _refuse(who: str, name: str, value: Any, kind: str) -> None:
    if value is not None:
        raise ValueError(f"{who}: {name}={value!r} works on rows and X holds {kind}; leave it out.")
