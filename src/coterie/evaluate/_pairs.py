"""Scores of two labellings by pairs of rows: together in both, in one, or in none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie._checks import check_params, real
from coterie.evaluate._coded import Noise
from coterie.evaluate._contingency import Contingency, read_table


@dataclass(frozen=True)
class PairCounts:
    """Ordered pairs of rows by whether they share a class and whether they share a cluster.

    Of counts these are exact whole numbers. Where a table holds parts of rows it stands for a
    population from which pairs are drawn with replacement, and these are weights.
    """

    both: Any
    class_only: Any
    cluster_only: Any
    neither: Any

    @property
    def total(self) -> Any:
        """All pairs."""
        return self.both + self.class_only + self.cluster_only + self.neither


def count_pairs_of_rows(table: Contingency) -> PairCounts:
    """Pairs by the squares of the cells and of the margins of a table."""
    margins = table.counts, table.class_sizes, table.cluster_sizes
    alone: float
    if table.whole:
        together, in_class, in_cluster = (_sum_of_squares(sizes) for sizes in margins)
        alone = int(table.total)  # rows make no pair with themselves
        total = alone * alone
    else:
        together, in_class, in_cluster = (
            float(np.square(sizes / table.total).sum()) for sizes in margins
        )
        alone, total = 0, 1
    both = together - alone
    class_only, cluster_only = in_class - together, in_cluster - together
    return PairCounts(both, class_only, cluster_only, total - in_class - in_cluster + together)


def _sum_of_squares(sizes: npt.NDArray[Any]) -> float:
    """The exact sum as a whole number of Python's, which products of it will not overflow."""
    if sizes.sum() < 1 << 31:
        whole = sizes.astype(np.int64)
        return int(whole @ whole)
    return sum(size * size for size in map(int, sizes))


def _pairs(
    who: str,
    labels_true: Any,
    labels_pred: Any,
    contingency: Any,
    sample_weight: Any,
    noise: Noise,
) -> PairCounts:
    return count_pairs_of_rows(
        read_table(who, labels_true, labels_pred, contingency, sample_weight, noise)
    )


def _ratio(part: Any, whole: Any, otherwise: float) -> float:
    """A share, where there is anything to have a share of."""
    return float(part / whole) if whole > 0 else otherwise


def pair_confusion_matrix(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> npt.NDArray[Any]:
    """Count ordered pairs of rows by whether each labelling puts them together.

    C[s, t] has s = 1 for pairs of one class and t = 1 for pairs of one cluster; every pair counts
    in both orders. O(n), since pairs follow from the squares of the contingency table. With a
    table of probabilities, or with weights that are not whole, pairs are drawn from a population
    with replacement and C sums to 1. See `mutual_info_score` for the parameters.

    Examples
    --------
    >>> from coterie.evaluate import pair_confusion_matrix
    >>> pair_confusion_matrix([0, 0, 1, 2], [0, 0, 1, 1]).tolist()
    [[8, 2], [0, 2]]
    """
    who = "pair_confusion_matrix"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    cells = [[pairs.neither, pairs.cluster_only], [pairs.class_only, pairs.both]]
    return np.array(cells, dtype=np.int64 if isinstance(pairs.both, int) else np.float64)


def rand_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of pairs of rows on which both labellings agree (Rand 1971).

    From 0 to 1, and close to 1 for many clusters whatever they are: most pairs are apart in both.
    See `mutual_info_score` for the parameters.
    """
    pairs = _pairs("rand_score", labels_true, labels_pred, contingency, sample_weight, noise)
    return _ratio(pairs.both + pairs.neither, pairs.total, 1.0)


def adjusted_rand_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The Rand index beyond chance: 1 for equal partitions, 0 on average for random ones.

    Hubert & Arabie (1985). With pairs together in both (a), in one (b, c) and in none (d),
    ARI = 2 (a d - b c) / ((a + b)(b + d) + (a + c)(c + d)); at least -0.5. See
    `mutual_info_score` for the parameters.

    Examples
    --------
    >>> from coterie.evaluate import adjusted_rand_score
    >>> adjusted_rand_score(["x", "x", "y", "y"], [1, 1, 0, 0])
    1.0
    """
    who = "adjusted_rand_score"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    a, b, c, d = pairs.both, pairs.class_only, pairs.cluster_only, pairs.neither
    if b == 0 and c == 0:
        return 1.0
    return float(2.0 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)))


def pair_precision_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of pairs of one class among those of one cluster; 1 where no cluster has a pair.

    See `mutual_info_score` for the parameters.
    """
    who = "pair_precision_score"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    return _ratio(pairs.both, pairs.both + pairs.cluster_only, 1.0)


def pair_recall_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of pairs of one cluster among those of one class; 1 where no class has a pair.

    See `mutual_info_score` for the parameters.
    """
    who = "pair_recall_score"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    return _ratio(pairs.both, pairs.both + pairs.class_only, 1.0)


def pair_f_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    beta: float = 1.0,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The weighted harmonic mean of pair precision P and pair recall R.

    F = (1 + beta^2) P R / (beta^2 P + R), van Rijsbergen (1979); `beta` above 1 gives recall more
    weight. 1 where no pair is together in either. See `mutual_info_score` for the parameters.
    """
    check_params("pair_f_score", {"beta": beta}, {"beta": real(0)})
    pairs = _pairs("pair_f_score", labels_true, labels_pred, contingency, sample_weight, noise)
    together = (1 + beta**2) * pairs.both
    return _ratio(together, together + beta**2 * pairs.class_only + pairs.cluster_only, 1.0)


def fowlkes_mallows_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The geometric mean of pair precision and pair recall (Fowlkes & Mallows 1983).

    0 where no pair is together in both, as scikit-learn has it. See `mutual_info_score` for the
    parameters.
    """
    who = "fowlkes_mallows_score"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    if pairs.both == 0:
        return 0.0
    precision = pairs.both / (pairs.both + pairs.cluster_only)
    return math.sqrt(precision) * math.sqrt(pairs.both / (pairs.both + pairs.class_only))


def pair_jaccard_score(
    labels_true: Any = None,
    labels_pred: Any = None,
    *,
    contingency: Any = None,
    sample_weight: Any = None,
    noise: Noise = "cluster",
) -> float:
    """The share of pairs together in both among those together in either (Jaccard 1912).

    1 where no pair is together in either. See `mutual_info_score` for the parameters.
    """
    who = "pair_jaccard_score"
    pairs = _pairs(who, labels_true, labels_pred, contingency, sample_weight, noise)
    return _ratio(pairs.both, pairs.both + pairs.class_only + pairs.cluster_only, 1.0)
