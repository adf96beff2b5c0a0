"""Choosing what a method leaves open: the number of clusters, the model, eps and min_samples."""

from coterie.select.choose_k import SelectionProgress, choose_k
from coterie.select.eps import (
    EpsSuggestion,
    KDistances,
    k_distances,
    suggest_eps,
    suggest_min_samples,
)
from coterie.select.k_choice import Curve, KChoice

__all__ = [
    "Curve",
    "EpsSuggestion",
    "KChoice",
    "KDistances",
    "SelectionProgress",
    "choose_k",
    "k_distances",
    "suggest_eps",
    "suggest_min_samples",
]
