"""Model files: what goes in comes out, and nothing else does any harm."""

import json
import os
import pickle
import struct
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.numpy
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

import coterie
from coterie import DBSCAN, KMeans
from coterie._files import load, load_bundle, save_model
from coterie.errors import FileError


class Toy(BaseEstimator):
    """An estimator with parameters of every kind."""

    def __init__(self, size=3, init="best", random_state=None, callback=None):
        self.size = size
        self.init = init
        self.random_state = random_state
        self.callback = callback

    @property
    def total_(self):
        return 0


class Strict(Toy):
    """An estimator that checks what it is given."""

    def _check_loaded(self):
        if self.centers_.ndim != 2:
            raise AttributeError("centers_ must be 2-d")


class Hidden(Toy):
    """An estimator, but not public."""


class Estimated:
    """Public, but not an estimator."""


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    for cls in (Toy, Strict, Hidden, Estimated):
        monkeypatch.setattr(coterie, cls.__name__, cls, raising=False)
    monkeypatch.setattr(coterie, "__all__", [*coterie.__all__, "Toy", "Strict", "Estimated"])


def fitted_toy(**attributes):
    toy = Toy()
    vars(toy).update(attributes)
    return toy


def round_trip(model, path):
    save_model(path, model)
    return load(path)


def header_of(path):
    data = path.read_bytes()
    outer = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return json.loads(outer["__metadata__"]["coterie"])


def rewrite(path, change):
    """Apply `change` to the header and write the file anew, well-formed."""
    header = header_of(path)
    changed = change(header)
    text = json.dumps(header if changed is None else changed)
    tensors = safetensors.numpy.load(path.read_bytes())
    path.write_bytes(safetensors.numpy.save(tensors, metadata={"coterie": text}))


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


def test_sparse_matrices_that_lead_astray_are_refused(tmp_path):
    save_model(tmp_path / "m", fitted_toy(thing_=sp.csr_matrix(np.eye(3))))
    tensors = safetensors.numpy.load((tmp_path / "m").read_bytes())
    metadata = {"coterie": json.dumps(header_of(tmp_path / "m"))}
    indices = next(key for key, value in tensors.items() if value.tolist() == [0, 1, 2])
    for bad in ([0, 1, 3], [0, -1, 2], [0, 1]):
        tampered = {**tensors, indices: np.array(bad, dtype=np.int32)}
        (tmp_path / "m").write_bytes(safetensors.numpy.save(tampered, metadata=metadata))
        with pytest.raises(FileError):
            load(tmp_path / "m")


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


# ---- damaged and hostile files


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m"
    toy = fitted_toy(centers_=np.arange(6.0).reshape(2, 3), n_features_in_=3, loss_=1.5)
    save_model(
        path, toy, columns=["a", "b", "c"], scaling={"mean": np.zeros(3), "scale": np.ones(3)}
    )
    return path


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


NOT_MODELS = {
    "empty": b"",
    "short": b"\x01\x02",
    "text": b"eruptions,waiting\n3.6,79\n",
    "pickle": pickle.dumps(Bomb()),
    "huge header": struct.pack("<Q", 2**63) + b"{}",
    "header past the end": struct.pack("<Q", 1000) + b"{}",
    "header not JSON": struct.pack("<Q", 8) + b"not json",
    "header a list": struct.pack("<Q", 2) + b"[]",
    "header deep": struct.pack("<Q", 200_000) + b"[" * 200_000,
    "no metadata": safetensors.numpy.save({"a": np.zeros(2)}),
    "other metadata": safetensors.numpy.save({"a": np.zeros(2)}, metadata={"format": "pt"}),
    "negative size": b'T\0\0\0\0\0\0\0{"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}'
    + b" " * 40,
    "vast shape": (lambda h: struct.pack("<Q", len(h)) + h)(
        b'{"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}}'
    ),
    "exotic type": (lambda h: struct.pack("<Q", len(h)) + h + b"\0\0")(
        b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'
    ),
}


@pytest.mark.parametrize("content", NOT_MODELS.values(), ids=NOT_MODELS.keys())
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path, content, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(FileError, match=r"^Cannot load .*m'.*\.$") as caught:
        load(tmp_path / "m")
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["m"]


def test_a_directory_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(FileError, match="not a regular file"):
            load(path)


def test_every_truncation_is_refused(saved):
    data = saved.read_bytes()
    for length in range(len(data)):
        saved.write_bytes(data[:length])
        with pytest.raises(FileError):
            load(saved)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_changed_bytes_load_or_are_refused(saved, data):
    content = bytearray(saved.read_bytes())
    original = bytes(content)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    saved.write_bytes(bytes(content))
    try:
        load_bundle(saved)
    except FileError:
        pass
    finally:
        saved.write_bytes(original)


def put(key, value):
    return lambda header: header.__setitem__(key, value)


def nest(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


TAMPERED = {
    "another format": (put("format", "other"), "not that of a coterie model"),
    "a list": (lambda header: [], "not that of a coterie model"),
    "a later schema": (put("schema", 2), "upgrade"),
    "no such schema": (put("schema", 0), "schema is 0"),
    "schema true": (put("schema", True), "schema is True"),
    "schema as text": (put("schema", "1"), "schema is '1'"),
    "unknown class": (put("class", "Nothing"), "no such estimator"),
    "class not public": (put("class", "_files"), "no such estimator"),
    "class not exported": (put("class", "Hidden"), "no such estimator"),
    "class with dots": (put("class", "os.system"), "no such estimator"),
    "public function": (put("class", "load"), "no such estimator"),
    "public non-estimator": (put("class", "Estimated"), "no such estimator"),
    "class a list": (put("class", []), "'class' is missing"),
    "params a list": (put("params", []), "'params' is missing"),
    "columns a number": (put("columns", 3), "'columns' is missing"),
    "columns of numbers": (put("columns", [1, 2, 3]), "not text"),
    "fewer columns": (put("columns", ["a"]), "differ in length"),
    "model of another width": (lambda h: h["fitted"].update(n_features_in_=4), "differ in length"),
    "scaling without mean": (put("scaling", {}), "damaged"),
    "scaling of text": (put("scaling", {"mean": "a", "scale": "b"}), "not an array"),
    "unknown parameter": (lambda h: h["params"].update(evil=1), "evil, which Toy does not have"),
    "dunder attribute": (lambda h: h["fitted"].update({"__class__": 1}), "not a fitted attribute"),
    "method name": (lambda h: h["fitted"].update({"get_params": 1}), "not a fitted attribute"),
    "property": (lambda h: h["fitted"].update({"total_": 1}), "'total_' is not a fitted attribute"),
    "not a name": (lambda h: h["fitted"].update({"a b_": 1}), "not a fitted attribute"),
    "unknown tensor": (lambda h: h["fitted"].update(x_={"tensor": "no"}), "damaged"),
    "tensor used twice": (lambda h: h["fitted"].update(x_=h["fitted"]["centers_"]), "damaged"),
    "tensor not used": (lambda h: h["fitted"].pop("centers_") and None, "nothing refers to"),
    "unknown tag": (lambda h: h["fitted"].update(x_={"python": "os.system"}), "damaged"),
    "two tags": (lambda h: h["fitted"].update(x_={"tuple": [], "dict": {}}), "damaged"),
    "no tag": (lambda h: h["fitted"].update(x_={}), "damaged"),
    "odd scalar type": (lambda h: h["fitted"].update(x_={"numpy": ["object", 1]}), "damaged"),
    "scalar overflow": (lambda h: h["fitted"].update(x_={"numpy": ["int8", 1000]}), "damaged"),
    "odd float": (lambda h: h["fitted"].update(x_={"float": "1e5"}), "damaged"),
    "text of numbers": (lambda h: h["fitted"].update(x_={"strings": ["object", [1]]}), "damaged"),
    "NaN constant": (lambda h: h["fitted"].update(x_=float("nan")), "NaN"),
    "deep nesting": (lambda h: h["fitted"].update(x_=nest(900)), "damaged"),
}


@pytest.mark.parametrize(("change", "said"), TAMPERED.values(), ids=TAMPERED.keys())
def test_tampered_headers_are_refused(saved, change, said):
    rewrite(saved, change)
    with pytest.raises(FileError, match=said) as caught:
        load(saved)
    assert str(caught.value).startswith("Cannot load ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["format", "schema", "version", "class", "params", "fitted", "columns", "scaling"]
)
def test_missing_parts_are_refused(saved, key):
    rewrite(saved, lambda header: header.pop(key) and None)
    with pytest.raises(FileError):
        load(saved)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[" * 100_000, '{"format": 1e999}', '{"a": ' + "9" * 5000 + "}"]
)
def test_headers_that_python_cannot_parse_are_refused(saved, text):
    saved.write_bytes(safetensors.numpy.save({}, metadata={"coterie": text}))
    with pytest.raises(FileError):
        load(saved)


def test_a_number_that_overflows_is_refused(saved):
    text = json.dumps(header_of(saved)).replace('"loss_": 1.5', '"loss_": 1e999')
    tensors = safetensors.numpy.load(saved.read_bytes())
    saved.write_bytes(safetensors.numpy.save(tensors, metadata={"coterie": text}))
    with pytest.raises(FileError, match="1e999 in its header is too large"):
        load(saved)


@pytest.mark.parametrize("scale", [[1.0, 0.0, 1.0], [1.0, np.nan, 1.0], [1.0, -1.0, 1.0]])
def test_unusable_scaling_is_refused(saved, scale):
    save_model(saved, Toy(), scaling={"mean": np.zeros(3), "scale": scale})
    with pytest.raises(FileError, match="scaling"):
        load(saved)


def test_a_parameter_missing_from_an_older_file_takes_its_default(saved):
    rewrite(saved, lambda header: header["params"].pop("size") and None)
    assert load(saved).size == 3


def test_a_model_may_refuse_what_it_could_not_predict_with(tmp_path):
    strict = Strict()
    strict.centers_ = np.zeros((2, 2))
    assert round_trip(strict, tmp_path / "m").centers_.shape == (2, 2)
    strict.centers_ = np.zeros(2)
    save_model(tmp_path / "m", strict)
    with pytest.raises(FileError, match=r"Strict is inconsistent \(centers_ must be 2-d\)"):
        load(tmp_path / "m")


def test_loading_imports_nothing(saved):
    rewrite(saved, put("class", "antigravity"))
    with pytest.raises(FileError):
        load(saved)
    assert "antigravity" not in sys.modules


def test_tampered_kmeans_is_refused(tmp_path):
    X = np.random.RandomState(0).normal(size=(50, 3))
    KMeans(n_clusters=4, random_state=0, n_init=1).fit(X).save(tmp_path / "m")
    original = (tmp_path / "m").read_bytes()
    tensors = safetensors.numpy.load(original)
    (name,) = [key for key in tensors if key.endswith("cluster_centers_")]
    metadata = {"coterie": json.dumps(header_of(tmp_path / "m"))}
    for bad in (
        np.zeros(3),
        np.zeros((4, 2)),
        np.zeros((4, 3), dtype=np.int8),
        np.full((4, 3), np.nan),
    ):
        tampered = {**tensors, name: bad}
        (tmp_path / "m").write_bytes(safetensors.numpy.save(tampered, metadata=metadata))
        with pytest.raises(FileError):
            load(tmp_path / "m")


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
