"""From a condensed tree to flat clusters: which to keep, and how strongly rows belong to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._kernels import kernels
from coterie._labels import NOISE
from coterie.density._condense import CondensedTree

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

METHODS = ("eom", "leaf")


@dataclass(frozen=True)
class Selection:
    """Which clusters to keep: see `HDBSCAN` for the parameters of these names."""

    method: str = "eom"
    max_cluster_size: int | None = None
    epsilon: float = 0.0
    allow_single_cluster: bool = False


@dataclass(frozen=True)
class FlatClusters:
    """The clusters that were kept, numbered in their order in the tree.

    `selected` are their numbers in the tree; `label` is the label of each cluster of the tree: that
    of the kept one it lies in, or -1. Rows that leave below `least_lambda` are noise, which matters
    where the one cluster kept is that of all rows.
    """

    selected: Ints
    label: Ints
    least_lambda: float

    @property
    def n_clusters(self) -> int:
        """How many were kept."""
        return int(self.selected.size)


class Membership(NamedTuple):
    """The cluster of each row (-1: noise), and how strongly it belongs to it, from 0 to 1."""

    labels: npt.NDArray[np.int64]
    probabilities: Floats


def select_clusters(tree: CondensedTree, rule: Selection) -> FlatClusters:
    """Keep disjoint clusters of the tree: the most stable ones, or its leaves."""
    owner = np.empty(tree.parent.size, dtype=np.int32)
    n_rows = tree.row_cluster.size
    max_size = n_rows if rule.max_cluster_size is None else min(n_rows, rule.max_cluster_size)
    kernels.select_clusters(
        tree.parent, tree.size, tree.birth, tree.stability, rule.method == "leaf", max_size,
        rule.epsilon, bool(rule.allow_single_cluster), owner,
    )  # fmt: skip
    kept = np.flatnonzero(owner == np.arange(owner.size))
    label = np.searchsorted(kept, owner).astype(np.int32)
    label[owner < 0] = NOISE
    least_lambda = 0.0
    if kept.size == 1 and kept[0] == 0:
        least_lambda = 1 / rule.epsilon if rule.epsilon > 0 else float(tree.death[0])
        if tree.row_lambda.max() < least_lambda:  # a cluster of no rows is none
            kept, label, least_lambda = kept[:0], np.full_like(label, NOISE), 0.0
    else:  # what is in no part of all rows is noise
        label[owner == 0] = NOISE
    return FlatClusters(kept.astype(np.int32), label, least_lambda)


def belong(tree: CondensedTree, flat: FlatClusters, cluster: Ints, lam: Floats) -> Membership:
    """Labels and probabilities of rows that leave these clusters of the tree at these lambdas.

    The probability is lambda over the death of the kept cluster, at most 1.
    """
    labels = flat.label[cluster].astype(np.int64)
    labels[lam < flat.least_lambda] = NOISE
    inside = labels != NOISE
    death, lam = tree.death[flat.selected[labels[inside]]], lam[inside]
    probabilities = np.zeros(labels.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.minimum(lam, death) / death
    strength[np.isinf(lam) | (death == 0)] = 1.0
    probabilities[inside] = strength
    return Membership(labels, probabilities)


def cluster_at(tree: CondensedTree, rows: npt.NDArray[np.int64], lam: Floats) -> Ints:
    """The cluster that holds each of these rows of the fit up to a lambda.

    That is never more than where they fell. A cluster that is born at this lambda is too late.
    """
    cluster = tree.row_cluster[rows]
    outside = np.arange(cluster.size)
    while outside.size:  # which ends, as parents have lower numbers
        at = cluster[outside]
        outside = outside[(at > 0) & (lam[outside] <= tree.birth[at])]
        cluster[outside] = tree.parent[cluster[outside]]
    return cluster
