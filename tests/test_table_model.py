"""A loaded model with columns and scaling: it agrees with the command line."""

import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import coterie
from coterie import GaussianMixture, KMeans, TableModel
from coterie.cli import main
from coterie.errors import DataError
from coterie.table_model import _OF_ROWS

FAITHFUL = Path(__file__).parents[1] / "examples" / "data" / "faithful.csv"


@pytest.fixture(scope="module", params=["kmeans", "gaussian", "agglomerative"])
def output(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("fitted")
    asked = ["fit", str(FAITHFUL), "-k", "2", "--method", request.param, "-o", str(place)]
    assert main(asked) == 0
    return place


@pytest.fixture(scope="module")
def model(output):
    return coterie.load(output / "model.coterie")


@pytest.fixture(scope="module")
def frame():
    return pd.read_csv(FAITHFUL)


def test_a_loaded_model_gives_the_labels_of_the_command_line(output, model, frame):
    main(["predict", str(output / "model.coterie"), str(FAITHFUL), "-o", str(output / "again")])
    expected = np.loadtxt(output / "again", dtype=int, skiprows=1)
    assert min(np.bincount(expected)) in (97, 98)
    mixed_up = frame[["waiting"]].assign(note="x", eruptions=frame["eruptions"])
    for table in (frame, mixed_up, frame.to_numpy(), pa.table(frame), frame.to_numpy().tolist()):
        assert_array_equal(model.predict(table), expected)


def test_it_can_be_saved_again(model, frame, tmp_path):
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert isinstance(again, TableModel)
    assert again.columns == ["eruptions", "waiting"]
    assert_array_equal(again.scaling["mean"], model.scaling["mean"])
    assert_array_equal(again.predict(frame), model.predict(frame))


def test_it_shows_what_it_holds(model):
    assert "eruptions" in repr(model)
    assert type(model.model).__name__ in repr(model)
    assert model.n_features_in_ == 2
    assert "predict" in dir(model)
    assert not hasattr(model, "fit")
    assert hasattr(model, "predict_proba") == hasattr(model.model, "predict_proba")
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.columns == model.columns


def test_missing_and_wrong_columns_are_named(model, frame):
    with pytest.raises(DataError, match="no column 'waiting'; it has eruptions, and the model"):
        model.predict(frame[["eruptions"]])
    with pytest.raises(DataError, match=r"shape \(272, 1\) and the model needs 2 columns"):
        model.predict(frame.to_numpy()[:, :1])
    with pytest.raises(DataError, match="several columns 'waiting'"):
        model.predict(pd.concat([frame, frame[["waiting"]]], axis=1))
    with pytest.raises(DataError, match="no numbers"):
        model.predict(frame.assign(waiting="long"))
    with pytest.raises(DataError, match="sparse"):
        model.predict(sp.csr_matrix(frame.to_numpy()))


def test_every_method_that_takes_rows_is_scaled(frame):
    X = frame.to_numpy()
    scaling = {"mean": X.mean(axis=0), "scale": X.std(axis=0)}
    scaled = (X - scaling["mean"]) / scaling["scale"]
    mixture = GaussianMixture(2, random_state=0).fit(scaled)
    model = TableModel(mixture, list(frame), scaling)
    assert_allclose(model.predict_proba(frame), mixture.predict_proba(scaled))
    for name in ("score", "score_samples", "bic", "aic", "icl", "free_energy"):
        assert_allclose(getattr(model, name)(frame), getattr(mixture, name)(scaled))
    rows, labels = model.sample(2000)
    assert_allclose(rows.mean(axis=0), X.mean(axis=0), rtol=0.05)
    assert labels.shape == (2000,)


def test_every_public_method_that_takes_rows_is_known():
    learning = {"fit", "fit_predict", "fit_transform", "partial_fit"}
    learning.add("inverse_transform")  # which takes what `transform` gives
    for name in coterie.__all__:
        cls = getattr(coterie, name)
        if not (isinstance(cls, type) and hasattr(cls, "get_params")):
            continue
        for method, function in inspect.getmembers(cls, inspect.isfunction):
            if not method.startswith("_") and "X" in inspect.signature(function).parameters:
                assert method in _OF_ROWS | learning, f"{name}.{method}"


def test_a_model_without_columns_is_loaded_bare(tmp_path, frame):
    KMeans(2, n_init=1, random_state=0).fit(frame).save(tmp_path / "m")
    assert isinstance(coterie.load(tmp_path / "m"), KMeans)


def test_missing_cells_of_pandas_and_names_raise_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": [1.5, None, 9.0, 9.5] * 5, "b": [1, 2, 9, 8] * 5})
    frame.to_csv("t.csv", index=False)
    for method in ("gaussian", "mixed"):
        assert main(["fit", "t.csv", "-k", "2", "--method", method, "-o", method]) == 0
        labels = np.loadtxt(f"{method}/labels.csv", skiprows=1, dtype=int)
        model = coterie.load(f"{method}/model.coterie")
        for kind in (frame, frame.convert_dtypes()):
            assert model.predict(kind).tolist() == labels.tolist()
