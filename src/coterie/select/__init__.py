"""Choosing what a method leaves open: eps and min_samples of DBSCAN."""

from coterie.select.eps import (
    EpsSuggestion,
    KDistances,
    k_distances,
    suggest_eps,
    suggest_min_samples,
)

__all__ = ["EpsSuggestion", "KDistances", "k_distances", "suggest_eps", "suggest_min_samples"]
