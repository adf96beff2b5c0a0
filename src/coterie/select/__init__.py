"""Choosing what a method leaves open: the number of clusters, the model, eps and min_samples."""

from coterie.select.choose_k import choose_k
from coterie.select.eps import (
    EpsSuggestion,
    KDistances,
    k_distances,
    suggest_eps,
    suggest_min_samples,
)
from coterie.select.k_choice import Curve, KChoice, SelectionProgress
from coterie.select.mixture import Candidate, MixtureChoice, select_mixture
from coterie.select.stability import Stability, stability

__all__ = [
    "Candidate",
    "Curve",
    "EpsSuggestion",
    "KChoice",
    "KDistances",
    "MixtureChoice",
    "SelectionProgress",
    "Stability",
    "choose_k",
    "k_distances",
    "select_mixture",
    "stability",
    "suggest_eps",
    "suggest_min_samples",
]
