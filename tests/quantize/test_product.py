"""The product quantizer as an estimator.

Covers coterie.quantize.product, coterie.quantize._part_coder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import quantize_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import coterie
from coterie import ProductQuantizer
from coterie.errors import FileError


def rows(n: int = 2000, d: int = 10, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=3, size=(20, d))
    return (centers[rng.integers(20, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


def fitted(X: Any, n_subvectors: int = 4, **params: Any) -> ProductQuantizer:
    params = {"bits": 4, "random_state": 0, "n_iter": 8, **params}
    return ProductQuantizer(n_subvectors, **params).fit(X)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("n_subvectors", [1, 3, 10])
def test_codes_and_what_they_stand_for(bits: int, rotate: bool, n_subvectors: int) -> None:
    X = rows()
    model = fitted(X, n_subvectors, bits=bits, rotate=rotate)
    codes = model.encode(X)
    assert codes.shape == (2000, n_subvectors)
    assert codes.dtype == np.uint8
    assert len(model.codebooks_) == n_subvectors
    assert [book.shape[1] for book in model.codebooks_] == np.diff(model.part_starts_).tolist()
    assert all(len(book) == 2**bits for book in model.codebooks_)
    words = model.decode(codes)
    turned = X if model.rotation_ is None else X @ model.rotation_
    own = twins.decode(codes, model.codewords_, model.part_starts_)
    back = own if model.rotation_ is None else own @ model.rotation_.T
    np.testing.assert_allclose(words, back, atol=1e-4)
    # Distortion: of the rows, and the sum over parts.
    error = np.square(X.astype(float) - words).sum(axis=1).mean()
    parts = [
        np.square(part.astype(float)).sum(axis=1).mean()
        for part in twins.cut(turned - own, model.part_starts_)
    ]
    assert model.distortion(X) == pytest.approx(error, rel=1e-5)
    assert model.distortion(X) == pytest.approx(sum(parts), rel=1e-5)
    np.testing.assert_allclose(model.part_distortions(X), parts, rtol=1e-4)
    assert model.training_distortion_ == pytest.approx(model.distortion(X), rel=1e-12)


def test_a_transformer_by_other_names() -> None:
    X = rows()
    model = fitted(X)
    codes = model.encode(X)
    np.testing.assert_array_equal(model.transform(X), codes)
    np.testing.assert_array_equal(model.inverse_transform(codes), model.decode(codes))
    np.testing.assert_array_equal(
        ProductQuantizer(4, bits=4, random_state=0, n_iter=8).fit_transform(X), codes
    )
    assert model.get_feature_names_out().tolist() == [f"productquantizer{m}" for m in range(4)]
    frame = model.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pd.DataFrame)


@pytest.mark.parametrize("rotate", [False, True])
def test_distances_by_tables(rotate: bool) -> None:
    X = rows(300)
    model = fitted(X, 3, rotate=rotate)
    codes = model.encode(X)
    words = model.decode(codes)
    tables = model.distance_tables(X[:20])
    assert tables.shape == (20, 3, 16)
    assert tables.dtype == np.float32
    turned = X[:20] if model.rotation_ is None else X[:20] @ model.rotation_
    own = twins.tables(turned, model.codewords_, model.part_starts_)
    np.testing.assert_allclose(tables, own, rtol=1e-3, atol=1e-3)
    asymmetric = model.asymmetric_distances(X[:20], codes)
    np.testing.assert_allclose(asymmetric, twins.sq_dists(X[:20], words), rtol=1e-3, atol=1e-3)
    symmetric = model.symmetric_distances(codes[:20], codes)
    np.testing.assert_allclose(symmetric, twins.sq_dists(words[:20], words), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(np.diag(symmetric[:, :20]), 0)


def test_the_number_of_codewords_is_exact() -> None:
    model = fitted(rows(300, 16), 16, bits=8)
    assert model.n_codewords_ == 2**128
    assert model.bits_per_vector_ == 128
    assert model.codewords_.nbytes == 256 * 16 * 4


@pytest.mark.parametrize("n_subvectors", [4, 5])
def test_packed_codes(n_subvectors: int) -> None:
    X = rows(200)
    model = fitted(X, n_subvectors)
    codes = model.encode(X)
    packed = model.pack(codes)
    assert packed.shape == (200, (n_subvectors + 1) // 2)
    np.testing.assert_array_equal(model.unpack(packed), codes)
    wide = fitted(X, n_subvectors, bits=8)
    np.testing.assert_array_equal(wide.pack(wide.encode(X)), wide.encode(X))
    np.testing.assert_array_equal(wide.unpack(wide.encode(X)), wide.encode(X))


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int16, np.int64, bool])
def test_rows_of_any_number_type(dtype: Any) -> None:
    X = np.clip(np.abs(rows()) * 10, 0, 120).astype(dtype)
    narrow = X.astype(np.float32)
    np.testing.assert_array_equal(fitted(X).encode(X), fitted(narrow).encode(narrow))


def test_more_parts_and_bits_lose_less() -> None:
    X = rows()
    errors = [fitted(X, n, bits=bits).distortion(X) for n, bits in ((1, 4), (2, 4), (5, 4), (5, 8))]
    assert (np.diff(errors) < 0).all()


def test_a_rotation_helps_where_columns_depend_on_each_other() -> None:
    rng = np.random.default_rng(0)
    X = (
        rng.normal(size=(2000, 8))
        * np.geomspace(10, 0.1, 8)
        @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    )
    plain, turned = (fitted(X, rotate=rotate).distortion(X) for rotate in (False, True))
    assert turned < 0.9 * plain


def test_one_part_is_k_means() -> None:
    X = rows(500, 4)
    model = fitted(X, 1, n_iter=100)
    from coterie import KMeans

    kmeans = KMeans(16, random_state=0, n_init=5).fit(X)
    assert model.distortion(X) * 500 < 1.05 * kmeans.inertia_
    centers = model.codebooks_[0]
    np.testing.assert_array_equal(model.encode(X)[:, 0], twins.sq_dists(X, centers).argmin(axis=1))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 9), st.sampled_from([4, 8]), st.booleans(), st.booleans(),
    st.data(),
)  # fmt: skip
def test_any_small_table(
    n: int, d: int, bits: int, rotate: bool, whole: bool, data: st.DataObject
) -> None:
    X = np.random.default_rng(n).normal(scale=2, size=(n, d))
    X = np.round(X) if whole else X
    model = fitted(X, data.draw(st.integers(1, d)), bits=bits, rotate=rotate, n_iter=4)
    codes = model.encode(X)
    words = model.decode(codes)
    error = np.square(X.astype(np.float32).astype(float) - words).sum(axis=1).mean()
    assert model.distortion(X) == pytest.approx(error, rel=1e-4, abs=1e-6)
    if not rotate:
        own = twins.encode(X.astype(np.float32), model.codewords_, model.part_starts_)
        np.testing.assert_array_equal(codes, own)
        if n <= 2**bits:  # a codeword for every row
            assert error == pytest.approx(0, abs=1e-8)


def test_few_distinct_rows_leave_codewords_unused_and_say_so() -> None:
    X = np.repeat(rows(5), 20, axis=0)
    model = fitted(X)
    assert model.distortion(X) == pytest.approx(0, abs=1e-9)
    events = [event for event in model.events_ if event["what"] == "unused codewords"]
    assert [event["where"] for event in events] == [0, 1, 2, 3]
    assert "uses 5 of 16 codewords" in events[0]["detail"]
    assert model.encode(X).max() < 16


def test_constant_columns() -> None:
    X = rows()
    X[:, 3:7] = 8.25
    for rotate in (False, True):
        model = fitted(X, 5, rotate=rotate)
        assert np.isfinite(model.codewords_).all()
        if not rotate:
            np.testing.assert_array_equal(model.decode(model.encode(X))[:, 3:7], 8.25)


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="n_subvectors=11 but X has 10 columns; lower"):
        fitted(rows(), 11)


@pytest.mark.parametrize("bits", [5, 16, 0, 4.0, "8", True])
def test_other_numbers_of_bits_are_refused(bits: Any) -> None:
    with pytest.raises(ValueError, match=r"bits=.* use 8 or 4"):
        fitted(rows(), bits=bits)


def test_what_is_no_row_or_code_is_refused() -> None:
    X = rows(100)
    model = fitted(X)
    bad = X.copy()
    bad[7, 2] = np.nan
    for method in (model.encode, model.distortion, model.distance_tables):
        with pytest.raises(ValueError, match="NaN"):
            method(bad)
        with pytest.raises(ValueError, match="9 features, but ProductQuantizer is expecting 10"):
            method(X[:, :9])
    with pytest.raises(ValueError, match="from 0 to 15"):
        model.decode(np.full((3, 4), 16))
    with pytest.raises(ValueError, match=r"shape \(3, 5\)"):
        model.asymmetric_distances(X, np.zeros((3, 5), dtype=np.uint8))
    with pytest.raises(NotFittedError):
        ProductQuantizer().decode(np.zeros((3, 8)))


def test_distances_that_do_not_fit_are_refused_before() -> None:
    model = fitted(rows(100))
    X = rows(2000)
    codes = model.encode(X)
    with coterie.options(max_memory="1MB"):
        for ask in (
            lambda: model.asymmetric_distances(X, codes),
            lambda: model.symmetric_distances(codes, codes),
        ):
            with pytest.raises(
                MemoryError, match=r"distances of 2000 rows to 2000 codes need 0.016"
            ):
                ask()
        with pytest.raises(
            MemoryError, match=r"tables of 20000 queries need .* ask for fewer at a"
        ):
            model.distance_tables(rows(20000))
        assert model.asymmetric_distances(X[:9], codes).shape == (9, 2000)


def test_codebooks_are_learned_from_some_rows_and_codes_made_of_all(tmp_path: Path) -> None:
    X = rows(5000)
    np.save(tmp_path / "rows.npy", X)
    here = fitted(X, max_training_rows=1000)
    there = fitted(str(tmp_path / "rows.npy"), max_training_rows=1000)
    np.testing.assert_array_equal(here.codewords_, there.codewords_)
    codes = here.encode(X)
    np.testing.assert_array_equal(there.encode(tmp_path / "rows.npy"), codes)
    written = there.encode(tmp_path / "rows.npy", out=tmp_path / "codes.npy")
    np.testing.assert_array_equal(np.load(written), codes)
    assert there.distortion(tmp_path / "rows.npy") == pytest.approx(here.distortion(X))
    assert here.training_distortion_ < here.distortion(X)


def test_names_of_columns_are_kept() -> None:
    frame = pd.DataFrame(rows(200), columns=list("abcdefghij"))
    model = fitted(frame)
    assert model.feature_names_in_.tolist() == list("abcdefghij")


@pytest.mark.parametrize("rotate", [False, True, "neighbors"])
def test_a_saved_model_makes_the_same_codes(tmp_path: Path, rotate: bool | str) -> None:
    X = rows()
    model = fitted(X, 3, rotate=rotate)
    model.save(tmp_path / "model")
    loaded = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.encode(X), model.encode(X))
    np.testing.assert_array_equal(loaded.decode(loaded.encode(X)), model.decode(model.encode(X)))
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codewords_", np.zeros((17, 10), dtype=np.float32)),
        ("codewords_", np.full((16, 10), np.nan, dtype=np.float32)),
        ("part_starts_", np.array([0, 5, 5, 10])),
        ("part_starts_", np.array([0, 5, 9])),
        ("part_starts_", np.array([0])),
        ("rotation_", 0.5 * np.eye(10, dtype=np.float32)),
    ],
)
def test_a_spoiled_model_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    model = fitted(rows(200), 2)
    setattr(model, name, value)
    model.save(tmp_path / "model")
    with pytest.raises(FileError):
        coterie.load(tmp_path / "model")


def test_history_has_every_step() -> None:
    X = rows()
    model = fitted(X, n_iter=5)
    assert [entry["iteration"] for entry in model.history_] == [1, 2, 3, 4, 5]
    errors = [entry["objective_update"] for entry in model.history_]
    assert (np.diff(errors) <= 0).all()
    assert errors[-1] / len(X) >= model.training_distortion_


def test_the_callback_stops_the_fit() -> None:
    model = fitted(rows(), callback=lambda progress: progress.iteration == 2)
    assert len(model.history_) == 2
    assert model.events_[0]["what"] == "stopped"


@pytest.mark.parametrize("rotate", [False, True, "neighbors"])
def test_threads_change_nothing(rotate: bool | str) -> None:
    X = rows(20_000, 12)
    one, three = (fitted(X, 4, bits=8, rotate=rotate, n_threads=n, n_iter=3) for n in (1, 3))
    np.testing.assert_array_equal(one.codewords_, three.codewords_)
    np.testing.assert_array_equal(one.encode(X), three.encode(X))
    assert one.training_distortion_ == three.training_distortion_
