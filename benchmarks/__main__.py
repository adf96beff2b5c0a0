"""Run the benchmarks: `python -m benchmarks [family] [--workload NAME ...]` from the repo root."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path

from ._families import FAMILIES, all_workloads, find_workload
from ._harness import N_THREADS, WARM_ROWS, Entry, Workload, compete
from ._machine import Machine, describe
from ._tables import OURS, markdown_table, workload_table

RESULTS = Path(__file__).parent / "results"
QUICK = 20  # --quick divides the rows by this


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen workloads, print their tables, save everything as JSON.

    Returns 1 when a contender failed or is not installed, so that a missing peer is noticed.
    """
    options = _parse(argv)
    workloads = _chosen(options)
    distributions = {c.distribution for workload in workloads for c in workload.contenders}
    machine = describe(sorted(distributions))
    print(machine, f"{N_THREADS} threads each", sep="\n", end="\n\n")

    results: list[tuple[Workload, list[Entry]]] = []
    for workload in workloads:
        entries = compete(workload, options.repeat)
        results.append((workload, entries))
        print(f"{workload.name}: {workload.title}")
        print(workload_table(workload, entries), end="\n\n", flush=True)
    if options.markdown:
        print(markdown_table(results))
    print(f"saved {_save(options, machine, results)}")
    return int(any(entry.failure for _, entries in results for entry in entries))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    names = [workload.name for workload in all_workloads()]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("family", nargs="?", choices=list(FAMILIES), help="default: all families")
    parser.add_argument(
        "--workload", nargs="+", metavar="NAME", choices=names, help="only these workloads"
    )
    parser.add_argument("--peers", metavar="A,B", help="coterie against only these peers")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each contender")
    parser.add_argument("--quick", action="store_true", help=f"a {QUICK}th of the rows")
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown for docs/benchmarks.md too"
    )
    parser.add_argument("--list", action="store_true", help="name the workloads and stop")
    options = parser.parse_args(argv)
    if options.repeat < 1:
        parser.error(f"--repeat {options.repeat} runs nothing; ask for at least 1.")
    if options.list:
        lines = (f"{workload.name}: {workload.title}\n" for workload in all_workloads())
        parser.exit(message="".join(lines))
    return options


def _chosen(options: argparse.Namespace) -> list[Workload]:
    """The workloads and contenders the command line asks for."""
    named = [find_workload(name) for name in options.workload or ()]
    workloads = named or list(FAMILIES.get(options.family, all_workloads()))
    if options.quick:
        workloads = [_shrunk(workload) for workload in workloads]
    if options.peers is None:
        return workloads
    wanted = {OURS, *options.peers.split(",")}
    known = {c.name for workload in all_workloads() for c in workload.contenders}
    if not wanted <= known:
        raise SystemExit(
            f"--peers {options.peers}: no contender is called {', '.join(sorted(wanted - known))}; "
            f"there are: {', '.join(sorted(known))}."
        )
    return [
        dataclasses.replace(w, contenders=[c for c in w.contenders if c.name in wanted])
        for w in workloads
    ]


def _shrunk(workload: Workload) -> Workload:
    """The same workload on fewer rows, and its title says so."""
    n_rows = max(WARM_ROWS, workload.n_rows // QUICK)
    return dataclasses.replace(
        workload, n_rows=n_rows, title=f"{workload.title} (quick: n={n_rows})"
    )


def _save(
    options: argparse.Namespace,
    machine: Machine,
    results: Sequence[tuple[Workload, Sequence[Entry]]],
) -> Path:
    """Write machine, options and every repetition to a new file in results/."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    content = {
        "machine": dataclasses.asdict(machine),
        "n_threads": N_THREADS,
        "quick": options.quick,
        "workloads": [
            {
                "name": workload.name,
                "title": workload.title,
                "judged_by": workload.judged_by,
                "entries": [dataclasses.asdict(entry) for entry in entries],
            }
            for workload, entries in results
        ],
    }
    path.write_text(json.dumps(content, indent=1))
    return path


if __name__ == "__main__":
    raise SystemExit(main())
