"""Stability against its definition by sets, on clusters that come back and those that do not."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from select_rows import four_clusters
from sklearn.metrics import pairwise_distances

import coterie
from coterie import DBSCAN, HDBSCAN, AgglomerativeClustering, GaussianMixture, KMeans
from coterie.select import stability
from coterie.select.stability import best_jaccard, first_of_each

X = four_clusters()
LABELS = arrays(np.int64, st.just(10), elements=st.integers(-1, 3))


@given(LABELS, LABELS)
def test_the_best_match_by_sets(labels: np.ndarray, again: np.ndarray) -> None:
    clusters = np.arange(4)
    found = best_jaccard(labels, again, clusters)
    for cluster in clusters:
        own = set(np.flatnonzero(labels == cluster).tolist())
        if not own:
            assert np.isnan(found[cluster])
            continue
        others = [set(np.flatnonzero(again == label).tolist()) for label in range(4)]
        best = max(len(own & other) / len(own | other) for other in others)
        assert found[cluster] == pytest.approx(best)


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample"])
@pytest.mark.parametrize(
    "estimator",
    [KMeans(4), GaussianMixture(4), AgglomerativeClustering(4), DBSCAN(eps=0.5)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_clusters_apart_come_back(estimator: object, scheme: str) -> None:
    found = stability(X, estimator, scheme=scheme, n_resamples=12, random_state=0)
    assert (found.jaccard > 0.9).all()
    assert (found.recovered > 0.9).all()
    assert (found.low <= found.jaccard).all()
    assert (found.jaccard <= found.high).all()
    assert found.sizes.sum() == np.count_nonzero(found.labels >= 0)
    assert "stable (0.85 or more): 0, 1, 2, 3" in found.summary
    assert [row["cluster"] for row in found.table] == [0, 1, 2, 3]


def test_a_cluster_cut_in_two_does_not() -> None:
    found = stability(X, KMeans(5, n_init=5), n_resamples=40, random_state=0)
    small = np.argsort(found.sizes)[:2]
    assert (found.jaccard[small] < 0.75).all()
    assert (found.high - found.low)[small].min() > 0
    assert "0.6" in found.summary


def test_subsamples_suit_densities_which_copies_of_rows_mislead() -> None:
    assert (
        stability(X, HDBSCAN(), scheme="subsample", n_resamples=8, random_state=0).jaccard > 0.9
    ).all()


def test_given_distances_are_resampled_by_rows_and_columns() -> None:
    square = pairwise_distances(X)
    estimator = AgglomerativeClustering(4, metric="precomputed", linkage="average")
    assert (stability(square, estimator, n_resamples=6, random_state=0).jaccard == 1).all()


def test_the_same_seed_gives_the_same_on_any_threads() -> None:
    one = stability(X, KMeans(5), n_resamples=6, random_state=1)
    with coterie.options(n_threads=1):
        two = stability(X, KMeans(5), n_resamples=6, random_state=1)
    np.testing.assert_array_equal(one.samples, two.samples)


def test_all_noise_has_no_clusters() -> None:
    found = stability(X, DBSCAN(eps=1e-6), n_resamples=3, scheme="subsample", random_state=0)
    assert found.jaccard.size == 0
    assert found.summary == "There are no clusters."


def test_it_can_be_stopped_after_two() -> None:
    assert len(stability(X, KMeans(2), random_state=0, callback=lambda told: True).samples) == 2


def test_a_row_counts_once() -> None:
    assert first_of_each(np.array([1, 1, 2, 5, 5, 5])).tolist() == [
        True,
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "options",
    [{"scheme": "jackknife"}, {"share": 0}, {"level": 1.0}, {"n_resamples": 1}, {"callback": 1}],
)
def test_what_cannot_be_done_is_refused(options: dict) -> None:
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"^stability: {name}="):
        stability(X, KMeans(2), **options)
    with pytest.raises(ValueError, match=r"^stability: X is a generator"):
        stability((row for row in four_clusters()), KMeans(2))


def test_rows_of_a_file_are_those_of_the_array(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", four_clusters())
    found = stability(str(tmp_path / "rows.npy"), KMeans(4), n_resamples=3, random_state=0)
    wanted = stability(four_clusters(), KMeans(4), n_resamples=3, random_state=0)
    np.testing.assert_array_equal(found.samples, wanted.samples)
