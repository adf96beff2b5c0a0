"""Graphs of tasks: their sums, their values, and groups of rows that a cluster keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import dask
from dask._task_spec import DataNode, Task, TaskRef
from dask.delayed import Delayed

from coterie.data._cluster import clear_errors, quiet_about_size
from coterie.data._tasks import Failed, add_up, run_on_group

Graph = dict[Any, Any]

#: Summaries added up by one task; a sum has the shape that this and the number of blocks give it.
ADDED_AT_ONCE = 8


def add_tree(layer: Graph, keys: list[Any]) -> Any:
    """Put the tasks that add up these keys into a layer, neighbours first; the key of the sum."""
    name, level = keys[0][0], 0
    while len(keys) > 1 or level == 0:
        groups = [keys[at : at + ADDED_AT_ONCE] for at in range(0, len(keys), ADDED_AT_ONCE)]
        keys = [(name, f"sum-{level}", place) for place in range(len(groups))]
        for key, group in zip(keys, groups, strict=True):
            layer[key] = Task(key, add_up, *(TaskRef(part) for part in group))
        level += 1
    return keys[0]


def computed(graph: Any, keys: list[Any]) -> list[Any]:
    """The values of some keys of a graph; what failed is raised."""
    with clear_errors(), quiet_about_size():
        found = dask.compute(*(Delayed(key, graph) for key in keys))
    for value in found:
        if isinstance(value, Failed):
            raise value.error
    return list(found)


class Groups:
    """Rows dealt out to groups, which stay on the cluster while jobs are done on them."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = parts

    @classmethod
    def made_by(cls, graph: Graph, keys: list[Any]) -> Groups:
        """Groups that are the values of these keys; begins to make them."""
        with clear_errors(), quiet_about_size():
            return cls(dask.persist(*(Delayed(key, graph) for key in keys)))

    def then(self, job: Callable[..., Any], *model: Any) -> Groups:
        """What ``job(group, n_threads, *model)`` makes of each, kept in their place."""
        return self.made_by(*self._graph_of(job, model))

    def gather(
        self, job: Callable[..., Any], *model: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        """What ``job(group, n_threads, *model)`` answers for each group.

        The model may begin with something of its own for each of them.
        """
        return computed(*self._graph_of(job, model, each))

    def _graph_of(
        self, job: Callable[..., Any], model: tuple[Any, ...], each: Sequence[Any] | None = None
    ) -> tuple[Graph, list[Any]]:
        name = f"{job.__name__}-{uuid4().hex}"
        shared = [(name, "model", at) for at in range(len(model))]
        graph: Graph = {key: DataNode(key, value) for key, value in zip(shared, model, strict=True)}
        keys = []
        for place, part in enumerate(self._parts):
            graph.update(part.__dask_graph__())
            key = (name, "group", place)
            own = () if each is None else (DataNode(None, each[place]),)
            refs = (TaskRef(one) for one in shared)
            graph[key] = Task(key, run_on_group, job, TaskRef(part.key), *own, *refs)
            keys.append(key)
        return graph, keys
