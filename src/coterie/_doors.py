"""The doors: rows, given distances and weights are looked at once, on their way in."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import assert_all_finite, check_array, validate_data

from coterie._checks import check_memory
from coterie._complaints import advising, or_a_mixture
from coterie._config import resolve_n_threads
from coterie._kernels import kernels
from coterie._sparse import canonical_csr, contradiction
from coterie.data.columns import first_odd, not_finite

#: What rows are kept as.
FLOATS = [np.float64, np.float32]


def validated(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, with advice.

    Masked cells are missing where the estimator knows missing cells (its tag `allow_nan`), and
    refused elsewhere.
    """
    if _needs_no_check(estimator, X, **options):
        if options.get("reset", True):
            estimator.n_features_in_ = X.shape[1]
        return X
    who = type(estimator).__name__
    refuse_lazy(who, X)
    check_sparse(who, X)
    if not options.get("skip_check_array"):  # then whoever reads the table looks at its mask
        knows_missing = estimator.__sklearn_tags__().input_tags.allow_nan
        X = nan_for_masked(X) if knows_missing else unmasked(who, X)
    with advising(who, X):
        return validate_data(estimator, X, **options)


def _needs_no_check(
    estimator: Any,
    X: Any,
    *,
    reset: bool = True,
    dtype: Any = None,
    ensure_all_finite: Any = True,
    ensure_min_samples: int = 1,
    copy: bool = False,
    accept_sparse: Any = False,
    **others: Any,
) -> bool:
    """Whether `validate_data` would return X as it is, and have nothing to say.

    So with an array of floats without column names, before and now: a small fit would spend as much
    on being asked all the questions as on its work.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and dtype is FLOATS
        and X.dtype in FLOATS
        and not (copy or others)
        and X.shape[0] >= ensure_min_samples
        and X.shape[1] >= 1
        and not hasattr(estimator, "feature_names_in_")
        and (reset or getattr(estimator, "n_features_in_", None) == X.shape[1])
        and (ensure_all_finite is False or _sums_finitely(X))
    )


def _sums_finitely(X: npt.NDArray[Any]) -> bool:
    """Whether the sum of all values is finite, and so all of them."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(X)))


def checked(who: str, X: Any, name: str = "X", **options: Any) -> Any:
    """scikit-learn's `check_array` for an argument `name` of a function `who`, with advice."""
    refuse_lazy(who, X, name)
    check_sparse(who, X, name)
    X = unmasked(who, X, name)
    with advising(who, X, name=name):
        return check_array(X, input_name=name, estimator=who, **options)


def check_finite(
    who: str,
    rows: Any,
    names: Sequence[str] | None = None,
    *,
    allow_nan: bool = False,
    start: int = 0,
) -> None:
    """Refuse infinity and, unless it is a missing cell, NaN.

    `names` are of the columns, `start` is the number of the first row. scikit-learn's
    `assert_all_finite`, with advice.
    """
    with advising(who, rows, names, knows_missing=allow_nan, start=start):
        assert_all_finite(rows, allow_nan=allow_nan, input_name="X", estimator_name=who)


def trusted(who: str, X: Any, name: str = "X") -> Any:
    """X as given; a CSR matrix checked, since casts and sums of a damaged one may crash."""
    return check_csr(who, X, name) if sp.issparse(X) and X.format == "csr" else X


def dense(who: str, rows: Any) -> npt.NDArray[Any]:
    """Rows as an array; refused where sparse rows would not fit in memory so."""
    if not sp.issparse(rows):
        return np.asarray(rows)
    n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
    check_memory(who, n_bytes, "sparse rows made dense", "reduce their columns first")
    return np.asarray(rows.toarray())


def given_distances(
    estimator: Any,
    X: Any,
    n_fitted: int | None,
    *,
    sparse: bool = True,
    finite: bool = True,
    reset: bool = False,
) -> Any:
    """Distances between the rows of X, or of these to those of the fit: dense or sound CSR.

    NaN and what is below zero is refused, and infinity where distances must be `finite`.
    """
    who, metric = type(estimator).__name__, estimator.metric
    named, X = X, trusted(who, X) if sparse else numbers_of(who, X)
    shape = np.shape(X)
    if len(shape) == 2 and 0 in shape:
        raise ValueError(
            f"{who}: metric={metric!r} was given a table of shape {shape}; pass the distances "
            "between one or more rows."
        )
    if reset:
        validated(estimator, named, skip_check_array=True)
    accepted = "csr" if sparse else False
    given = checked(who, X, accept_sparse=accepted, dtype=FLOATS, ensure_all_finite=False)
    check_square(who, given.shape, n_fitted, metric)
    given = check_csr(who, given) if sp.issparse(given) else given
    check_distances(who, given, metric, finite=finite)
    return given


def numbers_of(who: str, X: Any) -> npt.NDArray[Any]:
    """Given distances as an array of real numbers, of any shape."""
    found = "a sparse table"
    if not sp.issparse(X):
        given = np.asarray(unmasked(who, X))
        if given.dtype.kind in "biuf":
            return given
        found = f"entries of type {given.dtype}"
    raise ValueError(
        f"{who}: X holds {found} where distances were expected; pass a dense array of real numbers."
    )


def check_square(
    who: str, shape: tuple[int, ...], n_fitted: int | None = None, metric: str = "precomputed"
) -> None:
    """Refuse a table without one distance per pair, or to each of so many rows of a fit."""
    if n_fitted is None and (len(shape) != 2 or shape[0] != shape[1]):
        # The first words are scikit-learn's, which tools look for.
        raise ValueError(
            f"{who}: Distance matrix should be square, and X has shape {shape}; "
            f"metric={metric!r} needs one distance a pair of rows: pass those, or rows with "
            "another metric."
        )
    if n_fitted is not None and shape[1] != n_fitted:
        raise ValueError(
            f"{who}: X has {shape[1]} columns and the fit had {n_fitted} rows; metric={metric!r} "
            "needs the distances of each row to all of these."
        )


def check_distances(
    who: str, given: Any, metric: str = "precomputed", *, finite: bool = True
) -> None:
    """Refuse distances, dense, condensed or CSR, that are no numbers, or below zero."""
    values = given.data if sp.issparse(given) else given
    if not values.size:
        return
    low, high = values.min(), values.max()
    odd = np.isnan(low) or (finite and not np.isfinite(high))
    table = given[np.newaxis] if given.ndim == 1 else given
    found = first_odd(table, not_finite if finite else np.isnan) if odd else None
    if found is not None:  # unless another thread has changed it
        row, column = found.row, found.column
        if given.ndim == 1:
            row, column = _pair_at(column, given.size)
        what = "NaN" if np.isnan(found.value) else "infinity"
        instead = "leave these rows out" if finite else "pass infinity where one is not known"
        raise ValueError(
            f"{who}: Input X contains {what} as the distance of rows {row} and {column}, and "
            f"metric={metric!r} needs a number for each pair; {instead}."
        )
    if low < 0:
        raise ValueError(
            f"{who}: Negative values in data passed to metric={metric!r} (the smallest is "
            f"{low:g}); distances are zero or more."
        )


def _pair_at(place: int, n_pairs: int) -> tuple[int, int]:
    """The two rows whose distance stands at this place of condensed ones."""
    n_rows = (1 + math.isqrt(1 + 8 * n_pairs)) // 2
    row = 0
    while place >= n_rows - 1 - row:
        place -= n_rows - 1 - row
        row += 1
    return row, row + 1 + place


def check_weights(who: str, sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Weights as float64, one per row, or None where all are equal to one."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        weights = np.full(n_rows, float(sample_weight))  # type: ignore[arg-type]
    else:
        given = unmasked(who, sample_weight, "sample_weight")
        try:
            weights = check_array(given, ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
        except (ValueError, TypeError) as error:
            reason = str(error).rstrip(".")
            raise type(error)(
                f"{who}: sample_weight: {reason}; pass one number per row."
            ) from error
    if weights.ndim != 1:
        raise ValueError(
            f"{who}: Sample weights must be 1D array or scalar, but sample_weight has "
            f"{weights.ndim} dimensions; pass one weight per row."
        )
    if weights.shape[0] != n_rows:
        raise ValueError(
            f"{who}: sample_weight.shape == {weights.shape}, expected {(n_rows,)}; "
            "pass one weight per row."
        )
    if not np.isfinite(weights).all():
        odd = "NaN" if np.isnan(weights).any() else "infinity"
        row = int(np.argmax(~np.isfinite(weights)))
        raise ValueError(
            f"{who}: Input sample_weight contains {odd} (row {row}); leave such rows out, or give "
            "them the weight 0."
        )
    if (weights < 0).any():
        raise ValueError(
            f"{who}: sample_weight has negative values (row {int(np.argmax(weights < 0))}); "
            "use weights of zero or more."
        )
    if not weights.any():
        raise ValueError(f"{who}: all sample weights are zero; give some rows a positive weight.")
    return None if (weights == 1).all() else np.ascontiguousarray(weights)


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


#: How many entries of a square are compared with their mirror images at a time.
_STRIP_ENTRIES = 1 << 20


def _first_unlike(given: npt.NDArray[Any]) -> tuple[int, int] | None:
    """The first entry of a square that its mirror image differs from; in strips, for memory."""
    n_rows = given.shape[0]
    if given.dtype in FLOATS:  # of which there may be many; whole numbers come from elsewhere
        place = kernels.first_unlike(given, resolve_n_threads(None, "is_symmetric"))
        return None if place < 0 else divmod(place, n_rows)
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


def check_symmetric(given: Any, who: str) -> None:
    """Refuse two distances for one pair, in a square or in CSR."""
    unlike = _first_unlike_stored(given) if sp.issparse(given) else _first_unlike(given)
    if unlike is not None:
        i, j = unlike
        raise ValueError(
            f"{who}: X with metric='precomputed' must be symmetric, and X[{i}, {j}] is "
            f"{float(given[i, j]):.6g} but X[{j}, {i}] is {float(given[j, i]):.6g}; pass "
            "(X + X.T) / 2."
        )


def _first_unlike_stored(given: Any) -> tuple[int, int] | None:
    """The first entry of CSR that its mirror image differs from."""
    gap = sp.coo_array(abs(given - given.T))
    far = gap.data > 1e-7 * given.data.max() if gap.nnz else np.zeros(0, dtype=bool)
    if not far.any():
        return None
    i, j = gap.coords
    first = np.lexsort((j[far], i[far]))[0]
    return int(i[far][first]), int(j[far][first])


def refuse_lazy(who: str, X: Any, name: str = "X") -> None:
    """Refuse a plan of a table (a polars LazyFrame), or an iterator, in place of a table."""
    if isinstance(X, Iterator):
        raise ValueError(
            f"{who}: {name} is a {type(X).__name__}, which gives its rows once, where they are "
            "needed as often as it takes; write them to a file and pass its path, pass them all in "
            "one array, or let MiniBatchKMeans.fit read the batches in one pass."
        )
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise ValueError(
            f"{who}: {name} is a {type(X).__name__}, which has no rows until it is collected; pass "
            f"{name}.collect()."
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
        mixtures = or_a_mixture(
            who, " or use GaussianMixture or MixedMixture, which know missing cells"
        )
        raise ValueError(
            f"{who}: {name} is a masked array with {n_masked} masked "
            f"{'cell' if n_masked == 1 else 'cells'} (the first in {where}); fill them "
            f"({name}.filled(...)){mixtures}."
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
