"""The descent plot shows both half-steps."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from coterie import BisectingKMeans, GaussianMixture, KMeans, MiniBatchKMeans
from coterie.plots import descent

HISTORY = [
    {"iteration": 1, "objective_assign": 9.0, "objective_update": 7.0, "shift": 1.0},
    {"iteration": 2, "objective_assign": 6.0, "objective_update": 5.5, "shift": 0.5},
]


def test_both_half_steps_are_drawn_in_their_order():
    ax = descent(HISTORY, ax=Figure().subplots())
    assigned, updated = (collection.get_offsets().tolist() for collection in ax.collections)
    assert assigned == [[1, 9], [2, 6]]
    assert updated == [[1.5, 7], [2.5, 5.5]]
    (stairs,) = ax.lines
    assert stairs.get_ydata().tolist() == [9, 7, 6, 5.5]
    assert ax.get_xlabel() == "iteration"


def test_an_empty_history_is_refused():
    with pytest.raises(ValueError, match="history is empty"):
        descent([], ax=Figure().subplots())


def blobs():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6])


@pytest.mark.parametrize(
    ("model", "objective", "step"),
    [
        (KMeans(2, random_state=0), "sum of squared errors", "iteration"),
        (
            KMeans(2, random_state=0, metric="cosine"),
            "sum of squared errors on the sphere",
            "iteration",
        ),
        (MiniBatchKMeans(2, random_state=0), "smoothed sum of squared errors", "step"),
        (BisectingKMeans(3, random_state=0), "sum of squared errors", "split"),
        (GaussianMixture(2, random_state=0), "free energy", "iteration"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_objective_has_its_name(model, objective, step):
    fitted = model.fit(blobs())
    for given in (fitted, fitted.history_):
        ax = descent(given, ax=Figure().subplots())
        assert (ax.get_ylabel(), ax.get_xlabel()) == (f"objective ({objective})", step)


def test_histories_of_older_files_are_drawn_without_a_name():
    assert descent(HISTORY, ax=Figure().subplots()).get_ylabel() == "objective"


def test_what_has_no_history_is_refused():
    with pytest.raises(ValueError, match="KMeans has no history_, as it is not fitted"):
        descent(KMeans(2), ax=Figure().subplots())
    with pytest.raises(ValueError, match="an entry of the history has a, b"):
        descent([{"a": 1, "b": 2}], ax=Figure().subplots())
