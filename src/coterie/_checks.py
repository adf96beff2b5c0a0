"""Checks of parameters and rows, made once, before a fit starts."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import assert_all_finite, check_array, validate_data

from coterie._complaints import advising
from coterie._config import get_options
from coterie._sparse import canonical_csr, contradiction

#: What rows are kept as.
FLOATS = [np.float64, np.float32]


@dataclass(frozen=True)
class Rule:
    """What one parameter may be: a test and the words for it."""

    allows: Callable[[Any], bool]
    words: str

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            lambda value: self.allows(value) or other.allows(value),
            f"{self.words} or {other.words}",
        )


def whole(at_least: int) -> Rule:
    """A whole number of at least this."""

    def allows(value: Any) -> bool:
        return (
            isinstance(value, numbers.Integral)
            and not isinstance(value, (bool, np.bool_))
            and int(value) >= at_least
        )

    return Rule(allows, f"a whole number of at least {at_least}")


def real(at_least: float, at_most: float = np.inf) -> Rule:
    """A finite number in a closed range."""

    def allows(value: Any) -> bool:
        return (
            isinstance(value, numbers.Real)
            and not isinstance(value, (bool, np.bool_))
            and np.isfinite(float(value))
            and at_least <= float(value) <= at_most
        )

    top = "" if at_most == np.inf else f" and at most {at_most:g}"
    return Rule(allows, f"a number of at least {at_least:g}{top}")


def positive() -> Rule:
    """A finite number above zero."""
    at_least_zero = real(0)
    return Rule(lambda value: at_least_zero.allows(value) and value > 0, "a number above 0")


def one_of(*choices: str) -> Rule:
    """One of these words."""
    quoted = ", ".join(repr(choice) for choice in choices)
    return Rule(lambda value: isinstance(value, str) and value in choices, f"one of {quoted}")


def names(*choices: str) -> Rule:
    """A collection of none, some or all of these words."""
    quoted = ", ".join(repr(choice) for choice in choices)
    return Rule(
        lambda value: isinstance(value, (tuple, list, set, frozenset)) and set(value) <= {*choices},
        f"a tuple of names out of {quoted}",
    )


def mapping(*keys: str) -> Rule:
    """A dict with none, some or all of these keys."""
    quoted = ", ".join(repr(key) for key in keys)
    return Rule(
        lambda value: isinstance(value, Mapping) and set(value) <= {*keys},
        f"a dict with keys out of {quoted}",
    )


NONE = Rule(lambda value: value is None, "None")
CALLABLE = Rule(callable, "a callable")
ARRAY = Rule(
    lambda value: hasattr(value, "shape") or isinstance(value, (list, tuple)),
    "an array",
)
FLAG = Rule(lambda value: isinstance(value, (bool, np.bool_, numbers.Integral)), "True or False")
ANY = Rule(lambda value: True, "anything")
#: scikit-learn's `n_jobs`, which counts from the end where it is negative.
JOBS = (
    NONE
    | whole(1)
    | Rule(lambda value: isinstance(value, numbers.Integral) and int(value) < 0, "a negative one")
)


#: Stands in a model file for a function, which no data file can carry.
STAND_IN = "<callable>"


def is_stand_in(value: Any) -> bool:
    """Whether a parameter was a function before the model was saved."""
    return isinstance(value, str) and value == STAND_IN


def refuse_stand_in(who: str, name: str, value: Any) -> None:
    """Refuse to go on without a function that was lost on the way through a file."""
    if is_stand_in(value):
        raise ValueError(
            f"{who}: {name} was a function when the model was saved, and a model file carries no "
            f"functions; set it again with model.set_params({name}=...)."
        )


def check_params(who: str, params: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Refuse a parameter outside its declared range."""
    for name, rule in rules.items():
        if not rule.allows(params[name]):
            if rule.allows(len):
                refuse_stand_in(who, name, params[name])
            raise ValueError(f"{who}: {name}={params[name]!r} was given; use {rule.words}.")


def check_enough_rows(who: str, n_clusters: int, n_rows: int) -> None:
    """Refuse more clusters than rows."""
    if n_rows < n_clusters:
        # The first words are scikit-learn's, which tools look for.
        raise ValueError(
            f"{who}: n_samples={n_rows} should be >= n_clusters={n_clusters}; "
            "lower n_clusters or pass more rows."
        )


def check_sparse(who: str, X: Any, name: str = "X") -> None:
    """Refuse a sparse matrix whose arrays contradict each other; all else passes.

    To be called before anything is done with it: a cast or a conversion may crash on a bad index.
    """
    if not sp.issparse(X):
        return
    found = contradiction(X)
    if found is not None:
        raise ValueError(
            f"{who}: {name} is a sparse matrix whose index arrays contradict each other ({found}); "
            "build it anew from the entries it should have."
        )


def check_csr(who: str, rows: Any, name: str = "X") -> Any:
    """A CSR matrix the kernels can trust: indices in range and sorted, no entry twice."""
    check_sparse(who, rows, name)
    return canonical_csr(rows)


def trusted(who: str, X: Any) -> Any:
    """X as given; a CSR matrix checked, since casts and sums of a damaged one may crash."""
    return check_csr(who, X) if sp.issparse(X) and X.format == "csr" else X


def dense(who: str, rows: Any) -> npt.NDArray[Any]:
    """Rows as an array; refused where sparse rows would not fit in memory so."""
    if not sp.issparse(rows):
        return np.asarray(rows)
    n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
    check_memory(who, n_bytes, "sparse rows made dense", "reduce their columns first")
    return np.asarray(rows.toarray())


def given_distances(
    estimator: Any, X: Any, n_fitted: int | None, *, finite: bool = True, reset: bool = False
) -> Any:
    """Distances between the rows of X, or of these to those of the fit: dense or sound CSR.

    NaN and what is below zero is refused, and infinity where distances must be `finite`.
    """
    who, metric, shape = type(estimator).__name__, estimator.metric, np.shape(X)
    if len(shape) == 2 and 0 in shape:
        raise ValueError(
            f"{who}: metric={metric!r} was given a table of shape {shape}; pass the distances "
            "between one or more rows."
        )
    X = trusted(who, X)
    options = {"accept_sparse": "csr", "dtype": FLOATS, "ensure_all_finite": finite}
    if reset:
        validated(estimator, X, skip_check_array=True)
    given = checked(who, X, **options)
    if given.shape[1] != (given.shape[0] if n_fitted is None else n_fitted):
        wanted = "a square matrix" if n_fitted is None else f"{n_fitted} columns"
        raise ValueError(
            f"{who}: metric={metric!r} needs {wanted} and X has shape {given.shape}; pass what "
            "lies between each row and all rows of the fit."
        )
    given = check_csr(who, given) if sp.issparse(given) else given
    values = given.data if sp.issparse(given) else given
    if not finite and np.isnan(values).any():
        raise ValueError(
            f"{who}: Input X contains NaN, and metric={metric!r} needs distances; pass infinity "
            "where one is not known."
        )
    if values.size and values.min() < 0:
        raise ValueError(
            f"{who}: Negative values in data passed to metric={metric!r} (the smallest is "
            f"{values.min():g}); distances are zero or more."
        )
    return given


def check_weights(who: str, sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Weights as float64, one a row, or None where all are equal to one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        weights = np.full(n_rows, float(sample_weight))  # type: ignore[arg-type]
    else:
        weights = check_array(
            unmasked(who, sample_weight, "sample_weight"),
            ensure_2d=False,
            dtype=np.float64,
            input_name="sample_weight",
        )
    if weights.ndim != 1:
        raise ValueError(
            f"{who}: Sample weights must be 1D array or scalar, but sample_weight has "
            f"{weights.ndim} dimensions; pass one weight a row."
        )
    if weights.shape[0] != n_rows:
        raise ValueError(
            f"{who}: sample_weight.shape == {weights.shape}, expected {(n_rows,)}; "
            "pass one weight a row."
        )
    if (weights < 0).any():
        raise ValueError(
            f"{who}: sample_weight has negative values (row {int(np.argmax(weights < 0))}); "
            "use weights of zero or more."
        )
    if not weights.any():
        raise ValueError(f"{who}: all sample weights are zero; give some rows a positive weight.")
    return None if (weights == 1).all() else np.ascontiguousarray(weights)


def check_memory(who: str, n_bytes: int, for_what: str, instead: str) -> None:
    """Refuse what would not fit in the memory that is free now."""
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{who}: {for_what} need {n_bytes / 1e9:.3g} GB and {available / 1e9:.3g} GB are "
            f"available; {instead}."
        )


def available_memory() -> int | None:
    """Bytes this process may still use, by machine, cgroup and option; None if unknown."""
    known = [] if get_options()["max_memory"] is None else [int(get_options()["max_memory"])]
    with suppress(OSError, ValueError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        known.append(1024 * int(lines["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        in_use = int((group / "memory.current").read_text()) - int(stat.get("inactive_file", 0))
        known.append(limit - in_use)
    return max(0, min(known)) if known else None


#: How many entries of a square are compared with their mirror images at a time.
_STRIP_ENTRIES = 1 << 20


def _first_unlike(given: npt.NDArray[Any]) -> tuple[int, int] | None:
    """The first entry of a square that its mirror image differs from; in strips, for memory."""
    n_rows = given.shape[0]
    strip = max(1, _STRIP_ENTRIES // max(1, n_rows))
    for start in range(0, n_rows, strip):
        here, there = given[start : start + strip], given[:, start : start + strip].T
        same = np.isclose(here, there, equal_nan=True)
        if not same.all():
            i, j = np.argwhere(~same)[0]
            return start + int(i), int(j)
    return None


def is_symmetric(given: npt.NDArray[Any]) -> bool:
    """Whether a square is its own mirror image, to rounding."""
    return _first_unlike(given) is None


def check_symmetric(given: npt.NDArray[Any], who: str) -> None:
    """Refuse two distances for one pair."""
    unlike = _first_unlike(given)
    if unlike is not None:
        i, j = unlike
        raise ValueError(
            f"{who}: X with metric='precomputed' must be symmetric, and X[{i}, {j}] is "
            f"{float(given[i, j]):.6g} but X[{j}, {i}] is {float(given[j, i]):.6g}; pass "
            "(X + X.T) / 2."
        )


def refuse_lazy(who: str, X: Any) -> None:
    """Refuse a plan of a table (a polars LazyFrame) in place of a table."""
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise ValueError(
            f"{who}: X is a {type(X).__name__}, which has no rows until it is collected; pass "
            "X.collect()."
        )


def unmasked(who: str, X: Any, name: str = "X") -> Any:
    """X without its mask; refused where a cell is masked."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    mask = np.ma.getmaskarray(X)
    if mask.any():
        n_masked = np.count_nonzero(mask)
        place = [int(at) for at in np.argwhere(mask)[0]]
        where = f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"place {place[0]}"
        raise ValueError(
            f"{who}: {name} is a masked array with {n_masked} masked "
            f"{'cell' if n_masked == 1 else 'cells'} (the first in {where}); fill them "
            f"({name}.filled(...)) or use GaussianMixture or MixedMixture, which know missing "
            "cells."
        )
    return np.ma.getdata(X)


def nan_for_masked(X: Any, *, table: bool = False) -> Any:
    """X with NaN where it is masked (None among texts and objects); anything else as it is.

    In a `table`, whose columns are of several kinds, whole numbers stay whole: None is among them.
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    data, mask = np.ma.getdata(X), np.ma.getmaskarray(X)
    if not mask.any():
        return data
    if data.dtype.kind in ("f" if table else "biuf"):
        data, missing = data.astype(np.result_type(data.dtype, np.float32)), np.nan
    else:
        data, missing = data.astype(object), None
    data[mask] = missing
    return data


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, with advice.

    Masked cells are missing where the estimator knows missing cells (its tag `allow_nan`), and
    refused elsewhere.
    """
    who = type(estimator).__name__
    refuse_lazy(who, X)
    check_sparse(who, X)
    if not options.get("skip_check_array"):  # then whoever reads the table looks at its mask
        knows_missing = estimator.__sklearn_tags__().input_tags.allow_nan
        X = nan_for_masked(X) if knows_missing else unmasked(who, X)
    with advising(who, X):
        return validate_data(estimator, X, **options)


def checked(who: str, X: Any, **options: Any) -> Any:
    """scikit-learn's `check_array` for a function of this name, with advice."""
    refuse_lazy(who, X)
    check_sparse(who, X)
    X = unmasked(who, X)
    with advising(who, X):
        return check_array(X, input_name="X", estimator=who, **options)


def check_finite_rows(who: str, rows: Any, names: Sequence[str] | None = None) -> None:
    """scikit-learn's `assert_all_finite` for rows, with advice; `names` are of their columns."""
    with advising(who, rows, names):
        assert_all_finite(rows, input_name="X", estimator_name=who)
