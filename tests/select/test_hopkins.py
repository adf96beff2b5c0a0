"""Hopkins' statistic against plain loops, and what it says of known rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from coterie.errors import ParameterError
from coterie.select import hopkins


def hopkins_by_loops(X: Any, n_probes: int, rng: Any) -> float:
    low, high = X.min(axis=0), X.max(axis=0)
    places = low + rng.random_sample((n_probes, X.shape[1])) * (high - low)
    chosen = rng.permutation(len(X))[:n_probes]
    u = [min(np.linalg.norm(x - place) for x in X) for place in places]
    w = [min(np.linalg.norm(X[j] - X[i]) for j in range(len(X)) if j != i) for i in chosen]
    d = X.shape[1]
    return float(np.sum(np.power(u, d)) / (np.sum(np.power(u, d)) + np.sum(np.power(w, d))))


@pytest.mark.parametrize(("n_rows", "n_cols"), [(2, 1), (40, 2), (60, 5)])
def test_loops(n_rows: int, n_cols: int) -> None:
    X = np.random.default_rng(n_rows).normal(size=(n_rows, n_cols)) * 3 + 100
    found = hopkins(X, n_probes=min(n_rows, 12), random_state=0)
    expected = hopkins_by_loops(X, found.n_probes, np.random.RandomState(0))
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    chance = beta.sf(expected, found.n_probes, found.n_probes)
    assert found.p_value == pytest.approx(chance, rel=1e-6, abs=1e-12)


def test_uniform_rows_follow_its_beta() -> None:
    """On a torus there would be no edge; with two columns and many rows it hardly matters."""
    rng = np.random.default_rng(0)
    found = [hopkins(rng.random((1000, 2)), n_probes=20, random_state=run) for run in range(150)]
    assert 0.45 < np.mean([one.statistic for one in found]) < 0.58
    assert np.mean([one.p_value <= 0.05 for one in found]) < 0.15


def test_its_weakness() -> None:
    """One Gaussian is taken for more than uniform rows."""
    X = np.random.default_rng(0).normal(size=(1000, 5))
    assert hopkins(X, random_state=0).statistic > 0.8


def test_a_grid_is_below_a_half() -> None:
    X = np.array([[i, j] for i in range(20) for j in range(20)], dtype=float)
    assert hopkins(X, random_state=0).statistic < 0.3


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_scales_and_flat_columns(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    plain = hopkins(X, random_state=0)
    padded = np.column_stack([X[:, :1], np.full(50, 7.0) / 8, X[:, 1:]]) * scale
    assert hopkins(padded, random_state=0).statistic == pytest.approx(plain.statistic, rel=1e-6)


def test_equal_rows_tell_nothing() -> None:
    assert hopkins(np.ones((5, 2))).statistic == 0.5


def test_many_columns_do_not_overflow() -> None:
    X = np.random.default_rng(0).normal(size=(60, 700))
    assert 0 <= hopkins(X, random_state=0).statistic <= 1


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="n_probes=0 was given"):
        hopkins(np.ones((5, 2)), n_probes=0)
    with pytest.raises(ValueError, match="NaN"):
        hopkins([[1.0, np.nan], [1.0, 2.0]])


def test_rows_of_a_file_are_those_of_the_array(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    np.save(tmp_path / "rows.npy", X)
    assert hopkins(tmp_path / "rows.npy", random_state=0) == hopkins(X, random_state=0)
