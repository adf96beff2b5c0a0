"""What a fit found, on stdout: a table of clusters that fits where it is shown, and facts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from coterie.cli._found import Found
    from coterie.cli._given import Given
    from coterie.cli._label_files import Tally

#: In a pipe or a file: columns side by side up to this many, and how wide a table is beyond.
_MOST_SIDE_BY_SIDE = 20
_PIPE_WIDTH = 120
#: Names of columns in one listing.
_MOST_NAMES = 20


def lines_of(
    table: Given,
    found: Found,
    tally: Tally,
    centers: Any,
    notes: Sequence[str],
    outputs: Sequence[Path],
) -> Iterator[str]:
    """Sizes and centres (in the data's own units), facts, notes, and what was written."""
    from rich.console import Console

    on_screen = sys.stdout.isatty()
    console = Console(
        width=None if on_screen else 100_000, highlight=False, markup=False, emoji=False
    )
    width = console.width if on_screen else _PIPE_WIDTH

    yield entry("rows", [f"{tally.n_rows:,}"], width)
    yield entry("columns", listed(table.names), width)
    if table.skipped:
        yield entry("left out", listed(table.skipped), width)
    heads, sizes = _heads(tally, len(centers))
    cells = [[_shown(value) for value in center] for center in centers]
    cells += [[""] * len(table.names)] * (len(heads) - len(centers))  # noise has no centre
    for grid in _fitting(console, width, on_screen, heads, sizes, table.names, cells):
        with console.capture() as drawn:
            console.print(grid)
        yield drawn.get().removesuffix("\n")
    for name, fact in found.facts.items():
        yield entry(name, fact.text.split(" "), width)
    for place, note in enumerate(notes, 1):
        yield entry(f"note {place}", note.split(" "), width)
    if outputs:
        yield entry("written", [", ".join(map(str, outputs))], width)  # whole, to be copied


def facts_of(
    method: str,
    table: Given,
    found: Found,
    tally: Tally,
    centers: Any,
    notes: Sequence[str],
    outputs: Sequence[Path],
) -> dict[str, Any]:
    """The same for programs."""
    clusters = [
        {"cluster": cluster, "rows": size, "share": size / tally.n_rows,
         "center": dict(zip(table.names, center, strict=True))}
        for cluster, (size, center) in enumerate(
            zip(tally.sizes(len(centers)), centers.tolist(), strict=True)
        )
    ]  # fmt: skip
    return {
        "method": method,
        "rows": tally.n_rows,
        "columns": list(table.names),
        "left_out": list(table.skipped),
        "n_clusters": len(centers),
        "clusters": clusters,
        "noise": tally.n_noise,
        "incomplete": tally.n_lacking,
        **{fact.key: fact.value for fact in found.facts.values()},
        "notes": list(notes),
        "written": [str(output) for output in outputs],
    }


def entry(name: str, parts: Sequence[str], width: int | None = None) -> str:
    """A line of the summary; where it grows too long, it goes on below between two parts.

    Parameters
    ----------
    width
        How long a line may be; None for what suits stdout.
    """
    from rich.cells import cell_len

    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH
    lines = [f"{name:<11}"]
    used = len(lines[0])
    for place, part in enumerate(parts):
        if place and used + 1 + cell_len(part) > width:
            lines.append(" " * 11)
            used = 11
        lines[-1] += f" {part}"
        used += 1 + cell_len(part)
    return "\n".join(lines)


def listed(names: Sequence[str]) -> list[str]:
    """The first names, as parts of an entry; of very many, also how many there are."""
    shown = [f"{name}," for name in names[:_MOST_NAMES]]
    if len(names) <= _MOST_NAMES:
        return [*shown[:-1], names[-1]]
    shown[-1] = shown[-1][:-1]
    return [f"{len(names):,}:", *shown, f"and {len(names) - _MOST_NAMES:,} more"]


def _shown(value: Any) -> str:
    if value is None or value != value:  # a cell that is missing
        return ""
    return value if isinstance(value, str) else f"{value:.6g}"


def _heads(tally: Tally, n_clusters: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Name, number of rows and share of every cluster; rows in none come last, if there are any."""
    entries = tally.entries(n_clusters)
    sizes = [(f"{size:,}", f"{size / tally.n_rows:.1%}") for _, size in entries]
    return [name for name, _ in entries], sizes


def _fitting(
    console: Console,
    width: int,
    on_screen: bool,
    heads: list[str],
    sizes: list[tuple[str, str]],
    names: Sequence[str],
    cells: list[list[str]],
) -> list[Grid]:
    """A line per cluster where that fits; else a line per column, in several tables if need be."""
    side_by_side = _grid("cluster", ["rows", "share", *names])
    for head, size, values in zip(heads, sizes, cells, strict=True):
        side_by_side.add_row(head, *size, *values)
    if on_screen:
        if console.measure(side_by_side, options=_unbounded(console)).maximum <= width:
            return [side_by_side]
    elif len(names) <= _MOST_SIDE_BY_SIDE:
        return [side_by_side]

    # A column of the table for each cluster, as many as fit beside the names.
    longest = max(len(name) for name in ("cluster", *names))
    for_names = min(longest, max(10, width // 3)) + 4
    grids: list[Grid] = []
    place = 0
    while place < len(heads):
        used, start = for_names, place
        while place < len(heads):
            own = max(len(text) for text in (heads[place], *sizes[place], *cells[place])) + 3
            if used + own > width and place > start:
                break
            used += own
            place += 1
        grid = _grid("cluster", heads[start:place], max_width=for_names - 4)
        shown = sizes[start:place]
        grid.add_row("rows", *(n_rows for n_rows, _ in shown))
        grid.add_row("share", *(share for _, share in shown), end_section=True)
        for column, name in enumerate(names):
            grid.add_row(name, *(values[column] for values in cells[start:place]))
        grids.append(grid)
    return grids


def _grid(first: str, titles: Sequence[str], max_width: int | None = None) -> Grid:
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE_HEAD)
    grid.add_column(first, overflow="fold", max_width=max_width)
    for title in titles:
        grid.add_column(title, justify="right", no_wrap=True)
    return grid


def _unbounded(console: Console) -> Any:
    return console.options.update(width=100_000)
