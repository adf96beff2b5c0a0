"""Scans give the bits of plain sums, and certified answers those of brute force.

Covers coterie.search._code_blocks and coterie.search._code_space.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from brute_twin import brute, nearest
from coterie import ProductQuantizer, VectorQuantizer
from coterie._kernels import kernels
from coterie.errors import AdviceWarning
from coterie.search import FlatIndex, PQIndex, pq
from coterie.search._code_blocks import as_bytes, from_blocks, to_blocks
from coterie.search._index import METRICS
from toy_quantizer import ToyQuantizer

RNG = np.random.default_rng(0)


def summed(codes: NDArray[np.uint8], tables: NDArray[np.float32]) -> NDArray[np.float32]:
    """The value of every code for every query, by the definition: float32, part after part."""
    total = np.zeros((len(tables), len(codes)), dtype=np.float32)
    for m in range(codes.shape[1]):
        total += tables[:, m, codes[:, m]]
    return total


def scanned(
    codes: NDArray[np.uint8], tables: NDArray[Any], k: int, ids: Any = None, n_threads: int = 2
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    bits = 8 if tables.shape[2] == 256 else 4
    ids = np.arange(len(codes)) if ids is None else ids
    dists, found = np.empty((len(tables), k)), np.empty((len(tables), k), dtype=np.int64)
    blocks = to_blocks(as_bytes(codes, bits))
    kernels.search_codes(blocks, ids, codes.shape[1], bits, tables, False, dists, found, n_threads)
    return dists, found


TABLES = {
    "plain": lambda t: t,
    "few values": lambda t: np.round(3 * t),
    "both signs, huge": lambda t: (t - 0.5) * 1e20,
    "zeros": lambda t: 0 * t,
    "one part tells": lambda t: t * np.where(np.arange(t.shape[1]) == 0, 1e6, 1)[:, None],
    "one entry is far": lambda t: np.where(np.arange(t.shape[2]) == 3, 1e12, t),
    "nearly alike": lambda t: 1e6 + t,
    "tiny": lambda t: t * 1e-40,
}


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", TABLES)
def test_scans_give_the_bits_of_plain_sums(bits: int, kind: str) -> None:
    shapes = [(1000, 16, 7, 10), (5000, 7, 33, 5), (300, 1, 3, 20), (70, 3, 2, 90),
              (9000, 32, 18, 100), (64, 2, 5, 64), (40_000, 5, 3, 4)]  # fmt: skip
    for n, n_parts, n_queries, k in shapes:
        codes = RNG.integers(0, 2**bits, (n, n_parts), dtype=np.uint8)
        tables = RNG.random((n_queries, n_parts, 2**bits))
        tables = np.ascontiguousarray(TABLES[kind](tables), dtype=np.float32)
        ids = RNG.permutation(2 * n)[:n]
        want = nearest(summed(codes, tables), ids, k)
        for n_threads in (1, 3):
            for part, other in zip(scanned(codes, tables, k, ids, n_threads), want, strict=True):
                assert_array_equal(part, other)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 400), n_parts=st.integers(1, 9), bits=st.sampled_from([4, 8]),
    n_queries=st.integers(1, 9), k=st.integers(1, 20), seed=st.integers(0, 2**32 - 1),
    width=st.sampled_from([1.0, 1e-3, 1e30]), levels=st.sampled_from([2, 5, 1000]),
)  # fmt: skip
def test_any_scan(
    n: int, n_parts: int, bits: int, n_queries: int, k: int, seed: int, width: float, levels: int
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**bits, (n, n_parts), dtype=np.uint8)
    whole = rng.integers(-levels, levels, (n_queries, n_parts, 2**bits))
    tables = (whole * width / levels).astype(np.float32)
    want = nearest(summed(codes, tables), np.arange(n), k)
    for part, other in zip(scanned(codes, tables, k), want, strict=True):
        assert_array_equal(part, other)


@pytest.mark.parametrize("n_parts", [1, 4, 5])
@pytest.mark.parametrize("bits", [4, 8])
def test_codes_come_back_from_blocks(n_parts: int, bits: int) -> None:
    for n in (0, 1, 64, 65, 200):
        codes = RNG.integers(0, 2**bits, (n, n_parts), dtype=np.uint8)
        rows = as_bytes(codes, bits)
        assert_array_equal(from_blocks(to_blocks(rows), n), rows)
        if bits == 4 and n_parts > 1:
            assert_array_equal(rows[:, 0], codes[:, 0] + 16 * codes[:, 1])


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_to_the_decoded_rows(metric: str, rotate: bool) -> None:
    X, Q = RNG.normal(size=(500, 11)), RNG.normal(size=(9, 11))
    if metric == "cosine":
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    quantizer = ToyQuantizer(X, 4, 8, rotate)
    found = PQIndex(quantizer, metric=metric, dtype="float64").add(X).search(Q, 7)
    books, codes = quantizer.codebooks_, quantizer.encode(X)
    decoded = np.hstack([book[codes[:, m]] for m, book in enumerate(books)]).astype(float)
    placed = quantizer.placed(Q)
    if metric == "cosine":
        placed /= np.linalg.norm(placed, axis=1, keepdims=True)
        want = 1 - placed @ decoded.T
    elif metric == "inner_product":
        want = -placed @ decoded.T
    else:
        want = np.square(placed[:, None] - decoded).sum(axis=2)
        want = np.sqrt(want) if metric == "euclidean" else want
    np.testing.assert_allclose(found.dists, np.sort(want, axis=1)[:, :7], rtol=1e-5, atol=1e-6)
    chosen = np.take_along_axis(want, found.ids, axis=1)
    np.testing.assert_allclose(chosen, found.dists, rtol=1e-5, atol=1e-6)


KINDS = {
    "plain": lambda X: X,
    "copies and zeros": lambda X: np.where(np.arange(len(X))[:, None] % 4, X[:1], 0),
    "whole numbers": np.round,
    "far from zero": lambda X: X + 1e4,
    "tight clusters": lambda X: np.round(X) * 50 + X * 0.01,
    "huge": lambda X: X * 1e15,
}


@pytest.mark.filterwarnings("ignore:.*rows of length one")  # any codes serve for a proof
@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS)
def test_certified_answers_are_exact(metric: str, kind: str, bits: int, rotate: bool) -> None:
    for n, d, k in [(700, 12, 10), (90, 7, 100)]:
        X, Q = (KINDS[kind](RNG.normal(size=(m, d))).astype(np.float32) for m in (n, 12))
        Q[0], Q[1] = X[5], 0
        quantizer = ToyQuantizer(X, 3, bits, rotate)
        index = PQIndex(quantizer, metric=metric, keep_rows=True).add(X)
        proved = index.search_certified(Q, k)
        dists, ids = brute(X, np.arange(n), Q, k, metric)
        assert_array_equal(proved.ids, ids)
        assert_array_equal(proved.dists, dists)
        assert (proved.n_compared <= n).all()
        assert (proved.n_compared >= min(k, n)).all()


def test_rows_that_are_held_are_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    true = pq.longest

    def seen(rows: Any, metric: str) -> float:
        measured.append(len(rows))
        return true(rows, metric)

    monkeypatch.setattr(pq, "longest", seen)
    X = RNG.normal(size=(300, 6)).astype(np.float32) * np.float32(9)
    index = PQIndex(ToyQuantizer(X, 2, 4), keep_rows=True)
    for row in X[:40]:
        index.add(row[None])
    assert measured == [1] * 40
    once = PQIndex(ToyQuantizer(X, 2, 4), keep_rows=True).add(X[:40])
    assert index._now.kept[2:] == once._now.kept[2:]
    with pytest.raises(ValueError, match="would belong to two rows"):
        index.add(1000 * X[:1], [30])
    for gone in (np.arange(20), np.arange(20, 39)):  # the longest among them, or not
        rest = np.setdiff1d(index.ids, gone)
        alone = PQIndex(ToyQuantizer(X, 2, 4), keep_rows=True).add(X[rest], rest)
        assert index.remove(gone)._now.kept[2:] == alone._now.kept[2:]
    assert pickle.loads(pickle.dumps(index))._now.kept[2:] == index._now.kept[2:]


@pytest.mark.parametrize("rotate", [False, True])
def test_codewords_that_are_too_long_for_cosine_are_told(rotate: bool) -> None:
    X = RNG.normal(size=(300, 6)) * 0.5
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    for bits in (4, 8):  # as many codewords as rows, almost
        fine = ProductQuantizer(1, bits=bits, rotate=rotate, n_iter=4, random_state=0).fit(units)
        PQIndex(fine, metric="cosine").add(X)
    wrong = ProductQuantizer(2, bits=4, rotate=rotate, random_state=0).fit(X * 3)
    with pytest.warns(AdviceWarning, match="cosine.*rows of length one, .*; fit it on rows over"):
        PQIndex(wrong, metric="cosine")
    PQIndex(wrong)


def test_good_codes_spare_most_rows() -> None:
    centers = RNG.normal(size=(16, 8)) * 20
    X = (centers[RNG.integers(16, size=4000)] + 0.01 * RNG.normal(size=(4000, 8))).astype("f4")
    index = PQIndex(ToyQuantizer(X, 1, 8), keep_rows=True).add(X)
    proved = index.search_certified(X[:40] + 0.005, 5)
    assert_array_equal(proved.ids, FlatIndex().add(X).search(X[:40] + 0.005, 5).ids)
    assert proved.n_compared.max() < 1000


def test_threads_change_neither_answers_nor_counts() -> None:
    X, Q = RNG.normal(size=(3000, 16)).astype("f4"), RNG.normal(size=(50, 16)).astype("f4")
    quantizer = ToyQuantizer(X, 4, 4)
    indexes = [PQIndex(quantizer, keep_rows=True, n_threads=n).add(X) for n in (1, 2, 5)]
    first = indexes[0].search(Q, 9), indexes[0].search_certified(Q, 9)
    for index in indexes[1:]:
        again = index.search(Q, 9), index.search_certified(Q, 9)
        for record, other in zip(first, again, strict=True):
            for part, its in zip(record, other, strict=True):
                assert_array_equal(part, its)


class CodesUnderIds(RuleBasedStateMachine):
    """Adds and removes, of codes and the rows behind them, against a dict of rows."""

    SAMPLE = np.random.default_rng(1).normal(size=(300, 6)).astype(np.float32)
    QUANTIZER = ToyQuantizer(SAMPLE, 3, 4)

    def __init__(self) -> None:
        super().__init__()
        self.index = PQIndex(self.QUANTIZER, keep_rows=True)
        self.twin: dict[int, Any] = {}
        self.next_id = 0
        self.rng = np.random.default_rng(0)

    @rule(n=st.integers(1, 150))
    def add(self, n: int) -> None:
        rows = self.rng.normal(size=(n, 6)).astype(np.float32)
        self.index.add(rows)
        self.twin.update(zip(range(self.next_id, self.next_id + n), rows, strict=True))
        self.next_id += n

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.twin:
            gone = data.draw(st.lists(st.sampled_from(sorted(self.twin)), max_size=90))
            self.index.remove(gone)
            for one in set(gone):
                del self.twin[one]

    @rule()
    def refuse(self) -> None:
        with pytest.raises(ValueError, match="would belong to two rows"):
            self.index.add(np.ones((3, 6)), [5000, 5001, 5001])

    @rule()
    def copy(self) -> None:
        self.index = pickle.loads(pickle.dumps(copy.deepcopy(self.index)))

    @invariant()
    def answers_as_the_dict(self) -> None:
        assert self.index.n_rows == len(self.twin)
        if not self.twin:
            return
        ids, rows = np.array([*self.twin]), np.array([*self.twin.values()])
        queries = self.SAMPLE[:3]
        proved = self.index.search_certified(queries, 4)
        for part, other in zip(proved, brute(rows, ids, queries, 4, "euclidean"), strict=False):
            assert_array_equal(part, other)
        tables, _ = self.index._space.tables(queries, 1)
        values = summed(self.QUANTIZER.encode(rows), tables)
        found = self.index.search(queries, 4)
        for part, other in zip(found, nearest(values, ids, 4, root=True), strict=True):
            assert_array_equal(part, other)


TestCodesUnderIds = CodesUnderIds.TestCase
TestCodesUnderIds.settings = settings(max_examples=25, stateful_step_count=10, deadline=None)


def test_what_is_refused_is_refused_in_a_sentence() -> None:
    X = RNG.normal(size=(300, 6)).astype(np.float32)
    quantizer = ToyQuantizer(X, 2, 4)
    with pytest.raises(ValueError, match="search_certified needs the rows and only codes are kept"):
        PQIndex(quantizer).add(X).search_certified(X, 2)
    with pytest.raises(ValueError, match="the quantizer is not fitted; call its fit"):
        PQIndex(ProductQuantizer())
    with pytest.raises(ValueError, match="32 codewords per part; use one of 4 or 8 bits"):
        PQIndex(ToyQuantizer(X, 2, 5))
    with pytest.raises(ValueError, match="rows of 6 columns and X has 2"):
        PQIndex(quantizer).add(X[:, :2])
    with pytest.raises(ValueError, match="no rows to search"):
        PQIndex(quantizer).search(X, 1)
    with pytest.raises(ValueError, match="that float32 overflows; scale"):
        PQIndex(quantizer).add(X).search(np.full((1, 6), 1e30), 1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_compared_where_there_are_any(frame: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    named = frame(dict(zip("abcd", X.T, strict=True)))
    quantizer = ProductQuantizer(2, bits=4, random_state=0).fit(named)
    index = PQIndex(quantizer, keep_rows=True).add(named).add(X)  # without a warning
    assert index.search(named, 1).ids.shape == (300, 1)
    np.testing.assert_array_equal(index.search(X, 1).ids, index.search(named, 1).ids)
    assert quantizer.feature_names_in_.tolist() == list("abcd")
    swapped = named[["b", "a", "c", "d"]]
    for ask in (index.add, lambda rows: index.search(rows, 1)):
        with pytest.raises(ValueError, match=r"column 0 of .* is 'b' and .* 'a'; pass the same"):
            ask(swapped)
    assert index.add(pd.DataFrame(X)).n_rows == 900  # columns without names


def test_columns_of_files_and_tables_are_found_by_name(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    named = pd.DataFrame(X, columns=list("abcd"))
    quantizer = ProductQuantizer(2, bits=4, random_state=0).fit(named)
    index = PQIndex(quantizer, keep_rows=True).add(named)
    swapped = named[["b", "a", "d", "c"]]
    swapped.to_parquet(tmp_path / "rows.parquet")
    expected = index.search(named, 3).ids
    np.testing.assert_array_equal(index.search(tmp_path / "rows.parquet", 3).ids, expected)
    table = pa.Table.from_pandas(swapped)
    with pytest.raises(ValueError, match="column 0 of queries is 'b'"):
        index.search(table, 3)


def test_advice_is_for_an_index() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    index = PQIndex(ProductQuantizer(2, bits=4, random_state=0).fit(X)).add(X)
    for bad, match in ((np.nan, "fill the cells first.$"), ("x", "encode them first.$")):
        wrong = X[:3].astype(object)
        wrong[1, 2] = bad
        with pytest.raises(ValueError, match=match) as refused:
            index.search(wrong, 1)
        assert "Mixture" not in str(refused.value)
    with pytest.raises(ValueError, match=r"filled\(...\)\)\.$"):
        index.add(np.ma.masked_greater(X, 1))


@pytest.mark.parametrize("other", [None, VectorQuantizer(2), 3])
def test_what_is_no_quantizer_of_parts_is_named(other: Any) -> None:
    with pytest.raises(TypeError, match=f"is a {type(other).__name__}, .* ProductQuantizer"):
        PQIndex(other)
