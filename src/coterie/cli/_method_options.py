"""Options that only some methods have: refused where they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.cli._methods import Method


def option_of(name: str) -> str:
    """How an option is written."""
    return "-k" if name == "clusters" else f"--{name.replace('_', '-')}"


def check_options(method: str, way: Method, own: dict[str, Any], scale: bool | None) -> None:
    """Refuse an option that the method does not have, and a missing number of clusters."""
    from coterie.cli._methods import METHODS

    for name, value in own.items():
        if name in way.options:
            continue
        option = option_of(name)
        others = [other for other, its in METHODS.items() if name in its.options]
        why = "finds the number of clusters by itself" if name == "clusters" else f"has no {option}"
        raise ValueError(
            f"{method} {why}, and {option}{_shown(value)} was given; {method} takes "
            f"{', '.join(map(option_of, way.options))}, and {option} is of {', '.join(others)}."
        )
    if {"clusters", "height"} <= own.keys():
        raise ValueError(
            f"-k {own['clusters']} and --height {own['height']} were given; one of them says where "
            "to cut."
        )
    if "clusters" in way.options and not {"clusters", "height"} & own.keys():
        instead = ", or --height, where to cut" if "height" in way.options else ""
        raise ValueError(f"{method} needs the number of clusters, such as -k 3{instead}.")
    if "gini_threshold" in own and own.get("linkage") != "genie":
        raise ValueError(
            f"--gini-threshold {own['gini_threshold']} was given, and the linkage is "
            f"{own.get('linkage') or 'ward'}; leave it out, or use --linkage genie."
        )
    if scale and not way.scales:
        under = " under --metric gower" if own.get("metric") == "gower" else ""
        raise ValueError(f"{method}{under} takes the values as they are; leave --scale out.")


def _shown(value: Any) -> str:
    return "" if value is True else f" {value}"


def check_rows(method: str, least_rows: int, n_rows: int, n_clusters: int | None) -> None:
    """Refuse a table with fewer rows than the method needs, or than clusters were asked for."""
    needed = max(least_rows, n_clusters or 1)
    if n_rows >= needed:
        return
    found = f"the table has {n_rows:,} row{'' if n_rows == 1 else 's'}"
    if n_clusters is not None and n_clusters > n_rows:
        raise ValueError(
            f"{method}: -k {n_clusters} was given, but {found}; lower -k, or give more rows."
        )
    raise ValueError(f"{method}: {found}, and at least {needed} are needed; give more rows.")


def kinds_of(columns: Sequence[str], categorical: Sequence[str]) -> list[str]:
    """What a mixture is told of each column: which are categorical; the others tell themselves."""
    for name in categorical:
        if name not in columns:
            raise ValueError(
                f"--categorical {name} was given, and the columns in use are {', '.join(columns)}; "
                "name some of them."
            )
    return ["categorical" if column in categorical else "auto" for column in columns]
