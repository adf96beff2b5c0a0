"""The model of a study: raw rows in, labels out, whole or from a file, damaged ones refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import study
from coterie.data.raw_table import raw_table
from coterie.errors import AdviceWarning, DataError, FileError
from coterie.evaluate import adjusted_rand_score
from coterie.report import StudyModel
from coterie.report._chosen import Candidate
from coterie.report._model import make_model, one_cluster, telling_columns
from coterie.report._plan import plan_for
from coterie.report._prepared import prepare
from coterie.report._shortlist import Recipe
from coterie.report._space import learn_space

RNG = np.random.RandomState(0)
TRUTH = np.repeat([0, 1], [25, 45])
TABLE = pd.DataFrame({
    "length": RNG.normal(size=70) + 9 * TRUTH,
    "kind": np.where(TRUTH, "b", "a"),
    "id": np.arange(70),
})  # fmt: skip

RECIPES = {
    "k-means": Recipe("k-means", coterie.KMeans(2, random_state=0)),
    "mixture": Recipe("Gaussian mixture", coterie.GaussianMixture(2, random_state=0)),
    "Ward": Recipe("Ward", coterie.AgglomerativeClustering(2, linkage="ward")),
    "mixed": Recipe("Mixed mixture", coterie.MixedMixture(2, random_state=0), on_cells=True),
    "medoids": Recipe("k-medoids (Gower)", coterie.KMedoids(2, metric="gower"), on_cells=True),
}


def model_of(recipe: Recipe, given: pd.DataFrame = TABLE) -> tuple[StudyModel, Any]:
    ready, table = prepare(given), raw_table(given)
    rows = np.arange(len(given))
    space, plan = learn_space(ready.points), plan_for(*ready.points.shape, 60)
    best = Candidate(recipe, recipe.labels(ready.points, ready.cells(table)), {}, 0.0)
    return make_model(table, ready, space, rows, rows, best, plan)


@pytest.mark.parametrize("name", RECIPES)
def test_every_kind_of_model_comes_back_from_its_file(name: str, tmp_path: Path) -> None:
    model, placed = model_of(RECIPES[name])
    np.testing.assert_array_equal(placed.labels, 1 - TRUTH)  # the larger cluster is 0
    assert (placed.confidence > 0.6).all()
    model.save(tmp_path / "model.coterie")
    read = coterie.load(tmp_path / "model.coterie")
    assert isinstance(read, StudyModel)
    for one, other in zip(model.place(TABLE), read.place(TABLE), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(read.predict(TABLE.to_numpy()), placed.labels)


def test_cells_never_seen_are_taken_for_the_mean() -> None:
    model, _ = model_of(RECIPES["k-means"])
    odd = pd.DataFrame({"length": [9.0, None, 0.0], "kind": ["never seen", "b", None]})
    told = "1 of 3 cells of 'kind' are levels that the study has not met"
    with pytest.warns(AdviceWarning, match=told):
        found = model.predict(odd)
    assert found.tolist()[::2] == [0, 1]
    with pytest.warns(AdviceWarning, match="3 of 3 cells of 'length' are no numbers"):
        model.predict(pd.DataFrame({"length": ["9 cm"] * 3, "kind": ["b"] * 3}))


def test_columns_are_read_as_the_study_read_them() -> None:
    """Levels 1, 2 and x without the x look like numbers; numbers with a word look like words."""
    rng = np.random.RandomState(0)
    group = np.arange(200) % 2
    code = np.where(np.arange(200) % 20 < 2, "x", np.where(group == 0, "1", "2"))
    number = rng.randint(1, 4, 200)
    table = pd.DataFrame({"code": code, "step": number, "far": rng.normal(size=200) + 9 * group})
    found = study(table, random_state=0)
    kept = code != "x"
    part = table[kept].assign(code=code[kept].astype(int))
    assert found.model.predict(part).tolist() == found.labels[kept].tolist()
    as_words = table.assign(step=table["step"].astype(str))
    assert found.model.predict(as_words).tolist() == found.labels.tolist()


def test_a_table_without_the_columns_is_refused() -> None:
    model, _ = model_of(RECIPES["k-means"])
    with pytest.raises(DataError, match="no column 'kind'; it has length"):
        model.predict(TABLE[["length"]])


def test_rows_between_clusters_are_ambiguous() -> None:
    model, _ = model_of(RECIPES["k-means"])
    along = pd.DataFrame({"length": np.linspace(-1, 10, 50), "kind": [None] * 50})
    placed = model.place(along)
    assert placed.ambiguous.any()
    assert not placed.ambiguous[[0, -1]].any()
    assert (placed.confidence[placed.ambiguous] >= 0.5).all()


def test_columns_that_do_not_tell_clusters_apart_do_not_make_rows_ambiguous() -> None:
    rng = np.random.RandomState(0)
    truth = np.arange(200) % 2
    rows = pd.DataFrame(rng.normal(size=(200, 25)))
    rows += 2.0 * truth[:, np.newaxis] * (np.arange(25) < 12)
    _, placed = model_of(RECIPES["k-means"], rows)
    assert adjusted_rand_score(truth, placed.labels) > 0.95
    assert placed.ambiguous.mean() < 0.05


def test_without_structure_every_row_is_in_cluster_0() -> None:
    ready = prepare(TABLE)
    model = one_cluster(ready, learn_space(ready.points), np.arange(70))
    placed = model.place(TABLE)
    assert not placed.labels.any()
    assert (placed.confidence == 1).all()


DAMAGES: dict[str, Any] = {
    "columns_": ["length"],
    "places_": [0, 7],
    "means_": np.zeros((2, 9)),
    "order_": np.array([0, 5]),
    "model_": None,
    "codes_": [{"kind": "os.system", "name": "length"}, {"kind": "Levels"}],
}


@pytest.mark.parametrize("attribute", DAMAGES)
def test_a_damaged_file_is_refused(attribute: str, tmp_path: Path) -> None:
    model, _ = model_of(RECIPES["k-means"])
    setattr(model, attribute, DAMAGES[attribute])
    model.save(tmp_path / "model.coterie")
    with pytest.raises(FileError):
        coterie.load(tmp_path / "model.coterie")


def test_columns_that_differ_most_come_first() -> None:
    table = TABLE.assign(noise=RNG.normal(size=70))
    assert telling_columns(prepare(table), np.arange(70), TRUTH)[-1] == "noise"
