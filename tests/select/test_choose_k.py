"""choose_k as a whole: what it recommends, says and refuses.

Covers coterie.select._problem, coterie.select._criteria, coterie.select._by_labels,
coterie.select._numbers and coterie.select.k_choice.
"""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from select_rows import four_clusters, one_cloud
from sklearn import metrics, mixture

import coterie
from coterie import (
    DBSCAN,
    AgglomerativeClustering,
    BayesianGaussianMixture,
    BernoulliMixture,
    BisectingKMeans,
    GaussianMixture,
    KMeans,
    KMedoids,
)
from coterie.select import (
    Curve,
    KChoice,
    SelectionProgress,
    choose_k,
    select_mixture,
    stability,
)
from coterie.select.k_choice import recommend

X = four_clusters()


@pytest.mark.parametrize(
    "estimator",
    [None, KMeans(), BisectingKMeans(), KMedoids(), AgglomerativeClustering(),
     AgglomerativeClustering(linkage="average"), GaussianMixture(),
     BayesianGaussianMixture(max_iter=500)],
    ids=lambda estimator: type(estimator).__name__,
)  # fmt: skip
def test_four_clusters_are_found_by_all(estimator: object) -> None:
    found = choose_k(X, estimator, 7, random_state=0, n_references=10, n_resamples=6)
    assert found.k == 4
    others = {name: pick for name, pick in found.picks.items() if pick != 4}
    assert set(others) <= {"gap", "prediction_strength"}  # of which more below
    assert found.agreement > 0.5
    assert found.summary.startswith("k = 4, picked by")
    assert ("All agree." in found.summary) == (not others)
    assert len(set(found.model.predict(X).tolist())) == 4


def test_scores_are_those_of_scikit_learn() -> None:
    names = ["silhouette", "calinski_harabasz", "davies_bouldin"]
    found = choose_k(X, AgglomerativeClustering(), [1, 2, 5], criterion=names)
    for place, k in ((1, 2), (2, 5)):
        labels = AgglomerativeClustering(k).fit_predict(X)
        for name in names:
            score = getattr(metrics, f"{name}_score")(X, labels)
            assert found.curves[name].values[place] == pytest.approx(score, rel=1e-10)
    assert all(np.isnan(found.curves[name].values[0]) for name in names)


def test_the_silhouette_is_under_the_metric_of_the_estimator() -> None:
    estimator = AgglomerativeClustering(linkage="average", metric="manhattan")
    found = choose_k(X, estimator, [3], criterion="silhouette")
    labels = AgglomerativeClustering(3, linkage="average", metric="manhattan").fit_predict(X)
    expected = metrics.silhouette_score(X, labels, metric="manhattan")
    assert found.curves["silhouette"].values[0] == pytest.approx(expected)
    square = metrics.pairwise_distances(X, metric="manhattan")
    given = AgglomerativeClustering(linkage="average", metric="precomputed")
    assert choose_k(square, given, [3]).table[0]["silhouette"] == pytest.approx(expected)


def test_a_cloud_is_one_cluster_though_half_of_the_criteria_cannot_say_so() -> None:
    found = choose_k(one_cloud(), k=6, random_state=0)
    assert found.k == 1
    assert "cannot say that there is one" in found.summary
    assert found.picks["silhouette"] > 1


def test_the_same_seed_gives_the_same_and_other_criteria_change_nothing() -> None:
    one = choose_k(X, k=4, criterion=["gap", "stability"], random_state=3, n_resamples=4)
    two = choose_k(X, k=4, criterion=["stability"], random_state=3, n_resamples=4)
    np.testing.assert_array_equal(one.curves["stability"].values, two.curves["stability"].values)
    with coterie.options(n_threads=1):
        again = choose_k(X, k=4, criterion=["gap", "stability"], random_state=3, n_resamples=4)
    np.testing.assert_array_equal(one.curves["gap"].values, again.curves["gap"].values)


def test_the_table_makes_a_frame_and_frames_are_rows() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    found = choose_k(frame, GaussianMixture(), 5, random_state=0)
    table = pd.DataFrame(found.table)
    assert list(table.columns) == ["k", "bic", "icl", "held_out", "held_out_error", "probability"]
    assert table["k"].tolist() == [1, 2, 3, 4, 5]
    assert table["probability"].sum() == pytest.approx(1)
    assert list(found.model.feature_names_in_) == ["a", "b"]
    assert choose_k(frame, KMeans(), 5, random_state=0, n_resamples=4).k == 4


def test_rows_of_a_file_are_judged_by_what_does_not_resample(tmp_path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, X)
    names = ["calinski_harabasz", "davies_bouldin", "elbow"]
    found = choose_k(str(path), KMeans(random_state=0), 6, criterion=names)
    assert found.picks == dict.fromkeys(names, 4)
    assert choose_k(str(path), GaussianMixture(), 5, random_state=0).picks == {"bic": 4, "icl": 4}
    with pytest.raises(ValueError, match=r"criterion='gap'.*rows in memory"):
        choose_k(str(path), criterion="gap")


def test_binary_rows_are_chosen_for_by_likelihood() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.uniform(size=(200, 12)) < np.repeat([[0.1], [0.9]], 100, axis=0)).astype(float)
    assert choose_k(rows, BernoulliMixture(), 4, random_state=0).k == 2


def test_more_clusters_than_distinct_rows_is_no_error() -> None:
    rows = np.repeat([[0.0, 0], [1, 1], [9, 0]], 4, axis=0)
    found = choose_k(rows, k=6, random_state=0)
    assert found.k == 3


def test_a_sample_of_the_silhouette() -> None:
    found = choose_k(X, k=[4], criterion="silhouette", sample_size=60, random_state=0)
    whole = metrics.silhouette_score(X, found.model.labels_)
    assert 0 < abs(found.table[0]["silhouette"] - whole) < 0.1


def test_progress_is_told_and_may_be_stopped() -> None:
    told: list[SelectionProgress] = []
    choose_k(X, k=3, criterion=["silhouette", "gap"], n_references=2, random_state=0,
             callback=told.append)  # fmt: skip
    assert [one.n_fits for one in told] == list(range(1, 10))
    assert {one.criterion for one in told} == {"silhouette", "gap"}
    found = choose_k(X, k=5, criterion=["silhouette", "gap"], random_state=0,
                     callback=lambda one: one.criterion == "gap")  # fmt: skip
    assert list(found.curves) == ["silhouette"]
    assert found.k == 4
    assert "Stopped before gap" in found.summary


def test_fits_that_do_not_settle_are_told_not_warned_of() -> None:
    found = choose_k(X, GaussianMixture(max_iter=1), 3, criterion="bic", random_state=0)
    assert "did not settle" in found.summary


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k=0"),
        ({"k": [2.5]}, "whole numbers"),
        ({"k": "many"}, "whole numbers"),
        ({"k": []}, "whole numbers"),
        ({"k": 1000}, "160 rows"),
        ({"criterion": "luck"}, "use names out of bic"),
        ({"criterion": []}, "names no criterion"),
        ({"criterion": 3}, "criterion=3 was asked for; use names"),
        ({"criterion": "bic"}, "for mixtures"),
        ({"criterion": "bound", "estimator": GaussianMixture()}, "bound on the evidence"),
        ({"criterion": "bic", "estimator": BayesianGaussianMixture()}, "use 'bound'"),
        ({"criterion": "gap", "estimator": KMeans(metric="cosine")}, "metric='cosine'"),
        ({"estimator": DBSCAN()}, "neither n_clusters nor n_components"),
        ({"n_folds": 1}, "n_folds=1"),
        ({"callback": 3}, "callback=3"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_a_sentence(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=f"^choose_k: .*{words}"):
        choose_k(X, **options)


def curve(pick: int | None, *, weak: bool = False, sees_one: bool = False) -> Curve:
    """A criterion of which only the pick matters."""
    return Curve(np.zeros(3), None, pick, "it is unsure", weak, sees_one)


def test_most_votes_win_and_weak_ones_break_ties() -> None:
    ks = (1, 2, 3)
    assert recommend(ks, {"a": curve(2), "b": curve(3), "c": curve(3)}) == (3, 2 / 3)
    assert recommend(ks, {"a": curve(2), "b": curve(3), "c": curve(3, weak=True)}) == (3, 0.5)
    assert recommend(ks, {"a": curve(2), "b": curve(3)}) == (2, 0.5)
    assert recommend(ks, {"a": curve(None), "b": curve(3, weak=True)}) == (3, 1.0)
    assert recommend(ks, {"a": curve(None)}) == (None, 0.0)
    blind = {"a": curve(2), "b": curve(2), "c": curve(1, sees_one=True)}
    assert recommend(ks, blind) == (1, 1 / 3)
    assert recommend((2, 3), {"a": curve(2), "b": curve(3, sees_one=True)})[0] == 2


def test_disagreement_is_said() -> None:
    curves = {"a": curve(2), "b": curve(3), "c": curve(None)}
    told = KChoice(2, (1, 2, 3), curves, 0.5, None, None, []).summary
    assert "They disagree, from 2 to 3" in told
    assert "No pick by c: it is unsure." in told
    assert "No criterion could choose" in KChoice(
        None, (1, 2), {"c": curve(None)}, 0.0, None, None, []
    ).summary  # fmt: skip
    edge = KChoice(3, (1, 2, 3), {"b": curve(3)}, 1.0, None, None, []).summary
    assert "widen the range" in edge


def test_the_picture_marks_every_pick() -> None:
    found = choose_k(X, k=5, criterion=["silhouette", "elbow"], random_state=0)
    ax = found.plot(Figure().subplots())
    marked = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert marked == [4, 4]
    assert ax.get_legend_handles_labels()[1] == ["silhouette", "elbow"]


def test_curves_that_are_one_have_a_ring_each() -> None:
    found = choose_k(X, k=5, criterion=["gap", "largest_gap", "davies_bouldin"], random_state=0)
    ax = found.plot(Figure().subplots())
    assert ax.get_legend_handles_labels()[1] == [
        "gap, largest_gap", "davies_bouldin (low is good)",
    ]  # fmt: skip
    assert len([line for line in ax.lines if line.get_marker() == "o"]) == 3


def test_a_sample_that_misses_a_small_cluster_has_no_silhouette() -> None:
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(size=(1000, 2)), rng.normal(60, 0.3, (4, 2))]
    found = choose_k(rows, k=3, criterion="silhouette", sample_size=50, random_state=0)
    assert np.isnan(found.curves["silhouette"].values).tolist() == [True, True, False]


def test_what_was_stopped_is_said() -> None:
    found = choose_k(X, k=3, callback=lambda progress: True)
    assert found.summary.startswith("No criterion could choose among k = 1 to 3. Stopped before")


@pytest.mark.parametrize("seed", range(4))
def test_no_clusters_are_not_found_with_confidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for rows in (rng.uniform(size=(300, 2)), rng.normal(size=(300, 3))):
        found = choose_k(rows, k=6, n_references=10, n_resamples=10, random_state=seed)
        assert found.k == 1 or "There may be no clusters at all" in found.summary
        assert "Most agree" not in found.summary
    # The quarters of a square are found again, so only the gap can tell.
    square = choose_k(rng.uniform(size=(1500, 2)), k=5, criterion=["silhouette", "davies_bouldin",
                      "calinski_harabasz", "gap", "prediction_strength"], n_references=5,
                      n_resamples=4, random_state=seed)  # fmt: skip
    assert square.curves["gap"].says_one
    assert square.k == 1 or "There may be no clusters at all: gap speaks for one" in square.summary


@pytest.mark.parametrize("seed", range(4))
def test_clear_clusters_are_not_doubted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    in_a_triangle = [rng.normal(at, 0.4, (60, 2)) for at in ((0, 0), (4, 0), (0, 4))]
    in_a_row = [rng.normal(at, 0.3, (30, 2)) for at in (0, 3, 6)]
    for groups in (in_a_triangle, in_a_row):
        found = choose_k(np.concatenate(groups), k=6, n_references=10, n_resamples=10,
                         random_state=seed)  # fmt: skip
        assert found.k == 3
        assert "no clusters" not in found.summary


def test_what_was_not_asked_is_said() -> None:
    X = four_clusters()
    found = choose_k(X, k=range(2, 6), criterion="silhouette", random_state=0)
    assert "begin with k = 1" in found.summary
    found = choose_k(X, k=5, criterion="silhouette", random_state=0)
    assert "None of these can say that there are no clusters" in found.summary


def test_next_to_no_rows() -> None:
    for n_rows in (0, 1):
        with pytest.raises(ValueError, match=f"^choose_k: X has {n_rows} row"):
            choose_k(np.zeros((n_rows, 2)))
    for rows in ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]]):
        assert choose_k(rows, random_state=0).k == 1
        assert choose_k(rows, GaussianMixture(reg_covar="auto"), random_state=0).k is not None
    alike = choose_k(np.ones((20, 2)), k=4, n_references=2, n_resamples=2, random_state=0)
    assert alike.k == 1
    assert alike.picks["gap"] is None


def test_tables_of_names_and_whole_numbers_are_judged_as_arrays_are() -> None:
    X = np.round(20 * four_clusters())
    options = {"k": 5, "n_references": 5, "n_resamples": 4, "random_state": 0}
    one = choose_k(X, **options)
    assert "gap" in one.picks
    for frame in (pd.DataFrame(X), pl.DataFrame(dict(zip("ab", X.T, strict=True)))):
        named = choose_k(frame, **options)  # warm starts along k, too
        assert named.picks == one.picks
        for name, curve in named.curves.items():
            np.testing.assert_array_equal(curve.values, one.curves[name].values)
    whole = choose_k(X.astype(np.int32), **options)
    np.testing.assert_allclose(whole.curves["gap"].values, one.curves["gap"].values)


@pytest.mark.parametrize("estimator", [None, AgglomerativeClustering()])
def test_what_is_wrong_with_the_rows_is_said_by_who_was_asked(estimator: object) -> None:
    rows = four_clusters().copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"choose_k: Input X contains NaN in column 1 \(row 3"):
        choose_k(rows, estimator, 3)
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match="choose_k: Input X contains infinity"):
        choose_k(rows, estimator, 3)


def test_what_is_wrong_with_the_estimator_is_said_by_that() -> None:
    with pytest.raises(ValueError, match="KMeans: tol=-1 was given"):
        choose_k(four_clusters(), KMeans(tol=-1), 3)


@pytest.mark.parametrize(
    "estimator",
    [None, AgglomerativeClustering(), GaussianMixture(), BayesianGaussianMixture()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_rows_that_are_all_equal_are_one_cluster(estimator: object) -> None:
    alike = np.full((20, 2), 7.0)
    options = {"n_references": 2, "n_resamples": 2, "random_state": 0}
    found = choose_k(alike, estimator, 3, **options)
    assert (found.k, found.has_structure) == (1, False)
    assert set(found.picks.values()) <= {1, None}
    several = choose_k(alike, estimator, [2, 3], **options)
    assert several.k is None
    assert "all rows are equal" in several.summary


def test_three_rows_have_no_halves() -> None:
    rows = [[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]]
    found = choose_k(rows, AgglomerativeClustering(), 3, random_state=0)
    assert found.picks["prediction_strength"] == 1


@pytest.mark.parametrize("estimator", ["kmeans", KMeans, 3])
def test_what_is_no_estimator_is_told(estimator: object) -> None:
    with pytest.raises(ValueError, match=r"^choose_k: estimator=.* is no estimator"):
        choose_k(X, estimator)
    with pytest.raises(ValueError, match=r"^stability: estimator=.* is no estimator"):
        stability(X, estimator)


@pytest.mark.parametrize("ask", [choose_k, select_mixture, lambda X: stability(X, KMeans(2))])
@pytest.mark.parametrize("rows", [None, X[:, 0], X[:, 0].tolist(), np.zeros((2, 3, 4))])
def test_what_is_no_table_is_told_by_who_was_asked(ask: Any, rows: object) -> None:
    with pytest.raises(ValueError, match=r"^[a-z_]+: Expected 2D array, got \dD array instead: X"):
        ask(rows)


@pytest.mark.parametrize("ask", [choose_k, select_mixture, lambda X: stability(X, KMeans(2))])
def test_rows_that_are_not_there_yet_are_refused(ask: Any) -> None:
    with pytest.raises(ValueError, match=r"^[a-z_]+: X is a generator, which gives its rows once"):
        ask(row for row in X)
    with pytest.raises(ValueError, match=r"^[a-z_]+: X is a LazyFrame, .* X\.collect\(\)"):
        ask(pl.DataFrame(X).lazy())


def test_doubts_say_what_the_gap_picks() -> None:
    """Three groups in a row stop the gap's rule at one; its largest value speaks for three."""
    rng = np.random.default_rng(0)
    in_a_row = np.concatenate([rng.normal(at, 0.3, (30, 2)) for at in (0, 2, 4)])
    found = choose_k(in_a_row, k=4, criterion="gap", n_references=20, random_state=0)
    assert found.k == 1
    assert "gap, which picks 1 by its rule, is far better at another number" in found.summary
    tree = AgglomerativeClustering(linkage="genie")
    found = choose_k(in_a_row, tree, 5, n_references=4, n_resamples=6, random_state=0)
    assert found.picks["gap"] == 3
    assert "gap speaks for one (what gap picks is hardly better)" in found.summary


def test_mixtures_of_scikit_learn_are_mixtures() -> None:
    found = choose_k(X, mixture.GaussianMixture(random_state=0), 6)
    assert found.picks == {"bic": 4, "held_out": 4}
    with pytest.raises(ValueError, match="the method icl, which this mixture does not have"):
        choose_k(X, mixture.GaussianMixture(), criterion="icl")


@pytest.mark.parametrize("frame", [pl.DataFrame, lambda X: pa.table({"a": X[:, 0], "b": X[:, 1]})])
def test_columns_keep_their_names_in_samples(frame: Any) -> None:
    names = ["stability", "gap"]
    options = {"k": 5, "criterion": names, "n_references": 4, "n_resamples": 4, "random_state": 0}
    one, named = choose_k(X, **options), choose_k(frame(X), **options)
    for name in names:
        np.testing.assert_array_equal(named.curves[name].values, one.curves[name].values)
