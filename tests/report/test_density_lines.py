"""Covers coterie.report._density."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.report._density import density


@pytest.mark.parametrize("clustered", [True, False])
def test_lines_enclose_the_share_they_say(clustered: bool) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=20_000), 5 * rng.normal(size=20_000) + 100
    found = density(x, y, clustered=clustered)
    assert found is not None
    at = np.argmin(np.abs(found.x[:, None] - x), 0), np.argmin(np.abs(found.y[:, None] - y), 0)
    inside = found.inside[at[1], at[0]]
    for share in (0.3, 0.5, 0.7, 0.9):
        assert np.mean(inside <= share) == pytest.approx(share, abs=0.03)
    assert found.inside.min() > 0
    assert found.inside.max() == pytest.approx(1)


def test_one_cloud_is_drawn_smoother_than_clusters() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 300))

    def n_humps(clustered: bool) -> int:
        found = density(x, y, clustered=clustered)
        assert found is not None
        middle = found.inside[1:-1, 1:-1]
        around = (found.inside[:-2, 1:-1], found.inside[2:, 1:-1], found.inside[1:-1, :-2],
                  found.inside[1:-1, 2:])  # fmt: skip
        return int(np.logical_and.reduce([middle < beside for beside in around]).sum())

    assert n_humps(clustered=False) < n_humps(clustered=True)


def test_few_points_and_points_on_a_line_have_none() -> None:
    assert density([], [], clustered=True) is None
    assert density([0.0, 1.0], [0.0, 1.0], clustered=True) is None
    assert density(np.arange(50.0), np.zeros(50), clustered=True) is None
