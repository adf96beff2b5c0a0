"""Callbacks: what stops a fit, two at once, the line on stderr."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie._progress import Progress, both, says_stop, stderr_progress

NOW = Progress(3, 10, 1.25, 0, 1, np.zeros(1))


@pytest.mark.parametrize(
    ("answer", "stops"), [(True, True), (np.True_, True), (False, False), (None, False), (1, False)]
)
def test_only_true_stops(answer: Any, stops: bool) -> None:
    assert says_stop(answer) == stops


def test_both_are_called_and_either_stops() -> None:
    seen = []
    call = both(lambda now: seen.append(now), lambda now: True)
    assert call is not None
    assert call(NOW) is True
    assert seen == [NOW]
    assert both(None, None) is None


def test_a_line_tells_where_a_fit_is(capsys: Any) -> None:
    stderr_progress("KMeans")(NOW)
    assert capsys.readouterr().err == "KMeans: iteration 3/10, objective 1.25\n"
