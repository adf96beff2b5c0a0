"""``coterie predict``: label new rows with a saved model."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from coterie.cli._outputs import is_stdout, refuse_overwriting, summary, write_labels


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV or NPY file.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="CSV file for the labels.")] = Path(
        "labels.csv"
    ),
) -> None:
    """Label the rows of a table with the clusters of a saved model."""
    import numpy as np

    from coterie._files import load_bundle
    from coterie._writing import check_writable
    from coterie.data.tables import read_table
    from coterie.errors import FileError

    check_writable(output)
    refuse_overwriting([model, data], [output])

    fitted = load_bundle(model)
    if not hasattr(fitted, "predict"):
        raise FileError(f"{model}: a {type(fitted.model).__name__} cannot label new rows.")
    names = fitted.columns or getattr(fitted, "feature_names_in_", None)
    table = read_table(data, None if names is None else list(names))
    labels = fitted.predict(table.values)
    write_labels(output, labels)

    clusters, sizes = np.unique(labels, return_counts=True)
    with summary():
        show = partial(print, file=sys.stderr if is_stdout(output) else sys.stdout)
        show(f"rows        {len(labels):,}")
        show(f"columns     {', '.join(table.names)}")
        for cluster, size in zip(clusters, sizes, strict=True):
            show(f"cluster {cluster:<3} {size:,} rows ({size / len(labels):.1%})")
        show(f"written     {output}")
