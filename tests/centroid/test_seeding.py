"""The seedings: scikit-learn's draws, the textbook's examples, and what must always be true."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.cluster import kmeans_plusplus as peer_kmeans_plusplus
from sklearn.datasets import make_blobs

from coterie import kmeans_plusplus
from coterie.centroid._passes import choose_space
from coterie.centroid._seed_distances import DenseSeedDistances, seed_distances
from coterie.centroid._seeding import SEEDINGS, Seeds, farthest_first
from coterie.data import as_source
from coterie.data.chance import Chance

#: The seedings that choose rows.
CHOOSING = ["k-means++", "random", "farthest-first", "k-means||"]
#: The textbook's eight points A1 .. A8.
EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)


def seed(
    init: str,
    X: Any,
    n_clusters: int,
    random_state: int,
    *,
    weights: npt.NDArray[np.float64] | None = None,
    n_threads: int = 1,
    n_local_trials: int | None = None,
) -> Seeds:
    blocks = as_source(X, weights, n_threads)
    rng = np.random.RandomState(random_state)
    space = choose_space(blocks)[1]
    return SEEDINGS[init](blocks, space, n_clusters, rng, n_local_trials=n_local_trials)


def indices(seeds: Seeds) -> list[int]:
    assert seeds.indices is not None
    return seeds.indices.tolist()


def data_sets() -> dict[str, npt.NDArray[Any]]:
    rng = np.random.RandomState(0)
    return {
        "blobs": make_blobs(3000, centers=12, n_features=5, random_state=1)[0],
        "normal": rng.normal(size=(1500, 17)),
        "line": rng.normal(size=(10_000, 1)),
        "plane": rng.uniform(size=(5000, 2)) * 1e-6,
        "offset": make_blobs(2000, centers=5, n_features=3, random_state=2)[0] + 1e4,
        "eight": EIGHT,
    }


@pytest.mark.parametrize("name", data_sets())
@pytest.mark.parametrize("n_local_trials", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_plusplus_draws_what_scikit_learn_draws(
    name: str, n_local_trials: int | None, weighted: bool
) -> None:
    X = data_sets()[name]
    weights = np.random.RandomState(5).randint(0, 4, size=len(X)) * 0.7 if weighted else None
    n_clusters = min(30, len(X) // 2)
    for random_state in range(4):
        ours = seed(
            "k-means++", X, n_clusters, random_state, weights=weights, n_local_trials=n_local_trials
        )
        centers, expected = peer_kmeans_plusplus(
            X,
            n_clusters,
            sample_weight=weights,
            random_state=random_state,
            n_local_trials=n_local_trials,
        )
        assert indices(ours) == expected.tolist()
        np.testing.assert_array_equal(ours.centers, centers)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_clusters", [1, 5, 90])
def test_random_rows_are_scikit_learns(weighted: bool, n_clusters: int) -> None:
    X = data_sets()["blobs"][:150]
    weights = np.random.RandomState(3).randint(0, 4, size=150) * 1.0 if weighted else None
    for random_state in range(20):
        ours = seed("random", X, n_clusters, random_state, weights=weights)
        peer = PeerKMeans(n_clusters)._init_centroids(
            X,
            x_squared_norms=None,
            init="random",
            random_state=np.random.RandomState(random_state),
            sample_weight=np.ones(150) if weights is None else weights,
        )
        np.testing.assert_array_equal(ours.centers, peer)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (1, [1, 3, 7]),
        (2, [2, 3, 1]),
        (3, [3, 1, 7]),
        (4, [4, 7, 3]),
        (5, [5, 1, 7]),
        (6, [6, 1, 7]),
        (7, [7, 1, 3]),
        (8, [8, 7, 3]),
    ],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64, sp.csr_matrix])
def test_farthest_first_on_the_textbooks_points(
    first: int, expected: list[int], kind: type
) -> None:
    blocks = as_source(sp.csr_matrix(EIGHT) if kind is sp.csr_matrix else EIGHT.astype(kind))
    seeds = farthest_first(blocks, choose_space(blocks)[1], 3, first=first - 1)
    assert [i + 1 for i in indices(seeds)] == expected


def test_farthest_first_leaves_at_most_twice_the_best_radius() -> None:
    X = np.random.RandomState(0).uniform(size=(14, 2))
    blocks = as_source(X)
    dists = np.linalg.norm(X[:, None] - X, axis=2)
    best = min(
        dists[:, [a, b, c]].min(axis=1).max() for a in range(14) for b in range(a) for c in range(b)
    )
    for first in range(14):
        chosen = indices(farthest_first(blocks, choose_space(blocks)[1], 3, first=first))
        assert dists[:, chosen].min(axis=1).max() <= 2 * best


def test_first_row_is_drawn_in_proportion_to_weight() -> None:
    # One stream of draws: those of consecutive random states need not be independent.
    weights = np.array([1.0, 0, 2, 3])
    blocks, rng = as_source(np.eye(4), weights), np.random.RandomState(0)
    space = choose_space(blocks)[1]
    drawn = [indices(SEEDINGS["k-means++"](blocks, space, 1, rng))[0] for _ in range(3000)]
    counts = np.bincount(drawn, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[weights > 0], 500 * weights[weights > 0]).pvalue > 0.01


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let seeds wait also where rows are few."""
    monkeypatch.setattr(DenseSeedDistances, "patience", 20)


@pytest.mark.usefixtures("patient")
def test_seeds_that_wait_leave_the_probabilities_as_they_are() -> None:
    X = np.array([[0.0, 0], [1, 0], [1, 1], [4, 0], [4, 5], [1, 1]])
    weights = np.array([1.0, 2, 1, 0.5, 1, 1])
    sq_dists = np.square(X[:, None] - X).sum(axis=2)
    expected = {}
    for a, b, c in permutations(range(6), 3):
        share_b = weights * sq_dists[a]
        share_c = weights * np.minimum(sq_dists[a], sq_dists[b])
        odds = weights[a] / weights.sum(), share_b[b] / share_b.sum(), share_c[c] / share_c.sum()
        if np.prod(odds) > 0:
            expected[a, b, c] = np.prod(odds)
    blocks, rng = as_source(X, weights), np.random.RandomState(0)
    space = choose_space(blocks)[1]
    drawn = Counter(
        tuple(indices(SEEDINGS["k-means++"](blocks, space, 3, rng, n_local_trials=1)))
        for _ in range(8000)
    )
    assert drawn.keys() <= expected.keys()
    frequent = [key for key in expected if 8000 * expected[key] > 5]
    counts = [drawn[key] for key in frequent]
    odds = [expected[key] for key in frequent]
    counts.append(8000 - sum(counts))
    odds.append(1 - sum(odds))
    assert chisquare(counts, 8000 * np.array(odds)).pvalue > 0.01


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("weighted", [False, True])
def test_seeds_that_wait_are_added_in_few_passes(
    weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = data_sets()["blobs"]
    weights = np.random.RandomState(5).randint(0, 4, size=len(X)) * 0.7 if weighted else None
    sizes: list[int] = []
    add = DenseSeedDistances.add

    def count(dists: DenseSeedDistances, row_ids: npt.NDArray[np.int64]) -> None:
        sizes.append(len(row_ids))
        add(dists, row_ids)

    monkeypatch.setattr(DenseSeedDistances, "add", count)
    expected = seed("k-means++", X, 40, 0, weights=weights, n_local_trials=1)
    assert 1 < len(sizes) < 15
    assert len(set(indices(expected))) == 40
    for n_threads in [1, 2, 3, 4]:
        again = seed(
            "k-means++", np.asfortranarray(X), 40, 0,
            weights=weights, n_threads=n_threads, n_local_trials=1,
        )  # fmt: skip
        assert indices(again) == indices(expected)


@pytest.mark.usefixtures("patient")
def test_copies_come_last_also_where_seeds_wait() -> None:
    distinct = np.array([[0.1, 7], [3, 0.7], [5, 5.3]])
    X = distinct[np.arange(60) % 3]
    for random_state in range(10):
        chosen = indices(seed("k-means++", X, 10, random_state, n_local_trials=1))
        assert len(set(chosen)) == 10
        assert len(np.unique(X[chosen[:3]], axis=0)) == 3


def test_many_rows_make_seeds_wait() -> None:
    X = np.random.RandomState(0).normal(size=(9000, 32)).astype(np.float32)
    dists = seed_distances(as_source(X), choose_space(as_source(X))[1])
    assert dists.patience == 1
    assert seed_distances(as_source(X[:8000]), choose_space(as_source(X[:8000]))[1]).patience == 0
    assert len(set(indices(seed("k-means++", X, 50, 0, n_local_trials=1)))) == 50


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (
            [[1.0, np.nan], [2, 3]],
            "kmeans_plusplus: Input X contains NaN.*row 0.*; leave such",
        ),
        ([["a", "b"], ["c", "d"]], "kmeans_plusplus: could not convert string.*; leave text"),
    ],
)
def test_rows_it_cannot_take_are_told_with_what_to_do(X: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kmeans_plusplus(X, 2)


def test_more_trials_leave_a_lower_potential_on_average() -> None:
    X = make_blobs(2000, centers=40, n_features=2, cluster_std=0.3, random_state=0)[0]

    def potential(n_local_trials: int) -> float:
        left = []
        for random_state in range(20):
            centers = seed("k-means++", X, 40, random_state, n_local_trials=n_local_trials).centers
            left.append(np.square(X[:, None] - centers).sum(axis=2).min(axis=1).sum())
        return float(np.mean(left))

    assert potential(10) < 0.8 * potential(1)


@pytest.mark.parametrize("init", SEEDINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_order_and_memory_map_change_nothing(
    init: str, dtype: type, tmp_path: Path
) -> None:
    X = make_blobs(9000, centers=7, n_features=9, random_state=3)[0].astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    weights = np.random.RandomState(0).randint(1, 5, size=9000) * 0.5
    for given in [None, weights]:
        expected = seed(init, X, 8, 0, weights=given).centers
        assert expected.shape == (8, 9)
        assert expected.dtype == np.float64
        for same in [np.asfortranarray(X), mapped, np.repeat(X, 2, axis=0)[::2]]:
            for n_threads in [1, 2, 3, 4]:
                centers = seed(init, same, 8, 0, weights=given, n_threads=n_threads).centers
                np.testing.assert_array_equal(centers, expected)


@pytest.mark.parametrize("init", SEEDINGS)
def test_sparse_rows_start_where_dense_rows_do(init: str) -> None:
    rng = np.random.RandomState(0)
    X = rng.poisson(0.3, size=(800, 30)).astype(float)
    weights = rng.uniform(0.5, 2, size=800)
    for random_state in range(3):
        dense = seed(init, X, 6, random_state, weights=weights)
        sparse = seed(init, sp.csr_matrix(X), 6, random_state, weights=weights)
        np.testing.assert_allclose(sparse.centers, dense.centers, rtol=1e-12)


@pytest.mark.parametrize("init", CHOOSING)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_all_rows_are_chosen_when_there_are_as_many_clusters(init: str, kind: Any) -> None:
    X = np.random.RandomState(0).normal(size=(40, 3))
    for random_state in range(5):
        seeds = seed(init, kind(X), 40, random_state)
        assert sorted(indices(seeds)) == list(range(40))
        np.testing.assert_array_equal(seeds.centers, X[indices(seeds)])


@pytest.mark.parametrize("init", CHOOSING)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_copies_are_chosen_only_after_every_distinct_row(init: str, kind: Any) -> None:
    distinct = np.array([[0.1, 7], [3, 0.7], [5, 5.3]])
    X = distinct[np.arange(60) % 3]
    for random_state in range(5):
        seeds = seed(init, kind(X), 10, random_state)
        assert len(set(indices(seeds))) == 10
        if init != "random":
            assert len(np.unique(X[indices(seeds)[:3]], axis=0)) == 3


@pytest.mark.parametrize("init", CHOOSING)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_rows_without_weight_come_last(init: str, kind: Any) -> None:
    X = np.random.RandomState(0).normal(size=(60, 2))
    weights = np.random.RandomState(1).randint(0, 2, size=60) * 1.5
    n_weighty = np.count_nonzero(weights)
    for random_state in range(5):
        for n_clusters in [5, n_weighty]:
            seeds = seed(init, kind(X), n_clusters, random_state, weights=weights)
            assert (weights[indices(seeds)] > 0).all()
        everything = seed(init, kind(X), 60, random_state, weights=weights)
        assert sorted(indices(everything)) == list(range(60))
        assert (weights[indices(everything)] > 0).sum() == n_weighty


@pytest.mark.parametrize("init", ["k-means++", "farthest-first", "k-means||"])
def test_float32_rows_with_a_large_offset_are_told_apart(init: str) -> None:
    X, labels = make_blobs(6000, centers=6, cluster_std=0.02, n_features=4, random_state=0)
    seeds = seed(init, (X + 1e4).astype(np.float32), 6, 0)
    assert sorted(labels[indices(seeds)]) == list(range(6))


@pytest.mark.parametrize("init", SEEDINGS)
@pytest.mark.parametrize("factor", [1e-200, 1e-30, 1e30, 1e100])
def test_scale_does_not_matter(init: str, factor: float) -> None:
    X = make_blobs(500, centers=6, n_features=3, random_state=0)[0]
    power = 2.0 ** np.round(np.log2(factor))
    expected = seed(init, X, 6, 0).centers
    np.testing.assert_allclose(seed(init, X * power, 6, 0).centers / power, expected, rtol=1e-12)


def test_random_labels_start_from_the_labels_means() -> None:
    X = np.random.RandomState(0).normal(size=(10_000, 3)).astype(np.float32)
    weights = np.random.RandomState(1).uniform(size=10_000)
    labels = (Chance.of(np.random.RandomState(4)).draw(0, 10_000) * 5).astype(int)
    expected = [np.average(X[labels == j], axis=0, weights=weights[labels == j]) for j in range(5)]
    ours = seed("random-labels", X, 5, 4, weights=weights)
    assert ours.indices is None
    np.testing.assert_allclose(ours.centers, expected, rtol=1e-9, atol=1e-9)


def test_a_label_nobody_got_starts_from_a_row() -> None:
    X = np.random.RandomState(0).normal(size=(20, 3))
    labels = (Chance.of(np.random.RandomState(0)).draw(0, 20) * 20).astype(int)
    centers = seed("random-labels", X, 20, 0).centers
    unused = np.setdiff1d(np.arange(20), labels)
    assert len(unused) > 0
    assert all((center == X).all(axis=1).any() for center in centers[unused])
    assert len(np.unique(centers[unused], axis=0)) == len(unused)


def test_box_is_uniform_between_the_extremes() -> None:
    X = np.array([[0.0, -1e150], [2, 1e150], [1, 0]])
    centers = seed("box", X, 4000, 0).centers
    for column, low, high in zip(centers.T, X.min(axis=0), X.max(axis=0), strict=True):
        share = column / (high - low) if low == 0 else column / high / 2 + 0.5
        counts = np.histogram(share, bins=8, range=(0, 1))[0]
        assert counts.sum() == 4000
        assert chisquare(counts).pvalue > 0.01


def test_parallel_seeding_rivals_one_by_one() -> None:
    X = make_blobs(20_000, centers=20, n_features=4, cluster_std=0.2, random_state=0)[0]

    def found(init: str) -> float:
        labels = make_blobs(20_000, centers=20, n_features=4, cluster_std=0.2, random_state=0)[1]
        return float(np.mean([len(set(labels[indices(seed(init, X, 20, i))])) for i in range(5)]))

    assert found("k-means||") >= found("random") + 4
    assert found("k-means||") >= found("k-means++") - 2


@pytest.mark.parametrize("init", ["k-means++", "farthest-first", "k-means||"])
def test_sparse_copies_are_told_whatever_order_their_values_are_stored_in(init: str) -> None:
    rng = np.random.RandomState(0)
    distinct = rng.normal(size=(3, 40))
    columns = np.stack([rng.permutation(40) for _ in range(60)])
    values = np.take_along_axis(distinct[np.arange(60) % 3], columns, axis=1)
    X = sp.csr_matrix((values.ravel(), columns.ravel(), 40 * np.arange(61)), shape=(60, 40))
    for random_state in range(5):
        chosen = indices(seed(init, X, 10, random_state))
        assert len(set(chosen)) == 10
        assert {i % 3 for i in chosen[:3]} == {0, 1, 2}
    blocks = as_source(X)
    dists = seed_distances(blocks, choose_space(blocks)[1])
    dists.add(np.array([0, 1, 2]))
    assert dists.potential == 0
