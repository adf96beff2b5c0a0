"""Codes, what they stand for and distances by tables, against naive twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import quantize_twins as twins
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie._kernels import kernels
from coterie.quantize._encode import PartCodes
from coterie.quantize._parts import part_starts


def problem(
    n: int, d: int, n_parts: int, n_codes: int, *, rotate: bool = False, whole: bool = False
) -> tuple[Any, PartCodes]:
    """Rows, and codewords of parts for them."""
    rng = np.random.default_rng(n + d)
    X, words = rng.normal(scale=3, size=(n, d)), rng.normal(scale=3, size=(n_codes, d))
    if whole:
        X, words = np.round(X), np.round(words)
    words = words.astype(np.float32)
    rotation = None
    if rotate:
        rotation = np.eye(1) if d == 1 else scipy.stats.ortho_group.rvs(d, random_state=0)
        rotation = np.ascontiguousarray(rotation, dtype=np.float32)
    starts = part_starts(d, n_parts)
    return X.astype(np.float32), PartCodes("Q", words, starts, words.mean(axis=0), rotation)


def codes_of(parts: PartCodes, X: Any, n_threads: int = 2) -> Any:
    codes = np.empty((len(X), parts.n_parts), dtype=np.uint8)
    parts.encode(X, codes, n_threads)
    return codes


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 150), st.integers(1, 40), st.sampled_from([16, 256]), st.booleans(), st.data()
)
def test_codes_are_those_of_the_naive_twin(
    n: int, d: int, n_codes: int, whole: bool, data: st.DataObject
) -> None:
    X, parts = problem(n, d, data.draw(st.integers(1, d)), n_codes, whole=whole)
    codes = codes_of(parts, X)
    np.testing.assert_array_equal(codes, twins.encode(X, parts.codewords, parts.starts))
    words = parts.decode(codes, 2)
    np.testing.assert_array_equal(words, twins.decode(codes, parts.codewords, parts.starts))


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
def test_far_from_zero_codes_are_exact_all_the_same(offset: float) -> None:
    X, parts = problem(300, 12, 3, 256)
    X, words = X + np.float32(offset), parts.codewords + np.float32(offset)
    for shift in (words.mean(axis=0), np.zeros(12, dtype=np.float32)):
        far = PartCodes("Q", words, parts.starts, shift)
        np.testing.assert_array_equal(codes_of(far, X), twins.encode(X, words, parts.starts))


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e15, 1e25])
def test_tiny_and_huge_rows_have_exact_codes(scale: float) -> None:
    X, parts = problem(200, 8, 2, 256)
    X, words = X * np.float32(scale), parts.codewords * np.float32(scale)
    scaled = PartCodes("Q", words, parts.starts, words.mean(axis=0))
    np.testing.assert_array_equal(codes_of(scaled, X), twins.encode(X, words, parts.starts))


def test_rows_halfway_between_codewords_get_the_lower() -> None:
    words = np.zeros((16, 4), dtype=np.float32)
    words[:, 0] = np.arange(16) * 2
    X = np.zeros((15, 4), dtype=np.float32)
    X[:, 0] = np.arange(15) * 2 + 1
    parts = PartCodes("Q", words, part_starts(4, 1), words.mean(axis=0))
    assert codes_of(parts, X)[:, 0].tolist() == list(range(15))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_type_and_order_are_rounded_to_float32(dtype: Any, order: Any) -> None:
    X, parts = problem(100, 10, 4, 16)
    given_rows = np.asarray(X + 1e-3, dtype=dtype, order=order)
    narrow = given_rows.astype(np.float32)
    np.testing.assert_array_equal(
        codes_of(parts, given_rows), twins.encode(narrow, parts.codewords, parts.starts)
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_with_its_place(bad: float) -> None:
    X, parts = problem(100, 10, 4, 256)
    X[37, 6] = bad
    with pytest.raises(ValueError, match=r"column 6 \(row 37\)"):
        codes_of(parts, X)


def test_what_float32_cannot_hold_is_refused() -> None:
    X, parts = problem(10, 4, 2, 16)
    with pytest.raises(ValueError, match="float32 does not hold"):
        codes_of(parts, X.astype(np.float64) * 1e200)


@pytest.mark.parametrize("d", [1, 5, 16, 33, 70])
def test_a_rotation_is_a_product_in_one_order(d: int) -> None:
    X, parts = problem(50, d, 1, 16, rotate=True)
    assert parts.rotation is not None
    turned = parts.turn(X, 2)
    naive = np.zeros_like(X)
    for t in range(d):  # one product and one sum at a time, in float32
        naive += X[:, t : t + 1] * parts.rotation[t]
    np.testing.assert_array_equal(turned, naive)
    np.testing.assert_array_equal(parts.turn(X[7:8], 1), turned[7:8])


@pytest.mark.parametrize("d", [1, 5, 16, 33, 70])
def test_cross_products(d: int) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(5000, d)).astype(np.float32) for _ in range(2))
    found = np.empty((d, d))
    kernels.cross_products(x, y, found, 2)
    np.testing.assert_allclose(found, x.astype(float).T @ y, atol=1e-3)
    again = np.empty((d, d))
    kernels.cross_products(x, y, again, 3)
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("n_parts", [1, 3, 10])
def test_errors_are_those_of_the_parts(rotate: bool, n_parts: int) -> None:
    X, parts = problem(300, 10, n_parts, 16, rotate=rotate)
    codes = codes_of(parts, X)
    turned = parts.turn(X, 2)
    words = twins.decode(codes, parts.codewords, parts.starts)
    own = [np.square(p.astype(float)).sum() for p in twins.cut(turned - words, parts.starts)]
    np.testing.assert_allclose(parts.errors(X, codes, 2), own, rtol=1e-5)
    whole = np.square(X.astype(float) - parts.decode(codes, 2)).sum()
    assert sum(own) == pytest.approx(whole, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 40), st.sampled_from([16, 256]), st.data())
def test_tables_and_distances(n: int, d: int, n_codes: int, data: st.DataObject) -> None:
    n_parts = data.draw(st.integers(1, d))
    X, parts = problem(n, d, n_parts, n_codes)
    codes = codes_of(parts, X)
    own = twins.tables(X, parts.codewords, parts.starts)
    tables = parts.tables(X, 2)
    np.testing.assert_allclose(tables, own, rtol=1e-5, atol=1e-5)
    distances = parts.distances(X, codes, 2)
    naive = np.zeros((n, n), dtype=np.float32)
    for m in range(n_parts):
        naive += tables[:, m, codes[:, m]]
    np.testing.assert_array_equal(distances, naive)
    words = twins.decode(codes, parts.codewords, parts.starts)
    np.testing.assert_allclose(distances, twins.sq_dists(X, words), rtol=1e-4, atol=1e-4)


def test_threads_change_nothing() -> None:
    X, parts = problem(5000, 24, 5, 256, rotate=True)
    one = codes_of(parts, X, 1)
    for n_threads in (2, 3):
        np.testing.assert_array_equal(codes_of(parts, X, n_threads), one)
        np.testing.assert_array_equal(parts.decode(one, n_threads), parts.decode(one, 1))
        np.testing.assert_array_equal(parts.errors(X, one, n_threads), parts.errors(X, one, 1))


def test_codes_of_no_codeword_are_refused_by_the_kernel() -> None:
    _, parts = problem(10, 4, 2, 16)
    out = np.empty((1, 4), dtype=np.float32)
    with pytest.raises(ValueError, match="codes must be"):
        kernels.decode_parts(
            np.full((1, 2), 16, dtype=np.uint8), parts.codewords, parts.starts, out, 1
        )
