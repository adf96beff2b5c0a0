"""Model files that are damaged or hostile: refused in a sentence, and no harm done."""

import json
import os
import pickle
import struct
import sys
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie import DBSCAN, KMeans
from coterie._files import load, load_bundle, save_model
from coterie.errors import FileError
from toys import Strict, Toy, fitted_toy, header_of, rewrite, round_trip

#: Toys are public for as long as a test lasts.
pytestmark = pytest.mark.usefixtures("public_toys")


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
    assert load(saved).model.size == 3


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


BOMBS = {
    "one long string among many": {"strings": ["str", ["x" * 80_000] + ["y"] * 20_000]},
    "many empty lists": [[] for _ in range(600_000)],
    "many dicts": [{"dict": {}} for _ in range(200_000)],
    "references to one tensor": [{"tensor": "0:Toy.centers_"}] * 1000,
    "a giant number": 10**4000,
    "deep": nest(101),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_small_files_take_little_memory(saved, bomb, monkeypatch):
    monkeypatch.setattr("coterie._files._HEADER_ITEMS", 100_000)
    rewrite(saved, lambda h: h["fitted"].update(x_=bomb))
    tracemalloc.start()
    try:
        load(saved)
    except FileError:
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 100 * saved.stat().st_size + 10_000_000


def test_what_could_not_be_loaded_is_not_saved(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="nested more than 100 deep"):
        save_model(tmp_path / "m", fitted_toy(x_=nest(100)))
    monkeypatch.setattr("coterie._files._TEXT_BYTES", 1000)
    names = np.array(["x" * 200, "y", "z"])
    assert round_trip(fitted_toy(x_=names), tmp_path / "m").x_.tolist() == names.tolist()
    monkeypatch.setattr("coterie._files._HEADER_ITEMS", 1000)
    with pytest.raises(FileError, match="delete model"):
        save_model(tmp_path / "m", fitted_toy(history_=[{"iteration": i} for i in range(2000)]))


@pytest.mark.filterwarnings("ignore::coterie.errors.AdviceWarning")
def test_starts_of_sparse_rows_that_fall_are_refused(tmp_path):
    pair = np.ones((2, 2)) - np.eye(2)
    graph = sp.csr_matrix(sp.block_diag([pair, pair]))
    model = DBSCAN(eps=1, min_samples=2, metric="graph").fit(graph)
    # SciPy's own check takes a matrix that ends below zero for an empty one.
    model.graph_.indptr = np.array([0, 1, 2, 3, -1], dtype=np.int32)
    model.save(tmp_path / "model")
    with pytest.raises(FileError, match="a sparse matrix contradicts itself"):
        load(tmp_path / "model")
