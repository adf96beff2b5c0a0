"""Rows of a Dask array or data frame: work goes to where they are, sums come back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import uuid4

import dask
import dask.array
import dask.dataframe
import numpy as np
import numpy.typing as npt
from dask._task_spec import Alias, DataNode, Task, TaskRef
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from coterie._distinct import distinct
from coterie.data._cluster import client_in_force, quiet_about_size
from coterie.data._groups import Graph, Groups, add_tree, computed
from coterie.data._tasks import (
    Fill,
    Keep,
    Pass,
    Recipe,
    Transform,
    count_rows,
    name_of,
    piece_of,
    rows_of,
    run_pass,
    which_rows,
)
from coterie.data.source import Ints, Some, Source, pick_rows
from coterie.errors import DataError

Summary = TypeVar("Summary")

#: Groups that rows are dealt out to at most: there is a task for each of them and each block.
_MOST_GROUPS = 256
#: Bytes of rows, and blocks, that are fetched together where rows are needed here.
_FETCHED_BYTES = 1 << 26
_FETCHED_BLOCKS = 16


class DaskSource(Source):
    """A Dask collection, whose rows stay where they are: one task per block and pass.

    A pass travels once, summaries are added on the workers, neighbours first, and their sum comes
    back. It runs on the client in force, else on Dask's default scheduler. What `map` makes is a
    lazy Dask array. A collection that was persisted is used as it is, any other is computed anew
    by every pass. Where Dask does not know how many rows the blocks have, they are counted once.

    Parameters
    ----------
    collection
        A `dask.array.Array` of two dimensions, cut along its rows (if along columns, too, they are
        put together), or a `dask.dataframe` of numeric columns.
    weights, n_threads
        See `Source`; threads are for what is computed here, a worker uses its own number of them.
    tables
        Whether columns may be of any type: blocks are then parts of the collection as they are.
    name
        What to call it in messages.
    """

    remote = True

    def __init__(
        self,
        collection: Any,
        weights: npt.NDArray[np.float64] | None = None,
        n_threads: int = 1,
        *,
        tables: bool = False,
        name: str = "the Dask collection",
    ) -> None:
        self._name = name
        if isinstance(collection, dask.array.Array):
            columns = _columns_of_array(collection, tables)
        else:
            columns = _columns_of_frame(collection, tables)
        super().__init__(
            columns.n_cols, columns.dtype,
            names=columns.names, weights=weights, n_threads=n_threads,
        )  # fmt: skip
        parts = np.ravel(columns.collection.to_delayed()).tolist()
        self._keys = [part.key for part in parts]
        self._graph: Graph = dict(parts[0].__dask_graph__())
        self._recipe = Recipe(None if tables else self.dtype)
        self._cache: _Cache = _Cache()
        self._learn(columns.lengths)

    def __str__(self) -> str:
        return self._name

    def _learn(self, lengths: Sequence[int] | None) -> None:
        """Take note of how many rows each block has."""
        self._lengths = None if lengths is None else np.array(lengths, dtype=np.int64)
        if lengths is not None:
            self._n_rows = int(np.sum(lengths))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.lengths.sum())

    @property
    def lengths(self) -> Ints:
        """How many rows each block has; counted by a pass where Dask does not know."""
        if self._lengths is None:
            found = self._leaves(Pass(count_rows, (), self._recipe), starts=False)
            self._learn([n_rows or 0 for n_rows in found])
        assert self._lengths is not None
        return self._lengths

    def _pieces(self) -> Iterator[Any]:
        for some in self._fetches(self.n_cols * self.dtype.itemsize):
            for rows in self._leaves(Pass(rows_of, (), self._recipe), some):
                if rows is not None:
                    yield rows

    def _fetches(self, row_bytes: int) -> Iterator[range]:
        """The blocks in order, as many at a time as are fetched together."""
        at = 0
        while at < len(self._keys):
            n_bytes = np.cumsum(self.lengths[at : at + _FETCHED_BLOCKS]) * max(1, row_bytes)
            n_blocks = max(1, int(np.searchsorted(n_bytes, _FETCHED_BYTES, side="right")))
            yield range(at, min(at + n_blocks, len(self._keys)))
            at += n_blocks

    def total(self, job: Callable[..., Summary], *model: Any) -> Summary:
        """Add up ``job(block, *model)`` over all blocks: neighbours first, then their sums."""
        self._check_weights(self.n_rows, ended=True)
        layer, keys = self._layer(Pass(job, model, self._recipe))
        (found,) = self._compute(layer, [add_tree(layer, keys)])
        if found is None:
            raise DataError(f"{self} has no rows; pass at least one.")
        return found

    def results(
        self, job: Callable[..., None], *model: Any, dtype: npt.DTypeLike, width: int | None = None
    ) -> Generator[npt.NDArray[Any], None, None]:
        """What ``job(block, *model, out)`` fills `out` with, block by block, some at a time."""
        filling = Fill(job, np.dtype(dtype), width)
        for some in self._fetches(filling.dtype.itemsize * (width or 1)):
            yield from self._leaves(Pass(filling, model, self._recipe), some)

    def map(
        self, job: Callable[..., None], *model: Any, dtype: npt.DTypeLike, width: int | None = None
    ) -> Any:
        """All `results` as one Dask array, which is computed when it is asked for."""
        lengths = tuple(self.lengths.tolist())
        filling = Pass(Fill(job, np.dtype(dtype), width), model, self._recipe, errors=True)
        layer, keys = self._layer(filling, held=False)
        name = f"{name_of(job)}-{uuid4().hex}"
        shape = () if width is None else (width,)
        for place, key in enumerate(keys):
            target = (name, place, *(0 for _ in shape))
            layer[target] = Alias(target, key)
        graph = HighLevelGraph({name: layer, "rows": self._graph}, {name: {"rows"}, "rows": set()})
        chunks = (lengths, *((size,) for size in shape))
        empty = np.empty((0,) * len(chunks), dtype=dtype)
        return dask.array.Array(graph, name, chunks, dtype=dtype, meta=empty)

    def _total_until(self, last: int, wanted: Ints) -> Some:
        """The wanted rows, of the blocks that have any."""
        ends = np.cumsum(self.lengths)
        holders = distinct(np.searchsorted(ends, wanted[wanted < self.n_rows], side="right"))
        picking = Pass(pick_rows, (wanted,), self._recipe)
        found = self._leaves(picking, holders.tolist()) if holders.size else []
        return sum(found, Some(()))

    @property
    def n_parts(self) -> int:
        """Into how many groups to deal the rows out."""
        return min(len(self._keys), _MOST_GROUPS)

    def dealt(self, job: Callable[..., list[Any]], n_groups: int, *model: Any) -> Groups:
        """What ``job(block, *model)`` deals out to each group, added up by group over all blocks.

        The groups stay where they are made, to be worked on further.
        """
        layer, keys = self._layer(Pass(job, model, self._recipe), held=False)
        sums = []
        for group in range(n_groups):
            name = f"{keys[0][0]}-{group}"
            pieces = [(name, "piece", place) for place in range(len(keys))]
            for piece, key in zip(pieces, keys, strict=True):
                layer[piece] = Task(piece, piece_of, TaskRef(key), group)
            sums.append(add_tree(layer, pieces))
        return Groups.made_by({**self._graph, **layer}, sums)

    def through(
        self,
        transform: Callable[[Any], Any],
        *,
        n_cols: int | None = None,
        sparse: bool | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> DaskSource:
        """The rows as `transform` makes them, where they are."""
        other = self._with(self._recipe.then(Transform(transform)))
        other.sparse = self.sparse if sparse is None else sparse
        other.dtype = self.dtype if dtype is None else np.dtype(dtype)
        if n_cols is not None and n_cols != self.n_cols:
            other.n_cols, other.names = n_cols, None
        return other

    def where(self, keeps: Callable[[Any], npt.NDArray[np.bool_]]) -> DaskSource:
        """Those rows that `keeps` says to keep, numbered anew; they stay where they are."""
        other = self._with(self._recipe.then(Keep(keeps)))
        if self.weights is None:
            other._learn(None)
            return other
        kept = self._leaves(Pass(which_rows, (keeps,), self._recipe))
        other._learn([0 if here is None else int(here.sum()) for here in kept])
        all_kept = np.concatenate([here for here in kept if here is not None])
        return other.weighted(self.weights[all_kept])

    def _with(self, recipe: Recipe) -> DaskSource:
        other = self.weighted(self.weights)
        other._recipe = recipe
        return other

    def weighted(self, weights: npt.NDArray[np.float64] | None) -> DaskSource:
        """The same rows with other weights."""
        other = super().weighted(weights)
        assert isinstance(other, DaskSource)
        other._cache = _Cache()
        return other

    def _layer(
        self,
        what: Pass,
        some: Sequence[int] | None = None,
        *,
        starts: bool = True,
        held: bool = True,
    ) -> tuple[Graph, list[Any]]:
        """Tasks of a pass over (some) blocks, and their keys; weights `held` by the cluster."""
        name = f"{name_of(what.job)}-{uuid4().hex}"
        begins = np.cumsum(self.lengths) - self.lengths if starts else None
        layer: Graph = {(name, "pass"): DataNode((name, "pass"), what)}
        weight_keys = self._put_weights(layer, name, held) if starts else None
        keys = []
        for place in range(len(self._keys)) if some is None else some:
            key = (name, "block", place)
            layer[key] = Task(
                key, run_pass, TaskRef((name, "pass")), TaskRef(self._keys[place]),
                None if weight_keys is None else TaskRef(weight_keys[place]),
                0 if begins is None else int(begins[place]),
            )  # fmt: skip
            keys.append(key)
        return layer, keys

    def _put_weights(self, layer: Graph, name: str, held: bool) -> list[Any] | None:
        """Put the weights of each block into a layer; their keys, or None where there are none.

        Where a cluster is to hold them, they travel to it once. They are tasks there, not scattered
        data, so that those lost with a worker are made again.
        """
        if self.weights is None:
            return None
        client = client_in_force() if held else None
        if client is not None and client is self._cache.client:
            layer.update(self._cache.weights)
            return list(self._cache.weights)
        parts = np.split(self.weights, np.cumsum(self.lengths)[:-1])
        keys = [(f"weights-{name}", place) for place in range(len(parts))]
        nodes = {key: DataNode(key, part) for key, part in zip(keys, parts, strict=True)}
        if client is not None:
            with quiet_about_size():
                kept = client.persist([Delayed(key, nodes) for key in keys])
            nodes = {part.key: dict(part.__dask_graph__())[part.key] for part in kept}
            self._cache = _Cache(client, nodes)
        layer.update(nodes)
        return keys

    def _leaves(
        self, what: Pass, some: Sequence[int] | None = None, *, starts: bool = True
    ) -> list[Any]:
        """What a pass answers of (some) blocks; None of blocks without rows."""
        layer, keys = self._layer(what, some, starts=starts, held=False)
        return self._compute(layer, keys)

    def _compute(self, layer: Graph, keys: list[Any]) -> list[Any]:
        """The values of some keys; on an error or interrupt, nothing is left on the cluster."""
        graph = HighLevelGraph(
            {"pass": layer, "rows": self._graph}, {"pass": {"rows"}, "rows": set()}
        )
        try:
            # Optimized as Dask does the arrays of `map`: reading a block and the pass over it are
            # one task, and the same tasks lead to a block whatever is asked for.
            return computed(dask.array.optimize(graph, keys), keys)
        except BaseException:
            self._cache = _Cache()
            raise


@dataclass(frozen=True)
class _Cache:
    """What a cluster holds for a source: freed with it."""

    client: Any = None
    weights: Graph = field(default_factory=dict)


@dataclass(frozen=True)
class _Columns:
    """A collection with one chunk of columns, what is known of them, and lengths of its blocks."""

    collection: Any
    n_cols: int
    dtype: npt.DTypeLike
    names: list[str] | None
    lengths: Sequence[int] | None


def _columns_of_array(array: Any, tables: bool) -> _Columns:
    if array.ndim != 2:
        raise DataError(
            f"The Dask array has {array.ndim} dimensions; pass one of rows and columns, for "
            "example X.reshape(len(X), -1)."
        )
    if not isinstance(array._meta, np.ndarray):
        kind = type(array._meta).__name__
        raise DataError(
            f"The chunks of the Dask array are of type {kind}; make them NumPy arrays, for example "
            "by X.map_blocks(lambda chunk: chunk.toarray())."
        )
    n_cols = array.shape[1]
    if np.isnan(n_cols) or n_cols < 1:
        raise DataError(
            f"The Dask array has {n_cols} columns; pass one that has some and knows how many."
        )
    if array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    lengths = array.chunks[0]
    known = None if np.isnan(lengths).any() else lengths
    dtype = np.float64 if tables else _float_type(array.dtype, "the Dask array")
    return _Columns(array, n_cols, dtype, None, known)


def _columns_of_frame(frame: Any, tables: bool) -> _Columns:
    if not isinstance(frame, dask.dataframe.DataFrame):
        raise DataError(
            f"X is a {type(frame).__module__}.{type(frame).__name__}; pass a Dask array or data "
            "frame."
        )
    if not len(frame.columns):
        raise DataError("The Dask data frame has no columns; pass some.")
    dtype = np.float64 if tables else _type_of_numbers(frame)
    names = [str(name) for name in frame.columns]
    named = names if all(isinstance(name, str) for name in frame.columns) else None
    return _Columns(frame, len(names), dtype, named, None)


def _type_of_numbers(frame: Any) -> np.dtype[Any]:
    """The type of rows of a data frame, of which every column holds numbers."""
    types = []
    for name, dtype in frame.dtypes.items():
        plain = getattr(dtype, "numpy_dtype", dtype)  # of a column that knows missing cells
        if getattr(plain, "kind", "O") not in "biuf":
            raise DataError(
                f"Column {name!r} of the Dask data frame holds {dtype}, not numbers; leave it out "
                "or encode it."
            )
        types.append(plain)
    return _float_type(np.result_type(*types), "the Dask data frame")


def _float_type(dtype: np.dtype[Any], what: str) -> np.dtype[Any]:
    """float32 and float64 as they are, float64 for other numbers."""
    if dtype.kind not in "biuf":
        raise DataError(f"{what[0].upper()}{what[1:]} holds {dtype}, not numbers; convert it.")
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
