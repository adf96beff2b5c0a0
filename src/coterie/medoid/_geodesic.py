"""k-medoids on graphs: nodes to their nearest medoid, medoids to the middle of their nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._history import Recorder
from coterie._restarts import best_of, recorders
from coterie.distance import Graph, as_graph
from coterie.medoid._find import Asked
from coterie.medoid._given import given_indices
from coterie.medoid._nearest import total_of
from coterie.medoid._swap import MedoidRun

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

STARTS = ("build", "k-medoids++", "random", "farthest-first")


def find_on_graph(
    who: str,
    graph: Graph,
    weights: Floats | None,
    asked: Asked,
    rng: np.random.RandomState,
    n_threads: int,
) -> tuple[MedoidRun, Recorder]:
    """The best of some runs, without a table of distances.

    Alternation (Maranzana 1963) with shortest paths: a run ends where no medoid can be replaced by
    a better node *of its own cluster*, with paths within the cluster. Other medoids may be better.
    """
    n_clusters, init = asked.n_clusters, asked.init
    if graph.n_parts > n_clusters:
        raise ValueError(
            f"{who}: the graph has {graph.n_parts} parts without a path between them and "
            f"n_clusters={n_clusters}; every part needs a medoid: raise n_clusters, or pass a part."
        )
    best = None
    n_runs = asked.n_init if isinstance(init, str) else 1
    for recorder in recorders(n_runs, 0, asked.callback, objective_name="total deviation"):
        if isinstance(init, str):
            start = _start(graph, weights, n_clusters, init, rng)
        else:
            allowed = None if weights is None else weights > 0
            start = given_indices(who, init, n_clusters, graph.n_nodes, allowed)
        run = _alternate(who, graph, weights, start, asked.max_iter, n_threads, recorder)
        best = best_of(best, run, recorder, lambda mine, theirs: mine.total < theirs.total)
    assert best is not None
    if isinstance(init, str) and init == "build":
        best[1].event("start", "init='build' takes all pairs of nodes; k-medoids++ was used")
    return best


def _start(
    graph: Graph, weights: Floats | None, n_clusters: int, init: str, rng: np.random.RandomState
) -> Ids:
    """The first medoids; nodes without a path to any come before all others."""
    chances = np.ones(graph.n_nodes) if weights is None else weights
    medoids: list[int] = []
    nearest = np.full(graph.n_nodes, np.inf)
    while len(medoids) < n_clusters:
        free = chances > 0
        free[medoids] = False
        lost = free & np.isinf(nearest)
        if lost.any() or init == "random":
            choice = np.flatnonzero(lost if lost.any() else free)
            mass = chances[choice]
        elif init == "farthest-first":
            choice = np.array([np.argmax(np.where(free, nearest, -1.0))])
            mass = np.ones(1)
        else:
            choice = np.flatnonzero(free)
            mass = chances[choice] * nearest[choice]
            mass = mass if mass.any() else np.ones(choice.size)
        medoids.append(int(rng.choice(choice, p=mass / mass.sum())))
        nearest = graph.nearest(np.array(medoids))[1]
    return np.array(medoids, dtype=np.int64)


def _alternate(
    who: str,
    graph: Graph,
    weights: Floats | None,
    start: Ids,
    max_iter: int,
    n_threads: int,
    recorder: Recorder,
) -> MedoidRun:
    """Label every node by its nearest medoid, take the middle of every cluster, and again.

    A shortest path to a medoid stays in its cluster, so moving it never raises the total.
    """
    medoids = start
    labels, nearest = graph.nearest(medoids)
    check_reached(who, labels)
    total = total_of(who, nearest, weights)
    recorder.iteration(
        medoids.astype(float), iteration=0, objective_assign=total, objective_update=total
    )
    for n_iter in range(1, max_iter + 1):
        moved = graph.medoids(labels, weights, medoids, n_threads)
        again, nearest = graph.nearest(moved)
        lost = bool((again < 0).any())  # ties of paths in a graph of one-way arcs
        reached = np.inf if lost else total_of(who, nearest, weights)
        settled = not reached < total
        if not settled:
            medoids, labels, total = moved, again, reached
        stopped = recorder.iteration(
            medoids.astype(float), iteration=n_iter, objective_assign=total, objective_update=total
        )
        if settled or stopped:
            return MedoidRun(medoids, total, n_iter, settled, False)
    return MedoidRun(medoids, total, max_iter, False, False)


def label_nodes(who: str, X: Any, medoids: Ids) -> npt.NDArray[np.int32]:
    """The medoid that every node of a graph has the shortest path to."""
    labels = as_graph(who, X).nearest(medoids)[0]
    check_reached(who, labels)
    return labels


def lengths_of_paths(who: str, X: Any, medoids: Ids, n_fitted: int) -> Floats:
    """Lengths of the paths of all nodes of a graph to every medoid."""
    graph = as_graph(who, X)
    if graph.n_nodes != n_fitted:
        raise ValueError(
            f"{who}: the graph has {graph.n_nodes} nodes and that of the fit had {n_fitted}; pass "
            "a graph of the same nodes."
        )
    return np.stack([graph.nearest(medoids[[slot]])[1] for slot in range(medoids.size)], axis=1)


def check_reached(who: str, labels: npt.NDArray[np.int32]) -> None:
    """Refuse nodes that no path leads from to a medoid."""
    if (labels < 0).any():
        raise ValueError(
            f"{who}: node {int(np.argmax(labels < 0))} has no path to any medoid; raise "
            "n_clusters, or pass a part of the graph whose nodes reach each other."
        )
