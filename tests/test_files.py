"""Model files: what goes in comes out."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import coterie
from coterie import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from coterie._files import load, load_bundle, save_model
from coterie.errors import FileError
from toys import Estimated, Toy, fitted_toy, header_of, round_trip

#: Toys are public for as long as a test lasts.
pytestmark = pytest.mark.usefixtures("public_toys")


# ---- round trips


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ],
)
def test_arrays_of_every_type_and_layout_come_back(tmp_path, dtype):
    values = np.arange(24).reshape(2, 3, 4).astype(dtype)
    arrays = {
        "plain_": values,
        "fortran_": np.asfortranarray(values),
        "strided_": values[:, ::-1, ::2],
        "swapped_": values.astype(values.dtype.newbyteorder(">")),
        "single_": np.array(1, dtype=dtype),
        "empty_": np.zeros((0, 5), dtype=dtype),
    }
    loaded = round_trip(fitted_toy(**arrays), tmp_path / "m")
    for name, array in arrays.items():
        back = getattr(loaded, name)
        assert_array_equal(back, array, strict=name != "swapped_")
        assert back.dtype == np.dtype(dtype)
        assert back.flags.writeable


def test_floats_keep_their_bits(tmp_path):
    array = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1 / 3])
    loaded = round_trip(fitted_toy(a_=array, b_=0.1 + 0.2, c_=-0.0), tmp_path / "m")
    assert loaded.a_.tobytes() == array.tobytes()
    assert loaded.b_ == 0.1 + 0.2
    assert str(loaded.c_) == "-0.0"


def test_plain_data_comes_back_with_its_types(tmp_path):
    data = {
        "none": None,
        "flag": True,
        "count": 3,
        "huge": 10**30,
        "value": 0.1,
        "nan": float("nan"),
        "ends": [float("inf"), -float("inf")],
        "text": 'käse \ud83d\ude00 "quoted"\n'.encode("utf-16", "surrogatepass").decode("utf-16"),
        "pair": (1, [2, (3,)]),
        "tensor": {"tensor": "0:Toy.size"},  # looks like a reference and is none
        "scalars": [np.float32(0.1), np.int8(-3), np.bool_(True), np.float64(np.nan)],
        "empty": [[], {}, (), ""],
    }
    loaded = round_trip(fitted_toy(data_=data), tmp_path / "m").data_
    assert repr(loaded) == repr(data)


def test_arrays_inside_history_come_back(tmp_path):
    history = [
        {"iteration": i, "objective_assign": 2.0 / (i + 1), "parameters": np.full((2, 2), i)}
        for i in range(3)
    ]
    loaded = round_trip(fitted_toy(history_=history, events_=[{"what": "x"}]), tmp_path / "m")
    assert [entry["iteration"] for entry in loaded.history_] == [0, 1, 2]
    for i, entry in enumerate(loaded.history_):
        assert_array_equal(entry["parameters"], np.full((2, 2), i), strict=True)
    assert loaded.events_ == [{"what": "x"}]


@pytest.mark.parametrize("dtype", [object, str])
def test_text_arrays_come_back(tmp_path, dtype):
    names = np.array(["eruptions", "waiting"], dtype=dtype)
    loaded = round_trip(fitted_toy(feature_names_in_=names), tmp_path / "m")
    assert_array_equal(loaded.feature_names_in_, names, strict=True)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(), inner, max_size=4)
            | st.lists(inner, max_size=3).map(tuple)
        ),
        max_leaves=20,
    )
)
def test_any_nested_data_comes_back(tmp_path, value):
    assert repr(round_trip(fitted_toy(value_=value), tmp_path / "m").value_) == repr(value)


def test_private_and_unfitted_attributes_are_not_stored(tmp_path):
    toy = fitted_toy(labels_=np.arange(3), _scratch=1, __odd_=2, temporary=3)
    save_model(tmp_path / "m", toy)
    assert set(header_of(tmp_path / "m")["fitted"]) == {"labels_"}


def test_parameters_that_no_file_can_carry_are_replaced_and_named(tmp_path):
    toy = Toy(init=len, random_state=np.random.RandomState(0), callback=print)
    loaded = round_trip(toy, tmp_path / "m")
    assert loaded.get_params() == {
        "size": 3,
        "init": "<callable>",
        "random_state": None,
        "callback": None,
    }
    assert header_of(tmp_path / "m")["not_stored"] == ["callback", "init", "random_state"]


def test_array_parameter_comes_back(tmp_path):
    start = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert_array_equal(round_trip(Toy(init=start), tmp_path / "m").init, start)


def test_columns_and_scaling_travel_with_the_model(tmp_path):
    toy = fitted_toy(n_features_in_=2)
    scaling = {"mean": [1.0, 2.0], "scale": np.array([3, 4])}
    save_model(tmp_path / "m", toy, columns=["a", "b"], scaling=scaling)
    bundle = load_bundle(tmp_path / "m")
    assert bundle.columns == ["a", "b"]
    assert_array_equal(bundle.scaling["mean"], [1.0, 2.0])
    assert_array_equal(bundle.scaling["scale"], [3.0, 4.0])
    assert bundle.scaling["scale"].dtype == np.float64


def test_kmeans_predicts_the_same_after_loading(tmp_path):
    X = np.random.RandomState(0).normal(size=(200, 3))
    model = KMeans(n_clusters=4, random_state=0, n_init=2).fit(X)
    model.save(tmp_path / "m")
    loaded = coterie.load(tmp_path / "m")
    assert_array_equal(loaded.predict(X), model.labels_)
    assert_array_equal(loaded.labels_, model.labels_, strict=True)
    assert_array_equal(loaded.cluster_centers_, model.cluster_centers_, strict=True)
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_
    assert loaded.events_ == model.events_
    assert loaded.inertia_ == model.inertia_


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_matrices_come_back(tmp_path, kind):
    stored = kind(np.array([[0, 1.5, 0], [2, 0, 0]], dtype=np.float32))
    save_model(tmp_path / "m", fitted_toy(thing_=stored))
    loaded = load(tmp_path / "m").thing_
    assert loaded.dtype == np.float32
    assert_array_equal(loaded.toarray(), stored.toarray())


@pytest.mark.parametrize("metric", ["precomputed", "graph"])
def test_dbscan_of_a_sparse_matrix_comes_back(tmp_path, metric):
    X = np.random.RandomState(0).normal(size=(60, 2))
    dists = np.linalg.norm(X[:, None] - X, axis=2)
    graph = sp.csr_matrix(np.where(dists < 1.5, dists, 0))
    model = DBSCAN(eps=0.6, min_samples=4, metric=metric).fit(graph)
    model.save(tmp_path / "m")
    assert_array_equal(load(tmp_path / "m").predict(graph), model.labels_)


# ---- what cannot be saved


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (np.zeros(2, dtype=complex), "complex128"),
        (np.zeros(2, dtype="datetime64[s]"), "datetime64"),
        (np.array([1, "a"], dtype=object), "object"),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), "float64"),
        (np.complex64(1), "complex64"),
        ({1: "a"}, "dict"),
        ({"a", "b"}, "set"),
        ([lambda: None], "function"),
    ],
)
def test_what_a_file_cannot_carry_is_refused_by_name(tmp_path, value, named):
    with pytest.raises(FileError, match=rf"Toy\.thing_.*{named}"):
        save_model(tmp_path / "m", fitted_toy(thing_=value))
    assert os.listdir(tmp_path) == []


def test_foreign_estimators_are_refused(tmp_path):
    class Other(Toy):
        pass

    class KMeans(Toy):  # the name of a public class is not enough
        pass

    for model in (Other(), KMeans(), Estimated()):
        with pytest.raises(FileError, match="public estimators"):
            save_model(tmp_path / "m", model)


def test_other_objects_with_vars_are_refused(tmp_path):
    with pytest.raises(FileError, match="SimpleNamespace"):
        save_model(tmp_path / "m", SimpleNamespace())


def test_a_header_too_long_to_be_read_again_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie._files._HEADER_BYTES", 2000)
    save_model(tmp_path / "m", fitted_toy(history_=[]))
    with pytest.raises(FileError, match="room for 2,000"):
        save_model(tmp_path / "m", fitted_toy(history_=[{"iteration": i} for i in range(200)]))
    assert load(tmp_path / "m").history_ == []
    assert os.listdir(tmp_path) == ["m"]


# ---- atomic writing


def test_a_failed_write_leaves_the_old_file_and_no_scratch(tmp_path, monkeypatch):
    path = tmp_path / "m"
    save_model(path, Toy(size=1))
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save_model(path, Toy(size=2))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]


def test_saving_replaces_through_a_link_and_honours_the_umask(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_model(tmp_path / "link", Toy())
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "real").size == 3
    umask = os.umask(0)
    os.umask(umask)
    save_model(tmp_path / "new", Toy())
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o666 & ~umask


def test_saving_onto_a_directory_leaves_no_scratch(tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(IsADirectoryError):
        save_model(tmp_path / "m", Toy())
    assert os.listdir(tmp_path) == ["m"]


# ---- functions that a file cannot carry


def far(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize(
    "model",
    [
        DBSCAN(eps=3.0, min_samples=3, metric=far),
        HDBSCAN(min_cluster_size=4, metric=far),
        AgglomerativeClustering(2, metric=far, linkage="average"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_metric_lost_on_the_way_is_named_when_it_is_needed(tmp_path, model):
    X = np.repeat([[0.0], [9.0]], 8, axis=0) + np.random.RandomState(0).normal(size=(16, 2))
    expected = model.fit(X).predict(X)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert_array_equal(loaded.labels_, model.labels_)
    said = r"^\w+: metric was a function .*set_params\(metric=\.\.\.\)"
    for method in (loaded.predict, loaded.fit):
        with pytest.raises(ValueError, match=said):
            method(X)
    assert_array_equal(loaded.set_params(metric=far).predict(X), expected)


def test_other_functions_lost_on_the_way_are_named_by_fit(tmp_path):
    def first(X, n_clusters, random_state):
        return X[:n_clusters]

    X = np.arange(12.0).reshape(6, 2)
    KMeans(2, init=first, n_init=1).fit(X).save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict(X).shape == (6,)
    with pytest.raises(ValueError, match="init was a function when the model was saved"):
        loaded.fit(X)
