"""What indexes share: rows that come and go under ids, questions, files.

A question takes one look at what the index holds; rows that come or go meanwhile are another
state, so any number of threads may ask while one adds.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from coterie._checks import check_memory, one_of, whole
from coterie._config import resolve_n_threads
from coterie._distinct import distinct
from coterie.errors import FileError, ParameterError
from coterie.neighbors.index import Neighbors
from coterie.search._growing import Growing
from coterie.search._incoming import as_opened, incoming, names_of, with_columns
from coterie.search._index_file import Arrays, blaming, damaged, read_index, write_index

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[Any]

#: Ids are below it, so that there is a next one.
_LARGEST_ID = 2**63 - 1
#: Values are the smaller, the nearer, under all of them.
METRICS = ("euclidean", "sqeuclidean", "inner_product", "cosine")


class SearchIndex(ABC):
    """Base of the indexes: rows under ids, asked for the k nearest."""

    _kind: ClassVar[str]

    def __init__(self, metric: str, dtype: npt.DTypeLike, n_threads: int | None) -> None:
        who = type(self).__name__
        if not one_of(*METRICS).allows(metric):
            raise ParameterError(f"{who}: metric={metric!r} was given; use one of {METRICS}.")
        try:
            known = np.dtype(dtype) in (np.dtype(np.float32), np.dtype(np.float64))
        except TypeError:
            known = False
        if not known:
            raise ParameterError(f"{who}: dtype={dtype!r} was given; use 'float32' or 'float64'.")
        resolve_n_threads(n_threads, who)
        self.metric, self.dtype, self.n_threads = metric, np.dtype(dtype), n_threads
        self._ids = Growing(np.empty(0, dtype=np.int64), who)
        self._next_id = 0
        self._columns: list[str] | None = None  # their names, if the first rows had any
        self._writing = threading.Lock()
        self._now: Any = None  # what questions see

    # What a kind of index does its own way.

    @abstractmethod
    def _take(self, rows: Floats) -> None:
        """Put checked rows behind those that are held."""

    @abstractmethod
    def _forget_after(self, n_rows: int) -> None:
        """Drop rows that were taken, but not published."""

    @abstractmethod
    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Drop all other rows."""

    @abstractmethod
    def _state(self) -> Any:
        """All that a question looks at; `ids` is among it."""

    @abstractmethod
    def _answer(self, now: Any, queries: Floats, found: Neighbors, n_threads: int) -> None:
        """Write the neighbours of checked queries."""

    @abstractmethod
    def _stored(self) -> tuple[dict[str, Any], Arrays]:
        """Settings and arrays for a file, besides `metric`, `dtype` and ids."""

    @classmethod
    @abstractmethod
    def _restored(cls, settings: dict[str, Any], arrays: Arrays, n_threads: int | None) -> Self:
        """An index with what `_stored` gave, all but its ids."""

    @abstractmethod
    def _check_restored(self, n_rows: int) -> None:
        """Refuse what a file brought unless it is of so many rows."""

    @abstractmethod
    def _held_rows(self) -> Floats | None:
        """The rows in the order of `ids`, if they are kept."""

    @property
    @abstractmethod
    def n_features(self) -> int | None:
        """Columns of the rows; None while that is not known."""

    # What all have.

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return 0 if self._now is None else len(self._now.ids)

    @property
    def ids(self) -> Ints:
        """The ids of the rows, in the order in which these are held."""
        return self._ids.view[: self.n_rows].copy()

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns, where the first rows had some."""
        return None if self._columns is None else list(self._columns)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        columns = "" if self.n_features is None else f" of {self.n_features} columns"
        told = [f"{self.n_rows:,} rows{columns}", self.metric, *self._details()]
        return f"<{type(self).__name__}: {', '.join(told)}>"

    def _details(self) -> list[str]:
        """What else tells it from another index of its kind."""
        return []

    def add(self, rows: Any, ids: Any = None) -> Self:
        """Add rows, all or, where one of them is refused, none.

        Parameters
        ----------
        rows : array, path or source of shape (n_new, n_features)
            Rows that are elsewhere come block by block.
        ids : int64 array of shape (n_new,) or None
            By what the rows are known, from 0 on and each once; None: on from the largest so far.
        """
        with self._writing:
            before, n_before, columns = self.__dict__.copy(), self.n_rows, self._columns
            if columns is None and not n_before:
                rows = as_opened(rows)
                columns = names_of(rows)
            try:
                n_new = 0
                for part in self._parts(rows):
                    self._take(part)
                    n_new += len(part)
                new_ids = self._new_ids(ids, n_new)
                self._ids.extend(new_ids)
                now = self._state()
                self._next_id = max(self._next_id, int(new_ids.max(initial=-1)) + 1)
                self._columns, self._now = columns, now
            except BaseException:
                self.__dict__.update(before)
                self._forget_after(n_before)  # of what grew where it was
                self._ids.truncate(n_before)
                raise
        return self

    def remove(self, ids: Any) -> Self:
        """Remove the rows of these ids; an id that is not there is refused."""
        who = type(self).__name__
        gone = _whole_numbers(who, ids)
        with self._writing:
            held = self._ids.view
            unknown = gone[~np.isin(gone, held)]
            if unknown.size:
                raise ValueError(
                    f"{who}: id {unknown[0]} was to be removed and no row has it; pass ids of rows "
                    "that are there, see index.ids."
                )
            kept, before = ~np.isin(held, gone), self.__dict__.copy()
            try:
                self._keep(kept)  # puts new arrays in the place of the old
                self._ids = Growing(held[kept], who)
                self._now = self._state()
            except BaseException:
                self.__dict__.update(before)
                raise
        return self

    def search(self, queries: Any, k: int) -> Neighbors:
        """The k nearest rows of every query, nearest first, equals by lower id.

        Parameters
        ----------
        queries : array, path or source of shape (n_queries, n_features)
        k : int
            Where there are fewer rows, the rest has id -1 and is infinitely far away.

        Returns
        -------
        Neighbors
            `dists` (float64) and `ids` (int64), each of shape (n_queries, k).
        """
        asked, found, now = self._question(queries, k)
        self._answer(now, asked, found, self._threads())
        return found

    def kneighbors(
        self, X: Any, n_neighbors: int = 5, return_distance: bool = True
    ) -> tuple[npt.NDArray[np.float64], Ints] | Ints:
        """What `search` finds, as scikit-learn's `NearestNeighbors.kneighbors` gives it."""
        found = self.search(X, n_neighbors)
        return (found.dists, found.ids) if return_distance else found.ids

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to a file that `load` reads: data only, whole or not at all."""
        with self._writing:
            settings, arrays = self._stored()
            told = {"metric": self.metric, "dtype": self.dtype.name, "next_id": self._next_id,
                    "columns": self._columns}  # fmt: skip
            write_index(path, self._kind, told | settings, {"ids": self._ids.view} | arrays)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, n_threads: int | None = None, check: bool = True
    ) -> Self:
        """An index from a file, whose arrays are mapped into memory, not read.

        Parameters
        ----------
        check : bool
            Read the file once, to see that it is undamaged; False: trust it, and open at once.
        """
        kind, settings, arrays = read_index(path, check=check)
        with blaming(path):
            if kind != cls._kind:
                raise FileError(f"it holds a {kind}, not a {cls._kind}; use coterie.search.load.")
            return cls._from_file(settings, arrays, n_threads)

    @classmethod
    def _from_file(cls, settings: dict[str, Any], arrays: Arrays, n_threads: int | None) -> Self:
        ids = arrays.pop("ids")
        index = cls._restored(settings, arrays, n_threads)
        if ids.dtype != np.int64 or ids.ndim != 1 or (len(ids) and ids.min() < 0):
            raise damaged("its ids are no whole numbers from 0 on")
        if len(distinct(ids)) != len(ids):
            raise damaged("an id is there twice")
        next_id = settings["next_id"]
        if type(next_id) is not int or not ids.max(initial=-1) < next_id < 2**63:
            raise damaged("its next id is not above the others")
        index._check_restored(len(ids))
        if settings.get("columns") is not None:  # files of earlier versions have none
            index._columns = _checked_columns(settings["columns"], index.n_features)
        index._ids, index._next_id = Growing(ids, cls._kind), next_id
        index._now = index._state() if len(ids) else None
        return index

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_writing"], state["_now"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._writing = threading.Lock()
        self._now = self._state() if len(self._ids) else None

    def _threads(self) -> int:
        return resolve_n_threads(self.n_threads, type(self).__name__)

    def _parts(self, rows: Any, name: str = "X") -> Iterator[Floats]:
        """Rows in this index's own precision, checked, some at a time."""
        who = type(self).__name__
        if self._columns is not None:
            rows = with_columns(who, rows, self._columns, name)
        return incoming(who, rows, self.dtype, self.n_features, name)

    def _new_ids(self, ids: Any, n_new: int) -> Ints:
        who = type(self).__name__
        if ids is None:
            return np.arange(self._next_id, self._next_id + n_new)
        new = _whole_numbers(who, ids)
        if len(new) != n_new:
            raise ValueError(
                f"{who}: {len(new)} ids were given for {n_new} rows; pass one id per row."
            )
        if n_new and new.min() < 0:
            raise ValueError(f"{who}: id {new.min()} was given; use whole numbers from 0 on.")
        twice = None
        if len(distinct(new)) < n_new:
            ordered = np.sort(new)
            twice = ordered[1:][ordered[1:] == ordered[:-1]][0]
        elif n_new and new.min() < self._next_id:
            known = new[np.isin(new, self._ids.view)]
            twice = known[0] if known.size else None
        if twice is not None:
            raise ValueError(
                f"{who}: id {twice} would belong to two rows; remove the old row first, or use "
                "other ids."
            )
        return new

    def _question(self, queries: Any, k: Any) -> tuple[Floats, Neighbors, Any]:
        """Checked queries, room for the answer, and the state to ask."""
        who, now = type(self).__name__, self._now
        if now is None or not len(now.ids):
            raise ValueError(f"{who}: it has no rows to search; add some first.")
        if not whole(1).allows(k):
            raise ValueError(f"{who}: k={k!r} was asked for; use a whole number of at least 1.")
        parts = self._parts(queries, "queries")
        taken = Growing(next(parts), who, "ask for fewer at a time")
        for part in parts:
            taken.extend(part)
        asked = taken.view
        shape = (len(asked), int(k))
        check_memory(
            who, 16 * shape[0] * shape[1], f"{k} neighbours of {len(asked)} queries",
            "ask for fewer at a time",
        )  # fmt: skip
        return asked, Neighbors(np.empty(shape), np.empty(shape, dtype=np.int64)), now


def _checked_columns(names: Any, n_features: int | None) -> list[str]:
    """Names of columns as a file has them."""
    sound = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not sound or len(names) != n_features:
        raise damaged("its columns have not a name each")
    return list(names)


def _whole_numbers(who: str, ids: Any) -> Ints:
    given = np.atleast_1d(np.asarray(ids))
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim == 1 and given.dtype.kind in "iu" and given.max() >= _LARGEST_ID:
        raise ValueError(
            f"{who}: id {given.max()} was given; use whole numbers below {_LARGEST_ID}, which is "
            "2^63 - 1."
        )
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: ids have shape {given.shape} and type {given.dtype}; pass a list of whole "
            "numbers."
        )
    return given.astype(np.int64)
