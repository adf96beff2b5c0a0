"""Dask collections: the fits of rows in memory, whatever the chunks and the scheduler.

Covers coterie.data._tasks, coterie.data._groups.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd

import coterie
from clusters import in_force, left_on, nothing_is_left, small_cluster
from coterie import BisectingKMeans, GaussianMixture, KMeans, MiniBatchKMeans, kmeans_plusplus
from coterie.data import as_source
from coterie.data._groups import ADDED_AT_ONCE, add_tree
from coterie.errors import DataError

SCHEDULERS = ["threads", "synchronous", "cluster"]
#: Rows of each chunk: one block, even ones, odd ones with an empty block among them, single rows.
CHUNKS = {
    "one": (600,),
    "even": (200, 200, 200),
    "odd": (7, 0, 411, 1, 181),
    "many": (20,) * 30,
}


def blobs(dtype: Any = np.float64, n_rows: int = 600, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-8, 8, size=(5, 3))
    return (middles[rng.integers(5, size=n_rows)] + rng.normal(size=(n_rows, 3))).astype(dtype)


def chunked(rows: Any, chunks: Any) -> Any:
    """A Dask array of exactly these chunks, empty ones too; columns in two chunks."""
    return da.from_array(rows, chunks=(chunks, (2, 1)))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with small_cluster() as client:
        yield client


@pytest.fixture(params=SCHEDULERS)
def scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each scheduler in turn is the one in force."""
    with in_force(request) as name:
        yield name


@pytest.fixture
def threads() -> Iterator[None]:
    with dask.config.set(scheduler="threads"):
        yield


def same_fit(ours: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(ours.cluster_centers_, wanted.cluster_centers_)
    assert ours.cluster_centers_.dtype == wanted.cluster_centers_.dtype
    assert ours.inertia_ == pytest.approx(wanted.inertia_, rel=1e-12)
    assert isinstance(ours.labels_, da.Array)
    assert ours.labels_.dtype == wanted.labels_.dtype
    np.testing.assert_array_equal(ours.labels_.compute(), wanted.labels_)


def test_workers_run_the_same_package(client: Any) -> None:
    found = client.run(lambda: __import__("coterie").__file__)
    assert set(found.values()) == {coterie.__file__}
    assert len(found) == 2


@pytest.mark.parametrize("init", ["given", "random", "k-means||", "box", "farthest-first"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_is_that_of_rows_in_memory(scheduler: str, init: str, dtype: Any) -> None:
    rows = blobs(dtype)
    model = KMeans(5, init=rows[:5] if init == "given" else init, n_init=1, random_state=3)
    wanted = coterie_clone(model).fit(rows)
    for cuts in CHUNKS.values() if scheduler == "synchronous" else [CHUNKS["odd"]]:
        same_fit(model.fit(chunked(rows, cuts)), wanted)


@pytest.mark.parametrize("cuts", CHUNKS)
@pytest.mark.parametrize("lazily", [False, True])
def test_weights_count_as_in_memory(threads: None, cuts: str, lazily: bool) -> None:
    rows = blobs()
    weights = np.random.default_rng(1).integers(0, 4, size=600) * 0.37
    wanted = KMeans(4, init="k-means||", random_state=0).fit(rows, sample_weight=weights)
    given = da.from_array(weights, chunks=70) if lazily else weights
    ours = KMeans(4, init="k-means||", random_state=0)
    same_fit(ours.fit(chunked(rows, CHUNKS[cuts]), sample_weight=given), wanted)
    score = ours.score(chunked(rows, CHUNKS[cuts]), sample_weight=given)
    assert score == pytest.approx(wanted.score(rows, sample_weight=weights), rel=1e-12)


def test_weights_travel_once_and_are_freed(client: Any) -> None:
    rows, weights = blobs(), np.random.default_rng(1).uniform(size=600)
    wanted = KMeans(4, init=rows[:4]).fit(rows, sample_weight=weights)
    with client.as_current():
        source = as_source(chunked(rows, CHUNKS["even"]), weights)
        source.total(weight_of)
        held = source._cache.weights
        assert len(held) == 3
        source.total(weight_of)
        assert source._cache.weights is held
        del source, held
        assert nothing_is_left(client), left_on(client)
        same_fit(
            KMeans(4, init=rows[:4]).fit(chunked(rows, CHUNKS["odd"]), sample_weight=weights),
            wanted,
        )
        assert nothing_is_left(client), left_on(client)


def weight_of(block: Any) -> float:
    return float(block.weights.sum())


def test_as_many_weights_as_rows(threads: None) -> None:
    with pytest.raises(ValueError, match=r"sample_weight\.shape == \(599,\), expected \(600,\)"):
        KMeans(2).fit(chunked(blobs(), CHUNKS["odd"]), sample_weight=np.ones(599))


def test_predict_transform_and_score(scheduler: str) -> None:
    rows, others = blobs(), blobs(seed=1)
    wanted = KMeans(5, init=rows[:5]).fit(rows)
    lazy = chunked(others, CHUNKS["odd"])
    labels, dists = wanted.predict(lazy), wanted.transform(lazy)
    assert labels.shape == (600,)
    assert labels.chunks == (CHUNKS["odd"],)
    assert dists.shape == (600, 5)
    np.testing.assert_array_equal(labels.compute(), wanted.predict(others))
    np.testing.assert_array_equal(dists.compute(), wanted.transform(others))
    np.testing.assert_array_equal(labels[300:310].compute(), wanted.predict(others)[300:310])
    assert wanted.score(lazy) == pytest.approx(wanted.score(others), rel=1e-12)


def test_nothing_is_computed_by_predict(threads: None) -> None:
    model = KMeans(3, init=blobs()[:3]).fit(blobs())
    never = da.zeros((600, 3), chunks=(200, 3)).map_blocks(fail, meta=np.empty((0, 0)))
    labels = model.predict(never)
    with pytest.raises(ZeroDivisionError):
        labels.compute()


def fail(block: Any) -> Any:
    raise ZeroDivisionError("of purpose")


@pytest.mark.parametrize("weighted", [False, True])
def test_bisecting_is_that_of_rows_in_memory(scheduler: str, weighted: bool) -> None:
    rows = blobs()
    weights = np.random.default_rng(1).integers(0, 4, size=600) * 0.5 if weighted else None
    model = BisectingKMeans(4, random_state=0)
    wanted = coterie_clone(model).fit(rows, sample_weight=weights)
    same_fit(model.fit(chunked(rows, CHUNKS["odd"]), sample_weight=weights), wanted)
    np.testing.assert_array_equal(model.tree_centers_, wanted.tree_centers_)
    lazy = model.predict(chunked(rows, CHUNKS["even"]))
    np.testing.assert_array_equal(lazy.compute(), wanted.labels_)


def test_cosine_is_that_of_rows_in_memory(scheduler: str) -> None:
    rows = blobs()
    model = KMeans(4, init=rows[:4], metric="cosine")
    wanted = coterie_clone(model).fit(rows)
    same_fit(model.fit(chunked(rows, CHUNKS["odd"])), wanted)


def test_minibatch_runs_and_does_not_depend_on_chunks(scheduler: str) -> None:
    rows = blobs()
    fits = [
        MiniBatchKMeans(5, random_state=0, batch_size=64, max_iter=5).fit(chunked(rows, cuts))
        for cuts in (CHUNKS["odd"], CHUNKS["even"])
    ]
    np.testing.assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    best = KMeans(5, random_state=0).fit(rows).inertia_
    assert fits[0].inertia_ < 2 * best


def test_kmeans_plusplus_does_not_depend_on_chunks(scheduler: str) -> None:
    rows = blobs()
    weights = np.random.default_rng(1).uniform(size=600)
    found = [
        kmeans_plusplus(chunked(rows, cuts), 6, random_state=0, sample_weight=weights)
        for cuts in (CHUNKS["one"], CHUNKS["odd"])
    ]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][0], rows[found[0][1]])


@pytest.mark.parametrize("mixture", [GaussianMixture(3, random_state=0)], ids=repr)
def test_mixtures_are_those_of_rows_in_memory(scheduler: str, mixture: Any) -> None:
    rows = blobs()
    # All of the start is given: k-means++ draws other rows where rows are not in memory.
    start = {"means_init": rows[:3], "weights_init": np.full(3, 1 / 3)}
    mixture = coterie_clone(mixture).set_params(precisions_init=np.stack([np.eye(3)] * 3), **start)
    wanted = coterie_clone(mixture).fit(rows)
    ours = coterie_clone(mixture).fit(chunked(rows, CHUNKS["odd"]))
    np.testing.assert_allclose(ours.means_, wanted.means_, rtol=1e-9)
    np.testing.assert_allclose(ours.covariances_, wanted.covariances_, rtol=1e-9, atol=1e-9)
    labels = ours.predict(chunked(rows, CHUNKS["even"]))
    np.testing.assert_array_equal(np.asarray(labels), wanted.predict(rows))


@pytest.mark.parametrize("n_blocks", [1, 2, 8, 9, 65, 600])
def test_sums_have_one_shape_and_their_order(n_blocks: int) -> None:
    layer: dict[Any, Any] = {}
    root = add_tree(layer, [("name", "block", at) for at in range(n_blocks)])

    def leaves(key: Any) -> list[int]:
        if key[1] == "block":
            return [key[2]]
        parts = layer[key].args
        assert len(parts) <= ADDED_AT_ONCE
        return [leaf for part in parts for leaf in leaves(part.key)]

    assert leaves(root) == list(range(n_blocks))


def test_only_the_sum_comes_back_and_floats_add_in_one_order(client: Any) -> None:
    rows = (
        np.random.default_rng(0).uniform(size=(600, 3)) * 10.0 ** np.arange(-8, 16, 0.04)[:, None]
    )
    totals = set()
    for scheduler in ("threads", "synchronous", client):
        with dask.config.set(scheduler=scheduler):
            totals.add(as_source(da.from_array(rows, chunks=(20, 3))).total(add_all))
    assert len(totals) == 1
    assert totals.pop() == pytest.approx(rows.sum(), rel=1e-12)


def add_all(block: Any) -> float:
    return float(block.rows.sum())


def test_a_persisted_collection_is_not_read_twice(client: Any, tmp_path: Path) -> None:
    with client.as_current():
        noted = da.from_array(blobs(), chunks=(200, 3)).map_blocks(
            note, tmp_path, meta=np.empty((0, 0))
        )
        kept = noted.persist()
        KMeans(5, init=blobs()[:5]).fit(kept).labels_.compute()
        assert len(list(tmp_path.iterdir())) == 3
        del kept
        gc.collect()  # a fit leaves cycles behind
        assert nothing_is_left(client), left_on(client)  # a cluster forgets when it gets to it
        source = as_source(noted)
        source.total(add_all)
        assert len(list(tmp_path.iterdir())) == 6
        del source
        assert nothing_is_left(client), left_on(client)


def note(block: Any, folder: Path) -> Any:
    import uuid

    (folder / uuid.uuid4().hex).touch()
    return block


def test_kernels_use_the_threads_of_a_worker(client: Any, threads: None) -> None:
    array = da.from_array(blobs(), chunks=(200, 3))
    assert as_source(array, n_threads=7).total(threads_of) == {1}
    with small_cluster(1, processes=False, threads_per_worker=2), dask.config.set(scheduler=None):
        assert as_source(array).total(threads_of) == {2}


def threads_of(block: Any) -> Any:
    return Those({block.n_threads})


class Those(set[int]):
    """A set whose sum is the union."""

    def __add__(self, other: Those) -> Those:
        return Those(self | other)


def test_data_frames_are_rows_with_names(scheduler: str) -> None:
    table = pd.DataFrame(blobs(), columns=["a", "b", "c"])
    frame = dd.from_pandas(table, npartitions=7)
    frame = frame[frame.a > -1e9]  # whose lengths nobody knows
    model = KMeans(5, init=blobs()[:5])
    wanted = coterie_clone(model).fit(table)
    same_fit(model.fit(frame, sample_weight=None), wanted)
    assert model.labels_.shape == (600,)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    np.testing.assert_array_equal(model.predict(frame).compute(), wanted.labels_)


def test_types_of_numbers_are_as_in_memory(threads: None) -> None:
    small = pd.DataFrame({"a": np.arange(9, dtype=np.float32), "b": np.arange(9, dtype=np.int8)})
    assert as_source(dd.from_pandas(small, npartitions=2)).dtype == np.float32
    whole = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True]})
    source = as_source(dd.from_pandas(whole, npartitions=2))
    assert source.dtype == np.float64
    np.testing.assert_array_equal(source.take([0, 1, 2]), [[1, 1], [np.nan, 0], [3, 1]])
    assert as_source(da.arange(9, chunks=4)[:, None]).dtype == np.float64
    masked = da.ma.masked_equal(da.from_array(np.eye(3), chunks=(2, 3)), 1.0)
    np.testing.assert_array_equal(as_source(masked).take([0]), [[np.nan, 0, 0]])
    with pytest.raises(ValueError, match=r"KMeans.*NaN"):
        KMeans(2).fit(masked)


@pytest.mark.parametrize(
    ("collection", "complaint"),
    [
        (lambda: da.zeros(9, chunks=3), "has 1 dimensions; pass"),
        (lambda: da.zeros((9, 0), chunks=3), "has 0 columns; pass"),
        (lambda: da.zeros((9, 2), dtype=complex), "holds complex128, not numbers"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": ["x"]}), npartitions=1), "Column 'a' .* encode"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": [1]}), npartitions=1)["a"], "pass a Dask array"),
        (lambda: da.zeros((0, 2)), "no rows|n_samples=0"),
        (lambda: da.zeros((1, 2)), "n_samples=1 should be >= n_clusters=2"),
        (lambda: dask.delayed(1), "pass a Dask array or data frame"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(
    threads: None, collection: Any, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        KMeans(2).fit(collection())


def test_chunks_must_be_arrays(threads: None) -> None:
    import scipy.sparse as sp

    sparse = da.zeros((4, 2), chunks=2).map_blocks(sp.csr_matrix, meta=sp.csr_matrix((0, 0)))
    with pytest.raises(DataError, match="chunks of the Dask array are of type csr"):
        as_source(sparse)


def test_columns_are_those_of_the_fit(threads: None) -> None:
    model = KMeans(2).fit(da.from_array(blobs(), chunks=(200, 3)))
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 3 features"):
        model.predict(da.zeros((4, 2)))


def test_rows_by_number_windows_and_samples(scheduler: str) -> None:
    rows, weights = blobs(), np.arange(600.0)
    source = as_source(chunked(rows, CHUNKS["odd"]), weights)
    assert source.n_rows == 600
    picked = source.pick([599, 0, 7, 0, 418])
    np.testing.assert_array_equal(picked.rows, rows[[599, 0, 7, 0, 418]])
    np.testing.assert_array_equal(picked.weights, [599, 0, 7, 0, 418])
    assert source.pick([]).n_rows == 0
    with pytest.raises(IndexError, match="no row 600"):
        source.pick([600])
    np.testing.assert_array_equal(np.concatenate([block.rows for block in source]), rows)
    assert [block.start for block in source] == [0, 7, 418, 419]
    windows = list(source.windows(250))
    assert [window.n_rows for window in windows] == [250, 250, 100]
    np.testing.assert_array_equal(windows[1].rows, rows[250:500])
    wanted = as_source(rows, weights).sample(50, 10, np.random.RandomState(0))
    sample = source.sample(50, 10, np.random.RandomState(0))
    np.testing.assert_array_equal(sample.rows, wanted.rows)


def test_rows_can_be_chosen_and_transformed_where_they_are(scheduler: str) -> None:
    rows, weights = blobs(), np.arange(600.0)
    lazy = chunked(rows, CHUNKS["odd"])
    kept = rows[:, 0] > 0
    for given in (None, weights):
        some = as_source(lazy, given).through(negate).where(below_zero)
        assert some.n_rows == kept.sum()
        np.testing.assert_array_equal(some.take(np.arange(some.n_rows)), -rows[kept])
        (results,) = [np.concatenate(list(some.results(first_column, dtype=np.float64)))]
        np.testing.assert_array_equal(results, -rows[kept, 0])
    assert some.total(weight_of) == weights[kept].sum()


def negate(rows: Any) -> Any:
    return -rows


def below_zero(rows: Any) -> Any:
    return rows[:, 0] < 0


def first_column(block: Any, out: Any) -> None:
    out[:] = block.rows[:, 0]


def test_a_model_with_lazy_labels_is_saved(threads: None, tmp_path: Path) -> None:
    rows = blobs()
    model = KMeans(5, init=rows[:5]).fit(da.from_array(rows, chunks=(200, 3)))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").labels_, model.labels_.compute())


def test_a_large_model_travels_without_a_warning(client: Any) -> None:
    with client.as_current(), warnings.catch_warnings():
        warnings.simplefilter("error")
        source = as_source(da.from_array(blobs(), chunks=(200, 3)))
        assert source.total(size_of, np.zeros(3_000_000)) == 9_000_000
        del source
        assert nothing_is_left(client), left_on(client)


def test_distributed_need_not_be_imported_first() -> None:
    code = """
import dask.array as da, numpy as np, sys
from coterie import DBSCAN, KMeans
X = da.from_array(np.random.RandomState(0).normal(size=(900, 3)), chunks=(200, 3))
before = "distributed" in sys.modules
KMeans(3, random_state=0).fit(X).labels_.compute()
DBSCAN(1.0).fit(X)
import dask, distributed
print(before, bool(dask.config.get("distributed.comm.timeouts.connect")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def size_of(block: Any, model: Any) -> int:
    return int(model.size)


def coterie_clone(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model)


def test_standardised_rows_stay_where_they_are(scheduler: str) -> None:
    rows = blobs() * [1.0, 50.0, 0.1]
    source = coterie.data.open(as_source(chunked(rows, CHUNKS["odd"])), scale="standard")
    assert source.remote
    np.testing.assert_allclose(source.scaling["mean"], rows.mean(axis=0), rtol=1e-12)
    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = KMeans(4, init=scaled[:4]).fit(source)
    labels = model.predict(chunked(rows, CHUNKS["even"]))
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), KMeans(4, init=scaled[:4]).fit(scaled).labels_)
