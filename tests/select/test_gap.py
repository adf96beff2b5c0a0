"""The gap statistic against its formula, and on rows with and without clusters."""

import numpy as np
import pytest
from select_rows import four_clusters, one_cloud

from coterie import AgglomerativeClustering, KMeans
from coterie.select import choose_k
from coterie.select._gap import PrincipalBox


def test_references_fill_the_box_along_the_principal_axes() -> None:
    rng = np.random.RandomState(0)
    line = rng.normal(size=(500, 1)) @ [[3.0, 4.0]] + 0.1 * rng.normal(size=(500, 2)) + 1e3
    drawn = PrincipalBox(line).draw(2000, rng)
    along, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    for axis in (along, across):
        own, other = line @ axis, drawn @ axis
        assert other.min() >= own.min() - 0.2
        assert other.max() <= own.max() + 0.2
    # Uniform: a twelfth of the squared side.
    side = np.ptp(line @ along)
    assert (drawn @ along).var() == pytest.approx(side**2 / 12, rel=0.1)
    assert (drawn @ across).std() < 0.5


@pytest.mark.parametrize("estimator", [KMeans(), AgglomerativeClustering()])
def test_four_clusters_have_the_largest_gap(estimator: object) -> None:
    found = choose_k(four_clusters(), estimator, 6, criterion="largest_gap", random_state=0)
    assert found.k == 4
    assert int(np.argmax(found.curves["largest_gap"].values)) == 3


def test_both_rules_share_what_is_measured() -> None:
    ticks: list[int] = []
    found = choose_k(
        four_clusters(), k=5, criterion=["gap", "largest_gap"], n_references=5, random_state=0,
        callback=lambda told: ticks.append(told.k),
    )  # fmt: skip
    assert len(ticks) == 5 * (5 + 1)
    values, errors = found.curves["gap"].values, found.curves["gap"].errors
    np.testing.assert_array_equal(values, found.curves["largest_gap"].values)
    first = next(
        place for place in range(4) if values[place] >= values[place + 1] - errors[place + 1]
    )
    assert found.picks["gap"] == first + 1
    # Two pairs of clusters: the gap dips before it rises, and the paper's rule stops there.
    assert found.picks == {"gap": 1, "largest_gap": 4}
    assert "though that of k = 4 does" in found.curves["gap"].reason


def test_three_clusters_are_found_by_both() -> None:
    rows = four_clusters()[:120]
    assert choose_k(rows, k=5, criterion="gap", random_state=0).k == 3


@pytest.mark.parametrize("seed", range(3))
def test_a_cloud_is_one_cluster(seed: int) -> None:
    assert choose_k(one_cloud(seed=seed), k=6, criterion="gap", random_state=0).k == 1


def test_a_gap_that_still_grows_is_no_pick() -> None:
    found = choose_k(four_clusters(), k=[2, 3], criterion="gap", random_state=0)
    assert found.k is None
    assert "still grows" in found.summary


def test_float32_rows_are_compared_with_float32_references() -> None:
    found = choose_k(
        four_clusters().astype(np.float32), k=6, criterion="largest_gap", random_state=0
    )
    assert found.k == 4


def oblong(rng: np.random.Generator) -> np.ndarray:
    """Uniform in a long box that lies askew."""
    axes, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    return (rng.random((150, 2)) * [1, 4]) @ axes


def ball(rng: np.random.Generator) -> np.ndarray:
    """Uniform in a ball."""
    away = rng.normal(size=(150, 3))
    return away / np.linalg.norm(away, axis=1, keepdims=True) * rng.random((150, 1)) ** (1 / 3)


def skewed(rng: np.random.Generator) -> np.ndarray:
    """One cause of all columns, with a tail."""
    return rng.gamma(3, size=(150, 1)) + rng.normal(size=(150, 3)) / 2


def test_gaps_of_one_heap_speak_for_one() -> None:
    """One of twelve may lead by chance (of some 120 oblong boxes one did)."""
    told = 0
    for seed in range(4):
        for heap in (oblong, ball, skewed):
            rows = heap(np.random.default_rng(seed))
            found = choose_k(rows, k=4, criterion="gap", n_references=6, random_state=seed)
            assert not (found.curves["gap"].says_one and found.has_structure)
            told += found.curves["gap"].says_one
    assert told >= 11


def test_gaps_of_two_groups_in_many_columns_speak_for_more() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 10))
    rows[:75, 0] += 5
    found = choose_k(rows, k=5, criterion="gap", n_references=6, random_state=0)
    assert found.k == 2
    assert not found.curves["gap"].says_one
