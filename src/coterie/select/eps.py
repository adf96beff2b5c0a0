"""Choosing eps and min_samples of DBSCAN; the algorithm stands beside it, as eps="auto" uses it."""

from coterie.density._knee import (
    EpsSuggestion,
    KDistances,
    k_distances,
    suggest_eps,
    suggest_min_samples,
)

__all__ = ["EpsSuggestion", "KDistances", "k_distances", "suggest_eps", "suggest_min_samples"]
