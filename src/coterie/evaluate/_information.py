"""Scores of two labellings by what one tells about the other, in nats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, one_of, real
from coterie._doors import check_weights
from coterie.evaluate._coded import Noise, code_labels
from coterie.evaluate._contingency import Contingency, read_table
from coterie.evaluate._expected_mi import expected_mi

_EPS = float(np.finfo(np.float64).eps)

#: What mutual information is divided by, given both entropies.
AVERAGES: dict[str, Callable[[float, float], float]] = {
    "min": min,
    "geometric": lambda h_true, h_pred: math.sqrt(h_true * h_pred),
    "arithmetic": lambda h_true, h_pred: (h_true + h_pred) / 2,
    "max": max,
}


class HomogeneityCompletenessV(NamedTuple):
    """What `homogeneity_completeness_v_measure` gives."""

    homogeneity: float
    completeness: float
    v_measure: float


def _entropy_of(sizes: npt.NDArray[Any]) -> float:
    """- sum p log p of clusters with these sizes."""
    sizes = sizes[sizes > 0]
    if sizes.size <= 1:
        return 0.0
    total = sizes.sum()
    return float(-((sizes / total) * (np.log(sizes) - math.log(total))).sum())


def _mutual_info_of(table: Contingency) -> float:
    """sum p_ij log(p_ij / (p_i p_j)) over the cells of a table."""
    if 1 in table.shape or 0 in table.shape:
        return 0.0
    # Logarithms of sizes are added: a product of sizes may be beyond all whole numbers.
    log_total = math.log(table.total)
    log_expected = (np.log(table.class_sizes)[table.classes] - log_total) + (
        np.log(table.cluster_sizes)[table.clusters] - log_total
    )
    terms = (table.counts / table.total) * (np.log(table.counts) - log_total - log_expected)
    terms[np.abs(terms) < _EPS] = 0.0
    return max(0.0, float(terms.sum()))


def entropy(labels: Any, *, sample_weight: Any = None, noise: Noise = "cluster") -> float:
    """Tell how many nats the label of a row has on average.

    H = - sum_i p_i log p_i over the shares p_i of the clusters. O(n) for whole numbers. See
    `contingency_matrix` for `sample_weight` and `noise`.

    Examples
    --------
    >>> from coterie.evaluate import entropy
    >>> round(entropy(["a", "a", "b", "b"]), 6)
    0.693147
    """
    coded = code_labels("entropy", labels, noise=noise)
    kept = coded.codes >= 0
    weights = check_weights("entropy", sample_weight, coded.codes.size)
    return _entropy_of(np.bincount(coded.codes[kept], None if weights is None else weights[kept]))


def mutual_info_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell how many nats one labelling tells about the other.

    I = sum_ij p_ij log(p_ij / (p_i p_j)), the Kullback-Leibler divergence of the joint
    distribution from the product of its margins: 0 for independent labellings, the entropy for
    equal ones, the same for any numbering of the clusters.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_rows,)
        Two labellings of the same rows: numbers or strings, numbered in any way.
    contingency : array or sparse matrix of shape (n_classes, n_clusters) or None, default=None
        Counts, weights or joint probabilities in place of both labellings.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        How often each row counts.
    noise : {"cluster", "drop", "singletons"}, default="cluster"
        What the label -1 means: a label as any other, rows to be left out, or rows that are
        clusters of their own. `contingency_matrix` says more, and what it costs.

    Returns
    -------
    float
        In nats, at least 0; divide by log(2) for bits.

    Examples
    --------
    >>> from coterie.evaluate import mutual_info_score
    >>> joint = [[0.39, 0.08, 0.02], [0.06, 0.31, 0.01], [0.01, 0.01, 0.11]]
    >>> round(mutual_info_score(contingency=joint), 6)
    0.421075
    """
    who = "mutual_info_score"
    return _mutual_info_of(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    )


def normalized_mutual_info_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    average_method: str = "arithmetic",
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Mutual information as a share of an average of both entropies.

    I / average(H_true, H_pred), from 0 to 1 and, for "arithmetic", the V-measure. It grows with the
    number of clusters even where labels are drawn by lot; `adjusted_mutual_info_score` does not.

    Parameters
    ----------
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        Which mean of the two entropies to divide by.
    labels_true, labels_pred, contingency, sample_weight, noise
        See `mutual_info_score`.

    Returns
    -------
    float
        1 where both have one cluster, since they agree.
    """
    who = "normalized_mutual_info_score"
    check_params(who, {"average_method": average_method}, {"average_method": one_of(*AVERAGES)})
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    if table.shape in ((1, 1), (0, 0)):
        return 1.0
    shared = _mutual_info_of(table)
    if shared == 0:
        return 0.0
    entropies = _entropy_of(table.class_sizes), _entropy_of(table.cluster_sizes)
    return float(shared / AVERAGES[average_method](*entropies))


def expected_mutual_info(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell how many nats two labellings share by chance, given the sizes of their clusters.

    E = sum_ij sum_m (m / n) log(n m / (a_i b_j)) P(m), with P hypergeometric: the mean over all
    permutations of one of them (Vinh, Epps & Bailey 2010). Exact to rounding; counts must be
    whole. Milliseconds for a million rows in thousands of clusters, since equal sizes share terms.
    See `mutual_info_score` for the parameters.
    """
    who = "expected_mutual_info"
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    return expected_mi(who, table)


def adjusted_mutual_info_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    average_method: str = "arithmetic",
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Mutual information beyond chance: 1 for equal labellings, 0 on average for random ones.

    (I - E) / (average(H_true, H_pred) - E), with E of `expected_mutual_info` (Vinh, Epps & Bailey
    2010). Needs whole counts: chance is over numberings of rows.

    Parameters
    ----------
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        Which mean of the two entropies to divide by.
    labels_true, labels_pred, contingency, sample_weight, noise
        See `mutual_info_score`.

    Returns
    -------
    float
        At most 1; below 0 where labellings agree less than by chance.
    """
    who = "adjusted_mutual_info_score"
    check_params(who, {"average_method": average_method}, {"average_method": one_of(*AVERAGES)})
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    if table.shape in ((1, 1), (0, 0)):
        return 1.0
    if 1 in table.shape:
        return 0.0
    by_chance = expected_mi(who, table)
    entropies = _entropy_of(table.class_sizes), _entropy_of(table.cluster_sizes)
    # Where chance leaves nothing to gain both differences are rounding: 1, as for a perfect match.
    return _away_from_zero(_mutual_info_of(table) - by_chance) / _away_from_zero(
        AVERAGES[average_method](*entropies) - by_chance
    )


def _away_from_zero(value: float) -> float:
    """A number no closer to zero than rounding can tell, with its sign."""
    return min(value, -_EPS) if value < 0 else max(value, _EPS)


def homogeneity_completeness_v_measure(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    beta: float = 1.0,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> HomogeneityCompletenessV:
    """Tell whether clusters hold one class each, and whether classes lie in one cluster each.

    Rosenberg & Hirschberg (2007): homogeneity h = I / H_true, completeness c = I / H_pred, and
    V = (1 + beta) h c / (beta h + c). See `mutual_info_score` for the parameters; `beta` above 1
    gives completeness more weight.
    """
    who = "homogeneity_completeness_v_measure"
    check_params(who, {"beta": beta}, {"beta": real(0)})
    return _all_three(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise), beta
    )


def _all_three(table: Contingency, beta: float = 1.0) -> HomogeneityCompletenessV:
    """Homogeneity, completeness and their mean."""
    h_true, h_pred = _entropy_of(table.class_sizes), _entropy_of(table.cluster_sizes)
    shared = _mutual_info_of(table)
    homogeneity = shared / h_true if h_true else 1.0
    completeness = shared / h_pred if h_pred else 1.0
    v_measure = 0.0
    if homogeneity + completeness > 0:
        v_measure = (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)
    return HomogeneityCompletenessV(homogeneity, completeness, v_measure)


def homogeneity_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell whether each cluster holds rows of one class: I / H_true, from 0 to 1.

    See `homogeneity_completeness_v_measure`, and `mutual_info_score` for the parameters.
    """
    who = "homogeneity_score"
    return _all_three(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    ).homogeneity


def completeness_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell whether the rows of each class lie in one cluster: I / H_pred, from 0 to 1.

    See `homogeneity_completeness_v_measure`, and `mutual_info_score` for the parameters.
    """
    who = "completeness_score"
    return _all_three(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    ).completeness


def v_measure_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    beta: float = 1.0,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The weighted harmonic mean of homogeneity and completeness.

    See `homogeneity_completeness_v_measure`, and `mutual_info_score` for the parameters.
    """
    who = "v_measure_score"
    check_params(who, {"beta": beta}, {"beta": real(0)})
    return _all_three(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise), beta
    ).v_measure


def variation_of_information(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """Tell how far two labellings are apart, in nats: a metric of partitions.

    Meila (2007): VI = H(true | pred) + H(pred | true) = H_true + H_pred - 2 I; 0 for equal
    partitions, at most log n. See `mutual_info_score` for the parameters.
    """
    who = "variation_of_information"
    table = read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    if 0 in table.shape:
        return 0.0
    # As two conditional entropies, lest a small difference drown in the entropies' rounding.
    shares = table.counts / table.total
    given_pred = np.log(table.cluster_sizes)[table.clusters] - np.log(table.counts)
    given_true = np.log(table.class_sizes)[table.classes] - np.log(table.counts)
    return float((shares * (np.maximum(given_pred, 0) + np.maximum(given_true, 0))).sum())
