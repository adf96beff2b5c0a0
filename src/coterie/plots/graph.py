"""The picture of a graph in clusters: nodes in the colours of their clusters, medoids ringed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from coterie._distinct import distinct
from coterie.distance import as_graph
from coterie.plots._layout import MOST_NODES, laid_out
from coterie.plots._style import INK, NOISE_COLOR, color_of, marker_of, new_axes, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["graph"]

Ints = npt.NDArray[np.int64]
#: Areas of nodes and of medoids, in square points.
_NODE, _MEDOID = 150.0, 330.0
#: Names of so many letters stand in their nodes, longer ones beside them.
_SHORT = 2


def graph(
    edges: Any,
    labels: Any = None,
    medoids: Any = None,
    *,
    positions: Any = None,
    names: Sequence[Any] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph: a dot per node, in the colour of its cluster, and a line per edge.

    Lines within a cluster have its colour; lines between clusters are dashed. Without positions
    nodes are put where their distances on paper are nearest to the lengths of their shortest
    paths (least stress, Gansner, Koren & North 2005), which takes n x n lengths.

    Parameters
    ----------
    edges
        A SciPy sparse adjacency (of lengths, or of bool for hops), a networkx graph, or an int
        array of shape (n_edges, 2): the two ends of every edge.
    labels
        The cluster of each node, -1 for none; None: one cluster.
    medoids
        Numbers of the nodes to be ringed, such as `medoid_indices_` of `coterie.KMedoids`.
    positions
        Where the nodes are, (n_nodes, 2); None: laid out, for at most 1000 nodes.
    names
        What to write at each node; None: nothing.
    title
        Title of the figure.
    ax
        Axes to draw into; None for a new figure.

    Returns
    -------
    Axes
        The axes drawn into.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.plots import graph
    >>> edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 5], [5, 3]])
    >>> ax = graph(edges, labels=[0, 0, 0, 1, 1, 1], medoids=[2, 3])
    >>> len(ax.collections)  # edges between, edges within, and of each cluster nodes and medoid
    6
    """
    pairs, square, hops = _read(edges, labels, positions)
    n_nodes = square.shape[0]
    labels = _labels(np.zeros(n_nodes, dtype=np.int64) if labels is None else labels, n_nodes)
    ringed = _nodes(medoids, n_nodes)
    places = _places(positions, square, hops=hops)
    if names is not None and len(names) != n_nodes:
        raise ValueError(
            f"graph: {len(names)} names were given for {n_nodes} nodes; give one each."
        )
    ax = new_axes() if ax is None else ax
    _draw_edges(ax, places, pairs, labels)
    for cluster in distinct(labels).tolist():
        own = labels == cluster
        rings = own & np.isin(np.arange(n_nodes), ringed)
        for chosen, ring in ((own & ~rings, False), (rings, True)):
            x, y = places[chosen].T
            if x.size:
                ax.scatter(
                    x, y, s=_MEDOID if ring else _NODE, c=color_of(cluster),
                    marker=marker_of(cluster), edgecolors=INK if ring else "white",
                    linewidths=2.0 if ring else 0.6, zorder=3, clip_on=False,
                )  # fmt: skip
    if names is not None:
        _write_names(ax, places, [printable(name) for name in names])
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
    ax.margins(0.06)
    if title is not None:
        ax.set_title(printable(title), color=INK, fontsize=14)
    return ax


def _read(edges: Any, labels: Any, positions: Any) -> tuple[Ints, Any, bool]:
    """Edges as pairs of nodes, each once; the adjacency; and whether its arcs are hops."""
    if sp.issparse(edges) or hasattr(edges, "adjacency"):
        found = as_graph("graph", edges)
        hops = found.lengths is None
        lengths = np.ones(found.heads.size) if hops else found.lengths
        shape = (found.n_nodes, found.n_nodes)
        square = sp.csr_array((lengths, found.heads, found.starts), shape=shape)
        return _each_once(*square.tocoo().coords), square, hops
    ends = np.asarray(edges)
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
        raise ValueError(
            f"graph: edges have shape {ends.shape} and type {ends.dtype}; pass two numbers of "
            "nodes per edge, a SciPy sparse adjacency or a networkx graph."
        )
    told = next((len(given) for given in (labels, positions) if given is not None), 0)
    n_nodes = max(int(ends.max(initial=-1)) + 1, told)
    if n_nodes == 0 or ends.min(initial=0) < 0:
        raise ValueError("graph: edges name no node, or one below 0; count nodes from 0.")
    arcs = (np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1]))
    return _each_once(*ends.T), sp.csr_array(arcs, shape=(n_nodes, n_nodes)), True


def _each_once(tails: Any, heads: Any) -> Ints:
    """Pairs of nodes with an arc between them in any direction, the lower first; no loops."""
    pairs = np.sort(np.column_stack([tails, heads]).astype(np.int64), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def _labels(given: Any, n_nodes: int) -> Ints:
    """The cluster of each node, checked."""
    found = np.asarray(given)
    if found.shape != (n_nodes,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"graph: labels have shape {found.shape} and type {found.dtype} and the graph has "
            f"{n_nodes} nodes; pass a whole number per node."
        )
    return found.astype(np.int64)


def _nodes(given: Any, n_nodes: int) -> Ints:
    """Numbers of nodes, checked."""
    found = np.asarray([] if given is None else given)
    if not found.size:
        return np.empty(0, dtype=np.int64)
    if found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= n_nodes:
        raise ValueError(
            f"graph: medoids are {found.tolist()} and the graph has {n_nodes} nodes; pass numbers "
            f"from 0 to {n_nodes - 1}."
        )
    return found.astype(np.int64)


def _places(given: Any, square: Any, *, hops: bool) -> npt.NDArray[np.float64]:
    """Where the nodes are drawn: where they were said to be, or by their paths."""
    n_nodes = square.shape[0]
    if given is None:
        if n_nodes > MOST_NODES:
            raise ValueError(
                f"graph: {n_nodes} nodes were given without positions, and at most {MOST_NODES} "
                "are laid out; pass positions, or a part of the graph."
            )
        return laid_out(square, hops=hops)
    places = np.asarray(given, dtype=np.float64)
    if places.shape != (n_nodes, 2) or not np.isfinite(places).all():
        raise ValueError(
            f"graph: positions have shape {places.shape} and the graph has {n_nodes} nodes; pass "
            "two finite numbers per node."
        )
    return places


def _draw_edges(ax: Axes, places: npt.NDArray[np.float64], pairs: Ints, labels: Ints) -> None:
    """Lines between clusters, then those within."""
    from matplotlib.collections import LineCollection

    within = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    colors = [color_of(label) for label in labels[pairs[within, 0]].tolist()]
    across = LineCollection(
        list(places[pairs[~within]]), colors=NOISE_COLOR, linewidths=0.9, linestyles="dashed",
        alpha=0.8, zorder=1,
    )  # fmt: skip
    inside = LineCollection(
        list(places[pairs[within]]), colors=colors, linewidths=1.2, alpha=0.55, zorder=2
    )
    ax.add_collection(across)
    ax.add_collection(inside)


def _write_names(ax: Axes, places: npt.NDArray[np.float64], names: Sequence[str]) -> None:
    """Names within their nodes where all are short, else beside them."""
    if max(map(len, names)) <= _SHORT:
        for name, place in zip(names, places, strict=True):
            ax.annotate(name, place, ha="center", va="center_baseline", color="white", fontsize=7)
        return
    for name, place in zip(names, places, strict=True):
        ax.annotate(
            name, place, xytext=(0, 9), textcoords="offset points", ha="center", color=INK,
            fontsize=9,
        )  # fmt: skip
