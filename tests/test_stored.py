"""What estimators declare about their fitted attributes, held against files that break it."""

import inspect
import json
from functools import partial

import numpy as np
import pytest
import safetensors.numpy
from sklearn.base import BaseEstimator

import coterie
from coterie._files import load
from coterie._stored import COLUMNS, Array, Flag, Many, Nothing, Parts, Real, Whole, Word
from coterie.errors import FileError
from fuzz.model_files import run, zoo
from toys import header_of, rewrite

ESTIMATORS = [
    cls
    for cls in (getattr(coterie, name) for name in coterie.__all__)
    if inspect.isclass(cls) and issubclass(cls, BaseEstimator)
]
ZOO = zoo()


@pytest.fixture(params=ZOO)
def saved(request, tmp_path):
    ZOO[request.param][0].save(tmp_path / "m")
    return tmp_path / "m"


def fitted_names(model):
    return {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_declares_what_it_stores(estimator):
    kept = [model for model, _ in ZOO.values() if type(model) is estimator]
    assert kept, "the fuzzer knows no such model"
    declared = {**COLUMNS, **estimator._stores}
    for model in kept:
        assert fitted_names(model) <= set(declared)
    required = {name for name, field in declared.items() if not field.optional}
    assert required <= set.intersection(*(fitted_names(model) for model in kept))


def test_what_was_saved_is_loaded(saved):
    loaded = load(saved)
    (model, X) = next(pair for pair in ZOO.values() if repr(pair[0]) == repr(loaded))
    ask = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(loaded, ask)(X), getattr(model, ask)(X))


def test_an_unfitted_model_is_loaded(tmp_path):
    for estimator in ESTIMATORS:
        estimator().save(tmp_path / "m")
        assert type(load(tmp_path / "m")) is estimator


def leave_out(name, header):
    del header["fitted"][name]


def test_missing_attributes_are_refused(saved):
    content, header = saved.read_bytes(), header_of(saved)
    declared = {**COLUMNS, **getattr(coterie, header["class"])._stores}
    for name in header["fitted"]:
        if declared[name].optional or "tensor" in json.dumps(header["fitted"][name]):
            continue  # the tensors left over would be refused anyway
        saved.write_bytes(content)
        rewrite(saved, partial(leave_out, name))
        with pytest.raises(FileError, match=name):
            load(saved)


def spoiled(name, values):
    """Ways to spoil an array."""
    yield values.astype(np.int8)
    yield values.astype(np.float16)
    yield values[..., np.newaxis]
    any_length = ("labels_", "selected_", "KMeans.cluster_centers_", "codebook_")
    if not any(free in name for free in any_length):
        yield np.zeros((0, *values.shape[1:]), dtype=values.dtype)
        yield np.concatenate([values, values])


def test_spoiled_arrays_are_refused(saved):
    content = saved.read_bytes()
    metadata = {"coterie": json.dumps(header_of(saved))}
    tensors = safetensors.numpy.load(content)
    sparse = {
        part["tensor"]
        for value in header_of(saved)["fitted"].values()
        if isinstance(value, dict)
        for part in value.get("csr", [])[1:]
    }
    for name, values in tensors.items():
        if "gower_" in name or name in sparse:  # checked by what reads them
            continue
        for bad in spoiled(name, values):
            saved.write_bytes(safetensors.numpy.save({**tensors, name: bad}, metadata=metadata))
            with pytest.raises(FileError):
                load(saved)


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        (
            Array("f", ("a", 2)),
            np.ones((3, 2)),
            [np.ones(2), np.ones((3, 3)), np.ones((3, 2), int)],
        ),
        (Array("f", ("a",), 0, 1), np.ones(2), [np.array([2.0]), np.array([np.nan]), None]),
        (Array("f", (None,), finite=False), np.array([np.inf]), [np.array([np.nan])]),
        (Array("i4", ("a", "a")), np.ones((2, 2), "i4"), [np.ones((2, 3), "i4"), np.ones((2, 2))]),
        (Whole(1, 5), 3, [0, 6, 2.0, True, "3", 10**40]),
        (Real(0), 1.5, [-1.0, float("nan"), float("inf"), "1", True, None]),
        (Flag(), True, [1, None]),
        (Word(("a", "b")), "a", ["c", 1]),
        (Many(Real(), 2), [1.0, 2.0], [[1.0], (1.0, 2.0), "ab"]),
        (Parts({"a": Flag()}), {"a": True}, [{}, {"a": 1}, {"a": True, "b": 1}, []]),
        (Nothing() | Flag(), None, [1]),
    ],
)
def test_fields(field, good, bad):
    field.check("x", good, {})
    for value in bad:
        with pytest.raises(ValueError, match="x"):
            field.check("x", value, {})


def test_lengths_of_one_name_are_equal():
    sizes = {}
    Array("f", ("rows",)).check("a", np.ones(3), sizes)
    assert sizes == {"rows": 3}
    with pytest.raises(ValueError, match="3 rows are known"):
        Array("f", ("rows",)).check("b", np.ones(4), sizes)


@pytest.mark.parametrize("seed", [0])
def test_damaged_files_are_refused_or_work(seed):
    assert run(seed, 1000) == []
