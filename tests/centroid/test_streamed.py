"""Rows that only come by: k-means on them has the bits of rows in memory.

Covers coterie.centroid._covers, coterie.centroid._fitted, coterie.centroid._races,
coterie.centroid._remembered and coterie.centroid._shares.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import coterie
from coterie import BisectingKMeans, KMeans, MiniBatchKMeans
from coterie.centroid import _streamed
from coterie.centroid._covers import KeptCover, StreamedCover
from coterie.centroid._fitted import Fitted, label_any
from coterie.centroid._kept import KeptTally
from coterie.centroid._passes import choose_space, sum_nearest
from coterie.centroid._races import closest_sq_dists, race
from coterie.centroid._remembered import RememberedTally
from coterie.centroid._seeding import SEEDINGS, affordable
from coterie.centroid._shares import Reached
from coterie.centroid._steps import new_tally
from coterie.centroid._streamed import StreamedTally
from coterie.data import ArraySource, Block, as_source
from coterie.data.chance import Chance
from streams import Afar, Stream

pytestmark = pytest.mark.filterwarnings("ignore:Number of distinct clusters")

CUTS = [(1,), (7, 0, 64, 1), (333,), (100_000,)]
#: Seedings whose draws do not depend on where the rows are.
ALIKE = ["random", "random-labels", "box", "farthest-first", "k-means||"]


def blobs(n_rows: int, n_cols: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    X = make_blobs(n_rows, n_cols, centers=6, cluster_std=2.0, random_state=seed)[0]
    return X.astype(dtype)


def assert_same(streamed: Any, kept: Any) -> None:
    np.testing.assert_array_equal(streamed.cluster_centers_, kept.cluster_centers_)
    np.testing.assert_array_equal(streamed.labels_, kept.labels_)
    assert streamed.inertia_ == pytest.approx(kept.inertia_, rel=1e-12)


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ALIKE)
@pytest.mark.parametrize("kind", [Stream, Afar])
def test_centres_have_the_bits_of_rows_in_memory(
    kind: type[Stream], init: str, weighted: bool, dtype: Any, sizes: Any
) -> None:
    X = blobs(600, 3, dtype)
    weights = np.random.default_rng(1).random(600) if weighted else None
    if weights is not None:
        weights[::5] = 0
    settings: dict[str, Any] = {"init": init, "n_init": 2, "random_state": 3}
    kept = KMeans(8, **settings).fit(X, sample_weight=weights)
    streamed = KMeans(8, **settings).fit(kind(X, sizes), sample_weight=weights)
    assert_same(streamed, kept)
    assert streamed.n_iter_ == kept.n_iter_
    for key in ("objective_assign", "objective_update", "shift"):
        ours, theirs = ([entry[key] for entry in m.history_] for m in (streamed, kept))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 90),
    n_cols=st.integers(1, 4),
    whole=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any),
    scale=st.sampled_from([1.0, 1e-30, 1e30]),
    data=st.data(),
)
def test_small_and_degenerate_rows_too(
    seed: int, n_rows: int, n_cols: int, whole: bool, dtype: Any, sizes: list[int], scale: float,
    data: st.DataObject,
) -> None:  # fmt: skip
    """Duplicates, ties, empty clusters whose rows are relocated, k up to n."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_cols))
    X = ((np.round(X * 2) if whole else X) * scale).astype(dtype)
    k = data.draw(st.integers(1, n_rows))
    start = X[rng.permutation(n_rows)[:k]].astype(np.float64)
    start[rng.random(k) < 0.2] += 100 * scale
    kept = KMeans(k, init=start, tol=0).fit(X)
    for kind in (Stream, Afar):
        streamed = KMeans(k, init=start, tol=0).fit(kind(X, sizes))
        assert_same(streamed, kept)
        told = [
            [event for event in model.events_ if event["what"] == "relocated"]
            for model in (streamed, kept)
        ]
        assert told[0] == told[1]


def test_outliers_and_offsets_need_sums_of_several_integers() -> None:
    X = blobs(500, 2)
    X[3] *= 1e12
    for rows in (X, X + 1e9):
        kept = KMeans(5, init=rows[:5]).fit(rows)
        assert_same(KMeans(5, init=rows[:5]).fit(Stream(rows)), kept)


@pytest.mark.parametrize("kind", [Stream, Afar])
def test_few_means_are_gathered_some_clusters_at_a_time(
    kind: type[Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_streamed, "_FEW_VALUES", 10_000)
    X = blobs(300, 2)
    kept = KMeans(40, init=X[:40]).fit(X)
    assert_same(KMeans(40, init=X[:40]).fit(kind(X)), kept)


@pytest.mark.parametrize("kind", [StreamedTally, RememberedTally])
def test_a_streamed_tally_moves_rows_as_a_kept_one_does(kind: type[StreamedTally]) -> None:
    X = blobs(200, 3)
    weights = np.random.default_rng(0).random(200)
    kept, streamed = as_source(X, weights), Stream(X, weights=weights)
    space = choose_space(kept)[1]
    tallies: list[Any] = [KeptTally(kept, space, 5), kind(streamed, space, 5)]
    centers = X[:5].copy()
    centers[3:] += 1000  # nobody's
    found = []
    for tally in tallies:
        tally.assign(centers)
        moves = tally.move_farthest(centers, np.array([3, 4]))
        found.append([(move.row, move.source, move.to) for move in moves])
    assert found[0] == found[1]
    np.testing.assert_array_equal(tallies[0].labels_now(), tallies[1].labels_now())
    np.testing.assert_array_equal(tallies[0].sums, tallies[1].sums)
    np.testing.assert_array_equal(tallies[0].means(centers), tallies[1].means(centers))
    assert tallies[0]._sse(centers) == pytest.approx(tallies[1]._sse(centers), rel=1e-13)


def test_labels_are_remembered_while_memory_allows() -> None:
    X = blobs(200, 3)
    space = choose_space(as_source(X))[1]
    assert type(new_tally(Stream(X), space, 2)) is RememberedTally
    assert type(new_tally(Afar(X), space, 2)) is StreamedTally
    with coterie.options(max_memory=4 * 8 * 200 - 1):
        assert type(new_tally(Stream(X), space, 2)) is StreamedTally


def test_a_fit_that_remembers_labels_knows_when_none_changed() -> None:
    X = blobs(70_000, 3)  # so many that no cluster is small
    kept = KMeans(5, init=X[:5], tol=0, algorithm="lloyd").fit(X)
    stream = Stream(X, (9000, 0, 1, 30_000))
    streamed = KMeans(5, init=X[:5], tol=0, algorithm="lloyd").fit(stream)
    told = [[entry["n_changed"] for entry in model.history_] for model in (kept, streamed)]
    assert told[0] == told[1]
    # Two looks at the columns, a pass an iteration, the labels and their distances at the end.
    assert stream.n_passes == streamed.n_iter_ + 4


@pytest.mark.parametrize("sizes", CUTS)
def test_predictions_are_those_of_rows_in_memory(sizes: Any) -> None:
    X = blobs(300, 4, np.float32)
    X[17] *= 1e6  # blocks have other coordinates than all rows have
    model = KMeans(5, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(Stream(X, sizes)), model.labels_)
    np.testing.assert_array_equal(model.transform(Stream(X, sizes)), model.transform(X))
    assert model.score(Stream(X, sizes)) == pytest.approx(model.score(X), rel=1e-12)
    stream = Stream(X, sizes)
    model.predict(stream)
    assert stream.n_passes == 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_spherical_k_means_streams(metric: str) -> None:
    X = blobs(300, 4)
    kept = KMeans(5, init=X[:5], metric=metric).fit(X)
    assert_same(KMeans(5, init=X[:5], metric=metric).fit(Stream(X)), kept)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_bisecting_streams(strategy: str, weighted: bool) -> None:
    X = blobs(400, 3)
    weights = np.random.default_rng(1).random(400) if weighted else None
    if weights is not None:
        weights[:30] = 0
    settings: dict[str, Any] = {"random_state": 0, "bisecting_strategy": strategy}
    kept = BisectingKMeans(7, **settings).fit(X, sample_weight=weights)
    streamed = BisectingKMeans(7, **settings).fit(Stream(X), sample_weight=weights)
    assert_same(streamed, kept)
    np.testing.assert_array_equal(streamed.predict(Stream(X)), kept.predict(X))


def test_a_way_down_keeps_the_rows_of_one_half() -> None:
    X = blobs(100, 2)
    centers = X[:2].copy()
    nearer = np.square(X[:, np.newaxis] - centers).sum(axis=2).argmin(axis=1)
    for half in (0, 1):
        np.testing.assert_array_equal(Reached(0, ((centers, half),)).keeps(X), nearer == half)


def test_mini_batches_come_window_by_window() -> None:
    X = blobs(3000, 3, np.float32)
    models = [
        MiniBatchKMeans(6, batch_size=100, random_state=0).fit(Stream(X, sizes)) for sizes in CUTS
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
    best = KMeans(6, n_init=5, random_state=0).fit(X).inertia_
    assert models[0].inertia_ < 1.1 * best


def test_what_k_means_plusplus_would_cost_is_told() -> None:
    X = blobs(400, 2)
    streamed = KMeans(6, random_state=0).fit(Stream(X))
    (event,) = [event for event in streamed.events_ if event["what"] == "seeding"]
    assert event["where"] == "k-means||"
    assert "10" in event["detail"]
    best = KMeans(6, n_init=10, random_state=0).fit(X).inertia_
    assert streamed.inertia_ < 1.5 * best
    assert affordable("k-means++", Stream(X), 3) == ("k-means++", None)
    assert affordable("k-means++", as_source(X), 100) == ("k-means++", None)


@pytest.mark.parametrize("sizes", CUTS)
@pytest.mark.parametrize("n_local_trials", [1, 4])
def test_draws_of_k_means_plusplus_do_not_depend_on_the_cut(
    sizes: Any, n_local_trials: int
) -> None:
    X = blobs(300, 3)
    space = choose_space(as_source(X))[1]
    drawn = [
        SEEDINGS["k-means++"](
            Stream(X, cut), space, 9, np.random.RandomState(5), n_local_trials=n_local_trials
        )
        for cut in ((50,), sizes)
    ]
    np.testing.assert_array_equal(drawn[0].indices, drawn[1].indices)
    np.testing.assert_array_equal(drawn[0].centers, X[drawn[0].indices])
    assert np.unique(drawn[0].indices).size == 9


def test_fewer_distinct_rows_than_seeds() -> None:
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 10, axis=0)
    space = choose_space(as_source(X))[1]
    for name in ("k-means++", "k-means||", "farthest-first"):
        seeds = SEEDINGS[name](Stream(X), space, 5, np.random.RandomState(0))
        assert seeds.centers.shape == (5, 2)
        assert np.unique(seeds.centers, axis=0).shape == (2, 2)


def test_a_race_is_won_in_proportion_to_the_rates() -> None:
    rates = np.array([0.0, 1.0, 2.0, 5.0])
    block = Block(np.arange(4.0)[:, np.newaxis], None, 0, 1)
    wins, chance = np.zeros(4), Chance(7)
    for _ in range(4000):
        chance = chance.again()
        wins[race(block, rates, chance, 1).rows] += 1
    assert wins[0] == 0
    np.testing.assert_allclose(wins / 4000, rates / 8, atol=0.03)


def test_the_first_few_of_all_are_the_first_of_the_first() -> None:
    X = blobs(97, 2)
    rates = np.random.default_rng(0).random(97)
    whole = race(Block(X, None, 0, 1), rates, Chance(1), 10)
    parts = [
        race(Block(X[start : start + 20], None, start, 1), rates[start : start + 20], Chance(1), 10)
        for start in range(0, 97, 20)
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + part
    np.testing.assert_array_equal(joined.rows, whole.rows)
    np.testing.assert_array_equal(joined.values, X[whole.rows])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_covers_know_the_same_distances(dtype: Any) -> None:
    X = blobs(500, 5, dtype)
    space = choose_space(as_source(X))[1]
    kept, streamed = KeptCover(as_source(X), space, 11), StreamedCover(Stream(X), space, 11)
    chance = Chance(3)
    for _ in range(3):
        ours, theirs = (cover.race(chance, 20) for cover in (streamed, kept))
        np.testing.assert_array_equal(ours.rows, theirs.rows)
        np.testing.assert_array_equal(ours.times, theirs.times)
        for cover in (streamed, kept):
            cover.add(ours)
        chance = chance.again()
    np.testing.assert_array_equal(kept.weights(), streamed.weights())
    assert kept.weights().sum() == 500
    seeds = X[kept.seeds].astype(np.float64)
    expected = np.square(X[:, np.newaxis] - seeds).sum(axis=2).min(axis=1)
    (block,) = as_source(X)
    found = closest_sq_dists(block, seeds, space) / space.scale**2
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_passes_pickle() -> None:
    X = blobs(50, 2)
    (block,) = as_source(X)
    space = choose_space(as_source(X))[1]
    for job, model in ((sum_nearest, (X[:3], space)), (label_any, (Fitted("KMeans", X[:3]),))):
        again, its_model = pickle.loads(pickle.dumps((job, model)))
        out = [] if job is sum_nearest else [np.empty(50, dtype=np.int32)]
        again(block, *its_model, *out)


def test_mistakes_are_told() -> None:
    X = blobs(50, 2)
    with pytest.raises(ValueError, match=r"n_samples=50 should be >= n_clusters=51"):
        KMeans(51).fit(Stream(X))
    model = KMeans(2).fit(Stream(X))
    with pytest.raises(ValueError, match=r"X has 3 features, but KMeans is expecting 2"):
        model.predict(Stream(blobs(10, 3)))
    X[20, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 1 \(row 20\)"):
        KMeans(2).fit(Stream(X))
    with pytest.raises(ValueError, match=r"NaN in column 1 \(row 20\)"):
        model.predict(Stream(X))
    with pytest.raises(ValueError, match="no rows"):
        KMeans(2).fit(Stream(X[:0]))


def test_a_function_of_all_rows_gets_them() -> None:
    X = blobs(50, 2)
    model = KMeans(2, init=lambda rows, k, random_state: rows[:k]).fit(Stream(X))
    assert_same(model, KMeans(2, init=X[:2]).fit(X))
    assert isinstance(as_source(X), ArraySource)
