"""Rows that come and go under ids, held to a dict of rows. Covers coterie.search._index."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.testing import assert_array_equal

from brute_twin import brute
from coterie import ProductQuantizer
from coterie.errors import ParameterError
from coterie.search import FlatIndex, IVFPQIndex, PQIndex


class RowsUnderIds(RuleBasedStateMachine):
    """Adds and removes, each followed by the same question to the index and to the dict."""

    def __init__(self) -> None:
        super().__init__()
        self.index = FlatIndex()
        self.twin: dict[int, Any] = {}
        self.next_id = 0
        self.rng = np.random.default_rng(0)

    @rule(n=st.integers(1, 70))
    def add(self, n: int) -> None:
        rows = self.rng.integers(-2, 3, size=(n, 4)).astype(np.float32)
        self.index.add(rows)
        self.twin.update(zip(range(self.next_id, self.next_id + n), rows, strict=True))
        self.next_id += n

    @rule(ids=st.lists(st.integers(0, 300), min_size=1, max_size=30, unique=True))
    def add_under_ids(self, ids: list[int]) -> None:
        rows = self.rng.integers(-2, 3, size=(len(ids), 4)).astype(np.float32)
        if self.twin.keys() & set(ids):
            with pytest.raises(ValueError, match="would belong to two rows; remove"):
                self.index.add(rows, ids)
            return
        self.index.add(rows, ids)
        self.twin.update(zip(ids, rows, strict=True))
        self.next_id = max(self.next_id, max(ids) + 1)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.twin:
            gone = data.draw(st.lists(st.sampled_from(sorted(self.twin)), max_size=40))
            self.index.remove(gone)
            for one in set(gone):
                del self.twin[one]

    @rule()
    def refuse(self) -> None:
        before = self.index.n_rows
        with pytest.raises(ValueError, match="contains NaN"):
            self.index.add([[0.0, 1, 2, np.nan]])
        with pytest.raises(ValueError, match="id 999 was to be removed and no row has it"):
            self.index.remove([999])
        assert self.index.n_rows == before

    @rule()
    def copy(self) -> None:
        self.index = pickle.loads(pickle.dumps(copy.deepcopy(self.index)))

    @invariant()
    def answers_as_the_dict(self) -> None:
        assert len(self.index) == self.index.n_rows == len(self.twin)
        assert sorted(self.index.ids.tolist()) == sorted(self.twin)
        if not self.twin:
            return
        ids, rows = np.array([*self.twin]), np.array([*self.twin.values()])
        queries = np.array([[0.0, 0, 0, 0], [1, -1, 2, 0.5]], dtype=np.float32)
        dists, found = brute(rows, ids, queries, 6, "euclidean")
        answer = self.index.search(queries, 6)
        assert_array_equal(answer.ids, found)
        assert_array_equal(answer.dists, dists)


TestRowsUnderIds = RowsUnderIds.TestCase
TestRowsUnderIds.settings = settings(max_examples=40, stateful_step_count=12, deadline=None)


@pytest.fixture
def index() -> FlatIndex:
    return FlatIndex().add([[0.0, 0], [1, 0], [5, 5]])


def test_what_is_refused_is_refused_in_a_sentence(index: FlatIndex) -> None:
    with pytest.raises(
        ValueError, match=r"^FlatIndex: it has no rows to search; add some first\.$"
    ):
        FlatIndex().search([[1.0]], 1)
    with pytest.raises(ValueError, match="it has no rows to search"):
        FlatIndex().add([[1.0]]).remove([0]).search([[1.0]], 1)
    with pytest.raises(ValueError, match="rows of 2 columns and queries has 3; pass rows with"):
        index.search([[1.0, 2, 3]], 1)
    with pytest.raises(ValueError, match="rows of 2 columns and X has 1; pass rows with"):
        index.add([[1.0]])
    with pytest.raises(ValueError, match="queries contains NaN"):
        index.search([[np.nan, 1]], 1)
    with pytest.raises(ValueError, match="infinity"):
        index.add(np.array([[1e300, 1]]))
    for k in (0, -1, 1.5, None):
        with pytest.raises(ValueError, match=f"k={k} was asked for; use a whole number"):
            index.search([[1.0, 2]], k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 ids were given for 1 rows; pass one id per row"):
        index.add([[1.0, 2]], [7, 8])
    with pytest.raises(ValueError, match="id 4 would belong to two rows"):
        index.add([[1.0, 2], [3, 4]], [4, 4])
    with pytest.raises(ValueError, match="id -3 was given; use whole numbers from 0 on"):
        index.add([[1.0, 2]], [-3])
    with pytest.raises(ValueError, match="pass a list of whole numbers"):
        index.add([[1.0, 2]], [0.5])
    with pytest.raises(ValueError, match=rf"id {2**63 - 1} was given; use whole numbers below"):
        index.add([[1.0, 2]], [2**63 - 1])
    batches = iter([[[1.0, 2]]])
    with pytest.raises(ValueError, match=r"X is a list_iterator, .*, with add\(batch\) for each"):
        index.add(batches)
    with pytest.raises(ValueError, match=r"queries is a list_iterator, .* with search\(batch, k\)"):
        index.search(batches, 1)
    with pytest.raises(ValueError, match="metric='manhattan' was given; use one of"):
        FlatIndex(metric="manhattan")
    with pytest.raises(ValueError, match="use 'float32' or 'float64'"):
        FlatIndex(dtype="int8")
    assert index.ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["banana", "int8", 3.5])
def test_types_that_are_not_kept_are_refused(dtype: Any) -> None:
    with pytest.raises(ParameterError, match="use 'float32' or 'float64'"):
        FlatIndex(dtype=dtype)


def test_ids_go_on_from_the_largest_ever(index: FlatIndex) -> None:
    index.remove([2]).add([[9.0, 9]])
    assert index.ids.tolist() == [0, 1, 3]
    assert index.add([[8.0, 8]], [50]).add([[7.0, 7]]).ids.tolist() == [0, 1, 3, 50, 51]


def test_a_failed_first_add_leaves_no_columns() -> None:
    index = FlatIndex()
    with pytest.raises(ValueError, match="NaN"):
        index.add([[np.nan]])
    assert index.n_features is None
    assert index.add([[1.0, 2]]).n_features == 2


def test_rows_come_from_files_block_by_block(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    np.save(tmp_path / "x.npy", X)
    answer = FlatIndex(dtype="float64").add(tmp_path / "x.npy").search(tmp_path / "x.npy", 2)
    assert answer.ids[:, 0].tolist() == list(range(500))


def test_kneighbors_answers_as_scikit_learns() -> None:
    from sklearn.neighbors import NearestNeighbors

    X = np.random.default_rng(0).normal(size=(200, 5))
    theirs = NearestNeighbors().fit(X).kneighbors(X[:20], 4)
    index = FlatIndex(dtype="float64").add(X)
    dists, ids = index.kneighbors(X[:20], 4)
    assert_array_equal(ids, theirs[1])
    np.testing.assert_allclose(dists, theirs[0], atol=1e-7)
    assert_array_equal(index.kneighbors(X[:20], 4, return_distance=False), ids)


def _empty(kind: str, X: Any) -> Any:
    """An index without rows, for rows like these."""
    if kind == "flat":
        return FlatIndex()
    if kind == "pq":
        return PQIndex(ProductQuantizer(2, bits=4, random_state=0).fit(X), keep_rows=True)
    return IVFPQIndex(4, 2, 4, nprobe=4, keep_rows=True, random_state=0).fit(X)


def _made(kind: str) -> Any:
    X = np.random.default_rng(0).normal(size=(100, 4))
    return _empty(kind, X).add(X)


@pytest.mark.parametrize("kind", ["flat", "pq", "ivf"])
def test_many_threads_may_ask_while_one_adds_and_removes(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(403, 8)).astype(np.float32)
    index = _empty(kind, np.concatenate([X, X + 100])).add(X)  # codes know far from near
    before = index.search(X[:50], 3)
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                for part, other in zip(index.search(X[:50], 3), before, strict=True):
                    assert_array_equal(part, other)
                if kind != "flat":
                    proved = index.search_certified(X[:50], 1)
                    assert proved.ids[:, 0].tolist() == list(range(50))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(30):
        index.add(rng.normal(size=(1 + 7 * i % 90, 8)) + 100)
        with pytest.raises(ValueError, match="would belong to two rows"):
            index.add(np.ones((3, 8)), [0, 1, 2])
        if i % 2:
            index.remove(index.ids[403:])
    done.set()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("kind", ["flat", "pq", "ivf"])
def test_columns_that_have_names_are_compared_by_them(kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 4))
    named = pd.DataFrame(X, columns=list("abcd"))
    swapped = named[["b", "a", "c", "d"]]
    swapped.assign(e="text").to_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", X)
    index = _empty(kind, named).add(named)
    wanted = index.search(X, 3)
    index.save(tmp_path / "index")
    for one in (index, type(index).load(tmp_path / "index"), pickle.loads(pickle.dumps(index))):
        for ask in (one.add, lambda rows, one=one: one.search(rows, 1)):
            with pytest.raises(
                ValueError, match=r"column 0 of .* is 'b' and that of the index 'a'"
            ):
                ask(swapped)
        for rows in (X, named, tmp_path / "rows.parquet", tmp_path / "rows.npy"):
            assert_array_equal(one.search(rows, 3).ids, wanted.ids)


def test_names_are_those_of_the_first_rows(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(10, 2))
    index = FlatIndex()
    with pytest.raises(ValueError, match="NaN"):  # and its names are forgotten with it
        index.add(pd.DataFrame({"a": [np.nan], "b": [1.0]}))
    index.add(pd.DataFrame(X, columns=["b", "a"])).add(X)
    assert index.search(pd.DataFrame(X, columns=["b", "a"]), 1).ids.shape == (10, 1)
    pd.DataFrame(X, columns=["b", "a"]).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match="column 0 of queries is 'a' and that of the index 'b'"):
        FlatIndex().add(tmp_path / "rows.csv").search(pd.DataFrame(X, columns=["a", "b"]), 1)
    unnamed = FlatIndex().add(X).add(pd.DataFrame(X, columns=["b", "a"]))
    assert unnamed.search(pd.DataFrame(X, columns=["a", "b"]), 1).ids.shape == (10, 1)


def test_an_index_says_what_it_is() -> None:
    assert repr(FlatIndex(metric="cosine")) == "<FlatIndex: 0 rows, cosine>"
    assert repr(_made("ivf")) == (
        "<IVFPQIndex: 100 rows of 4 columns, euclidean, 4 lists of 2 x 4 bit, nprobe 4, keeps rows>"
    )
    assert repr(_made("pq")) == "<PQIndex: 100 rows of 4 columns, euclidean, 2 x 4 bit, keeps rows>"
    assert repr(IVFPQIndex(2000, rerank=50)) == (
        "<IVFPQIndex: 0 rows, euclidean, 2,000 lists of 8 x 8 bit, nprobe 8, rerank 50>"
    )
    assert repr(PQIndex(_made("pq").quantizer)).endswith("euclidean, 2 x 4 bit>")


def test_a_loaded_index_says_the_same(tmp_path: Path) -> None:
    for kind in ("flat", "pq", "ivf"):
        index = _made(kind)
        index.save(tmp_path / kind)
        assert repr(type(index).load(tmp_path / kind)) == repr(index)


@pytest.mark.parametrize("kind", ["flat", "pq", "ivf"])
@pytest.mark.parametrize("change", ["add", "remove"])
def test_what_is_interrupted_at_its_end_has_not_happened(
    kind: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = _made(kind)
    Q = np.random.default_rng(1).normal(size=(5, 4))
    before = index.search(Q, 3)

    def interrupted() -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(index), "_state", lambda self: interrupted())
        with pytest.raises(KeyboardInterrupt):
            index.add(Q) if change == "add" else index.remove([0, 1, 2])
    assert index.ids.tolist() == [*range(100)]
    assert_array_equal(index.search(Q, 3).ids, before.ids)
    index.add(Q)
    assert_array_equal(index.ids, np.arange(105))
    assert index.remove([*range(100, 105)]).n_rows == 100
    assert_array_equal(index.search(Q, 3).ids, before.ids)
