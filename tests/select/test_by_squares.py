"""Elbow, penalty and growth against their formulas, and what they say without clusters."""

import numpy as np
import pytest
from select_rows import four_clusters, one_cloud
from sklearn.cluster import KMeans as Peer

from coterie import KMeans
from coterie.select import choose_k
from coterie.select._by_squares import slopes


def errors_of(X: np.ndarray, most: int) -> np.ndarray:
    """Sums of squared errors by another implementation."""
    return np.array(
        [Peer(k, n_init=20, random_state=0).fit(X).inertia_ for k in range(1, most + 1)]
    )


def test_penalty_and_growth_follow_their_formulas() -> None:
    X = four_clusters()
    n, d, ks = len(X), 2, np.arange(1, 6)
    errors = errors_of(X, 5)
    found = choose_k(
        X, KMeans(n_init=20), 5, criterion=["penalised_sse", "growth", "elbow"], random_state=0
    )
    np.testing.assert_allclose(found.curves["elbow"].values, errors, rtol=1e-3)
    price = n * d * np.log(errors / (n * d)) + 2 * n * np.log(ks) + (ks * d + 1) * np.log(n)
    np.testing.assert_allclose(found.curves["penalised_sse"].values, price, rtol=1e-3)
    hartigan = (errors[:-1] / errors[1:] - 1) * (n - ks[:-1] - 1)
    np.testing.assert_allclose(found.curves["growth"].values[:-1], hartigan, rtol=0.05)
    assert np.isnan(found.curves["growth"].values[-1])
    assert found.picks["penalised_sse"] == found.picks["elbow"] == 4


@pytest.mark.parametrize("n_cols", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("seed", range(3))
def test_uniform_rows_have_no_elbow(n_cols: int, seed: int) -> None:
    found = choose_k(one_cloud(300, n_cols, seed), k=8, criterion="elbow", random_state=0)
    assert found.k is None
    assert "no elbow" in found.summary


def test_growth_stops_where_another_cluster_gains_nothing() -> None:
    X = np.repeat([[0.0], [1.0], [5.0], [6.0]], 3, axis=0) + np.tile([0, 0.3, 0.6], 4)[:, None]
    found = choose_k(X, k=5, criterion="growth", random_state=0)
    values = found.curves["growth"].values
    first = int(np.flatnonzero(values <= 10)[0])
    assert found.k == first + 1
    assert (values[:first] > 10).all()


def test_a_power_law_has_one_slope() -> None:
    ks = np.array([1.0, 2, 3, 5, 8])
    np.testing.assert_allclose(slopes(ks, 7 * ks ** (-2 / 3)), 2 / 3)


def test_an_elbow_needs_three_numbers() -> None:
    assert choose_k(four_clusters(), k=2, criterion="elbow", random_state=0).k is None


def test_no_errors_left_is_no_bargain() -> None:
    X = np.repeat([[0.0, 0], [1, 1], [2, 0]], 4, axis=0)
    found = choose_k(X, k=[1, 2, 3], criterion=["penalised_sse", "growth", "elbow"], random_state=0)
    assert np.isnan(found.curves["penalised_sse"].values[-1])
