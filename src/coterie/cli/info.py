"""``coterie info``: what is in a file?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli._limits import limited
from coterie.cli._options import (
    Data,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Quiet,
    Threads,
    check_decimal,
    check_text_options_of,
    title_of,
)
from coterie.cli._stdin import as_files, check_there

if TYPE_CHECKING:
    from coterie.data.described import ColumnFacts

#: Bytes of a header of safetensors that are looked into.
_MOST_HEADER = 1 << 27
#: What is told of a study.
_VERDICT = ("headline", "has_structure", "n_clusters", "confidence")
#: Values of a text column that are shown.
_SHOWN_VALUES = 3


def info(
    data: Data,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Say what a file is: a table (rows, columns, kinds, missing cells), a model, an index or a
    study."""
    from coterie.cli._telling import tell

    check_decimal(decimal)
    check_there(data)
    with limited(threads, max_memory) as most_bytes, as_files(data, text=True) as places:
        what = _kind(places)
        if what == "table":
            check_text_options_of(places, most_bytes, decimal, header)
            facts, lines = _table(data, places, decimal, header, most_bytes)
        else:
            facts, lines = {"model": _model, "index": _index, "study": _study}[what](
                Path(places[0])
            )
    tell({"what": what, **facts}, partial(iter, lines), as_json=as_json, quiet=quiet)


def _kind(places: list[str]) -> str:
    """What a file is, by how it begins."""
    path = Path(places[0])
    if len(places) > 1 or not path.is_file():
        return "table"
    with open(path, "rb") as file:
        begin = file.read(64)
        if begin.lstrip()[:1] == b"{" and begin[8:9] != b"{":
            return "study"
        size = int.from_bytes(begin[:8], "little")
        if begin[8:9] != b"{" or not 2 <= size <= _MOST_HEADER:
            return "table"
        file.seek(8)
        head = file.read(size)
    return "index" if b'"coterie-index"' in head else "model"


def _model(path: Path) -> tuple[dict[str, Any], list[str]]:
    from coterie._files import load_bundle
    from coterie.cli._summary import entry, listed
    from coterie.cli._wording import method_of

    bundle = load_bundle(path)
    model = bundle.model
    defaults = type(model)().get_params()
    chosen = {
        name: value for name, value in model.get_params().items() if value != defaults.get(name)
    }
    fitted = sorted(name for name in vars(model) if name.endswith("_"))
    n_clusters = next(
        (len(getattr(model, name)) for name in ("cluster_centers_", "weights_", "counts_")
         if getattr(model, name, None) is not None),
        None,
    )  # fmt: skip
    if n_clusters is None and hasattr(model, "labels_"):
        n_clusters = int(max(model.labels_, default=-1)) + 1
    columns = bundle.columns or list(getattr(model, "columns_", ())) or None
    facts = {
        "estimator": type(model).__name__,
        "method": method_of(model),
        "n_clusters": n_clusters,
        "columns": columns,
        "scaled": bundle.scaling is not None,
        "parameters": chosen,
        "attributes": fitted,
        "bytes": path.stat().st_size,
    }
    told = [f"{name}={value!r}" for name, value in chosen.items()]
    lines = [f"model       {facts['estimator']}"]
    if n_clusters is not None:
        lines.append(f"clusters    {n_clusters:,}")
    if columns is not None:
        scaled = ", standardised" if bundle.scaling is not None else ""
        lines.append(entry("columns", [*listed(columns)[:-1], listed(columns)[-1] + scaled]))
    lines.append(entry("parameters", [f"{one}," for one in told[:-1]] + (told[-1:] or ["none"])))
    lines.append(f"file        {facts['bytes']:,} bytes")
    return facts, lines


def _index(path: Path) -> tuple[dict[str, Any], list[str]]:
    from coterie.cli._index_facts import index_facts, lines_of
    from coterie.search import load

    held: Any = load(path)
    facts = index_facts(held, path)
    return facts, list(lines_of(facts))


def _study(path: Path) -> tuple[dict[str, Any], list[str]]:
    from coterie.cli._summary import entry
    from coterie.errors import DataError

    try:
        found = json.loads(path.read_bytes())
        verdict = found["verdict"]
        facts = {"title": found["title"], "schema": found["schema"]}
        facts |= {name: verdict[name] for name in _VERDICT}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path}: this is JSON, but not a study.json that coterie study wrote; give a table, a "
            "model, an index or a study."
        ) from error
    lines = [
        f"study       {facts['title']}",
        entry("verdict", str(facts["headline"]).split(" ")),
        f"clusters    {facts['n_clusters']:,}",
        f"confidence  {facts['confidence']}",
    ]
    return facts, lines


def _table(
    data: list[str], places: list[str], decimal: str | None, header: bool | None, most_bytes: int
) -> tuple[dict[str, Any], list[str]]:
    from coterie.data.all_columns import open_columns
    from coterie.data.described import describe

    table = open_columns(places, decimal=decimal, header=header, most_bytes=most_bytes)
    found = describe(table.schema, table.tables())
    title = title_of(data)
    facts = {
        "name": title,
        "format": table.format,
        "rows": found.n_rows,
        "n_columns": len(found.columns),
        "missing": sum(column.n_missing for column in found.columns),
        "columns": [_column_facts(column) for column in found.columns],
        "notes": list(table.notes),
    }
    lines = [
        f"table       {title} ({table.format})",
        f"rows        {found.n_rows:,}",
        f"columns     {len(found.columns):,}",
        f"missing     {facts['missing']:,} cells",
        *(f"note        {note}" for note in table.notes),
        "",
        *_grid(found.columns),
    ]
    return facts, lines


def _column_facts(column: ColumnFacts) -> dict[str, Any]:
    common = dict(column.counts.most_common(_SHOWN_VALUES))
    return {
        "name": column.name,
        "kind": column.kind,
        "type": column.type,
        "missing": column.n_missing,
        "least": column.least,
        "mean": column.mean,
        "largest": column.largest,
        "distinct": column.n_distinct,
        "commonest": common or None,
    }


def _grid(columns: list[ColumnFacts]) -> Iterator[str]:
    """A line for each column."""
    width = min(30, max(len(column.name) for column in columns))
    yield f"  {'column':<{width}}  {'kind':<12}  {'missing':>9}  values"
    for column in columns:
        yield (
            f"  {column.name:<{width}}  {column.kind:<12}  {column.n_missing:>9,}  "
            f"{_values(column)}"
        )


def _values(column: ColumnFacts) -> str:
    if column.kind in ("number", "whole number"):
        return f"{column.least:.6g} to {column.largest:.6g}, mean {column.mean:.6g}"
    if column.kind == "time":
        return f"{column.least} to {column.largest}"
    if column.kind == "empty":
        return ""
    if column.n_distinct is None:
        return "more than 10,000 different ones"
    common = ", ".join(
        f"{value[:30]} ({count:,})" for value, count in column.counts.most_common(_SHOWN_VALUES)
    )
    return f"{column.n_distinct:,} different ones: {common}" + (
        " ..." if column.n_distinct > _SHOWN_VALUES else ""
    )
