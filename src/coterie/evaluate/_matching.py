"""Scores of two labellings by which cluster stands for which class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from coterie.evaluate._coded import Noise
from coterie.evaluate._contingency import Contingency, read_table


def _best_matching(who: str, table: Contingency, gains: npt.NDArray[Any]) -> float:
    """The largest sum of gains with every class and every cluster matched at most once.

    `gains` are those of the cells of the table; all others gain nothing.
    """
    dense = Contingency(table.classes, table.clusters, gains, table.shape).dense(who)
    rows, columns = linear_sum_assignment(dense, maximize=True)
    return float(dense[rows, columns].sum())


def purity_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of rows in the largest class of their cluster.

    Purity = (1/n) sum_j max_i n_ij; 1 for clusters of one row each, so compare it at equal numbers
    of clusters only. Swap both labellings for inverse purity. See `mutual_info_score` for the
    parameters.

    Examples
    --------
    >>> from coterie.evaluate import purity_score
    >>> purity_score(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = read_table("purity_score", labels_true, labels_pred, contingency, sample_weight, noise)
    if 0 in table.shape:
        return 1.0
    by_cluster = np.argsort(table.clusters, kind="stable")
    starts = np.searchsorted(table.clusters[by_cluster], np.arange(table.shape[1]))
    return float(np.maximum.reduceat(table.counts[by_cluster], starts).sum() / table.total)


def matched_accuracy_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of rows in the cluster that stands for their class, under the best matching.

    max over matchings s of (1/n) sum_i n_{i,s(i)}; every class has at most one cluster and every
    cluster at most one class, so rows of clusters left over are wrong. Time O(K^3) beside the
    table, memory 8 bytes per cell. See `mutual_info_score` for the parameters.
    """
    who = "matched_accuracy_score"
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    if 0 in table.shape:
        return 1.0
    return float(_best_matching(who, table, table.counts) / table.total)


def normalized_clustering_accuracy(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The mean share of a class that its cluster holds, beyond what even spreading gives.

    Gagolewski (2025): NCA = (max over matchings s of (1/K) sum_i n_{i,s(i)} / n_i - 1/L) /
    (1 - 1/L), with K classes and L the larger of the numbers of classes and clusters: 1 for equal
    partitions, 0 where every class is spread evenly over all clusters. Classes count alike whatever
    their sizes, and the labellings do not play the same part. Time O(L^3) beside the table, memory
    8 bytes per cell. See `mutual_info_score` for the parameters.

    Examples
    --------
    >>> from coterie.evaluate import normalized_clustering_accuracy
    >>> normalized_clustering_accuracy([0, 0, 1, 1], [1, 1, 1, 0])
    0.5
    """
    who = "normalized_clustering_accuracy"
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    n_classes, most = table.shape[0], max(table.shape)
    if most <= 1:
        return 1.0
    recalls = table.counts / table.class_sizes[table.classes]
    return (_best_matching(who, table, recalls) / n_classes - 1 / most) / (1 - 1 / most)


def pair_sets_index(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell how alike matched classes and clusters are, beyond chance.

    Rezaei & Franti (2016). With s_ij = n_ij / max(n_i, m_j) and S its best matching, E the sum of
    n_i m_i / (n max(n_i, m_i)) over classes and clusters sorted by size, and L the larger of their
    numbers: PSI = max(0, (S - E) / (L - E)). Clusters count alike whatever their sizes. Time O(L^3)
    beside the table, memory 8 bytes per cell. See `mutual_info_score` for the parameters.

    Returns
    -------
    float
        From 0 to 1; 1 where both have one cluster.
    """
    who = "pair_sets_index"
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    most, fewest = max(table.shape), min(table.shape)
    if most <= 1:
        return 1.0
    sizes, others = table.class_sizes, table.cluster_sizes
    alike = table.counts / np.maximum(sizes[table.classes], others[table.clusters])
    matched = _best_matching(who, table, alike)
    sizes, others = (np.sort(margin)[::-1][:fewest] for margin in (sizes, others))
    by_chance = float((np.minimum(sizes, others) / table.total).sum())
    return max(0.0, (matched - by_chance) / (most - by_chance))
