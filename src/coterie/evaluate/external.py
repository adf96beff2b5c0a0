"""Scores of labels against other labels: how alike two labellings of the same rows are."""

from coterie.evaluate._contingency import contingency_matrix
from coterie.evaluate._information import (
    HomogeneityCompletenessV,
    adjusted_mutual_info_score,
    completeness_score,
    entropy,
    expected_mutual_info,
    homogeneity_completeness_v_measure,
    homogeneity_score,
    mutual_info_score,
    normalized_mutual_info_score,
    v_measure_score,
    variation_of_information,
)
from coterie.evaluate._matching import (
    matched_accuracy_score,
    normalized_clustering_accuracy,
    pair_sets_index,
    purity_score,
)
from coterie.evaluate._pairs import (
    adjusted_rand_score,
    fowlkes_mallows_score,
    pair_confusion_matrix,
    pair_f_score,
    pair_jaccard_score,
    pair_precision_score,
    pair_recall_score,
    rand_score,
)

__all__ = [
    "HomogeneityCompletenessV",
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "completeness_score",
    "contingency_matrix",
    "entropy",
    "expected_mutual_info",
    "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "matched_accuracy_score",
    "mutual_info_score",
    "normalized_clustering_accuracy",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "pair_f_score",
    "pair_jaccard_score",
    "pair_precision_score",
    "pair_recall_score",
    "pair_sets_index",
    "purity_score",
    "rand_score",
    "v_measure_score",
    "variation_of_information",
]
