"""Quantizers and indexes over files and clusters: what they find in memory, or a sentence.

Covers coterie.quantize._tree_search, coterie.quantize._training_rows, coterie.search._incoming.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("distributed")
import dask.array as da
import pyarrow as pa
import pyarrow.parquet

from clusters import left_on, nothing_is_left, small_cluster
from coterie import HierarchicalKMeans, ProductQuantizer, VectorQuantizer
from coterie.search import FlatIndex, IVFPQIndex, PQIndex

RNG = np.random.default_rng(0)
ROWS = (RNG.normal(size=(9, 6))[RNG.integers(9, size=600)] * 4 + RNG.normal(size=(600, 6))).astype(
    np.float32
)
QUERIES = ROWS[:20] + np.float32(0.1)
TREE = HierarchicalKMeans(3, 2, random_state=0).fit(ROWS)
PARTS = ProductQuantizer(3, bits=4, random_state=0).fit(ROWS)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with small_cluster() as client:
        yield client


def codebook(X: Any) -> tuple[Any, ...]:
    model = VectorQuantizer(8, init="k-means||", random_state=0).fit(X)
    return model.codebook_, model.encode(X), model.distortion(X)


def sampled_codebook(X: Any) -> tuple[Any, ...]:
    model = VectorQuantizer(8, n_training_rows=100, random_state=0).fit(X)
    return model.codebook_, model.encode(X), model.distortion(X)


def tree(X: Any) -> tuple[Any, ...]:
    model = HierarchicalKMeans(3, 2, random_state=0).fit(X)
    return model.tree_centers_, model.labels_, model.inertia_, model.predict(X), model.score(X)


def rows_at_leaves(X: Any) -> tuple[Any, ...]:
    held = HierarchicalKMeans(3, 2, random_state=0).fit(ROWS).add(X)
    return (*held.search(QUERIES, 4, beam=3), held.leaf_rows_, held.leaf_row_ids_)


def parts(X: Any) -> tuple[Any, ...]:
    model = ProductQuantizer(3, bits=4, random_state=0).fit(X)
    return model.codewords_, model.encode(X), model.part_distortions(X)


def rotated(X: Any) -> tuple[Any, ...]:
    model = ProductQuantizer(3, bits=4, rotate=True, random_state=0).fit(X)
    return model.codewords_, model.rotation_, model.encode(X), model.part_distortions(X)


def table_distances(X: Any) -> tuple[Any, ...]:
    return (PARTS.asymmetric_distances(X, PARTS.encode(QUERIES)),)


def flat(X: Any) -> tuple[Any, ...]:
    return tuple(FlatIndex().add(X).search(QUERIES, 5))


def flat_asked(X: Any) -> tuple[Any, ...]:
    return tuple(FlatIndex().add(QUERIES).search(X, 5))


def codes(X: Any) -> tuple[Any, ...]:
    return tuple(PQIndex(PARTS, rerank=20).add(X).search(QUERIES, 5))


def lists(X: Any) -> tuple[Any, ...]:
    index = IVFPQIndex(4, 3, 4, rerank=20, random_state=0).fit(X).add(X)
    return tuple(index.search(QUERIES, 5))


METHODS: list[Callable[[Any], tuple[Any, ...]]] = [
    codebook, sampled_codebook, tree, rows_at_leaves, parts, rotated, table_distances, flat,
    flat_asked, codes, lists,
]  # fmt: skip


def same(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    """Arrays bit by bit; sums over rows but for the order in which blocks are added."""
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        if np.asarray(theirs).dtype == np.float64:
            assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
        else:
            assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_parquet(method: Any, tmp_path: Path) -> None:
    columns = {f"c{i}": ROWS[:, i] for i in range(6)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=100)
    same(method(str(tmp_path / "x.parquet")), method(ROWS))


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_a_cluster(method: Any, client: Any) -> None:
    with client.as_current():
        same(method(da.from_array(ROWS, chunks=((7, 0, 411, 1, 181), (4, 2)))), method(ROWS))
        assert nothing_is_left(client), left_on(client)


def test_a_tree_that_holds_rows_of_a_cluster(client: Any) -> None:
    wanted = HierarchicalKMeans(3, 2, store_rows=True, random_state=0).fit(ROWS)
    with client.as_current():
        given = da.from_array(ROWS, chunks=(250, 6))
        found = HierarchicalKMeans(3, 2, store_rows=True, random_state=0).fit(given)
        same(found.search(QUERIES, 4), wanted.search(QUERIES, 4))
        bags = TREE.bag_of_words(given, np.arange(600) % 5)
        assert (bags != TREE.bag_of_words(ROWS, np.arange(600) % 5)).nnz == 0


@pytest.mark.parametrize("n_rows", [0, 1])
def test_lists_of_too_few_rows_are_refused_in_a_sentence(n_rows: int) -> None:
    with pytest.raises(ValueError, match=r"IVFPQIndex: .*; .*pass"):
        IVFPQIndex(4, 3, 4).fit(ROWS[:n_rows])


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_files_without_rows_add_nothing_and_ask_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"none.{kind}"
    if kind == "npy":
        np.save(path, np.empty((0, 3)))
    else:
        pd.DataFrame(np.empty((0, 3)), columns=list("abc")).to_parquet(path)
    index = FlatIndex().add(path)
    assert index.n_rows == 0
    assert index.add(np.eye(3)).add(path).search(path, 2).ids.shape == (0, 2)
