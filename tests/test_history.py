"""Every estimator records its fit in one schema: iterations or stages, and events."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import coterie
from coterie import AgglomerativeClustering
from coterie._base import Estimator
from coterie._history import Event, Iteration, Recorder, Stage, durations, iterations
from coterie.errors import AdviceWarning

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(80, 3)) + np.repeat([[0.0], [9.0]], 40, axis=0)).round()

#: What some estimators need to fit these rows.
PARAMS: dict[str, dict[str, Any]] = {
    "DBSCAN": {"eps": 2.0},
    "BernoulliMixture": {"threshold": 4.0},
    "ProductQuantizer": {"n_subvectors": 2, "bits": 4},
}
ESTIMATORS = [
    found
    for found in map(coterie.__dict__.get, coterie.__all__)
    if inspect.isclass(found) and issubclass(found, Estimator)
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_fit_leaves_entries_of_the_schema(estimator: Any) -> None:
    model = estimator(**PARAMS.get(estimator.__name__, {}))
    for name in ("n_clusters", "n_components"):
        if name in model.get_params():
            model.set_params(**{name: 2})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert model.history_
    for entry in model.history_:
        if "stage" in entry:
            assert set(entry) == set(Stage.__annotations__)
        else:
            needed = {"iteration", "objective_update", "objective_name", "step_name", "seconds"}
            assert needed <= set(entry) <= set(Iteration.__annotations__)
    seconds = [entry["seconds"] for entry in model.history_]
    assert seconds == sorted(seconds)
    for event in model.events_:
        assert set(event) == set(Event.__annotations__)


def test_iterations_and_stages_are_told_apart_by_their_keys() -> None:
    recorder = Recorder(3, objective_name="cost", step_name="swap")
    recorder.stage("seeds")
    recorder.iteration(np.zeros(2), iteration=1, objective_update=5.0)
    recorder.iteration(np.zeros(2), iteration=2, objective_update=4.0)
    recorder.stage("swaps")
    history = recorder.history
    assert [entry["iteration"] for entry in iterations(history)] == [1, 2]
    assert {(e["objective_name"], e["step_name"]) for e in iterations(history)} == {
        ("cost", "swap")
    }
    found = durations(history)
    assert [stage for stage, _ in found] == ["seeds", "swaps"]
    assert sum(seconds for _, seconds in found) == pytest.approx(history[-1]["seconds"])


def test_advice_is_an_event_and_a_warning_where_fit_was_called() -> None:
    recorder = Recorder()

    def fit() -> None:
        recorder.advise("Method", "too few", "use more.")

    with pytest.warns(AdviceWarning, match=r"^Method: use more\.$") as caught:
        fit()
    assert caught[0].filename == __file__
    assert recorder.events == [
        {"what": "too few", "where": None, "iteration": None, "detail": "use more."}
    ]


def test_a_graph_in_pieces_is_an_event() -> None:
    apart = sp.block_diag([np.ones((40, 40)), np.ones((40, 40))])
    model = AgglomerativeClustering(2, connectivity=apart)
    with pytest.warns(UserWarning, match="connected components"):
        model.fit(X)
    assert [event["what"] for event in model.events_] == ["connected"]
    assert AgglomerativeClustering(2).fit(X).events_ == []


@pytest.mark.parametrize("estimator", [coterie.DBSCAN, AgglomerativeClustering])
def test_files_without_a_history_are_read(estimator: Any, tmp_path: Any) -> None:
    model = estimator(**PARAMS.get(estimator.__name__, {})).fit(X)
    model.save(tmp_path / "m")
    assert coterie.load(tmp_path / "m").history_ == model.history_
    del model.history_
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(coterie.load(tmp_path / "m").labels_, model.labels_)
