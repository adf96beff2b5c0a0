"""Vector quantization against its definitions, the textbook's arithmetic, and NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie
import twins
from coterie import VectorQuantizer
from coterie.errors import FileError, ParameterError
from streams import Stream

ABOVE = Path(__file__).resolve().parents[3:5]
DATA = next((up / "shared" / "data" for up in ABOVE if (up / "shared" / "data").is_dir()), None)


def rows(n: int = 300, d: int = 3, dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, d)) + 4 * rng.integers(0, 4, (n, 1))).astype(dtype)


@pytest.mark.parametrize(
    ("k", "bits_per_pixel", "with_codebook"), [(5, 3, 786552), (10, 4, 1048816), (15, 4, 1048936)]
)
def test_the_textbooks_arithmetic(k: int, bits_per_pixel: int, with_codebook: int) -> None:
    # A picture of 512 x 512 pixels with 24 bits each, and in K colours of 24 bits.
    n_pixels = 512 * 512
    assert 24 * n_pixels == 6_291_456
    model = VectorQuantizer(k, random_state=0).fit(rows())
    assert model.bits_per_vector == bits_per_pixel
    assert model.bits(n_pixels, codebook=False) == n_pixels * bits_per_pixel
    assert model.bits(n_pixels, bits_per_value=8) == with_codebook


@pytest.mark.skipif(DATA is None, reason="the notes' examples are not here")
def test_the_arithmetic_is_that_of_the_notes() -> None:
    assert DATA is not None
    examples = json.loads((DATA / "seed_examples.json").read_text())["examples"]
    told = next(one for one in examples if one["id"] == "vector_quantization_bits")["computed"]
    assert told["bits"] == 24 * told["pixels"]
    for k, wanted in told["quantized_bits"].items():
        model = VectorQuantizer(int(k), random_state=0).fit(rows())
        assert model.bits_per_vector == wanted["bits_per_pixel_fixed"]
        total = model.bits(told["pixels"], bits_per_value=8)
        assert total == wanted["total_fixed_with_24bit_codebook"]


@pytest.mark.parametrize("n_vectors", [-1, 2.5, "9"])
def test_bits_of_no_number_of_codes_are_refused(n_vectors: Any) -> None:
    model = VectorQuantizer(4, random_state=0).fit(rows())
    assert model.bits(0, codebook=False) == 0
    assert model.bits(np.int64(10), codebook=False) == 20
    with pytest.raises(ParameterError, match=r"n_vectors=.* use a whole number of at least 0"):
        model.bits(n_vectors)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_encode_decode_and_distortion_agree(dtype: Any) -> None:
    X = rows(dtype=dtype)
    model = VectorQuantizer(7, random_state=0).fit(X)
    codes = model.encode(X)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, twins.nearest(X, model.codebook_))
    decoded = model.decode(codes)
    assert decoded.dtype == model.codebook_.dtype == dtype
    np.testing.assert_array_equal(decoded, model.codebook_[codes])
    error = np.square(X.astype(float) - decoded.astype(float)).sum(axis=1)
    assert model.distortion(X) == pytest.approx(error.mean(), rel=1e-9)
    assert model.distortion_ == model.distortion(X) == -model.score(X)
    assert model.bits(10) == 10 * 3 + 7 * 3 * 8 * X.itemsize


def test_decode_takes_any_shape() -> None:
    model = VectorQuantizer(4, random_state=0).fit(rows())
    assert model.decode([[0, 1], [2, 3]]).shape == (2, 2, 3)
    assert model.decode(2).shape == (3,)
    with pytest.raises(ValueError, match="4 codewords"):
        model.decode([4])


def test_codes_take_as_many_bytes_as_they_need() -> None:
    X = rows(400)
    assert VectorQuantizer(256, max_iter=1, random_state=0).fit(X).encode(X).dtype == np.uint8
    assert VectorQuantizer(257, max_iter=1, random_state=0).fit(X).encode(X).dtype == np.uint16


def test_one_codeword_is_the_mean_and_costs_no_bits() -> None:
    X = rows()
    model = VectorQuantizer(1).fit(X)
    np.testing.assert_allclose(model.codebook_, X.mean(axis=0, keepdims=True))
    assert model.bits_per_vector == 0
    assert model.distortion_ == pytest.approx(X.var(axis=0).sum())


def test_it_is_k_means() -> None:
    X = rows()
    mine = VectorQuantizer(5, random_state=4).fit(X)
    theirs = coterie.KMeans(5, random_state=4).fit(X)
    np.testing.assert_array_equal(mine.codebook_, theirs.cluster_centers_)
    assert mine.distortion_ * len(X) == pytest.approx(theirs.inertia_)
    objectives = [entry["objective_update"] for entry in mine.history_]
    assert objectives == sorted(objectives, reverse=True)


def test_more_starts_never_do_worse() -> None:
    X = rows()
    one = VectorQuantizer(12, init="random", random_state=1).fit(X)
    many = VectorQuantizer(12, init="random", n_init=20, random_state=1).fit(X)
    assert many.distortion_ <= one.distortion_


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 40), d=st.integers(1, 5), k=st.integers(1, 8), seed=st.integers(0, 99))
def test_weights_are_repetitions(n: int, d: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + k, d))
    times = rng.integers(0, 4, n + k) + (np.arange(n + k) < k)
    model = VectorQuantizer(k, random_state=seed).fit(X, sample_weight=times)
    repeated = np.repeat(X, times, axis=0)
    assert model.distortion(X, sample_weight=times) == pytest.approx(
        model.distortion(repeated), rel=1e-9, abs=1e-12
    )
    assert model.distortion_ == pytest.approx(model.distortion(repeated), rel=1e-9, abs=1e-12)
    of_the_mean = np.square(repeated - repeated.mean(axis=0)).sum(axis=1).mean()
    assert model.distortion_ <= of_the_mean + 1e-9


@pytest.mark.parametrize("init", ["random", "random-labels", "box", "farthest-first", "k-means||"])
def test_all_seedings_but_one_learn_the_same_from_blocks(init: str) -> None:
    X = rows(500)
    held, streamed = (
        VectorQuantizer(6, init=init, random_state=0).fit(given) for given in (X, Stream(X))
    )
    np.testing.assert_array_equal(streamed.codebook_, held.codebook_)


def test_kmeans_plus_plus_from_blocks_is_kmeans_parallel() -> None:
    X = rows(500)
    plus, parallel = (
        VectorQuantizer(6, init=init, random_state=0).fit(Stream(X))
        for init in ("k-means++", "k-means||")
    )
    np.testing.assert_array_equal(plus.codebook_, parallel.codebook_)
    assert any(event["where"] == "k-means||" for event in plus.events_)


def test_sources_stream_to_the_same_bits(tmp_path: Path) -> None:
    X = rows(500)
    in_memory = VectorQuantizer(6, init="random", random_state=0).fit(X)
    streamed = VectorQuantizer(6, init="random", random_state=0).fit(Stream(X))
    np.testing.assert_array_equal(streamed.codebook_, in_memory.codebook_)
    np.testing.assert_array_equal(streamed.encode(Stream(X)), in_memory.encode(X))
    assert streamed.distortion_ == pytest.approx(in_memory.distortion_)
    np.save(tmp_path / "X.npy", X)
    out = in_memory.encode(str(tmp_path / "X.npy"), out=tmp_path / "codes.npy")
    written = np.load(out)
    assert written.dtype == np.uint8
    np.testing.assert_array_equal(written, in_memory.encode(X))


def test_sparse_rows() -> None:
    X = np.where(rows() > 4, rows(), 0)
    dense = VectorQuantizer(5, random_state=0).fit(X)
    sparse = VectorQuantizer(5, random_state=0).fit(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse.codebook_, dense.codebook_)
    np.testing.assert_array_equal(sparse.encode(sp.csr_matrix(X)), dense.encode(X))


def test_learning_from_some_rows_says_so() -> None:
    X = rows(5000)
    model = VectorQuantizer(4, n_training_rows=500, random_state=0).fit(X)
    assert [event["what"] for event in model.events_].count("sampled") == 1
    full = VectorQuantizer(4, random_state=0).fit(X)
    assert model.distortion(X) < 1.1 * full.distortion(X)
    again = VectorQuantizer(4, n_training_rows=10**9, random_state=0).fit(X)
    np.testing.assert_array_equal(again.codebook_, full.codebook_)
    assert not [event for event in again.events_ if event["what"] == "sampled"]
    with pytest.raises(ValueError, match=r"n_samples=3, as n_training_rows says, should be"):
        VectorQuantizer(4, n_training_rows=3).fit(X)


def test_equal_rows_are_told() -> None:
    X = np.repeat([[0.0, 1], [2, 3]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of 5 codewords"):
        model = VectorQuantizer(5, random_state=0).fit(X)
    assert model.distortion_ == 0
    assert "fewer codewords" in [event["what"] for event in model.events_]
    np.testing.assert_array_equal(model.decode(model.encode(X)), X)


def test_too_few_rows_and_too_few_iterations() -> None:
    with pytest.raises(ValueError, match=r"n_samples=3 should be >= n_codewords=4; lower"):
        VectorQuantizer(4).fit(rows(3))
    model = VectorQuantizer(8, init="random", max_iter=1, random_state=0).fit(rows())
    assert "not settled" in [event["what"] for event in model.events_]


def test_a_callback_stops_it() -> None:
    seen: list[int] = []
    model = VectorQuantizer(
        8, init="random", random_state=0, callback=lambda now: seen.append(now.iteration) or True
    ).fit(rows())
    assert seen == [1] == [model.n_iter_]


def test_it_transforms_in_a_pipeline() -> None:
    X = rows()
    pipe = make_pipeline(StandardScaler(), VectorQuantizer(4, random_state=0)).fit(X)
    codes = pipe.transform(X)
    assert codes.shape == (300, 1)
    assert pipe.inverse_transform(codes).shape == X.shape
    model = pipe[-1]
    assert model.get_feature_names_out().tolist() == ["vectorquantizer0"]
    for wrong in (codes[:, 0], np.hstack([codes, codes])):
        with pytest.raises(ValueError, match="pass one column"):
            model.inverse_transform(wrong)


def test_files_keep_the_codebook(tmp_path: Path) -> None:
    X = rows()
    model = VectorQuantizer(5, random_state=0).fit(X)
    model.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.codebook_, model.codebook_)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.distortion_ == model.distortion_
    assert again.get_feature_names_out().tolist() == ["vectorquantizer0"]
    model.codebook_ = model.codebook_[:0]
    model.save(tmp_path / "empty")
    with pytest.raises(FileError, match="codebook_ has no codeword"):
        coterie.load(tmp_path / "empty")
