"""Bindings refuse indexes that lead out of bounds, by name, before a kernel follows them.

Covers coterie._kernels._records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from apart import outcomes
from coterie._kernels import kernels

SETUP = """
from types import SimpleNamespace
import numpy as np
from coterie._kernels import kernels
X = np.random.default_rng(0).normal(size=(200, 3))
EUCLIDEAN = ("euclidean", 2.0, None, None)
centers = X[:4].copy()
frame = dict(scale=1.0, shift=np.zeros(3))

def wild(rng, n, dtype, end):
    # Mostly sound, with a few values from anywhere.
    values = rng.integers(0, end, n).astype(dtype)
    info = np.iinfo(dtype)
    for _ in range(rng.integers(0, 3)):
        values[rng.integers(n)] = rng.choice([-1, end, end + 1, info.max, info.min, 10**6])
    return values

def matrix(data, indices, indptr):
    n = len(indptr) - 1
    return SimpleNamespace(data=data, indices=indices, indptr=indptr, shape=(n, n), format="csr")

def csr(rng):
    M = wild(rng, 30, np.int32, 5)
    starts = np.sort(rng.integers(0, 30, 6)).astype(np.int32)
    if rng.random() < 0.5:
        starts[rng.integers(6)] = rng.choice([-9, 10**6, 2**31 - 1])
    return matrix(rng.random(30), M, starts)

def labels_out(n=5):
    return dict(labels=np.empty(n, np.int64), core=np.empty(n, np.uint8))

def dbscan(name, rng):
    getattr(kernels, name)(csr(rng), weights=None, eps=0.5, min_weight=2.0, border="nearest",
                           **labels_out(), n_threads=1)

def sq_dists(rng):
    kernels.sum_sq_dists(X, None, centers, 1.0, wild(rng, 200, np.int32, 4), None, 1)

def sq_dists_csr(rng):
    kernels.sum_sq_dists(csr(rng), weights=None, centers=rng.random((4, 5)), scale=1.0,
                         labels=wild(rng, 5, np.int32, 4), sq_dists=None, n_threads=1)

def stats_csr(rng):
    kernels.column_stats(csr(rng), out=np.empty((4, 5)), n_threads=1)

def list_within(rng):
    starts = np.sort(rng.integers(0, 1000, 201)).astype(np.int64)
    starts[rng.integers(201)] = rng.choice([-5, 10**9, 0])
    n = int(min(max(starts[-1], 0), 2000))
    index = kernels.Index(X, EUCLIDEAN, bool(rng.integers(2)), 1)
    index.list_within(None, 0.5, starts, np.empty(n, np.int64), np.empty(n), 1)

def ward(rng):
    kernels.link_vectors("ward", X, None, np.zeros(3), 0.25, wild(rng, 200, np.int64, 200),
                         np.empty((199, 4)), 1)

def merges(rng):
    left, right, sizes = (np.empty(199, np.int32) for _ in range(3))
    kernels.merge_tree(wild(rng, 199, np.int32, 200), wild(rng, 199, np.int32, 200), left, right,
                       sizes)
    kernels.condense(left, right, np.sort(rng.random(199)), sizes, 2, np.empty(200, np.int32),
                     np.empty(200), *(np.empty(199, t) for t in "iidddd"))

def genie(rng):
    kernels.link_genie(wild(rng, 199, np.int32, 200), wild(rng, 199, np.int32, 200),
                       np.arange(199.0), 0.1, np.empty((199, 4)))

def labels_down(rng):
    kernels.hand_labels_down(wild(rng, 398, np.int64, 200).reshape(199, 2),
                             wild(rng, 399, np.int64, 4))

def condense(rng):
    left, right = wild(rng, 199, np.int32, 399), wild(rng, 199, np.int32, 399)
    kernels.condense(left, right, np.sort(rng.random(199)), wild(rng, 199, np.int32, 200), 2,
                     np.empty(200, np.int32), np.empty(200), *(np.empty(199, t) for t in "iidddd"))

def root(rng):
    kernels.point_away_from_first(wild(rng, 199, np.int32, 200), wild(rng, 199, np.int32, 200))

def select(rng):
    n = 50
    kernels.select_clusters(wild(rng, n, np.int32, n), wild(rng, n, np.int32, n), rng.random(n),
                            rng.random(n), False, 100, 0.5, False, np.empty(n, np.int32))

def seeds(rng):
    closest = np.full(200, np.inf)
    kernels.add_seeds(X, None, 1.0, centers, int(rng.integers(-1, 6)), closest,
                      wild(rng, 200, np.int32, 4), np.empty(1), 1)

def farthest(rng):
    kernels.find_farthest(X, None, 1.0, centers, np.full(200, np.inf),
                          wild(rng, 200, np.int32, len(centers) + 1), np.full(1, np.inf), 1)

def medoids(rng):
    search = kernels.medoids_measured(X, X, EUCLIDEAN, None, None)
    search.start(wild(rng, 3, np.int64, 200).tolist(), int(rng.integers(-1, 210)),
                 int(rng.integers(-1, 210)), 1)
    search.swap_eagerly(2, 50, 1)
    search.lengths(int(rng.integers(-2, 203)), np.empty(200), 1)
    search.cluster_medoids(wild(rng, 200, np.int32, 3), np.zeros(3, np.int64), 1)

def graphs(rng):
    starts = np.sort(rng.integers(0, 31, 11)).astype(np.int64)
    starts[0], starts[-1] = 0, 30
    if rng.random() < 0.3:
        starts[rng.integers(11)] = rng.choice([-9, 31, 10**9])
    lengths = None if rng.random() < 0.5 else rng.random(30) - (rng.random() < 0.2)
    if lengths is not None and rng.random() < 0.2:
        lengths[rng.integers(30)] = rng.choice([np.nan, np.inf, -np.inf])
    arcs = (starts, wild(rng, 30, np.int32, 10), lengths)
    kernel = rng.integers(3)
    if kernel == 0:
        kernels.nearest_nodes(*arcs, wild(rng, 3, np.int32, 10), np.empty(10),
                              np.empty(10, np.int32))
    elif kernel == 1:
        kernels.closeness_sums(*arcs, wild(rng, 10, np.int32, 4), int(rng.integers(-1, 6)),
                               np.empty(10), np.empty(10, np.int64), 2)
    else:
        kernels.graph_medoids(*arcs, wild(rng, 10, np.int32, 4), rng.random(10),
                              bool(rng.integers(2)), wild(rng, 4, np.int64, 10), 2)

def fuzz(work, n=400):
    for seed in range(n):
        try:
            work(np.random.default_rng(seed))
        except ValueError as error:
            assert str(error), "an error says something"
"""
WORK = ["sq_dists", "sq_dists_csr", "stats_csr", "list_within", "ward", "merges", "condense"]
WORK += ["root", "genie", "labels_down", "select", "seeds", "farthest", "medoids", "graphs"]


def test_wild_indexes_are_refused() -> None:
    cases = {work: f"fuzz({work})" for work in WORK}
    for name in ("dbscan_precomputed", "dbscan_graph"):
        cases[name] = f"fuzz(lambda rng: dbscan({name!r}, rng))"
    for case, said in outcomes(cases, SETUP, seconds=60).items():
        assert said == "done", (case, said)


def test_errors_name_the_argument() -> None:
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="labels must lie within the centers"):
        kernels.sum_sq_dists(X, None, X[:2], 1.0, np.array([0, 1, 2], np.int32), None, 1)
    with pytest.raises(ValueError, match="first must be another row"):
        kernels.link_vectors(
            "ward", X, None, np.zeros(2), 1.0, np.array([1, 1, 0]), np.empty((2, 4)), 1
        )


def pair_graph(**other: Any) -> dict[str, Any]:
    """Two nodes with an arc each way, for kernels of graphs; some of it otherwise."""
    starts, heads = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    return {"starts": starts, "heads": heads, "lengths": None, **other}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"starts": np.empty(0, np.int64)}, "an entry more than there are nodes"),
        ({"starts": np.array([0, 1, 3])}, "starts must rise within the arcs"),
        ({"starts": np.array([0, 2, 1])}, "starts must rise within the arcs"),
        ({"heads": np.array([1, 2], np.int32)}, "heads must be nodes"),
        ({"heads": np.array([1, -1], np.int32)}, "heads must be nodes"),
        ({"lengths": np.ones(3)}, "lengths must have an entry per arc"),
        ({"lengths": np.array([1.0, -1.0])}, "lengths must be zero or more"),
        ({"lengths": np.array([1.0, np.nan])}, "lengths must be zero or more"),
    ],
)
def test_wrong_graphs_are_refused_by_every_kernel(other: dict[str, Any], said: str) -> None:
    n_nodes = max(len(other.get("starts", "abc")) - 1, 0)
    labels, ids = np.zeros(n_nodes, np.int32), np.zeros(1, np.int64)
    numbers, counts = np.zeros(n_nodes), np.zeros(n_nodes, np.int64)
    with pytest.raises(ValueError, match=said):
        kernels.nearest_nodes(
            **pair_graph(**other), sources=np.zeros(1, np.int32), distances=numbers, labels=labels
        )
    with pytest.raises(ValueError, match=said):
        kernels.closeness_sums(
            **pair_graph(**other), labels=labels, n_clusters=1, sums=numbers, n_reached=counts,
            n_threads=1,
        )  # fmt: skip
    with pytest.raises(ValueError, match=said):
        kernels.graph_medoids(
            **pair_graph(**other), labels=labels, weights=None, both_ways=True, medoids=ids,
            n_threads=1,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "other", "said"),
    [
        ("nearest_nodes", {"sources": np.array([2], np.int32)}, "sources must be nodes"),
        ("nearest_nodes", {"distances": np.empty(3)}, "distances must have an entry per node"),
        ("nearest_nodes", {"labels": np.empty(1, np.int32)}, "labels must have an entry per node"),
        ("closeness_sums", {"labels": np.array([0, 1], np.int32)}, "labels must be clusters"),
        ("closeness_sums", {"labels": np.zeros(3, np.int32)}, "labels must have an entry per node"),
        ("closeness_sums", {"sums": np.empty(1)}, "sums must have an entry per node"),
        ("closeness_sums", {"n_reached": np.empty(1, np.int64)}, "counts must have an entry"),
        ("graph_medoids", {"labels": np.array([0, 1], np.int32)}, "labels must be clusters"),
        ("graph_medoids", {"medoids": np.array([-1])}, "medoids must be nodes"),
        ("graph_medoids", {"weights": np.ones(3)}, "weights"),
    ],
)
def test_wrong_arguments_of_graph_kernels(kernel: str, other: dict[str, Any], said: str) -> None:
    labels, few = np.zeros(2, np.int32), {"n_threads": 1, "labels": np.zeros(2, np.int32)}
    own: dict[str, dict[str, Any]] = {
        "nearest_nodes": {
            "sources": np.zeros(1, np.int32), "distances": np.empty(2), "labels": labels,
        },
        "closeness_sums": {
            **few, "n_clusters": 1, "sums": np.empty(2), "n_reached": np.empty(2, np.int64),
        },
        "graph_medoids": {
            **few, "weights": None, "both_ways": True, "medoids": np.zeros(1, np.int64),
        },
    }  # fmt: skip
    getattr(kernels, kernel)(**pair_graph(), **own[kernel])
    with pytest.raises(ValueError, match=said):
        getattr(kernels, kernel)(**pair_graph(), **{**own[kernel], **other})


def test_graphs_with_negative_lengths_end() -> None:
    code = """
labels = labels_out(2)
graph = matrix(np.array([-1.0, -1.0]), np.array([1, 0], np.int32), np.array([0, 1, 2], np.int32))
kernels.dbscan_graph(graph, None, 0.5, 1.0, "first", **labels, n_threads=1)
"""
    assert outcomes({"graph": code}, SETUP) == {"graph": "done"}
