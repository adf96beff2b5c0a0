"""Choosing what a method leaves open, and whether there is anything to choose."""

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
from coterie.select.tendency import Tendency, tendency

__all__ = [
    "DipTest",
    "EpsSuggestion",
    "Explanation",
    "Hopkins",
    "KDistances",
    "Tendency",
    "dip_test",
    "explain",
    "hopkins",
    "k_distances",
    "suggest_eps",
    "suggest_min_samples",
    "tendency",
]
