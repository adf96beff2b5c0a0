"""What cells may be: masked ones are missing, dates are numbers, odd ones are named.

Covers coterie.mixture._values.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
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

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2)) + np.repeat([[0.0], [8.0]], 30, axis=0)


def masked(values: Any, fill: Any = -9999) -> Any:
    """Some cells masked, with a number beneath that must not be seen."""
    mask = np.zeros(values.shape, dtype=bool)
    mask[::7, 0] = True
    hidden = values.copy()
    hidden[mask] = fill
    return np.ma.MaskedArray(hidden, mask)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_masked_cells_are_missing(dtype: type) -> None:
    table = masked((10 * X).astype(dtype))
    holes = np.where(table.mask, np.nan, (10 * X).astype(dtype)).astype(
        dtype if np.dtype(dtype).kind == "f" else float
    )
    model = GaussianMixture(2, random_state=0).fit(table)
    same = GaussianMixture(2, random_state=0).fit(holes)
    np.testing.assert_array_equal(model.means_, same.means_)
    assert model.means_.dtype == holes.dtype
    np.testing.assert_array_equal(model.predict(table), same.predict(holes))
    np.testing.assert_array_equal(model.score_samples(table), same.score_samples(holes))


def test_masked_cells_are_missing_in_tables() -> None:
    codes = masked(np.round(X).astype(int) % 3)
    model = CategoricalMixture(2, random_state=0).fit(codes)
    assert [own.tolist() for own in model.categories_] == [[0, 1, 2], [0, 1, 2]]
    model.predict(codes)
    mixed = MixedMixture(2, random_state=0).fit(masked(X))
    assert mixed.means_.min() > -100
    whole = MixedMixture(2, random_state=0).fit(masked(np.round(9 * X).astype(int)))
    assert whole.kinds_ == ["numeric", "numeric"]
    assert whole.means_.min() > -100


@pytest.mark.parametrize(
    "estimator", [BernoulliMixture, PoissonMixture, StudentTMixture, BayesianGaussianMixture]
)
def test_where_nothing_may_be_missing_masked_cells_are_refused(estimator: Any) -> None:
    bits = (X > 4).astype(float)
    told = rf"^{estimator.__name__}: X is a masked array with 9 masked cells.*; fill them"
    with pytest.raises(ValueError, match=told):
        estimator(2).fit(masked(bits))
    nothing_masked = np.ma.MaskedArray(bits, False)
    model = estimator(2, random_state=0).fit(nothing_masked)
    with pytest.raises(ValueError, match=told):
        model.predict(masked(bits))


def days() -> Any:
    """Days in two years, and the same as dates."""
    numbers = np.concatenate([np.arange(30.0), np.arange(365.0, 395.0)]) + 18_000
    return numbers, np.datetime64("1970-01-01") + numbers.astype("timedelta64[D]")


def test_dates_are_numbers() -> None:
    numbers, dates = days()
    frame = pd.DataFrame({"when": dates, "x": X[:, 0], "for": pd.to_timedelta(numbers, "D")})
    plain = pd.DataFrame({"when": numbers, "x": X[:, 0], "for": numbers})
    frame.loc[3, "when"], plain.loc[3, "when"] = pd.NaT, np.nan
    model = MixedMixture(2, random_state=0).fit(frame)
    same = MixedMixture(2, random_state=0).fit(plain)
    assert model.kinds_ == ["numeric"] * 3
    np.testing.assert_allclose(model.means_, same.means_)
    np.testing.assert_array_equal(model.predict(frame), same.predict(plain))


def test_dates_with_a_time_zone_are_the_same_moments() -> None:
    _, dates = days()
    zone = timezone(timedelta(hours=5))
    here = pd.DataFrame({"when": pd.to_datetime(dates).tz_localize("UTC").tz_convert(zone)})
    objects = pd.DataFrame({"when": [moment.to_pydatetime() for moment in here["when"]]})
    objects = objects.astype(object)
    objects.loc[0, "when"] = None
    plain = MixedMixture(2, random_state=0).fit(pd.DataFrame({"when": dates}))
    for frame in (here, objects):
        model = MixedMixture(2, random_state=0).fit(frame)
        np.testing.assert_allclose(np.sort(model.means_[:, 0]), np.sort(plain.means_[:, 0]), 0.01)
    assert isinstance(objects["when"][1], datetime)


def test_dates_may_be_categories_if_asked() -> None:
    dates = np.repeat(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), 30)
    model = MixedMixture(2, kinds={"when": "categorical"}, random_state=0)
    assert model.fit(pd.DataFrame({"when": dates})).kinds_ == ["categorical"]


FRAME = pd.DataFrame({"plain": np.tile([0.0, 1], 30), "odd one": np.tile([0.0, 1], 30)})
ODD: list[tuple[Any, Any, str]] = [
    (BernoulliMixture, 2.0, "row 5, column 'odd one' is 2"),
    (PoissonMixture, -1.0, "Negative values in data: .* row 5, column 'odd one' is -1"),
    (PoissonMixture, 0.5, "Fractions in data: .* row 5, column 'odd one' is 0.5"),
    (StudentTMixture, np.nan, r"NaN in column 'odd one' \(row 5\)"),
    (GaussianMixture, np.inf, r"infinity .* in column 'odd one' \(row 5\).*missing"),
    (CategoricalMixture, 0.5, "column 'odd one' should hold categories"),
    (MixedMixture, np.inf, "column 'odd one' contains infinity"),
]


@pytest.mark.parametrize(("estimator", "value", "told"), ODD)
def test_errors_name_columns(estimator: Any, value: float, told: str) -> None:
    frame = FRAME.copy()
    frame.loc[5, "odd one"] = value
    with pytest.raises(ValueError, match=f"^{estimator.__name__}: .*{told}"):
        estimator(2).fit(frame)
    empty = FRAME.assign(**{"odd one": np.nan})
    if estimator in (GaussianMixture, CategoricalMixture, MixedMixture):
        with pytest.raises(ValueError, match=r"column 'odd one'.* no value"):
            estimator(2).fit(empty)


def test_errors_name_columns_when_predicting() -> None:
    model = CategoricalMixture(2, random_state=0).fit(FRAME)
    with pytest.raises(ValueError, match="column 'odd one' holds the category 7"):
        model.predict(FRAME.assign(**{"odd one": 7.0}))
    bits = BernoulliMixture(2, random_state=0).fit(FRAME)
    with pytest.raises(ValueError, match="column 'odd one' is 7"):
        bits.predict(FRAME.assign(**{"odd one": 7.0}))


def test_fractional_counts_may_be_allowed() -> None:
    counts = np.abs(X)
    model = PoissonMixture(2, fractions=True, random_state=0).fit(counts)
    with coterie.options(check_invariants=True):
        again = PoissonMixture(2, fractions=True, random_state=0).fit(counts)
    np.testing.assert_array_equal(model.rates_, again.rates_)
    with pytest.raises(ValueError, match="Negative values in data"):
        PoissonMixture(2, fractions=True).fit(X)
    with pytest.raises(ValueError, match="set fractions=True"):
        PoissonMixture(2).fit(counts)
