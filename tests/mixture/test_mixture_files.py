"""Mixtures on files and Dask collections: the fit and the answers are those of rows in memory.

Covers coterie.mixture._judge and coterie.mixture._tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import (
    BayesianGaussianMixture,
    BernoulliMixture,
    CategoricalMixture,
    GaussianMixture,
    MixedMixture,
    PoissonMixture,
    StudentTMixture,
)
from coterie.data import open as open_rows
from coterie.mixture._start import GUESSES

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
ds = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ASKED = ("predict", "predict_proba", "score_samples")
N_ROWS = 301


def clouds(dtype: Any = np.float64) -> Any:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((N_ROWS, 3)) + 5.0 * rng.integers(0, 3, (N_ROWS, 1))).astype(dtype)


def counts() -> Any:
    rng = np.random.default_rng(1)
    return rng.poisson(rng.uniform(1, 20, (3, 3))[rng.integers(0, 3, N_ROWS)]).astype(np.float64)


def bits() -> Any:
    return (counts() > 8).astype(np.float64)


def holed() -> Any:
    X = clouds()
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    return X


#: Starts are those that are the same wherever the rows are.
START = {"init_params": "random_from_data", "random_state": 0, "max_iter": 8}
NUMERIC: dict[str, tuple[Any, Any]] = {
    "Gaussian": (GaussianMixture(3, **START), clouds),
    "Gaussian noise": (GaussianMixture(3, noise=True, **START), clouds),
    "Gaussian holed": (GaussianMixture(3, **START), holed),
    "Bayesian": (BayesianGaussianMixture(3, **START), clouds),
    "Student": (StudentTMixture(3, **START), clouds),
    "Poisson": (PoissonMixture(3, **START), counts),
    "Bernoulli": (BernoulliMixture(3, **START), bits),
}


def stored(rows: Any, path: Path) -> Path:
    table = pa.table(dict(zip("abc", rows.T, strict=True)))
    pq.write_table(table, path, row_group_size=97)
    return path


def read_back(path: Path) -> Any:
    if path.suffix == ".npy":
        return np.load(path)
    readers = {
        ".parquet": pq.read_table, ".csv": csv.read_csv, ".arrow": feather.read_table,
    }  # fmt: skip
    table = readers[path.suffix](path)
    columns = [column.to_numpy() for column in table.columns]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".csv", ".arrow"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_written_results_are_those_in_memory(suffix: str, dtype: Any, tmp_path: Path) -> None:
    X = clouds(dtype)
    model = GaussianMixture(3, noise=True, **START).fit(X)
    source = open_rows(stored(X, tmp_path / "rows.parquet"))
    source.block_bytes = 12 * 77  # type: ignore[attr-defined]
    (tmp_path / "out").mkdir()
    for ask in ASKED:
        out = tmp_path / "out" / f"{ask}{suffix}"
        for rows in (source, X):
            assert getattr(model, ask)(rows, out=str(out)) == out
            found, wanted = read_back(out), getattr(model, ask)(X)
            if suffix != ".csv":  # which writes numbers, not types
                types = {"predict": np.int64, "predict_proba": dtype, "score_samples": np.float64}
                assert found.dtype == types[ask]
            np.testing.assert_array_equal(found.astype(wanted.dtype), wanted)
    assert len(list((tmp_path / "out").iterdir())) == len(ASKED)


def test_columns_have_names(tmp_path: Path) -> None:
    model = GaussianMixture(2, **START).fit(clouds())
    titles = {
        "predict": '"label"',
        "predict_proba": '"component_0","component_1"',
        "score_samples": '"log_density"',
    }
    for ask, title in titles.items():
        out = getattr(model, ask)(clouds(), out=tmp_path / "out.csv")
        assert out.read_text().splitlines()[0] == title


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".csv"])
@pytest.mark.parametrize("ask", ASKED)
def test_nothing_is_left_where_a_row_is_refused(ask: str, suffix: str, tmp_path: Path) -> None:
    X = clouds()
    model = StudentTMixture(2, **START).fit(X)
    X[250, 1] = np.nan
    source = open_rows(stored(X, tmp_path / "rows.parquet"))
    source.block_bytes = 24 * 77  # type: ignore[attr-defined]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f"kept{suffix}").write_text("as it was")
    for name in ("kept", "new"):
        with pytest.raises(ValueError, match=r"NaN in column 1 \(row 250\)"):
            getattr(model, ask)(source, out=tmp_path / "out" / f"{name}{suffix}")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [f"kept{suffix}"]
    assert (tmp_path / "out" / f"kept{suffix}").read_text() == "as it was"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NUMERIC)
def test_answers_for_dask_are_lazy_and_those_in_memory(name: str, dtype: Any) -> None:
    mixture, rows = NUMERIC[name]
    X = rows().astype(dtype)
    model = mixture.fit(X)
    lazy = da.from_array(X, chunks=((100, 1, 150, 50), (3,)))
    for ask in ASKED:
        found, wanted = getattr(model, ask)(lazy), getattr(model, ask)(X)
        assert isinstance(found, da.Array), ask
        assert found.shape == wanted.shape
        assert found.dtype == (np.float64 if ask == "score_samples" else wanted.dtype)
        computed = found.compute()
        assert computed.dtype == found.dtype
        tolerance = 1e-9 if wanted.dtype == np.float64 else 1e-6
        np.testing.assert_allclose(computed, wanted, rtol=tolerance, atol=1e-12)


def test_answers_for_dask_can_be_written(tmp_path: Path) -> None:
    X = clouds()
    model = GaussianMixture(3, **START).fit(X)
    lazy = da.from_array(X, chunks=(100, 3))
    for ask in ASKED:
        out = getattr(model, ask)(lazy, out=tmp_path / "out.parquet")
        np.testing.assert_allclose(read_back(out), getattr(model, ask)(X), rtol=1e-12)


@pytest.mark.parametrize("name", NUMERIC)
def test_fits_are_those_of_rows_in_memory(name: str, tmp_path: Path) -> None:
    mixture, rows = NUMERIC[name]
    X = rows()
    parts = [
        stored(part, tmp_path / f"part-{place}.parquet")
        for place, part in enumerate(np.split(X, [100, 101]))
    ]
    frame = pd.DataFrame(X, columns=list("abc"))
    wanted = clone(mixture).fit(X)
    for where in (
        f"{tmp_path}/part-*.parquet", parts, ds.dataset([str(part) for part in parts]),
        da.from_array(X, chunks=(70, 3)), dd.from_pandas(frame, npartitions=4),
    ):  # fmt: skip
        ours = clone(mixture).fit(where)
        assert_same(ours, wanted)
        np.testing.assert_array_equal(np.asarray(ours.predict(where)), wanted.predict(X))
        assert ours.score(where) == pytest.approx(wanted.score(X), rel=1e-9)


def test_columns_of_the_fit_are_chosen_by_name(tmp_path: Path) -> None:
    X = clouds()
    path = stored(X, tmp_path / "rows.parquet")
    model = GaussianMixture(2, **START).fit(open_rows(path, columns=["c", "a"], scale="standard"))
    wanted = model.predict(pd.DataFrame(X[:, [2, 0]], columns=["c", "a"]))
    np.testing.assert_array_equal(model.predict(path), wanted)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(coterie.load(tmp_path / "model").predict(path), wanted)
    plain = (X - X.mean(axis=0)) / X.std(axis=0)
    other = GaussianMixture(2, **START).fit(plain[:, [2, 0]])
    np.testing.assert_allclose(model.means_, other.means_, rtol=1e-9)


def people() -> pd.DataFrame:
    """Columns of all kinds with missing cells, some of which begin with them."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, N_ROWS)
    words = np.array(["red", "green", "blue"], dtype=object)
    table = pd.DataFrame(
        {
            "size": 3.0 * kind + rng.normal(size=N_ROWS) + 1000,
            "color": words[(kind + (rng.random(N_ROWS) < 0.2)) % 3],
            "yes": (rng.random(N_ROWS) < 0.2 + 0.3 * kind).astype(object),
            "code": rng.integers(0, 4, N_ROWS) + 10 * kind,
            "count": rng.poisson(3.0 + kind).astype(np.float64),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(kind * 100 + 7, unit="D"),
            "flag": rng.integers(0, 2, N_ROWS),
        }
    )
    for name in ("size", "yes", "count", "day"):
        table.loc[rng.random(N_ROWS) < 0.1, name] = None
    table.loc[:140, "color"] = None  # some blocks have no word at all
    return table


TABLES: dict[str, tuple[Any, list[str]]] = {
    "mixed": (MixedMixture(3, **START), list(people().columns)),
    "mixed by kinds": (
        MixedMixture(3, kinds={"code": "categorical"}, **START), ["code", "size", "color"],
    ),
    "categorical": (CategoricalMixture(3, **START), ["color", "yes", "code", "flag"]),
    "words": (CategoricalMixture(2, **START), ["color"]),
}  # fmt: skip


def clone(mixture: Any) -> Any:
    return type(mixture)(**mixture.get_params())


def assert_same(ours: Any, wanted: Any) -> None:
    assert getattr(ours, "kinds_", None) == getattr(wanted, "kinds_", None)
    for name in ("categories_", "probabilities_"):
        for one, other in zip(
            as_list(getattr(ours, name, ())), as_list(getattr(wanted, name, ())), strict=True
        ):
            if name == "categories_":
                assert one.tolist() == other.tolist()
            else:
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for name in ("weights_", "means_", "covariances_", "variances_", "rates_", "lower_bound_"):
        if hasattr(wanted, name):
            np.testing.assert_allclose(
                getattr(ours, name), getattr(wanted, name), rtol=1e-9, atol=1e-9, err_msg=name
            )
    assert ours.n_iter_ == wanted.n_iter_


def as_list(values: Any) -> list[Any]:
    return list(values) if isinstance(values, (list, tuple)) else [values]


def put(table: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pandas(table), path, row_group_size=97)
    else:
        feather.write_feather(table, path, chunksize=50)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".feather"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_files_are_fitted_as_those_of_pandas(
    name: str, suffix: str, tmp_path: Path
) -> None:
    mixture, columns = TABLES[name]
    table = people()[columns]
    path = put(people()[["flag", *(c for c in people() if c != "flag")]], tmp_path / f"t{suffix}")
    weights = np.random.default_rng(3).integers(0, 3, N_ROWS).astype(float)
    for given in (None, weights):
        wanted = clone(mixture).fit(table, sample_weight=given)
        for size in (1 << 24, 64 * 40):
            source = open_rows(path, columns=columns)
            source.block_bytes = size  # type: ignore[attr-defined]
            ours = clone(mixture).fit(source, sample_weight=given)
            assert_same(ours, wanted)
    assert ours.feature_names_in_.tolist() == columns
    for asked in (path, source, [str(path)]):
        for model in (ours, wanted):
            np.testing.assert_array_equal(model.predict(asked), wanted.predict(table))
        np.testing.assert_allclose(
            ours.predict_proba(asked), wanted.predict_proba(table), rtol=1e-9, atol=1e-12
        )
        assert ours.bic(asked) == pytest.approx(wanted.bic(table), rel=1e-9)
    out = ours.predict(path, out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(out), wanted.predict(table))


def test_a_path_alone_is_a_table(tmp_path: Path) -> None:
    path = put(people(), tmp_path / "people.parquet")
    ours, wanted = (MixedMixture(3, **START).fit(where) for where in (path, people()))
    assert ours.kinds_ == [
        "numeric", "categorical", "binary", "numeric", "numeric", "numeric", "binary",
    ]  # fmt: skip
    assert_same(ours, wanted)
    ours.save(tmp_path / "model")
    again = coterie.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(path), wanted.predict(people()))


def test_words_that_are_stored_once_are_words(tmp_path: Path) -> None:
    plain = people()[["color", "size"]]
    table = plain.assign(color=plain["color"].astype("category"))
    path = put(table, tmp_path / "people.parquet")
    assert pa.types.is_dictionary(pq.read_schema(path).field("color").type)
    assert_same(MixedMixture(3, **START).fit(path), MixedMixture(3, **START).fit(plain))


def test_a_complaint_about_a_file_names_the_row(tmp_path: Path) -> None:
    table = people()
    model = MixedMixture(2, **START).fit(put(table, tmp_path / "good.parquet"))
    table.loc[257, "size"] = np.inf
    bad = put(table, tmp_path / "bad.parquet")
    for ask in (MixedMixture(2, **START).fit, model.predict):
        with pytest.raises(ValueError, match="column 'size' contains infinity in row 257"):
            ask(bad)
    with pytest.raises(coterie.errors.DataError, match="color"):
        model.predict(put(table.drop(columns="color"), tmp_path / "less.parquet"))
    table.loc[257, ["size", "color"]] = 1.0, "black"
    with pytest.raises(ValueError, match="column 'color' holds the category 'black'"):
        model.predict(put(table, tmp_path / "strange.parquet"), out=tmp_path / "labels.csv")
    assert not (tmp_path / "labels.csv").exists()


def test_scaled_numbers_are_a_table(tmp_path: Path) -> None:
    X = clouds()
    path = stored(X, tmp_path / "rows.parquet")
    model = MixedMixture(2, **START).fit(open_rows(path, scale="standard"))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    wanted = MixedMixture(2, **START).fit(scaled)
    np.testing.assert_allclose(model.means_, wanted.means_, rtol=1e-9)
    for asked in (path, pd.DataFrame(X, columns=list("abc")), da.from_array(X, chunks=(50, 3))):
        np.testing.assert_array_equal(np.asarray(model.predict(asked)), wanted.predict(scaled))
    model.fit(path)
    assert not hasattr(model, "scaling_")


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_dask_are_fitted_as_those_of_pandas(name: str) -> None:
    mixture, columns = TABLES[name]
    # Dask makes strings of objects, so truth values with holes have a type of their own.
    table = people().astype({"yes": "boolean"})[columns]
    lazy = dd.from_pandas(table, npartitions=4)
    weights = np.random.default_rng(3).integers(0, 3, N_ROWS).astype(float)
    for given in (None, weights):
        wanted = clone(mixture).fit(table, sample_weight=given)
        ours = clone(mixture).fit(lazy, sample_weight=given)
        assert_same(ours, wanted)
    labels = ours.predict(lazy)
    assert isinstance(labels, da.Array)
    np.testing.assert_array_equal(labels.compute(), wanted.predict(table))
    np.testing.assert_allclose(
        ours.score_samples(lazy).compute(), wanted.score_samples(table), rtol=1e-9
    )


@pytest.mark.parametrize("start", GUESSES)
def test_tables_elsewhere_begin_in_every_way(start: str, tmp_path: Path) -> None:
    table = people()[["size", "color", "code"]]
    path = put(table, tmp_path / "people.parquet")
    of_file, of_dask, in_memory = (
        MixedMixture(2, init_params=start, random_state=0, max_iter=8).fit(where)
        for where in (path, dd.from_pandas(table, npartitions=3), table)
    )
    assert_same(of_file, of_dask)
    if start.startswith("random"):  # k-means++ draws other rows where rows are not in memory
        assert_same(of_file, in_memory)


def test_hidden_cells_of_dask_arrays_are_missing() -> None:
    X = clouds()
    hidden = np.random.default_rng(1).random(X.shape) < 0.1
    lazy = da.ma.masked_array(da.from_array(X, chunks=(100, 3)), da.from_array(hidden))
    wanted = MixedMixture(2, **START).fit(np.where(hidden, np.nan, X))
    assert_same(MixedMixture(2, **START).fit(lazy), wanted)


def test_a_dask_array_of_codes_keeps_whole_numbers() -> None:
    X = np.random.default_rng(0).integers(0, 3, (N_ROWS, 4))
    ours = CategoricalMixture(2, **START).fit(da.from_array(X, chunks=(100, 2)))
    wanted = CategoricalMixture(2, **START).fit(X)
    assert_same(ours, wanted)
    assert ours.categories_[0].dtype == X.dtype
