"""What every public score of coterie.evaluate promises, one table of them all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie.evaluate as ev

Score = Callable[..., Any]

#: Scores against labels whose answers are arrays or records, as arrays.
_AGAINST: dict[str, Score] = {
    "pair_confusion_matrix": ev.pair_confusion_matrix,
    "homogeneity_completeness_v_measure": ev.homogeneity_completeness_v_measure,
}
_PLAIN = [
    name
    for name in ev.external.__all__
    if name[0].islower() and name not in (*_AGAINST, "contingency_matrix", "entropy")
]
AGAINST_LABELS: dict[str, Score] = {**{name: getattr(ev, name) for name in _PLAIN}, **_AGAINST}

#: Scores by rows, some of them under several settings. A mean that stands for samples is theirs.
BY_ROWS: dict[str, Score] = {
    "scatter_matrices": lambda *a, **k: np.r_[
        ev.scatter_matrices(*a, **k).within, ev.scatter_matrices(*a, **k).between
    ],
    "sum_of_squared_errors": ev.sum_of_squared_errors,
    "variance_ratio": ev.variance_ratio,
    "calinski_harabasz_score": ev.calinski_harabasz_score,
    "davies_bouldin_score": ev.davies_bouldin_score,
    "silhouette_score": ev.silhouette_score,
    "silhouette_score sqeuclidean": partial(ev.silhouette_score, metric="sqeuclidean"),
    "silhouette_score cosine": partial(ev.silhouette_score, metric="cosine"),
    "silhouette_score manhattan": partial(ev.silhouette_score, metric="manhattan"),
    "simplified_silhouette_score": ev.simplified_silhouette_score,
    "dunn_score": ev.dunn_score,
    **{
        f"dunn_score {between} {within}": partial(ev.dunn_score, between=between, within=within)
        for between in ("complete", "average", "centroid", "to_centroid", "hausdorff")
        for within in ("average", "centroid")
    },
    "dbcv_score": ev.dbcv_score,
    "sampled_silhouette_score": lambda *a, **k: ev.sampled_silhouette_score(
        *a, sample_size=10**6, random_state=0, **k
    )[0],
}
#: Those that need two clusters, and two rows in one of them.
OF_ONE_CLUSTER = ("scatter_matrices", "sum_of_squared_errors")
#: Where a weight is no number of copies: DBCV takes it for a share, the sample is drawn by it.
OTHER_WEIGHTS = ("dbcv_score", "sampled_silhouette_score")

rng = np.random.default_rng(5)
LABELS = np.r_[rng.integers(-1, 4, 56), -1, 0, 1, 2]
X = rng.normal(size=(60, 3)) + 2.0 * LABELS[:, np.newaxis] + 3
TIMES = rng.integers(0, 4, 60)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), rtol=1e-9)


def test_no_score_is_forgotten() -> None:
    known = {name.split()[0] for name in (*BY_ROWS, *AGAINST_LABELS)}
    others = {"silhouette_samples", "simplified_silhouette_samples", "medoid_silhouette_score"}
    scores = {name for name in ev.__all__ if name[0].islower()}
    assert scores == known | others | {"contingency_matrix", "entropy"}


@pytest.mark.parametrize("name", [name for name in BY_ROWS if name not in OTHER_WEIGHTS])
@pytest.mark.parametrize("noise", ["cluster", "drop", "singletons"])
def test_weights_are_copies_of_rows(name: str, noise: str) -> None:
    # A noise row of weight two is one cluster of weight two, and not two clusters.
    times = np.where((LABELS < 0) & (TIMES > 1), 1, TIMES) if noise == "singletons" else TIMES
    wanted = BY_ROWS[name](np.repeat(X, times, axis=0), np.repeat(LABELS, times), noise=noise)
    same(BY_ROWS[name](X, LABELS, sample_weight=times, noise=noise), wanted)


@pytest.mark.parametrize("score", [ev.silhouette_samples, ev.simplified_silhouette_samples])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_weights_are_copies_of_rows_for_samples(score: Score, metric: str) -> None:
    found = score(X, LABELS, metric=metric, sample_weight=TIMES, noise="drop")
    wanted = score(
        np.repeat(X, TIMES, axis=0), np.repeat(LABELS, TIMES), metric=metric, noise="drop"
    )
    same(np.repeat(found, TIMES), wanted)


def test_weights_are_copies_of_rows_for_medoids() -> None:
    found = ev.medoid_silhouette_score(X, X[[3, 9, 30]], sample_weight=TIMES)
    same(found, ev.medoid_silhouette_score(np.repeat(X, TIMES, axis=0), X[[3, 9, 30]]))


@pytest.mark.parametrize("name", AGAINST_LABELS)
@given(data=st.data())
def test_weights_are_copies_against_labels(name: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 20))
    some = st.lists(st.integers(-1, 3), min_size=n, max_size=n)
    true, pred = np.array(data.draw(some)), np.array(data.draw(some))
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    found = AGAINST_LABELS[name](true, pred, sample_weight=times, noise="drop")
    wanted = AGAINST_LABELS[name](np.repeat(true, times), np.repeat(pred, times), noise="drop")
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", BY_ROWS)
def test_noise_means_one_of_three_things(name: str) -> None:
    score, is_noise = BY_ROWS[name], LABELS < 0
    same(score(X, LABELS, noise="cluster"), score(X, np.where(is_noise, 9, LABELS)))
    alone = np.where(is_noise, 100 + np.arange(60), LABELS)
    same(score(X, LABELS, noise="singletons"), score(X, alone))
    if name == "dbcv_score":  # noise rows count in the whole
        share = (~is_noise).mean()
        same(score(X, LABELS, noise="drop"), share * score(X[~is_noise], LABELS[~is_noise]))
    else:
        same(score(X, LABELS, noise="drop"), score(X[~is_noise], LABELS[~is_noise]))
    with pytest.raises(ValueError, match="noise='keep'"):
        score(X, LABELS, noise="keep")


@pytest.mark.parametrize("name", AGAINST_LABELS)
def test_noise_against_labels(name: str) -> None:
    score, other = AGAINST_LABELS[name], np.roll(LABELS, 7)
    same(score(LABELS, other, noise="cluster"), score(LABELS + 5, other + 5))
    kept = (LABELS >= 0) & (other >= 0)
    same(score(LABELS, other, noise="drop"), score(LABELS[kept], other[kept]))
    score(LABELS, other, noise="singletons")
    with pytest.raises(ValueError, match="noise='keep'"):
        score(LABELS, other, noise="keep")


WORDS = np.array(["four", "zero", "one", "two", "three"])  # in another order than the numbers
KINDS: dict[str, Callable[[Any], Any]] = {
    "float": lambda labels: labels.astype(float),
    "half": lambda labels: labels / 2,
    "int8": lambda labels: labels.astype(np.int8),
    "far": lambda labels: labels * 10**15,
    "string": lambda labels: WORDS[labels + 1],
    "object": lambda labels: WORDS[labels + 1].astype(object),
    "list": lambda labels: labels.tolist(),
    "column": lambda labels: labels[:, np.newaxis],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*BY_ROWS, *AGAINST_LABELS])
def test_labels_of_any_kind(name: str, kind: str) -> None:
    labels = KINDS[kind](LABELS)
    if name in BY_ROWS:
        same(BY_ROWS[name](X, labels, noise="cluster"), BY_ROWS[name](X, LABELS, noise="cluster"))
    else:
        score, other = AGAINST_LABELS[name], np.roll(LABELS, 7)
        same(score(labels, KINDS[kind](other)), score(LABELS, other))


@pytest.mark.parametrize("name", BY_ROWS)
def test_one_cluster_and_all_singletons(name: str) -> None:
    for labels in (np.zeros(60, int), np.arange(60)):
        if name in OF_ONE_CLUSTER:
            assert np.isfinite(BY_ROWS[name](X, labels)).all()
        else:
            with pytest.raises(ValueError, match=r"Number of labels is (1|60)\. Valid values"):
                BY_ROWS[name](X, labels)


@pytest.mark.parametrize("name", BY_ROWS)
def test_one_pair_among_singletons(name: str) -> None:
    found = BY_ROWS[name](X, np.r_[0, np.arange(59)])
    assert not np.isnan(found).any()


@pytest.mark.parametrize("name", AGAINST_LABELS)
def test_one_row_a_class_or_one_class(name: str) -> None:
    score, alone, one = AGAINST_LABELS[name], np.arange(60), np.zeros(60, int)
    for true, pred in ((alone, alone), (one, one), (alone, one), (one, alone), ([3], [4])):
        assert np.isfinite(score(true, pred)).all()
