"""Every mixture on rows that only come by: the fit in memory, to rounding, however rows are cut.

Covers coterie.mixture._judge, coterie.mixture._learn_layout, coterie.mixture._medians and
coterie.mixture._tables.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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
from coterie.data import ArraySource, Source, as_source
from coterie.mixture import Family, FamilyMixture
from coterie.mixture._complete import completed
from coterie.mixture._covariance import SHAPES
from coterie.mixture._medians import medians_by_passes
from coterie.mixture._start import GUESSES, Rows
from streams import Stream

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N_ROWS = 203
#: Rows of blocks, by turns.
ODD_SIZES = (7, 0, 1, 33, 2)
#: What a fit leaves that two ways to sum may round differently.
NUMBERS = (
    "weights_", "means_", "covariances_", "lower_bound_", "noise_weight_", "noise_box_",
    "degrees_of_freedom_", "probabilities_", "rates_", "variances_", "locations_", "scales_",
    "weight_concentration_", "mean_precision_", "covariance_prior_",
)  # fmt: skip


def clouds(n: int = N_ROWS, d: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 8.0 * rng.integers(0, 3, (n, 1)) + np.arange(d)


def holed(seed: int = 0) -> Any:
    X = clouds(seed=seed)
    X[np.random.default_rng(seed + 1).random(X.shape) < 0.15] = np.nan
    return X


def bits() -> Any:
    rng = np.random.default_rng(3)
    theta = rng.uniform(0.1, 0.9, (3, 11))
    return (rng.random((N_ROWS, 11)) < theta[rng.integers(0, 3, N_ROWS)]).astype(np.float64)


def counts() -> Any:
    rng = np.random.default_rng(4)
    rates = rng.uniform(1, 20, (3, 4))
    return rng.poisson(rates[rng.integers(0, 3, N_ROWS)]).astype(np.float64)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, N_ROWS)
    words = np.array(["red", "green", "blue"], dtype=object)
    table = pd.DataFrame(
        {
            "size": 3.0 * kind + rng.normal(size=N_ROWS) + 1000,
            "color": words[(kind + (rng.random(N_ROWS) < 0.2)) % 3],
            "yes": rng.random(N_ROWS) < 0.2 + 0.3 * kind,
            "code": rng.integers(0, 4, N_ROWS) + 10 * kind,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(kind * 100 + 7, unit="D"),
        }
    )
    table.loc[rng.random(N_ROWS) < 0.1, "size"] = np.nan
    table.loc[rng.random(N_ROWS) < 0.1, "color"] = None
    table.loc[:40, "color"] = None  # some blocks have no word at all
    return table


class TableStream(Source):
    """The rows of a table a block at a time, each a data frame of its own."""

    def __init__(self, table: pd.DataFrame, sizes: Any = ODD_SIZES) -> None:
        super().__init__(table.shape[1], np.float64, names=list(table.columns))
        self._table, self._sizes = table, sizes

    def _pieces(self) -> Iterator[Any]:
        start = 0
        for size in cycle(self._sizes):
            yield self._table.iloc[start : start + size].infer_objects()
            start += size
            if start >= len(self._table):
                return


def sparse_stream(rows: Any, sizes: Any = ODD_SIZES) -> Stream:
    stream = Stream(rows, sizes)
    stream.sparse = True
    return stream


class Exponential(Family):
    """A family of the user's own."""

    def log_prob(self, components: Any, rows: Any) -> Any:
        rates = components["rates"]
        return np.log(rates).sum(axis=1) - rows @ rates.T

    def summarise(self, components: Any, rows: Any, mass: Any) -> Any:
        return mass.T @ rows

    def maximise(self, counts: Any, summary: Any, before: Any) -> Any:
        return {"rates": counts[:, np.newaxis] / summary}


Case = tuple[Callable[..., Any], dict[str, Any], Callable[[], Any]]


def cases() -> dict[str, Case]:
    """Mixtures by options, each with rows for it. Starts are those that are the same anywhere."""
    start = {"init_params": "random_from_data"}
    wide = {"init_params": "rows"}  # from narrow Gaussians rounding would grow
    found: dict[str, Case] = {}
    more = {
        "": {},
        "noise": {"noise": True},
        "prior": {"prior": "auto"},
        "floor": {"reg_covar": "auto"},
        "lbfgs": {"solver": "lbfgs"},
        "anderson": {"accelerate": "anderson"},
        "fixed": {"fixed": ("weights",)},
        "random": {"init_params": "random"},
        "row each": start,
    }
    for kind in SHAPES:
        shape = {**wide, "covariance_type": kind}
        for name, options in more.items():
            found[f"Gaussian {kind} {name}"] = GaussianMixture, {**shape, **options}, clouds
        for name in ("", "noise", "prior", "lbfgs", "random"):
            found[f"holed {kind} {name}"] = GaussianMixture, {**shape, **more[name]}, holed
        for name in ("random", "row each"):
            found[f"Bayesian {kind} {name}"] = (
                BayesianGaussianMixture, {**shape, **more[name]}, clouds,
            )  # fmt: skip
        for name in ("", "noise", "random"):
            found[f"Student {kind} {name}"] = StudentTMixture, {**shape, **more[name]}, clouds
    found["Gaussian sgd"] = GaussianMixture, {**wide, "solver": "sgd"}, clouds
    found["Bernoulli"] = BernoulliMixture, start, bits
    found["Bernoulli random"] = BernoulliMixture, {"init_params": "random"}, bits
    found["Bernoulli threshold"] = BernoulliMixture, {**start, "threshold": 4.0}, clouds
    found["Poisson"] = PoissonMixture, start, counts
    found["Poisson fractions"] = (
        PoissonMixture,
        {**start, "fractions": True},
        lambda: counts() / 3,
    )
    found["Family"] = (
        FamilyMixture,
        {**start, "family": Exponential()},
        lambda: np.abs(clouds()) + 0.1,
    )
    return found


CASES = cases()


def made(cls: Any, options: dict[str, Any]) -> Any:
    return cls(n_components=3, random_state=0, max_iter=12, **options)


def assert_same_fit(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    for name in NUMBERS:
        assert hasattr(ours, name) == hasattr(theirs, name), name
        if hasattr(ours, name):
            mine, others = getattr(ours, name), getattr(theirs, name)
            for one, other in zip(
                mine if isinstance(mine, (list, tuple)) else [mine],
                others if isinstance(others, (list, tuple)) else [others],
                strict=True,
            ):
                scale = np.abs(other).max(initial=0.0)
                np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * scale, err_msg=name)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.converged_ == theirs.converged_


def assert_same_answers(model: Any, source: Callable[[], Source], rows: Any, weights: Any) -> None:
    """All that can be asked of rows, of a source and in memory."""
    np.testing.assert_array_equal(model.predict(source()), model.predict(rows))
    for ask in ("predict_proba", "score_samples"):
        np.testing.assert_allclose(
            getattr(model, ask)(source()), getattr(model, ask)(rows), rtol=1e-9, atol=1e-12
        )
    close = {"rel": 1e-9}
    assert model.score(source()) == pytest.approx(model.score(rows), **close)
    weighted = model.score(source(), sample_weight=weights)
    assert weighted == pytest.approx(model.score(rows, sample_weight=weights), **close)
    assert model.free_energy(source()) == pytest.approx(model.free_energy(rows), **close)
    if not hasattr(model, "noise_weight_"):
        resp = np.random.default_rng(0).dirichlet(np.ones(len(model.weights_)), len(weights))
        asked = model.free_energy(source(), resp, weights)
        assert asked == pytest.approx(model.free_energy(rows, resp, weights), **close)
    if not isinstance(model, BayesianGaussianMixture):
        for ask in ("bic", "aic", "icl"):
            assert getattr(model, ask)(source()) == pytest.approx(
                getattr(model, ask)(rows), **close
            )


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_a_stream_is_fitted_as_in_memory(name: str, weighted: bool) -> None:
    cls, options, rows = CASES[name]
    X = rows()
    weights = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    given = weights if weighted else None
    ours = made(cls, options).fit(Stream(X), sample_weight=given)
    theirs = made(cls, options).fit(X, sample_weight=given)
    assert_same_fit(ours, theirs)
    assert ours.n_features_in_ == X.shape[1]
    if not weighted:
        assert_same_answers(theirs, lambda: Stream(X), X, weights)


SOME = [
    "Gaussian full ", "Gaussian tied noise", "Gaussian diag random", "holed full noise",
    "holed diag ", "Bayesian full random", "Student full ", "Bernoulli", "Bernoulli threshold",
    "Poisson", "Family",
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 50, N_ROWS - 1, N_ROWS, 1000])
@pytest.mark.parametrize("name", SOME)
def test_the_size_of_blocks_does_not_matter(name: str, size: int) -> None:
    cls, options, rows = CASES[name]
    X = rows()
    assert_same_fit(made(cls, options).fit(Stream(X, (size,))), made(cls, options).fit(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SOME)
def test_a_map_of_a_file_in_blocks(
    name: str, dtype: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls, options, rows = CASES[name]
    X = rows().astype(dtype)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    monkeypatch.setattr(type(as_source(mapped)), "block_bytes", 40 * X[0].nbytes)
    assert len(list(as_source(mapped))) == 6
    ours, theirs = made(cls, options).fit(mapped), made(cls, options).fit(X)
    assert_same_fit(ours, theirs, 1e-9 if dtype == np.float64 else 1e-4)
    np.testing.assert_array_equal(theirs.predict(mapped), theirs.predict(X))


@pytest.mark.parametrize("cls", [BernoulliMixture, PoissonMixture])
def test_sparse_blocks(cls: Any) -> None:
    X = sp.csr_matrix(bits() if cls is BernoulliMixture else counts())
    options = {"init_params": "random_from_data"}
    theirs = made(cls, options).fit(X)
    assert_same_fit(made(cls, options).fit(sparse_stream(X)), theirs)
    assert_same_answers(theirs, lambda: sparse_stream(X), X, np.ones(N_ROWS))


@pytest.mark.parametrize("start", ["kmeans", "k-means++"])
@pytest.mark.parametrize("name", ["Gaussian full ", "holed full ", "Bernoulli", "Poisson"])
def test_starts_by_distances_do_not_depend_on_blocks(name: str, start: str) -> None:
    # Seeds of rows that only come by are drawn by races, in memory by scikit-learn's draws.
    cls, options, rows = CASES[name]
    X, options = rows(), {**options, "init_params": start}
    whole = made(cls, options).fit(Stream(X, (N_ROWS,)))
    for sizes in ((1,), ODD_SIZES):
        assert_same_fit(made(cls, options).fit(Stream(X, sizes)), whole)


@pytest.mark.parametrize("kind", SHAPES)
def test_groups_far_apart_are_found_from_k_means_anywhere(kind: str) -> None:
    X = clouds()
    ours = GaussianMixture(3, covariance_type=kind, random_state=0).fit(Stream(X))
    theirs = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    np.testing.assert_allclose(
        np.sort(ours.means_, axis=0), np.sort(theirs.means_, axis=0), rtol=1e-9
    )
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("kind", SHAPES)
def test_the_best_of_restarts_is_as_good(kind: str) -> None:
    # Which of several that reach the same optimum is kept, the last bits of their bounds tell: the
    # components may be in another order.
    options = {"n_init": 3, "init_params": "random", "covariance_type": kind}
    X = clouds()
    ours, theirs = (made(GaussianMixture, options).fit(rows) for rows in (Stream(X), X))
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)
    np.testing.assert_allclose(np.sort(ours.weights_), np.sort(theirs.weights_), rtol=1e-9)


def test_components_that_collapse_begin_anew_at_the_same_rows() -> None:
    X = np.vstack([clouds(), np.full((3, 3), 50.0)])
    options = {"reg_covar": 0.0, "means_init": [X[0], X[1], X[-1]], "weights_init": [0.4, 0.4, 0.2]}
    ours, theirs = (
        made(GaussianMixture, {**options, "init_params": "rows"}).fit(rows)
        for rows in (Stream(X), X)
    )
    assert theirs.events_
    assert ours.events_ == theirs.events_
    assert_same_fit(ours, theirs, 1e-7)


def test_a_second_fit_goes_on_from_a_stream() -> None:
    X = clouds()
    options = {"init_params": "random_from_data", "warm_start": True}
    ours, theirs = made(GaussianMixture, options), made(GaussianMixture, options)
    for _ in range(2):
        ours.fit(Stream(X))
        theirs.fit(X)
    assert_same_fit(ours, theirs)


TABLES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "mixed": (MixedMixture, {}, ["size", "color", "yes", "code", "day"]),
    "mixed by kind": (
        MixedMixture,
        {"kinds": {"code": "categorical", "yes": "categorical"}},
        ["size", "color", "yes", "code", "day"],
    ),
    "numbers": (MixedMixture, {}, ["size", "code", "day"]),
    "words": (MixedMixture, {}, ["color", "yes"]),
    "categorical": (CategoricalMixture, {}, ["color", "yes", "code"]),
    "categories given": (
        CategoricalMixture,
        {"categories": [["blue", "green", "red", "white"], [False, True], range(30)]},
        ["color", "yes", "code"],
    ),
}


@pytest.mark.parametrize("sizes", [(1,), ODD_SIZES, (500,)])
@pytest.mark.parametrize("name", TABLES)
def test_tables_in_blocks(name: str, sizes: Any) -> None:
    cls, options, columns = TABLES[name]
    table, options = frame()[columns], {**options, "init_params": "random_from_data"}
    ours = made(cls, options).fit(TableStream(table, sizes))
    theirs = made(cls, options).fit(table)
    for mine, others in zip(ours.categories_, theirs.categories_, strict=True):
        assert mine.dtype == others.dtype
        np.testing.assert_array_equal(mine, others)
    if cls is MixedMixture:
        assert ours.kinds_ == theirs.kinds_
    assert list(ours.feature_names_in_) == columns
    assert_same_fit(ours, theirs)
    assert_same_answers(theirs, lambda: TableStream(table, sizes), table, np.ones(N_ROWS))


def test_tables_start_from_distances_too() -> None:
    table = frame()
    fits = [
        made(MixedMixture, {}).fit(TableStream(table, sizes)) for sizes in ((N_ROWS,), ODD_SIZES)
    ]
    assert_same_fit(*fits)


def test_a_column_may_be_numbers_here_and_objects_there() -> None:
    # As the pieces of a file have it: whole numbers without a hole, floats or objects with one.
    pieces = [
        pd.DataFrame({"code": [1, 2, 2], "flag": [True, False, True]}),
        pd.DataFrame({"code": [1.0, np.nan, 3.0], "flag": [True, None, False]}),
        pd.DataFrame({"code": [None, None, 2], "flag": [None, None, None]}, dtype=object),
    ]

    class Pieces(Source):
        def _pieces(self) -> Any:
            yield from pieces

    model = CategoricalMixture(2, random_state=0).fit(Pieces(2, np.float64))
    assert [own.tolist() for own in model.categories_] == [[1, 2, 3], [False, True]]
    mixed = MixedMixture(2, kinds={0: "categorical"}, random_state=0).fit(Pieces(2, np.float64))
    assert mixed.kinds_ == ["categorical", "binary"]


@settings(max_examples=200, deadline=None)
@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
        elements=st.one_of(
            st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 3e38]),
            st.floats(width=32, allow_infinity=False),
        ),
    ),
    st.booleans(),
    st.integers(0, 99),
)
def test_medians_digit_by_digit_are_those_of_sorting(X: Any, weighted: bool, seed: int) -> None:
    X = X[:, ~np.isnan(X).all(axis=0)]
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float) if weighted else None
    if not X.size:
        return
    holes = np.vstack([X, np.full_like(X[:1], np.nan)])
    if weights is not None:
        weights = np.append(weights, 1.0)
    filled = completed(ArraySource(holes, weights)).rows[-1]
    np.testing.assert_array_equal(medians_by_passes(Stream(holes, (2, 3), weights=weights)), filled)


def test_medians_of_many_columns_take_shorter_digits() -> None:
    X = np.random.default_rng(0).standard_normal((51, 40)) * 10.0 ** np.arange(-20, 20)
    source = Stream(X, (13,))
    np.testing.assert_array_equal(medians_by_passes(source), np.median(X, axis=0))
    assert source.n_passes == 5


class Sent(Source):
    """A source whose passes are done elsewhere: they and their answers travel as bytes."""

    largest = 0

    def total(self, job: Any, *model: Any) -> Any:
        def elsewhere(block: Any, sent: bytes) -> Any:
            there, known = pickle.loads(sent)
            return pickle.loads(pickle.dumps(there(block, *known)))

        sent = pickle.dumps((job, model))
        self.largest = max(self.largest, len(sent))
        return super().total(elsewhere, sent)

    def map(self, job: Any, *model: Any, dtype: Any, width: Any = None) -> Any:
        there, known = pickle.loads(pickle.dumps((job, model)))
        return super().map(there, *known, dtype=dtype, width=width)


class SentStream(Sent, Stream):
    """Rows whose passes travel."""


class SentTables(Sent, TableStream):
    """Tables whose passes travel."""


@pytest.mark.parametrize("start", [*GUESSES, None])
@pytest.mark.parametrize("name", SOME)
def test_passes_travel(name: str, start: str | None) -> None:
    cls, options, rows = CASES[name]
    X = np.tile(rows(), (20, 1))
    options = options if start is None else {**options, "init_params": start}
    source = SentStream(X, (999,))
    ours, theirs = made(cls, options).fit(source), made(cls, options).fit(Stream(X, (999,)))
    assert_same_fit(ours, theirs, 1e-14)
    assert source.largest < 8000  # of 4060 rows nothing is sent along
    np.testing.assert_array_equal(ours.predict(source), ours.predict(X))


@pytest.mark.parametrize("name", ["mixed", "categorical"])
def test_passes_over_tables_travel(name: str) -> None:
    cls, options, columns = TABLES[name]
    table = frame()[columns]
    ours, theirs = (made(cls, options).fit(kind(table)) for kind in (SentTables, TableStream))
    assert_same_fit(ours, theirs)


def test_what_is_kept_of_rows_in_memory_does_not_travel() -> None:
    X, B = np.tile(holed(), (20, 1)), np.tile(bits(), (20, 1))
    for model, rows in ((GaussianMixture(2), X), (BernoulliMixture(2), B)):
        source, reading = model._to_read(rows, reset=True)
        task = model._task(*reading.all(source))
        kept = {"patterns", "packed"} & set(vars(task.model.family))
        assert any(getattr(task.model.family, name) is not None for name in kept)
        sent = pickle.dumps(task.model.family.expect)
        assert len(sent) < 5000
        there = pickle.loads(sent).__self__
        assert all(getattr(there, name) is None for name in kept)


def test_a_guess_keeps_nothing_of_rows_that_come_by() -> None:
    X = np.tile(clouds(), (50, 1))
    for name, guess in GUESSES.items():
        responsible = guess(Rows(Stream(X, (997,))), 3, np.random.RandomState(0))
        assert len(pickle.dumps(responsible)) < 3000, name


@pytest.mark.parametrize(
    ("model", "value", "words"),
    [
        (GaussianMixture(2), np.inf, r"infinity or .* in column 'b' \(row 57\)"),
        (StudentTMixture(2), np.nan, r"NaN in column 'b' \(row 57\)"),
        (BayesianGaussianMixture(2), np.nan, r"NaN in column 'b' \(row 57\)"),
        (PoissonMixture(2), -1.0, "Negative values in data.*row 57, column 'b' is -1"),
        (PoissonMixture(2), 0.5, "Fractions in data.*row 57, column 'b' is 0.5"),
        (PoissonMixture(2), np.inf, r"infinity or .*\(row 57\)"),
        (BernoulliMixture(2), 2.0, "only 0 and 1, but row 57, column 'b' is 2"),
        (BernoulliMixture(2, threshold=0.5), np.nan, r"NaN in column 'b' \(row 57\)"),
    ],
)
def test_a_complaint_names_the_row(model: Any, value: float, words: str) -> None:
    X = bits()[:, :3]
    good = Stream(X, names=["a", "b", "c"])
    X = X.copy()
    X[57, 1] = X[90, 0] = value
    bad = Stream(X, names=["a", "b", "c"])
    with pytest.raises(ValueError, match=f"{type(model).__name__}: .*{words}"):
        model.fit(bad)
    model.fit(good)
    for ask in ("predict", "predict_proba", "score_samples", "score"):
        with pytest.raises(ValueError, match=f"{type(model).__name__}: .*{words}"):
            getattr(model, ask)(bad)


def test_a_complaint_about_a_table_names_the_row() -> None:
    table = frame()
    bad = table.copy()
    bad.loc[57, "size"] = np.inf
    model = MixedMixture(2, random_state=0)
    with pytest.raises(ValueError, match="column 'size' contains infinity in row 57"):
        model.fit(TableStream(bad))
    model.fit(TableStream(table))
    with pytest.raises(ValueError, match="column 'size' contains infinity in row 57"):
        model.predict(TableStream(bad))
    bad.loc[57, "size"] = 1e300
    with pytest.raises(ValueError, match="row 57, column 'size' is 1e"):
        model.predict(TableStream(bad))
    empty = table.assign(size=np.nan, color=None)
    with pytest.raises(ValueError, match="column 'size' has no value at all"):
        model.fit(TableStream(empty))
    with pytest.raises(ValueError, match="column 'color' has no value at all"):
        CategoricalMixture(2).fit(TableStream(empty[["color"]]))
    words = table[["color"]].astype(object)
    words.iloc[57, 0] = 3
    with pytest.raises(TypeError, match="column 'color'"):
        CategoricalMixture(2).fit(TableStream(words))


def test_too_few_rows_and_other_columns_are_refused() -> None:
    X = clouds()
    with pytest.raises(ValueError, match="n_samples = 3"):
        GaussianMixture(4).fit(Stream(X[:3]))
    model = GaussianMixture(2, random_state=0).fit(Stream(X))
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixture is expecting 3"):
        model.predict(Stream(X[:, :2]))
    with pytest.raises(ValueError, match="sample_weight"):
        GaussianMixture(2).fit(Stream(X), sample_weight=np.ones(5))


def test_passes_are_few() -> None:
    # Cells checked, the columns looked over (and a first row to centre by), a start, iterations.
    source = Stream(clouds(), (64,))
    model = GaussianMixture(2, init_params="random", max_iter=5, tol=0, random_state=0)
    model.fit(source)
    assert source.n_passes == 4 + 5
    before = source.n_passes
    model.predict(source)
    model.bic(source)
    assert source.n_passes == before + 2


def test_the_invariants_hold_on_streams() -> None:
    with coterie.options(check_invariants=True):
        for name in SOME:
            cls, options, rows = CASES[name]
            made(cls, options).fit(Stream(rows()))
