"""``coterie predict``: label new rows with a saved model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli._limits import limited
from coterie.cli._options import (
    Dask,
    Data,
    Decimal,
    Header,
    Json,
    MaxMemory,
    Quiet,
    Threads,
    check_decimal,
    check_text_options,
)
from coterie.cli._outputs import is_stdout, named, refuse_overwriting
from coterie.cli._stdin import as_files, check_read_once, check_there

if TYPE_CHECKING:
    import numpy.typing as npt

    from coterie.cli._label_files import Tally
    from coterie.cli._wording import Wording
    from coterie.data.streams import Stream
    from coterie.data.tables import Table
    from coterie.table_model import TableModel


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file; - for stdin.")],
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="File for the labels, by its name CSV, Parquet or NPY; - for stdout.",
        ),
    ] = Path("labels.csv"),
    decimal: Decimal = None,
    header: Header = None,
    as_json: Json = False,
    quiet: Quiet = False,
    max_memory: MaxMemory = None,
    threads: Threads = None,
    dask: Dask = None,
) -> None:
    """Label the rows of a table with the clusters of a saved model."""
    from coterie._files import load_bundle
    from coterie._writing import check_writable
    from coterie.cli._given import read_by_cluster
    from coterie.cli._label_files import Tally, print_labels, write_labels
    from coterie.cli._telling import tell, warn
    from coterie.cli._wording import Wording, method_of
    from coterie.data.streams import Stream, files_of
    from coterie.errors import FileError

    check_decimal(decimal)
    check_read_once([str(model), *data])
    check_there([str(model), *data])
    to_stdout = str(output) == "-"
    if not to_stdout:
        check_writable(output)
        refuse_overwriting([model, *map(Path, files_of(data))], [output])

    with (
        limited(threads, max_memory) as most_bytes,
        as_files([str(model)], text=True) as [model_file],
        as_files(data, spool=dask is None) as places,
        ExitStack() as stack,
    ):
        fitted = load_bundle(model_file)
        if not hasattr(fitted, "predict"):
            raise FileError(f"{model}: a {type(fitted.model).__name__} cannot label new rows.")
        if threads is not None and hasattr(fitted.model, "n_threads"):
            fitted.model.n_threads = threads
        tally = Tally()
        if type(fitted.model).__name__ == "StudyModel":
            names = list(fitted.model.columns_)
            labels = tally.passing(_labels_of_study(fitted.model, places, decimal, header, dask))
        else:
            table = _table(fitted, places, decimal, header, most_bytes, on_cluster=dask is not None)
            for note in table.notes:
                warn(note)
            if dask is not None and isinstance(table, Stream):
                table = stack.enter_context(read_by_cluster(table, places, dask))
            names = list(table.names)
            wording = Wording(method_of(fitted.model), names)
            labels = tally.passing(_labels(fitted, table, wording))
        if to_stdout:
            print_labels(labels)
        else:
            write_labels(output, labels)

    facts = _facts(model, tally, names, named(output))
    tell(
        facts, partial(_lines, facts, tally), as_json=as_json, quiet=quiet,
        aside=to_stdout or is_stdout(output),
    )  # fmt: skip


def _facts(model: Path, tally: Tally, names: list[str], output: str) -> dict[str, Any]:
    """What was done, in numbers."""
    return {
        "model": str(model),
        "rows": tally.n_rows,
        "columns": names,
        "sizes": tally.sizes(),
        "noise": tally.n_noise,
        "incomplete": tally.n_lacking,
        "written": output,
    }


def _lines(facts: dict[str, Any], tally: Tally) -> Iterator[str]:
    """The facts for people."""
    from coterie.cli._summary import entry, listed

    yield f"rows        {facts['rows']:,}"
    yield entry("columns", listed(facts["columns"]))
    for name, size in tally.entries():
        if size:
            head = f"cluster {name}" if name.isdecimal() else name
            rows = "1 row" if size == 1 else f"{size:,} rows"
            yield f"{head:<11} {rows} ({size / facts['rows']:.1%})"
    yield f"written     {facts['written']}"


def _labels_of_study(
    model: Any, data: Sequence[str], decimal: str | None, header: bool | None, dask: str | None
) -> npt.NDArray[Any]:
    """Labels of raw rows, by the model that ``coterie study`` wrote."""
    from coterie.cli._telling import warnings_in_a_line
    from coterie.data.raw_files import read_raw

    if dask is not None:
        raise ValueError("--dask was given, and the model of a study needs all rows here; drop it.")
    # Codes keep the zeros they begin with.
    words = [told["name"] for told in model.codes_
             if any(isinstance(level, str) for level in told.get("levels", ()))]  # fmt: skip
    table, _ = read_raw(data, decimal=decimal, header=header, text=words)
    with warnings_in_a_line():
        found: npt.NDArray[Any] = model.predict(table)
    return found


def _table(
    fitted: TableModel,
    data: Sequence[str],
    decimal: str | None,
    header: bool | None,
    most_bytes: int,
    *,
    on_cluster: bool,
) -> Table | Stream:
    """The columns of the model, in memory or streamed."""
    from coterie.data.streams import is_streamed, open_table
    from coterie.data.tables import read_table

    known = fitted.columns or getattr(fitted, "feature_names_in_", None)
    columns = None if known is None else list(known)
    takes = fitted.model.__sklearn_tags__().input_tags
    metric = getattr(fitted.model, "metric", None)
    missing = takes.allow_nan or metric in ("gower", "nan_euclidean")
    text = takes.string or metric == "gower"
    categorical = _word_columns(fitted.model, columns)
    with _telling_what_was_fitted(columns):
        if on_cluster or is_streamed(data, most_bytes):
            check_text_options(decimal, header)
            return open_table(data, columns, text=text, categorical=categorical)
        return read_table(
            data[0],
            columns,
            missing=missing,
            text=text,
            categorical=categorical,
            decimal=decimal,
            header=header,
        )


@contextmanager
def _telling_what_was_fitted(columns: Sequence[str] | None) -> Iterator[None]:
    """Let an error about a column that cannot be used say which ones the model has, and why.

    There is nothing to choose: it needs the columns of the fit.
    """
    from coterie.data._delimited import listing
    from coterie.errors import DataError

    try:
        yield
    except DataError as error:
        told, nobody_named_it, _ = str(error).partition("; name one of these, or rename")
        unfit, is_unfit, _ = told.partition("; choose among ")
        if not is_unfit:
            unfit, is_unfit, _ = told.partition("; no other column is numeric")
        if is_unfit:
            raise DataError(
                f"{unfit}; the model was fitted on numbers there: give a table that has them."
            ) from error
        if not nobody_named_it:
            raise
        raise DataError(
            f"{told}; the model was fitted on the columns {listing(columns or ())}: give a table "
            "that has them, or rename its columns."
        ) from error


def _labels(
    fitted: TableModel, table: Table | Stream, wording: Wording
) -> Iterator[npt.NDArray[Any]]:
    """Labels of some rows at a time, made where the rows are."""
    from coterie.cli._labelling import RowsRefusedError, labels_of
    from coterie.data import ArraySource
    from coterie.data.tables import Table

    rows = ArraySource(table.values) if isinstance(table, Table) else table.source
    try:
        yield from labels_of(fitted, rows)
    except RowsRefusedError as refused:
        with wording.of_errors(refused.start):
            raise


def _word_columns(model: Any, names: Sequence[str] | None) -> list[str]:
    """The columns whose categories are words to this model, however they look now."""
    learned = getattr(model, "gower_", None)
    if learned is not None:
        pairs = zip(names or (), learned["categories"], strict=False)
        return [name for name, known in pairs if any(isinstance(one, str) for one in known or ())]
    categories = iter(getattr(model, "categories_", ()))
    kinds = getattr(model, "kinds_", None) or ["categorical"] * len(names or ())
    own = [None if kind == "numeric" else next(categories, None) for kind in kinds]
    pairs = zip(names or (), own, strict=False)
    return [name for name, known in pairs if known is not None and known.dtype.kind in "OU"]
