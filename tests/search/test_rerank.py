"""The nearest by code, compared exactly. Covers coterie.search._rerank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from brute_twin import brute, nearest, values_of
from coterie import ProductQuantizer
from coterie.errors import ParameterError
from coterie.search import IVFPQIndex, PQIndex
from coterie.search._index import METRICS
from coterie.search._rerank import keeps_rows, n_to_find
from toy_quantizer import ToyQuantizer

RNG = np.random.default_rng(0)
ROWS = np.round(4 * RNG.normal(size=(900, 8))).astype(np.float32)
QUERIES = np.round(4 * RNG.normal(size=(30, 8))).astype(np.float32)


def test_rows_are_kept_as_told_or_to_be_compared() -> None:
    assert [keeps_rows("PQIndex", *told) for told in ((False, None), (True, None), (0, 5))] == [
        False, True, True,
    ]  # fmt: skip
    toy = ToyQuantizer(ROWS, 3, 4)
    for make in (lambda: PQIndex(toy, keep_rows="no"), lambda: IVFPQIndex(keep_rows="no")):  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"Index: keep_rows='no' was given; use True or"):
            make()


def test_how_many_are_found() -> None:
    assert n_to_find(20, 5, 100) == 20
    assert n_to_find(20, 50, 100) == 50
    assert n_to_find(20, 500, 100) == 100


@pytest.mark.filterwarnings("ignore:.*rows of length one")  # whatever the codes find
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("metric", METRICS)
def test_the_nearest_rows_of_those_found_by_code(metric: str, bits: int, dtype: str) -> None:
    index = PQIndex(ToyQuantizer(ROWS, 3, bits), metric=metric, keep_rows=True, dtype=dtype)
    index.add(ROWS, ids=RNG.permutation(2000)[:900])
    row_of = {id_: row for row, id_ in enumerate(index.ids.tolist())}
    values = values_of(ROWS, QUERIES, metric)
    for rerank, k in [(1, 1), (40, 7), (5, 12)]:
        by_code = index.search(QUERIES, max(rerank, k)).ids
        found = index.search(QUERIES, k, rerank=rerank)
        for q, own in enumerate(by_code):
            of_own = values[q : q + 1, [row_of[id_] for id_ in own.tolist()]]
            dists, ids = nearest(of_own, own, k, metric == "euclidean")
            assert_array_equal(found.ids[q], ids[0])
            assert_array_equal(found.dists[q], dists[0])
    everything = index.search(QUERIES, 1000, rerank=900)
    exact = brute(ROWS, index.ids, QUERIES, 1000, metric)
    for part, other in zip(everything, exact, strict=True):
        assert_array_equal(part, other)


def test_an_index_remembers_to_rerank(tmp_path: Path) -> None:
    quantizer = ProductQuantizer(2, bits=4, n_iter=2, random_state=0).fit(ROWS)
    index = PQIndex(quantizer, rerank=60).add(ROWS)
    assert index.keep_rows
    index.save(tmp_path / "index")
    again = PQIndex.load(tmp_path / "index")
    want = PQIndex(quantizer, keep_rows=True).add(ROWS).search(QUERIES, 4, rerank=60)
    for one in (index, again):
        assert_array_equal(one.search(QUERIES, 4).ids, want.ids)
        assert_array_equal(one.kneighbors(QUERIES, 4, return_distance=False), want.ids)
    with pytest.raises(ValueError, match="rerank=3 needs the rows and only codes are kept; make"):
        PQIndex(quantizer).add(ROWS).search(QUERIES, 2, rerank=3)
    with pytest.raises(ValueError, match=r"rerank=1.5 was given; use None or a whole number"):
        PQIndex(quantizer, rerank=1.5)  # type: ignore[arg-type]
