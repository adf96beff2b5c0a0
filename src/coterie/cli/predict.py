"""``coterie predict``: label new rows with a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli._outputs import refuse_overwriting, staged, write_labels


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
    from coterie.cli._scaling import standardized
    from coterie.data.tables import read_table
    from coterie.errors import DataError, FileError

    if output.is_dir():
        raise DataError(f"{output}: this is a directory; name a file with -o.")
    refuse_overwriting([model, data], [output])

    with staged(output.parent) as stage:
        bundle = load_bundle(model)
        if not hasattr(bundle.model, "predict"):
            raise FileError(f"{model}: a {type(bundle.model).__name__} cannot label new rows.")
        names = bundle.columns or getattr(bundle.model, "feature_names_in_", None)
        table = read_table(data, None if names is None else list(names))
        labels = bundle.model.predict(standardized(table.values, bundle.scaling))
        write_labels(stage / output.name, labels)

    clusters, sizes = np.unique(labels, return_counts=True)
    print(f"rows        {len(labels):,}")
    print(f"columns     {', '.join(table.names)}")
    for cluster, size in zip(clusters, sizes, strict=True):
        print(f"cluster {cluster:<3} {size:,} rows ({size / len(labels):.1%})")
    print(f"written     {output}")
