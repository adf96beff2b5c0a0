"""What stands at every door: rows that cannot be taken are refused in a sentence that helps.

Covers coterie._complaints and coterie._checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

import coterie
from coterie import _doors
from coterie._doors import FLOATS, validated


def masked(n_masked: int, dtype: Any = np.float64) -> Any:
    """Rows of two groups, of which some cells are masked."""
    rng = np.random.default_rng(0)
    X = np.ma.masked_array(np.r_[rng.normal(size=(15, 2)), 9 + rng.normal(size=(15, 2))])
    X = X.astype(dtype)
    for i in range(n_masked):
        X[3 + i, 1] = np.ma.masked
    X.data[X.mask] = -9999
    return X


def square(X: Any) -> Any:
    """Distances of rows, of which one is masked."""
    return np.ma.masked_array(coterie.distance.pairwise(X.data), np.eye(len(X), k=1) == 1)


REFUSING = [
    coterie.KMeans(2, random_state=0),
    coterie.BisectingKMeans(2, random_state=0),
    coterie.HierarchicalKMeans(2, 1, random_state=0),
    coterie.MiniBatchKMeans(2, random_state=0),
    coterie.AgglomerativeClustering(2),
    coterie.AgglomerativeClustering(2, linkage="average"),
    coterie.DBSCAN(eps=1.5),
]


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_masked_cells_are_refused(model: Any) -> None:
    name = type(model).__name__
    words = rf"^{name}: X is a masked array with 3 masked cells \(the first in row 3, column 1\); "
    with pytest.raises(ValueError, match=words + r"fill them \(X\.filled\(...\)\) or use Gauss"):
        model.fit(masked(3))


@pytest.mark.parametrize("model", REFUSING, ids=lambda model: type(model).__name__)
def test_a_masked_array_without_masked_cells_is_its_data(model: Any) -> None:
    X = masked(0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(X.data).labels_)


@pytest.mark.parametrize(
    "function",
    [
        coterie.linkage,
        lambda X: coterie.linkage(X[:, 1]),
        lambda X: coterie.linkage(square(X), "single", "precomputed"),
        lambda X: coterie.kmeans_plusplus(X, 2),
        coterie.distance.pairwise,
        coterie.spanning_tree,
        lambda X: coterie.DBSCAN(1.0, min_samples=2, metric="precomputed").fit(square(X)),
        lambda X: coterie.KMeans(2).fit(X.data, sample_weight=X[:, 1]),
    ],
)
def test_functions_refuse_masked_cells(function: Any) -> None:
    with pytest.raises(ValueError, match=r"is a masked array with .* masked cell"):
        function(masked(1))


def test_masked_cells_are_missing_where_missing_cells_are_known() -> None:
    X = masked(2)
    model = coterie.HDBSCAN(min_cluster_size=5).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ == -3), [3, 4])
    np.testing.assert_array_equal(
        coterie.distance.pairwise(X, metric="gower"),
        coterie.distance.pairwise(X.filled(np.nan), metric="gower"),
    )


def test_masked_cells_as_nan() -> None:
    X = masked(1)
    filled = _doors.nan_for_masked(X)
    assert type(filled) is np.ndarray
    assert np.isnan(filled[3, 1])
    assert np.isnan(filled).sum() == 1
    assert _doors.nan_for_masked(masked(1, np.float32)).dtype == np.float32
    whole = _doors.nan_for_masked(masked(1, np.int64))
    assert whole.dtype == np.float64
    assert np.isnan(whole[3, 1])
    words = np.ma.masked_array(np.array([["a", "b"]], dtype=object), [[False, True]])
    assert _doors.nan_for_masked(words).tolist() == [["a", None]]
    text = np.ma.masked_array(np.array([["a", "b"]]), [[False, True]])
    assert _doors.nan_for_masked(text).tolist() == [["a", None]]
    rows = np.ones((2, 2))
    assert _doors.nan_for_masked(rows) is rows


FRAME = pd.DataFrame(
    {"age": [1, 2, 3, 4, 5], "height": [1.0, 2, 3, 4, 5], "weight": [2.0, 4, 6, 8, 1]}
)


def with_cell(value: Any) -> Any:
    """The frame with one other cell in row 3, column 'height'."""
    frame = FRAME.astype({"height": object}) if not isinstance(value, float) else FRAME.copy()
    frame.loc[3, "height"] = value
    return frame


DOORS = [
    *REFUSING[:1],
    *REFUSING[3:],
    coterie.BernoulliMixture(2),
    coterie.PoissonMixture(2),
]


def complaint(door: Any, X: Any, kind: type[Exception] = ValueError) -> str:
    """What an estimator or a function says to X; begins with its name."""
    name = getattr(door, "__name__", type(door).__name__)
    with pytest.raises(kind, match=rf"^{name}: ") as caught:
        getattr(door, "fit", door)(X)
    return str(caught.value)


EVERYWHERE = [*DOORS, coterie.linkage, coterie.distance.pairwise, coterie.spanning_tree]


@pytest.mark.parametrize("door", EVERYWHERE)
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "contains NaN"), (np.inf, "contains infinity")]
)
def test_what_is_not_finite_is_found_by_column_and_row(door: Any, value: float, words: str) -> None:
    for frame in (with_cell(value), pl.from_pandas(with_cell(value), nan_to_null=False)):
        said = complaint(door, frame)
        assert words in said
        assert "column 'height'" in said
        assert "row 3" in said
    said = complaint(door, with_cell(value).to_numpy())
    assert "column 1" in said
    assert "row 3" in said
    if not type(door).__name__.endswith("Mixture"):
        assert f": Input X {words}" in said


def test_missing_cells_of_every_kind_of_frame_are_found() -> None:
    for frame in (
        with_cell(None),
        FRAME.assign(height=pd.array([1, 2, 3, None, 5], dtype="Int64")),
        pl.DataFrame({"age": [1, 2], "height": [1, None]}),
        pa.table({"age": [1, 2], "height": [1, None]}),
    ):
        said = complaint(coterie.DBSCAN(), frame)
        assert "DBSCAN: Input X contains NaN in column 'height' (row " in said


@pytest.mark.parametrize("door", EVERYWHERE)
@pytest.mark.parametrize("library", ["pandas", "polars", "numpy"])
def test_text_is_found_by_column_and_value(door: Any, library: str) -> None:
    frame = (
        with_cell("tall")
        if library != "polars"
        else pl.from_pandas(FRAME).with_columns(height=pl.lit("tall"))
    )
    said = complaint(door, frame.to_numpy() if library == "numpy" else frame)
    column = "1" if library == "numpy" else "'height'"
    row = 0 if library == "polars" else 3
    assert f"could not convert string to float: 'tall' in column {column} (row {row}); " in said


@pytest.mark.parametrize("door", EVERYWHERE)
def test_tables_of_another_kind(door: Any) -> None:
    said = complaint(door, np.zeros((5, 4, 3)))
    assert "X has shape (5, 4, 3): pass a row for each" in said
    assert "X is a LazyFrame" in complaint(door, pl.from_pandas(FRAME).lazy())
    assert "pass X.collect()" in complaint(door, pl.from_pandas(FRAME).lazy())
    said = complaint(door, FRAME.to_numpy() + 1j)
    assert "Complex data not supported: X has dtype complex128; pass real numbers" in said
    assert len(said) < 200
    dates = FRAME.assign(height=pd.Timestamp("2020-01-01"))
    assert "column 'height' holds datetime64" in complaint(door, dates, TypeError)
    assert "pass rows of equal length" in complaint(door, [[1, 2], [3]])
    if door is not coterie.linkage:  # which takes one dimension for distances
        assert "X.reshape(-1, 1)" in complaint(door, FRAME.height.to_numpy())


def test_a_lazy_frame_under_gower() -> None:
    frame = pl.from_pandas(FRAME)
    model = coterie.DBSCAN(0.3, metric="gower", min_samples=2).fit(frame)
    for ask in (model.fit, model.predict):
        with pytest.raises(ValueError, match=r"^DBSCAN: X is a LazyFrame.*X\.collect\(\)"):
            ask(frame.lazy())
    with pytest.raises(ValueError, match=r"^linkage: X is a LazyFrame.*X\.collect\(\)"):
        coterie.linkage(frame.lazy(), "average", "gower")


def test_sparse_rows_say_where_too() -> None:
    X = sp.csr_array(with_cell(np.nan).to_numpy())
    assert "contains NaN in column 1 (row 3)" in complaint(coterie.KMeans(2), X)


NAMED = {
    "queries": [
        lambda X, odd: coterie.neighbors.Index(X).knn(1, odd),
        lambda X, odd: coterie.neighbors.knn(X, 1, odd),
        lambda X, odd: coterie.neighbors.within(X, 1.0, odd, metric="cosine"),
        lambda X, odd: coterie.neighbors.count_within(X, 1.0, odd, metric=lambda x, y: 0.0),
    ],
    "Y": [
        lambda X, odd: coterie.distance.pairwise(X, odd),
        lambda X, odd: list(coterie.distance.tiles(X, odd, "manhattan")),
    ],
}


@pytest.mark.parametrize(("name", "ask"), [(n, ask) for n, asks in NAMED.items() for ask in asks])
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ([[0.0, np.nan]], r"Input {} contains NaN in column 1 \(row 0\)"),
        ([[np.inf, 0.0]], r"Input {} contains infinity .*\(row 0\)"),
        ([0.0, 1.0], r"{} has shape \(2,\). Reshape your data: {}.reshape"),
        (np.ones((1, 2)) * 1j, r"np.column_stack\(\[{}.real"),
        (np.ma.masked_array([[0.0, 1.0]], [[False, True]]), r"{} is a masked array"),
        (pl.DataFrame({"a": [0.0], "b": [1.0]}).lazy(), r"{}.collect\(\)"),
    ],
)
def test_rows_are_called_what_the_caller_calls_them(
    name: str, ask: Any, odd: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words.replace("{}", name)) as told:
        ask(np.arange(8.0).reshape(4, 2), odd)
    assert "Input X" not in str(told.value)


def test_forms_call_rows_what_the_caller_calls_them() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.5], [0.5, 1.0]])
    index = coterie.neighbors.Index(X, metric="seuclidean")
    with pytest.raises(ValueError, match="for 2 columns and queries has 3"):
        index.knn(1, [[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="row 0 of queries is so far"):
        index.knn(1, [[1.5e308, 1.7e308]])
    with pytest.raises(ValueError, match="latitude and longitude in radians, and Y has 3"):
        coterie.distance.pairwise(X, [[0.0, 1.0, 2.0]], "haversine")
    with pytest.raises(ValueError, match="Input row contains NaN"):
        coterie.distance.rows_to(X, [0.0, np.nan])
    with pytest.raises(ValueError, match="2 columns and queries has 3"):
        coterie.neighbors.knn(X, 1, [[0.0, 1.0, 2.0]], metric="gower")


@pytest.mark.parametrize("kind", [ValueError, TypeError, coterie.errors.ParameterError])
def test_a_parameter_out_of_range_is_both_kinds_of_error(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"^KMeans: n_clusters='three' was given; use a whole number"):
        coterie.KMeans("three").fit([[0.0], [1.0]])  # type: ignore[arg-type]
    with pytest.raises(kind, match=r"^DBSCAN: min_samples=0 was given; use a whole number"):
        coterie.DBSCAN(min_samples=0).fit([[0.0], [1.0]])


GIVEN = {
    "linkage": lambda X: coterie.linkage(X, "average", "precomputed"),
    "AgglomerativeClustering": lambda X: coterie.AgglomerativeClustering(
        metric="precomputed", linkage="average"
    ).fit(X),
    "DBSCAN": lambda X: coterie.DBSCAN(1.0, min_samples=2, metric="precomputed").fit(X),
    "HDBSCAN": lambda X: coterie.HDBSCAN(2, metric="precomputed").fit(X),
}


@pytest.mark.parametrize("who", GIVEN)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X[:, :5], r"Distance matrix should be square, and X has shape \(9, 5\)"),
        (lambda X: _put(X, -2.0), r"Negative values in data passed to metric='precomputed'.*-2"),
        (lambda X: _put(X, np.nan), "Input X contains NaN as the distance of rows 3 and 7,"),
        (lambda X: np.full(X.shape, "far"), "(expected|could not convert)"),
    ],
)
def test_the_same_is_said_of_distances_wherever_they_are_given(
    who: str, change: Any, words: str
) -> None:
    X = coterie.distance.pairwise(np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(ValueError, match=f"^{who}: .*{words}"):
        GIVEN[who](change(X))


def _put(X: Any, value: float) -> Any:
    changed = X.copy()
    changed[3, 7] = changed[7, 3] = value
    return changed


@pytest.mark.parametrize("at", [0, 7, 8, 20, 35])
def test_a_condensed_distance_that_is_none_is_told_by_its_rows(at: int) -> None:
    lengths = coterie.distance.condensed(np.random.default_rng(0).normal(size=(9, 2)))
    lengths[at] = np.nan
    i, j = (int(ends[at]) for ends in np.triu_indices(9, 1))
    with pytest.raises(ValueError, match=f"^linkage: .*the distance of rows {i} and {j},"):
        coterie.linkage(lengths, "single")


def test_two_stored_distances_of_one_pair_are_shown() -> None:
    X = coterie.distance.pairwise(np.random.default_rng(0).normal(size=(9, 2)))
    X[7, 3] = 99
    for table in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"^HDBSCAN: .*X\[3, 7\] is .* but X\[7, 3\] is 99;"):
            coterie.HDBSCAN(metric="precomputed").fit(table)


@pytest.mark.parametrize("who", ["AgglomerativeClustering", "DBSCAN", "HDBSCAN"])
def test_distances_to_the_rows_of_the_fit_are_as_many_as_those(who: str) -> None:
    X = coterie.distance.pairwise(np.random.default_rng(0).normal(size=(9, 2)))
    model = GIVEN[who](X)
    with pytest.raises(ValueError, match=f"^{who}: X has 8 columns and the fit had 9 rows"):
        model.predict(X[:, 1:])
    with pytest.raises(ValueError, match=f"^{who}: Input X contains NaN as the distance"):
        model.predict(_put(X, np.nan))


@pytest.mark.parametrize("who", ["AgglomerativeClustering", "DBSCAN", "HDBSCAN"])
def test_names_of_given_distances_are_kept(who: str) -> None:
    X = coterie.distance.pairwise(np.random.default_rng(0).normal(size=(9, 2)))
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    assert GIVEN[who](frame).feature_names_in_.tolist() == list("abcdefghi")


class Sees(BaseEstimator):
    """An estimator of which only what a check leaves behind is looked at."""


OPTIONS: dict[str, Any] = {"dtype": FLOATS, "ensure_all_finite": False, "accept_sparse": "csr"}


def test_plain_rows_pass_as_they_are_and_leave_what_scikit_learn_leaves() -> None:
    for dtype in (np.float32, np.float64):
        for rows in (np.ones((3, 2), dtype), np.ones((2, 3), dtype).T, np.ones((9, 5), dtype)[::3]):
            ours, theirs = Sees(), Sees()
            assert validated(ours, rows, **OPTIONS) is rows
            assert validate_data(theirs, rows, **OPTIONS) is rows
            assert vars(ours) == vars(theirs)
            assert validated(ours, rows, reset=False, **OPTIONS) is rows


def test_whatever_scikit_learn_would_say_is_still_said() -> None:
    fitted = Sees()
    validated(fitted, np.ones((3, 2)), **OPTIONS)
    with pytest.raises(ValueError, match="X has 3 features, but Sees is expecting 2 features"):
        validated(fitted, np.ones((3, 3)), reset=False, **OPTIONS)
    with pytest.raises(ValueError, match="minimum of 5 is required"):
        validated(Sees(), np.ones((3, 2)), ensure_min_samples=5, **OPTIONS)
    with pytest.raises(ValueError, match="0 feature"):
        validated(Sees(), np.ones((3, 0)), **OPTIONS)
    with pytest.raises(ValueError, match="contains NaN"):
        validated(Sees(), np.array([[1.0], [np.nan]]), dtype=FLOATS)
    largest = np.full((3, 2), np.finfo(np.float64).max)  # of which the sum is no number
    assert validated(Sees(), largest, dtype=FLOATS) is largest
    named = Sees()
    named.feature_names_in_ = np.array(["a", "b"], dtype=object)
    named.n_features_in_ = 2
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        validated(named, np.ones((3, 2)), reset=False, **OPTIONS)
    validated(named, np.ones((3, 4)), **OPTIONS)
    assert vars(named) == {"n_features_in_": 4}
