"""Choosing what a method leaves open, and whether there is anything to choose."""

from coterie.select.best_method import BestMethod, MethodCandidate, best_method
from coterie.select.choose_k import choose_k
from coterie.select.dip import DipTest, dip_test
from coterie.select.eps import (
    EpsSuggestion,
    KDistances,
    k_distances,
    suggest_eps,
    suggest_min_samples,
)
from coterie.select.explain import Explanation, explain
from coterie.select.hopkins import Hopkins, hopkins
from coterie.select.k_choice import Curve, KChoice, SelectionProgress
from coterie.select.mixture import Candidate, MixtureChoice, select_mixture
from coterie.select.stability import Stability, stability
from coterie.select.tendency import Tendency, tendency

__all__ = [
    "BestMethod",
    "Candidate",
    "Curve",
    "DipTest",
    "EpsSuggestion",
    "Explanation",
    "Hopkins",
    "KChoice",
    "KDistances",
    "MethodCandidate",
    "MixtureChoice",
    "SelectionProgress",
    "Stability",
    "Tendency",
    "best_method",
    "choose_k",
    "dip_test",
    "explain",
    "hopkins",
    "k_distances",
    "select_mixture",
    "stability",
    "suggest_eps",
    "suggest_min_samples",
    "tendency",
]
