"""Lists give the bits of plain sums, and with all rows compared those of brute force.

Covers coterie.search._coarse.
"""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from brute_twin import brute, nearest, values_of
from coterie.errors import FileError, ParameterError
from coterie.search import FlatIndex, IVFPQIndex, load
from coterie.search._index import METRICS
from coterie.search._lists import out_of_lists

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(30, 10)) * 3
ROWS = (CENTERS[RNG.integers(30, size=1500)] + RNG.normal(size=(1500, 10))).astype(np.float32)
QUERIES = (ROWS[:25] + 0.3 * RNG.normal(size=(25, 10))).astype(np.float32)


def lists_of(index: IVFPQIndex) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Of every row its list and its codes, one a byte."""
    labels, codes = out_of_lists(index._lists)
    if index.quantizer.bits == 4:
        codes = index.quantizer.unpack(codes)
    return labels, codes


def summed(index: IVFPQIndex, queries: NDArray[Any]) -> NDArray[np.float64]:
    """Values of all rows by the definition: float32, column by column and part by part."""
    labels, codes = lists_of(index)
    learned = index._learned
    assert learned is not None
    placed, centers, starts = learned.space.place(queries), learned.turned, learned.space.starts
    values = np.empty((len(queries), len(labels)))
    for q, query in enumerate(placed):
        for list_ in range(index.n_lists):
            inside = np.flatnonzero(labels == list_)
            squares = index.metric in ("euclidean", "sqeuclidean")
            residual = (query - centers[list_] if squares else query).astype(np.float32)
            total = np.zeros(len(inside), dtype=np.float32)
            for m in range(len(starts) - 1):
                entry = np.zeros(len(learned.words[0]), dtype=np.float32)
                for t in range(starts[m], starts[m + 1]):
                    words = learned.words[t]
                    entry += (residual[t] - words) ** 2 if squares else -(residual[t] * words)
                total += entry[codes[inside, m]]
            base = 0.0
            if not squares:
                for t in range(len(query)):
                    base -= query[t] * centers[list_, t]
            values[q, inside] = base + total.astype(np.float64)
    return values


def probed(index: IVFPQIndex, queries: NDArray[Any], nprobe: int) -> NDArray[np.bool_]:
    """Whether a query looks into the list of a row."""
    labels, _ = lists_of(index)
    assert index._learned is not None
    centers = index._learned.centers.astype(index.dtype)
    metric = "sqeuclidean" if index.metric in ("euclidean", "sqeuclidean") else "inner_product"
    _, lists = brute(centers, np.arange(len(centers)), queries, nprobe, metric)
    return np.array([np.isin(labels, own) for own in lists])


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize(("n_parts", "bits"), [(3, 8), (5, 4)])
@pytest.mark.parametrize("metric", METRICS)
def test_values_have_the_bits_of_plain_sums(
    metric: str, n_parts: int, bits: int, rotate: bool
) -> None:
    index = IVFPQIndex(20, n_parts, bits, metric=metric, rotate=rotate, random_state=0).fit(ROWS)
    index.add(ROWS, ids=RNG.permutation(3000)[:1500])
    values = summed(index, QUERIES)
    for nprobe, k in [(1, 3), (4, 20), (20, 1600)]:
        hidden = np.where(probed(index, QUERIES, nprobe), values, np.inf)
        dists, ids = nearest(hidden, index.ids, k, metric == "euclidean")
        ids[np.isinf(dists)] = -1
        found = index.search(QUERIES, k, nprobe=nprobe)
        assert_array_equal(found.ids, ids)
        assert_array_equal(found.dists, dists + 1 if metric == "cosine" else dists)


KINDS = {
    "plain": lambda X: X,
    "copies and zeros": lambda X: np.where(np.arange(len(X))[:, None] % 4, X[:1], 0),
    "whole numbers": np.round,
    "far from zero": lambda X: X + 1e4,
    "huge": lambda X: X * 1e15,
}


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS)
def test_all_lists_and_all_rows_compared_are_brute_force(metric: str, kind: str, bits: int) -> None:
    for n, d, k in [(700, 12, 10), (90, 7, 100)]:
        X, Q = (KINDS[kind](RNG.normal(size=(m, d))).astype(np.float32) for m in (n, 12))
        Q[0], Q[1] = X[5], 0
        index = IVFPQIndex(9, 3, bits, nprobe=9, rerank=n, metric=metric, random_state=0)
        found = index.fit(X).add(X).search(Q, k)
        dists, ids = brute(X, np.arange(n), Q, k, metric)
        assert_array_equal(found.ids, ids)
        assert_array_equal(found.dists, dists)


@pytest.mark.parametrize("metric", METRICS)
def test_reranking_gives_the_nearest_rows_of_those_found_by_code(metric: str) -> None:
    index = IVFPQIndex(15, 3, 4, nprobe=4, metric=metric, keep_rows=True, dtype="float64",
                       random_state=0).fit(ROWS).add(ROWS)  # fmt: skip
    by_code = index.search(QUERIES, 30).ids
    found = index.search(QUERIES, 5, rerank=30)
    values = values_of(ROWS, QUERIES.astype(np.float64), metric)
    for q, own in enumerate(by_code):
        dists, ids = nearest(values[q : q + 1, own], own, 5, metric == "euclidean")
        assert_array_equal(found.ids[q], ids[0])
        assert_array_equal(found.dists[q], dists[0])


def test_more_lists_find_nothing_farther_and_recall_grows() -> None:
    index = IVFPQIndex(30, 5, 8, rerank=200, random_state=0).fit(ROWS).add(ROWS)
    exact = FlatIndex().add(ROWS).search(QUERIES, 10)
    recalls = []
    for nprobe in (1, 3, 30):
        found = index.search(QUERIES, 10, nprobe=nprobe)
        assert (found.dists >= exact.dists).all()
        hits = [np.isin(a, b).mean() for a, b in zip(exact.ids, found.ids, strict=True)]
        recalls.append(np.mean(hits))
    assert recalls[0] <= recalls[1] <= recalls[2]
    assert recalls[2] > 0.99


def test_threads_and_other_queries_change_nothing() -> None:
    many = (ROWS[RNG.integers(1500, size=400)] + 0.1).astype(np.float32)
    indexes = [IVFPQIndex(25, 5, 8, nprobe=6, keep_rows=True, random_state=0, n_threads=n)
               for n in (1, 2, 5)]  # fmt: skip
    for index in indexes:
        index.fit(ROWS).add(ROWS)
    first = indexes[0].search(many, 7), indexes[0].search(many, 7, rerank=40)
    for index in indexes[1:]:
        again = index.search(many, 7), index.search(many, 7, rerank=40)
        for record, other in zip(first, again, strict=True):
            assert_array_equal(record.ids, other.ids)
            assert_array_equal(record.dists, other.dists)
    alone = np.vstack([indexes[1].search(many[i : i + 1], 7).ids for i in range(40)])
    assert_array_equal(alone, first[0].ids[:40])


def test_rows_come_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    path = tmp_path / "rows.npy"
    index = IVFPQIndex(12, 5, 4, random_state=0).fit(path).add(path)
    again = IVFPQIndex(12, 5, 4, random_state=0).fit(ROWS).add(ROWS)
    assert index.list_sizes.sum() == 1500
    assert_array_equal(index.search(path, 3).ids, again.search(ROWS, 3).ids)


class ListsUnderIds(RuleBasedStateMachine):
    """Adds and removes against a dict of rows."""

    FITTED = IVFPQIndex(7, 3, 4, nprobe=7, keep_rows=True, random_state=0).fit(ROWS[:300, :6])

    def __init__(self) -> None:
        super().__init__()
        self.index = copy.deepcopy(self.FITTED)
        self.twin: dict[int, Any] = {}
        self.next_id = 0
        self.rng = np.random.default_rng(0)

    @rule(n=st.integers(1, 150))
    def add(self, n: int) -> None:
        rows = self.rng.normal(size=(n, 6)).astype(np.float32) * 3
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
        assert self.index.n_rows == len(self.twin) == self.index.list_sizes.sum()
        if not self.twin:
            return
        ids, rows = np.array([*self.twin]), np.array([*self.twin.values()])
        queries = ROWS[:3, :6].copy()
        found = self.index.search(queries, 4, rerank=5000)
        for part, other in zip(found, brute(rows, ids, queries, 4, "euclidean"), strict=True):
            assert_array_equal(part, other)
        dists, nearest_ids = nearest(summed(self.index, queries), self.index.ids, 4, root=True)
        by_code = self.index.search(queries, 4)
        assert_array_equal(by_code.ids, nearest_ids)
        assert_array_equal(by_code.dists, dists)


TestListsUnderIds = ListsUnderIds.TestCase
TestListsUnderIds.settings = settings(max_examples=20, stateful_step_count=8, deadline=None)


@pytest.mark.parametrize("keep", [False, True])
def test_a_file_gives_the_same_answers_and_is_mapped(tmp_path: Path, keep: bool) -> None:
    index = IVFPQIndex(11, 3, nprobe=3, rerank=20 if keep else None, random_state=0).fit(ROWS)
    index.add(ROWS).save(tmp_path / "index")
    again = IVFPQIndex.load(tmp_path / "index")
    assert isinstance(again._now.lists.blocks, np.memmap)
    assert (again.nprobe, again.rerank, again.keep_rows) == (3, 20 if keep else None, keep)
    for part, other in zip(index.search(QUERIES, 5), again.search(QUERIES, 5), strict=True):
        assert_array_equal(part, other)
    again.remove([3, 4]).add(ROWS[3:4], [4])
    assert 4 in again.search(ROWS[3:4], 5, nprobe=11).ids
    empty = IVFPQIndex(11, 3, random_state=0).fit(ROWS)
    empty.save(tmp_path / "empty")
    assert IVFPQIndex.load(tmp_path / "empty").add(ROWS).n_rows == 1500


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "index"
    index = IVFPQIndex(4, 2, 4, keep_rows=True, random_state=0).fit(ROWS[:100, :4])
    index.add(ROWS[:70, :4]).save(path)
    return path


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_damage_is_noticed_or_does_no_harm(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[place:]
    bad = small.with_name("bad")
    bad.write_bytes(content)
    try:
        index = IVFPQIndex.load(bad, check=data.draw(st.booleans()))
    except FileError:
        return
    index.search(ROWS[:3, :4], 2)
    index.search(ROWS[:3, :4], 2, rerank=30)
    index.search_certified(ROWS[:3, :4], 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.update(n_lists=5), "its centres are not one per list"),
        (lambda told: told.update(nprobe=0), "nprobe=0 was given"),
        (lambda told: told.update(keep_rows=False), "nothing refers to its array"),
        (lambda told: told.update(dtype="float64"), "its rows are of another type"),
        (lambda told: told["quantizer"].update({"class": "KMeans"}), "KMeans"),
        (lambda told: told.pop("quantizer"), "damaged"),
    ],
)
def test_settings_that_contradict_the_arrays_are_refused(
    small: Path, change: Any, words: str
) -> None:
    content = small.read_bytes()
    size = int.from_bytes(content[:8], "little")
    layout = json.loads(content[8 : 8 + size])
    told = json.loads(layout["__metadata__"]["coterie-index"])
    del told["header_checksum"]
    change(told["settings"])
    layout["__metadata__"]["coterie-index"] = json.dumps(told)
    header = json.dumps(layout).encode()
    bad = small.with_name("tampered")
    bad.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + size :])
    with pytest.raises(FileError, match=words):
        IVFPQIndex.load(bad)


def test_what_is_refused_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="it has no lists yet; call fit with rows like those"):
        IVFPQIndex(5, 2).add(ROWS)
    with pytest.raises(ValueError, match="it has no lists yet"):
        IVFPQIndex(5, 2).save(tmp_path / "index")
    assert not list(tmp_path.iterdir())
    for name in ("n_lists", "nprobe"):
        with pytest.raises(ValueError, match=f"{name}=0 was given; use a whole number"):
            IVFPQIndex(**{name: 0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rerank=0 was given; use None or a whole number"):
        IVFPQIndex(rerank=0)
    with pytest.raises(ValueError, match="bits=5"):
        IVFPQIndex(bits=5)
    with pytest.raises(ValueError, match="n_lists=200 but X has 90 rows; lower n_lists"):
        IVFPQIndex(200, 2).fit(ROWS[:90])
    with pytest.raises(ValueError, match="n_subvectors=11 but X has 10 columns"):
        IVFPQIndex(5, 11).fit(ROWS)
    index = IVFPQIndex(5, 2, 4, random_state=0).fit(ROWS).add(ROWS)
    with pytest.raises(ValueError, match="asked to fit and has 1500 rows in its lists"):
        index.fit(ROWS)
    with pytest.raises(ValueError, match="rerank=9 needs the rows and only codes are kept"):
        index.search(ROWS, 2, rerank=9)
    with pytest.raises(ValueError, match="nprobe=-1 was given"):
        index.search(ROWS, 2, nprobe=-1)
    with pytest.raises(ValueError, match="rows of 10 columns and X has 2"):
        index.add(ROWS[:, :2])
    with pytest.raises(ValueError, match="that float32 overflows; scale"):
        index.search(np.full((1, 10), 1e30), 1)


def test_a_rotation_is_for_neighbors(tmp_path: Path) -> None:
    index = IVFPQIndex(20, 4, 4, rotate=True, random_state=0).fit(ROWS).add(ROWS)
    assert index.quantizer.rotate == "neighbors"
    index.save(tmp_path / "index")
    assert load(tmp_path / "index").quantizer.rotate == "neighbors"
    with pytest.raises(ParameterError, match="rotate"):
        IVFPQIndex(20, 4, 4, rotate="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["nan", "few", "narrow"])
def test_a_fit_that_fails_leaves_what_was_learned(bad: str) -> None:
    index = IVFPQIndex(8, 2, 4, nprobe=8, random_state=0).fit(ROWS)
    quantizer = index.quantizer
    other = {"nan": ROWS.copy(), "few": ROWS[:3].copy(), "narrow": ROWS[:, :1].copy()}[bad]
    other[0, 0] = np.nan if bad == "nan" else 1
    with pytest.raises(ValueError, match=r"^IVFPQIndex: "):
        index.fit(other)
    assert index.quantizer is quantizer
    same = IVFPQIndex(8, 2, 4, nprobe=8, random_state=0).fit(ROWS).add(ROWS)
    found = index.add(ROWS).search(ROWS[:20], 4)
    for part, expected in zip(found, same.search(ROWS[:20], 4), strict=True):
        assert_array_equal(part, expected)


def test_errors_name_the_class_that_was_called() -> None:
    with pytest.raises(ValueError, match=r"^IVFPQIndex: n_subvectors=99 but X has \d+ columns"):
        IVFPQIndex(8, 99).fit(ROWS)
    with pytest.raises(ParameterError, match=r"^IVFPQIndex: bits=5 was given; use 8 or 4"):
        IVFPQIndex(8, 2, 5)
    with pytest.raises(NotFittedError, match=r"^IVFPQIndex: it has no lists yet; call fit"):
        IVFPQIndex(8, 2).add(ROWS)


@pytest.mark.parametrize("method", ["_state", "_code_lists"])
def test_ctrl_c_while_lists_are_published_leaves_the_old(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = IVFPQIndex(8, 2, 4, nprobe=8, keep_rows=True, random_state=0).fit(ROWS).add(ROWS[:300])
    expected = index.search(QUERIES, 4)

    def interrupted(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    def published_first(self: IVFPQIndex) -> Any:
        true(self)
        raise KeyboardInterrupt

    true = IVFPQIndex._state
    with monkeypatch.context() as patch:
        if method == "_state":
            patch.setattr(IVFPQIndex, "_state", published_first)
        else:
            patch.setattr("coterie.search._list_state._code_lists", interrupted)
        with pytest.raises(KeyboardInterrupt):
            index.add(ROWS[300:])
    assert index.n_rows == int(index.list_sizes.sum()) == 300
    assert_array_equal(index.search(QUERIES, 4).ids, expected.ids)
    assert index.remove([0]).add(ROWS[:1], [0]).add(ROWS[300:]).n_rows == len(ROWS)
