"""``coterie score``: how good are labels?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._options import (
    Columns,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Metric,
    Quiet,
    Scale,
    Seed,
    Threads,
    Without,
    check_decimal,
    completing,
    names,
)
from coterie.cli._stdin import as_files, check_read_once

_NOISE = ("drop", "cluster", "singletons")
#: Rows up to which all pairs are compared.
_MOST_COMPARED = 20_000


def score(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA",
            help="The table that was clustered; - for stdin. Without it, labels are only compared.",
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="The labels: a file, - for stdin, or else a column of DATA.")
    ] = "labels.csv",
    truth: Annotated[
        str | None,
        typer.Option(help="Labels to compare them with: a file, or else a column of DATA."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="What the label -1 is: drop, cluster or singletons; by default left out of scores "
            "by the rows, and a cluster where labels are compared.",
            autocompletion=completing(_NOISE),
        ),
    ] = None,
    metric: Metric = None,
    columns: Columns = None,
    without: Without = None,
    scale: Scale = True,
    seed: Seed = 0,
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
) -> None:
    """Score labels by the rows themselves, and against other labels."""
    from coterie.cli._telling import tell

    check_decimal(decimal)
    if noise is not None and noise not in _NOISE:
        raise ValueError(f"--noise {noise!r} was given; use one of {', '.join(_NOISE)}.")
    if metric is not None and metric != "precomputed":
        _check_metric(metric)
    if not data and truth is None:
        raise ValueError("there is nothing to score by; give the table, or --truth, or both.")
    internal: dict[str, Any] = {}
    external: dict[str, Any] = {}
    notes: list[str] = []
    check_read_once([*(data or []), labels, truth])
    with (
        limited(threads, max_memory) as most_bytes,
        as_files(data or [], text=True) as places,
        as_files([labels], text=True) as [own_place],
        as_files([truth or ""], text=True) as [other_place],
    ):
        own, own_column = _labels("--labels", own_place, places, decimal, header)
        other, other_column = (
            _labels("--truth", other_place, places, decimal, header) if truth else (None, None)
        )
        if other is not None:
            if len(other) != len(own):
                raise ValueError(
                    f"--labels has {len(own):,} and --truth {len(other):,}; they are to be of the "
                    "same rows."
                )
            external = _external(own, other, noise or "cluster", notes)
        if data:
            apart = [name for name in (own_column, other_column) if name is not None]
            internal = _internal(
                places, own, metric, columns, [*names(without), *apart], scale=scale, seed=seed,
                noise=noise or "drop", decimal=decimal, header=header, most_bytes=most_bytes,
                notes=notes,
            )  # fmt: skip
    values, counts = _counted(own)
    facts = {
        "labels": labels,
        "truth": truth,
        "rows": len(own),
        "clusters": dict(zip(map(str, values), counts, strict=True)),
        "internal": internal,
        "external": external,
        "notes": notes,
    }
    tell(facts, partial(_lines, facts), as_json=as_json, quiet=quiet)


def _check_metric(metric: str) -> None:
    from coterie.distance import METRICS, NAMES

    if metric not in NAMES:
        raise ValueError(
            f"--metric {metric!r} was given; use one of {', '.join(METRICS)}, precomputed."
        )


def _labels(
    option: str, asked: str, places: list[str], decimal: str | None, header: bool | None
) -> tuple[Any, str | None]:
    """Labels of a file, or of a column of the data; the name of the column."""
    from coterie.cli._one_column import NoSuchColumnError, column_of

    if Path(asked).is_file():
        return column_of([asked], complete=True), None
    if not places:
        raise FileNotFoundError(f"{option} {asked}: there is no such file.")
    try:
        return column_of(places, asked, decimal, header, complete=True), asked
    except NoSuchColumnError as error:
        raise ValueError(f"{option} {asked}: there is no such file, and in {error}") from error


def _counted(labels: Any) -> tuple[list[Any], list[int]]:
    from collections import Counter

    found = Counter(labels.tolist())
    ordered = sorted(found, key=lambda value: (isinstance(value, str), value))
    return ordered, [found[value] for value in ordered]


def _external(own: Any, other: Any, noise: str, notes: list[str]) -> dict[str, Any]:
    """How alike two labellings are."""
    from coterie import evaluate

    scores: dict[str, Callable[..., Any]] = {
        "adjusted_rand": evaluate.adjusted_rand_score,
        "adjusted_mutual_info": evaluate.adjusted_mutual_info_score,
        "normalized_mutual_info": evaluate.normalized_mutual_info_score,
        "homogeneity": evaluate.homogeneity_score,
        "completeness": evaluate.completeness_score,
        "v_measure": evaluate.v_measure_score,
        "fowlkes_mallows": evaluate.fowlkes_mallows_score,
        "purity": evaluate.purity_score,
        "matched_accuracy": evaluate.matched_accuracy_score,
        "variation_of_information": evaluate.variation_of_information,
    }
    asked = {name: partial(function, other, own, noise=noise) for name, function in scores.items()}
    return _scores(asked, notes)


def _internal(
    places: list[str], own: Any, metric: str | None, columns: str | None, apart: list[str], *,
    scale: bool, seed: int, noise: str, decimal: str | None, header: bool | None, most_bytes: int,
    notes: list[str],
) -> dict[str, Any]:  # fmt: skip
    """How tight clusters are, and how far apart."""
    import numpy as np

    from coterie.cli._asked_rows import asked_rows

    without = ",".join('"' + name.replace('"', '""') + '"' for name in apart) or None
    # Of all methods that take any metric, one in memory that takes missing cells: scores need all
    # rows, and say which are left out.
    with asked_rows(
        places, "hdbscan", columns, without, scale=scale, decimal=decimal, header=header,
        most_bytes=most_bytes, metric=metric,
    ) as given:  # fmt: skip
        rows = given.rows
        if len(rows) != len(own):
            raise ValueError(
                f"the table has {len(rows):,} row{'' if len(rows) == 1 else 's'}, and there "
                f"{'is 1 label' if len(own) == 1 else f'are {len(own):,} labels'}; give the labels "
                "of this table."
            )
        if metric == "precomputed" and rows.shape[0] != rows.shape[1]:
            raise ValueError(
                f"--metric precomputed was given, and the table has {rows.shape[0]:,} rows and "
                f"{rows.shape[1]:,} columns; give all distances, a square, or another metric."
            )
        if metric != "gower":
            whole = np.isfinite(rows).all(axis=1)
            if not whole.all():
                rows, own = rows[whole], own[whole]
                n_lacking = np.count_nonzero(~whole)
                which = (
                    "has missing cells and is" if n_lacking == 1 else "have missing cells and are"
                )
                notes.append(
                    f"{n_lacking:,} of {len(whole):,} rows {which} left out of the scores by the "
                    "rows; --metric gower takes them."
                )
        asked = _by_rows(rows, own, metric, noise, seed, notes)
        return {**_scores(asked, notes, given.wording), "units": given.units}


def _by_rows(
    rows: Any, own: Any, metric: str | None, noise: str, seed: int, notes: list[str]
) -> dict[str, Callable[[], Any]]:
    """The scores that suit the rows: some need means, some a metric, some all pairs."""
    from coterie import evaluate

    every: dict[str, Any] = {"noise": noise}
    asked: dict[str, Callable[[], Any]] = {}
    by_metric = {**every, "metric": metric or "euclidean"}
    if len(rows) <= _MOST_COMPARED or metric == "precomputed":
        asked["silhouette"] = partial(evaluate.silhouette_score, rows, own, **by_metric)
        asked["dunn"] = partial(evaluate.dunn_score, rows, own, **by_metric)
    else:
        asked["silhouette"] = lambda: (
            evaluate.sampled_silhouette_score(rows, own, random_state=seed, **by_metric).score
        )
        notes.append("silhouette is an estimate from 1,000 rows.")
    if len(rows) <= _MOST_COMPARED and metric != "precomputed":
        asked["dbcv"] = partial(evaluate.dbcv_score, rows, own, **by_metric)
    if metric in (None, "euclidean"):
        asked["calinski_harabasz"] = partial(evaluate.calinski_harabasz_score, rows, own, **every)
        asked["davies_bouldin"] = partial(evaluate.davies_bouldin_score, rows, own, **every)
        asked["sum_of_squared_errors"] = partial(evaluate.sum_of_squared_errors, rows, own, **every)
    return asked


def _scores(
    asked: Mapping[str, Callable[[], Any]], notes: list[str], wording: Callable[[str], str] = str
) -> dict[str, Any]:
    """Every score; None with a note where it is not defined."""
    found: dict[str, Any] = {}
    for name, function in asked.items():
        try:
            found[name] = float(function())
        except (ValueError, MemoryError) as error:
            found[name] = None
            notes.append(wording(f"{name}: {str(error).partition(': ')[2] or error}"))
    return found


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    from coterie.cli._summary import entry, listed

    sizes = [f"{label}: {count:,}" for label, count in facts["clusters"].items()]
    yield f"rows        {facts['rows']:,}"
    yield entry("labels", listed(sizes))
    for title, group in (("by the rows", "internal"), (f"against {facts['truth']}", "external")):
        scores = {name: value for name, value in facts[group].items() if name != "units"}
        if not scores:
            continue
        units = facts[group].get("units")
        yield ""
        yield title + (f" ({units})" if units else "")
        for name, value in scores.items():
            told = "not defined" if value is None else f"{value:.6g}"
            yield f"  {name.replace('_', ' '):<26}{told}"
    for note in facts["notes"]:
        yield entry("note", note.split(" "))
