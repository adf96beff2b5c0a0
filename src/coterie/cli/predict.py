"""``coterie predict``: label new rows with a saved model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli._interrupts import raise_when_interrupted
from coterie.cli._options import Data, Decimal, Header, check_decimal
from coterie.cli._outputs import (
    is_stdout,
    print_labels,
    refuse_overwriting,
    summary,
    write_labels,
)


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")],
    data: Data,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="CSV file for the labels; - for stdout.")
    ] = Path("labels.csv"),
    decimal: Decimal = None,
    header: Header = None,
) -> None:
    """Label the rows of a table with the clusters of a saved model."""
    import numpy as np

    from coterie._files import load_bundle
    from coterie._writing import check_writable
    from coterie.cli._summary import entry, listed
    from coterie.cli._wording import Wording, method_of
    from coterie.data.tables import STDIN, read_table
    from coterie.errors import FileError

    check_decimal(decimal)
    to_stdout = str(output) == "-"
    if not to_stdout:
        check_writable(output)
        refuse_overwriting([model] if str(data) == STDIN else [model, data], [output])

    raise_when_interrupted()
    fitted = load_bundle(model)
    if not hasattr(fitted, "predict"):
        raise FileError(f"{model}: a {type(fitted.model).__name__} cannot label new rows.")
    names = fitted.columns or getattr(fitted, "feature_names_in_", None)
    takes = fitted.model.__sklearn_tags__().input_tags
    table = read_table(
        data,
        None if names is None else list(names),
        missing=takes.allow_nan,
        text=takes.string,
        categorical=_word_columns(fitted.model, names),
        decimal=decimal,
        header=header,
    )
    with Wording(method_of(fitted.model), table.names).of_errors():
        labels = fitted.predict(table.values)
    if to_stdout:
        print_labels(labels)
    else:
        write_labels(output, labels)

    clusters, sizes = np.unique(labels, return_counts=True)
    with summary():
        aside = to_stdout or is_stdout(output)
        show = partial(print, file=sys.stderr if aside else sys.stdout)
        show(f"rows        {len(labels):,}")
        show(entry("columns", listed(table.names)))
        for cluster, size in zip(clusters, sizes, strict=True):
            head = "noise      " if cluster < 0 else f"cluster {cluster:<3}"
            show(f"{head} {size:,} rows ({size / len(labels):.1%})")
        show(f"written     {'stdout' if to_stdout else output}")


def _word_columns(model: Any, names: Sequence[str] | None) -> list[str]:
    """The columns whose categories are words to this model, however they look now."""
    categories = iter(getattr(model, "categories_", ()))
    kinds = getattr(model, "kinds_", None) or ["categorical"] * len(names or ())
    own = [None if kind == "numeric" else next(categories, None) for kind in kinds]
    pairs = zip(names or (), own, strict=False)
    return [name for name, known in pairs if known is not None and known.dtype.kind in "OU"]
