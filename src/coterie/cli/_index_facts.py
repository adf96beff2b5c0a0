"""What ``coterie index`` tells of an index, and of the rows that a proof took."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.cli._outputs import is_stdout, named

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coterie.cli._index_rows import AnyIndex


class Kind(StrEnum):
    """Which index."""

    FLAT = "flat"
    PQ = "pq"
    IVF = "ivf"


def kind_of(held: AnyIndex) -> Kind:
    """By the class of an index."""
    return {"FlatIndex": Kind.FLAT, "PQIndex": Kind.PQ, "IVFPQIndex": Kind.IVF}[type(held).__name__]


def index_facts(held: AnyIndex, path: Path) -> dict[str, Any]:
    """What an index is, in numbers."""
    from coterie.search import FlatIndex, IVFPQIndex, PQIndex

    facts: dict[str, Any] = {
        "index": named(path), "kind": kind_of(held).value, "metric": held.metric,
        "dtype": held.dtype.name, "n_rows": held.n_rows, "n_features": held.n_features,
        "bytes": None if is_stdout(path) else path.stat().st_size,
        "keeps_rows": isinstance(held, FlatIndex),
    }  # fmt: skip
    if isinstance(held, PQIndex | IVFPQIndex):
        quantizer: Any = held.quantizer
        n_parts = len(quantizer.codebooks_)
        facts |= {
            "parts": n_parts, "bits": quantizer.bits_per_vector_ // n_parts,
            "bits_per_vector": quantizer.bits_per_vector_,
            "rotated": quantizer.rotation_ is not None, "rerank": held.rerank,
        }  # fmt: skip
        facts["keeps_rows"] = held.keep_rows
    if isinstance(held, IVFPQIndex):
        sizes = held.list_sizes
        facts |= {"n_lists": held.n_lists, "nprobe": held.nprobe}
        facts |= {"largest_list": int(sizes.max()), "empty_lists": int((sizes == 0).sum())}
    return facts


def compared_facts(n_compared: npt.NDArray[np.int64]) -> dict[str, Any]:
    """With how many vectors a proof had to compare a query, on average and at most."""
    asked = bool(len(n_compared))
    return {
        "mean_compared": float(n_compared.mean()) if asked else None,
        "most_compared": int(n_compared.max()) if asked else None,
    }


def tell_facts(facts: dict[str, Any], output: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Print facts, as JSON or in lines; on stderr where the output goes to stdout."""
    from coterie.cli._telling import tell

    aside = output is not None and is_stdout(output)
    tell(facts, partial(lines_of, facts), as_json=as_json, quiet=quiet, aside=aside)


def lines_of(facts: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    for name, value in facts.items():
        yield f"{name.replace('_', ' '):<16}{_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return ", ".join(value) if isinstance(value, list) else str(value)
