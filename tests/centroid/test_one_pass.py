"""Mini-batch k-means in one pass over batches that come once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import coterie
from coterie import KMeans, MiniBatchKMeans
from coterie._history import Recorder
from coterie.centroid import _one_pass
from coterie.centroid._one_pass import one_pass
from coterie.centroid._passes import choose_space
from coterie.data import OnceSource, as_source

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(scale=6, size=(5, 3))
ROWS = CENTRES[RNG.integers(5, size=3000)] + RNG.normal(size=(3000, 3))


def batches(rows: Any = ROWS, size: int = 100) -> Iterator[Any]:
    return (rows[start : start + size] for start in range(0, rows.shape[0], size))


def model(**options: Any) -> MiniBatchKMeans:
    return MiniBatchKMeans(5, **{"random_state": 0, "batch_size": 100, **options})


def test_steps_are_the_formula_on_every_row_once() -> None:
    """The naive twin: plain means, batch by batch; how they forget is tested with the steps."""
    centers, size = CENTRES + 0.5, 64
    run = one_pass(
        OnceSource(batches()), centers, np.random.RandomState(3),
        space_for=lambda window, now: choose_space(window, now)[1],
        batch_size=size, forget=0.0, low_ratio=0.0, recorder=Recorder(),
    )  # fmt: skip
    twin, counts = centers.copy(), np.zeros(5)
    order = np.random.RandomState(3).permutation(3000)
    sq_dists = []
    for start in range(0, 3000, size):
        batch = ROWS[order[start : start + size]]
        sq = ((batch[:, None] - twin) ** 2).sum(axis=2)
        nearest = sq.argmin(axis=1)
        sq_dists.append((sq.min(axis=1).mean(), len(batch)))
        for label in range(5):
            mine = batch[nearest == label]
            counts[label] += len(mine)
            if len(mine):
                twin[label] += (mine - twin[label]).sum(axis=0) / counts[label]
    np.testing.assert_allclose(run.means.centers, twin, rtol=1e-12)
    np.testing.assert_array_equal(run.means.counts, counts)
    assert counts.sum() == 3000
    assert run.n_steps == len(sq_dists) == 47
    seen = smooth = 0.0
    for sq_dist, n_rows in sq_dists:
        seen += n_rows
        smooth += min(1.0, 4 * n_rows / seen) * (sq_dist - smooth)
    assert run.inertia == pytest.approx(3000 * smooth, rel=1e-9)


def test_the_fit_is_close_to_that_of_all_rows() -> None:
    fitted = model().fit(batches())
    full = KMeans(5, random_state=0, n_init=5).fit(ROWS)
    assert -fitted.score(ROWS) < 1.02 * full.inertia_
    assert fitted.inertia_ == pytest.approx(full.inertia_, rel=0.1)
    assert (fitted.n_iter_, fitted.n_steps_) == (1, 30)
    assert fitted.counts_.sum() >= 3000
    assert fitted.events_[-1]["what"] == "one pass"
    assert "3000 rows" in fitted.events_[-1]["detail"]


@pytest.mark.parametrize("size", [1, 64, 777, 3000])
def test_how_rows_are_cut_does_not_matter(size: int) -> None:
    same = [model().fit(batches(size=n)) for n in (100, size)]
    np.testing.assert_array_equal(same[0].cluster_centers_, same[1].cluster_centers_)
    assert same[0].inertia_ == same[1].inertia_


def test_every_window_is_shuffled_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_one_pass, "WINDOW_ROWS", 512)
    fitted = model(keep="parameters", reassignment_ratio=0).fit(batches())
    assert [entry["iteration"] for entry in fitted.history_] == [5, 10, 15, 20, 25, 30]
    assert fitted.counts_.sum() == 3000
    np.testing.assert_array_equal(fitted.history_[-1]["parameters"], fitted._exact_centers)


def test_any_kind_of_rows() -> None:
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    names = ["a", "b", "c"]
    frame = pd.DataFrame(ROWS, columns=names)
    table = pa.Table.from_pandas(frame)
    plain = model().fit(batches())
    polars = pl.DataFrame(ROWS, schema=names)
    for given in (
        table.to_reader(70),
        iter(table.to_batches(70)),
        (table.slice(start, 500) for start in range(0, 3000, 500)),
        (frame[start : start + 500] for start in range(0, 3000, 500)),
        (polars.slice(start, 500) for start in range(0, 3000, 500)),
    ):
        fitted = model().fit(given)
        np.testing.assert_array_equal(fitted.cluster_centers_, plain.cluster_centers_)
        assert fitted.feature_names_in_.tolist() == names
        np.testing.assert_array_equal(fitted.predict(frame), plain.predict(ROWS))
    sparse = model().fit(batches(sp.csr_matrix(ROWS)))
    np.testing.assert_allclose(sparse.cluster_centers_, plain.cluster_centers_)
    narrow = model().fit(batches(ROWS.astype(np.float32)))
    assert narrow.cluster_centers_.dtype == np.float32
    np.testing.assert_array_equal(
        model().fit(as_source(batches())).cluster_centers_, plain.cluster_centers_
    )


def test_seeds_come_from_the_first_rows() -> None:
    def seen(rows: Any, n_clusters: int, random_state: Any) -> Any:
        np.testing.assert_array_equal(rows, ROWS[:250])
        return rows[:n_clusters]

    model(init=seen, init_size=250, n_init=1).fit(batches())
    given = model(init=CENTRES, init_size=10).fit(batches())
    assert np.abs(given.cluster_centers_ - CENTRES).max() < 0.5  # aligned with what was given
    with pytest.warns(RuntimeWarning, match="init_size=2 should be larger"):
        model(init_size=2).fit(batches())


def test_rows_that_wander_far_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames follow the windows, so that float32 keeps its digits where later rows are."""
    monkeypatch.setattr(_one_pass, "WINDOW_ROWS", 300)
    near = RNG.normal(size=(300, 2)).astype(np.float32)
    far = (RNG.normal(size=(300, 2)) + 1e6).astype(np.float32)
    fitted = MiniBatchKMeans(
        2, init=[[0, 0], [1e6, 1e6]], batch_size=50, random_state=0, reassignment_ratio=0
    )
    fitted.fit(iter([near, far]))
    np.testing.assert_allclose(fitted.cluster_centers_[0], near.mean(axis=0), atol=0.5)
    np.testing.assert_allclose(fitted.cluster_centers_[1], far.mean(axis=0), atol=0.5)


def test_there_are_no_labels_and_the_error_says_why() -> None:
    fitted = model().fit(ROWS)
    assert hasattr(fitted, "labels_")
    fitted.fit(batches())
    assert not hasattr(fitted, "labels_")
    with pytest.raises(AttributeError, match=r"rows of an iterator are not kept.*predict"):
        _ = fitted.labels_
    with pytest.raises(AttributeError, match="rows of an iterator are not kept"):
        model().fit_predict(batches())
    with pytest.raises(AttributeError, match=r"no attribute 'labels_'$"):
        _ = model().labels_
    with pytest.raises(AttributeError, match=r"no attribute 'lables_'$"):
        _ = fitted.lables_


def test_it_goes_on_with_partial_fit_and_through_a_file(tmp_path: Any) -> None:
    fitted = model().fit(batches())
    fitted.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(ROWS), fitted.predict(ROWS))
    fitted.partial_fit(ROWS[:100])
    assert fitted.n_steps_ == 31
    assert fitted.labels_.shape == (100,)


def test_a_callback_stops_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_one_pass, "WINDOW_ROWS", 500)
    asked = []

    def counted() -> Iterator[Any]:
        for batch in batches():
            asked.append(None)
            yield batch

    fitted = model(callback=lambda progress: progress.iteration >= 10).fit(counted())
    assert fitted.n_steps_ == 10
    assert len(asked) < 15


def test_very_many_windows_leave_few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_one_pass, "WINDOW_ROWS", 10)
    monkeypatch.setattr(_one_pass, "_ENTRY_BITS", 4)
    fitted = model(batch_size=10).fit(batches())
    told = [entry["iteration"] for entry in fitted.history_]
    assert told[:15] == list(range(1, 16))
    assert 15 < len(told) < 64
    assert all(after > before for before, after in pairwise(told))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.full((2, 3), np.nan), r"batch 2: Input X contains NaN in column 0 \(row 0\)"),
        (np.full((2, 3), np.inf), r"batch 2: Input X contains infinity"),
        (ROWS[:2, :2], "batch 2 has 2 columns and the first had 3; pass batches"),
        ([["a", "b", "c"]], "batch 2: could not convert string to float"),
        (ROWS[0], "batch 2: Expected 2D array"),
    ],
)
def test_a_bad_batch_is_told_by_its_number(bad: Any, words: str) -> None:
    for init_size in (5, 3000):  # found on the pass, and while seeds are looked for
        with pytest.raises(ValueError, match=words):
            model(init_size=init_size).fit(iter([ROWS[:50], ROWS[50:100], bad]))


def test_columns_of_other_names_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    first = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="batch 1: The feature names should match"):
        model().fit(iter([first, first[["b", "a", "c"]]]))


def test_too_few_rows_and_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="ended after 0 batches without a row"):
        model().fit(iter([]))
    with pytest.raises(ValueError, match="n_samples=4 should be >= n_clusters=5"):
        model().fit(iter([ROWS[:2], ROWS[:2]]))
    with pytest.raises(ValueError, match=r"sample_weight was given for an iterator.*partial_fit"):
        model().fit(batches(), sample_weight=np.ones(3000))
    used = batches()
    model().fit(used)
    with pytest.raises(ValueError, match="was not used before"):
        model().fit(used)


@pytest.mark.parametrize(
    "estimator",
    [
        coterie.KMeans(2), coterie.BisectingKMeans(2), coterie.GaussianMixture(2),
        coterie.BayesianGaussianMixture(2), coterie.BernoulliMixture(2),
        coterie.CategoricalMixture(2), coterie.PoissonMixture(2), coterie.StudentTMixture(2),
        coterie.MixedMixture(2), coterie.DBSCAN(), coterie.HDBSCAN(),
        coterie.AgglomerativeClustering(2), coterie.FeatureAgglomeration(2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)  # fmt: skip
def test_methods_of_several_passes_say_what_to_do(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"X is a generator, which gives its rows once.*file"):
        estimator.fit(batches())


def test_functions_and_questions_of_a_model_say_what_to_do() -> None:
    fitted = model().fit(batches())
    for ask in (fitted.predict, fitted.transform, fitted.partial_fit, coterie.linkage):
        with pytest.raises(ValueError, match=r"is a generator, which gives its rows once"):
            ask(batches())
