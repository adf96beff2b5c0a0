"""Fits of which nobody wants to hear: hundreds of them would say the same."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from coterie.errors import AdviceWarning


def fit_quietly(model: Any, X: Any) -> Any:
    """Fit; what it would warn of is in its `events_`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", AdviceWarning)
        return model.fit(X)
