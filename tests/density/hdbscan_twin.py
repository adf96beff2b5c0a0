"""HDBSCAN's textbook steps written out over all pairs, slow and plain, to compare with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(eq=False)
class Node:
    """A cluster of single linkage; a row where it has no sides."""

    rows: list[int]
    height: float = 0.0
    sides: tuple[Node, ...] = ()

    @property
    def lam(self) -> float:
        return 1 / self.height if self.height > 0 else math.inf


@dataclass(eq=False)
class Cluster:
    """A cluster of the condensed tree."""

    parent: Cluster | None
    birth: float
    size: int
    lost: list[tuple[float, int]] = field(default_factory=list)  # lambda and rows
    children: list[Cluster] = field(default_factory=list)
    chosen: bool = False

    @property
    def stability(self) -> float:
        total = 0.0
        for lam, size in self.lost:
            total += (lam - self.birth) * size if lam > self.birth else 0.0
        return total

    @property
    def death(self) -> float:
        return max(lam for lam, _ in self.lost)

    def below(self) -> list[Cluster]:
        return [self, *(c for child in self.children for c in child.below())]


@dataclass(eq=False)
class Found:
    """What a fit publishes."""

    labels: list[int]
    probabilities: list[float]
    outlier_scores: list[float]
    cores: Any
    root: Node
    clusters: list[Cluster]
    row_cluster: list[Cluster]
    row_lambda: list[float]


def hdbscan(
    dists: Any,
    min_cluster_size: int,
    k: int,
    *,
    alpha: float = 1.0,
    method: str = "eom",
    epsilon: float = 0.0,
    max_size: int | None = None,
    single: bool = False,
) -> Found:
    """Everything, from a table of distances."""
    n = len(dists)
    cores = np.sort(dists, axis=1)[:, k - 1]
    reach = np.maximum(np.asarray(dists) / alpha, np.maximum(cores[:, None], cores[None, :]))
    root = single_linkage(on_levels(spanning_tree(reach)))
    clusters, row_cluster, row_lambda = condense(root, n, min_cluster_size)
    top = clusters[0]
    if method == "eom":
        excess_of_mass(top, n if max_size is None else max_size, single)
    else:
        for cluster in clusters[1:]:
            cluster.chosen = not cluster.children
    if epsilon > 0 and not top.chosen:
        merge_below(clusters, epsilon, single)
    chosen = [cluster for cluster in clusters if cluster.chosen]
    labels, probabilities, scores = [], [], []
    for row in range(n):
        owner: Cluster | None = row_cluster[row]
        lam = row_lambda[row]
        while owner is not None and not owner.chosen:
            owner = owner.parent
        if owner is top:
            least = 1 / epsilon if epsilon > 0 else top.death
            if len(chosen) > 1 or lam < least:
                owner = None
        labels.append(-1 if owner is None else next(i for i, c in enumerate(chosen) if c is owner))
        if owner is None:
            probabilities.append(0.0)
        elif math.isinf(lam):
            probabilities.append(1.0)
        else:
            probabilities.append(min(lam, owner.death) / owner.death)
        peak = max(c.death for c in row_cluster[row].below())
        scores.append(0.0 if math.isinf(lam) else 1 - lam / peak)
    return Found(labels, probabilities, scores, cores, root, clusters, row_cluster, row_lambda)


def spanning_tree(reach: Any) -> list[tuple[float, int, int]]:
    """Kruskal's; edges from the side of row 0 outwards, shortest first."""
    n = len(reach)
    group = list(range(n))
    tree = []
    pairs = ((reach[i, j], i, j) for i in range(n) for j in range(i + 1, n))
    for length, i, j in sorted(pairs):
        if group[i] != group[j]:
            tree.append((length, i, j))
            group = [group[i] if g == group[j] else g for g in group]
    reached, turned = {0}, {}
    while len(reached) < n:
        for edge in tree:
            if edge not in turned and (edge[1] in reached) != (edge[2] in reached):
                head, tail = (edge[1], edge[2]) if edge[1] in reached else (edge[2], edge[1])
                turned[edge] = (edge[0], head, tail)
                reached.add(tail)
    return [turned[edge] for edge in tree]


def on_levels(tree: list[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """Lengths that differ by rounding alone become equal."""
    lengths = [length for length, _, _ in tree]
    groups: list[list[float]] = []
    for length in lengths:
        if groups and length - groups[-1][0] <= 1e-12 * groups[-1][0]:
            groups[-1].append(length)
        else:
            groups.append([length])
    heights = [group[-1] for group in groups for _ in group]
    return [(height, *edge[1:]) for height, edge in zip(heights, tree, strict=True)]


def single_linkage(tree: list[tuple[float, int, int]]) -> Node:
    """Merge along the edges; the head's side comes first."""
    nodes = {row: Node([row]) for row in range(len(tree) + 1)}
    for length, head, tail in tree:
        sides = nodes[head], nodes[tail]
        merged = Node(sides[0].rows + sides[1].rows, length, sides)
        nodes.update(dict.fromkeys(merged.rows, merged))
    return nodes[0]


def pieces(node: Node) -> list[Node]:
    """What is left of a node when all edges of its height are cut."""
    return [
        piece
        for side in node.sides
        for piece in (pieces(side) if side.sides and side.height == node.height else [side])
    ]


def condense(root: Node, n: int, min_size: int) -> tuple[list[Cluster], list[Any], list[float]]:
    """From the top: a level leaves pieces, of which those smaller than min_size fall off.

    Clusters are numbered by how many merges they are below the top, then from left to right.
    """
    clusters = [Cluster(None, 0.0, n)]
    row_cluster, row_lambda = [clusters[0]] * n, [0.0] * n

    def is_large(piece: Node) -> bool:
        return len(piece.rows) >= min_size

    # A node, the cluster its rows fall from, and the cluster that its one large piece is, if one.
    depth: list[tuple[Node, Cluster, Cluster | None]] = [(root, clusters[0], None)]
    while depth:
        deeper = []
        for node, cluster, heir in depth:
            if heir is None and sum(map(is_large, pieces(node))) <= 1:
                heir = cluster
            for side in node.sides:
                same_level = bool(side.sides) and side.height == node.height
                large = list(filter(is_large, pieces(side) if same_level else [side]))
                if not large:
                    for row in side.rows:
                        row_cluster[row], row_lambda[row] = cluster, node.lam
                        cluster.lost.append((node.lam, 1))
                    continue
                own = heir
                if own is None and len(large) == 1:
                    own = Cluster(cluster, node.lam, len(large[0].rows))
                    cluster.lost.append((node.lam, own.size))
                    cluster.children.append(own)
                    clusters.append(own)
                if same_level:
                    deeper.append((side, cluster, own))
                else:
                    assert own is not None
                    deeper.append((side, own, None))
        depth = deeper
    return clusters, row_cluster, row_lambda


def excess_of_mass(cluster: Cluster, max_size: int, may_be_chosen: bool) -> float:
    """Choose the disjoint clusters of the largest summed stability; that sum."""
    below = sum([excess_of_mass(child, max_size, True) for child in reversed(cluster.children)])
    size = cluster.size if cluster.parent else sum(child.size for child in cluster.children)
    if not may_be_chosen or below > cluster.stability * (1 + 1e-12) or size > max_size:
        return below
    for other in cluster.below():
        other.chosen = other is cluster
    return cluster.stability


def merge_below(clusters: list[Cluster], epsilon: float, single: bool) -> None:
    """Chosen clusters born at a distance below epsilon give way to an ancestor born above it."""
    top = clusters[0]
    chosen = [cluster for cluster in clusters if cluster.chosen]
    for cluster in chosen:
        cluster.chosen = False
    kept = []
    for cluster in chosen:
        if 1 / cluster.birth < epsilon:
            while cluster.parent is not top:
                cluster = cluster.parent
                if 1 / cluster.birth > epsilon:
                    break
            else:
                cluster = top if single else cluster
        kept.append(cluster)
    for cluster in kept:
        cluster.chosen = True
