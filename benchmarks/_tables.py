"""Write results as text tables and as the Markdown tables of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence

from ._harness import Entry, Workload

OURS = "coterie"
ABSENT = "-"


def workload_table(workload: Workload, entries: Sequence[Entry]) -> str:
    """One line per contender: time, ratio to coterie, quality, iterations, memory."""
    header = ["contender", "min s", "median s", "ratio", workload.judged_by, "iter", "peak MB"]
    ours = _by_name(entries).get(OURS)
    lines = [header]
    for entry in entries:
        if entry.failure is not None:
            lines.append([entry.contender, f"failed: {entry.failure}"])
            continue
        last = entry.runs[-1]
        lines.append(
            [
                entry.contender,
                f"{entry.best:.3f}",
                f"{entry.median:.3f}",
                f"{entry.best / ours.best:.2f}x" if ours else ABSENT,
                f"{last.quality:.8g}",
                ABSENT if last.n_iter is None else str(last.n_iter),
                f"{entry.peak_bytes / 1e6:.1f}",
            ]
        )
    widths = [max(len(line[i]) for line in lines if len(line) == len(header)) for i in range(7)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def markdown_table(results: Sequence[tuple[Workload, Sequence[Entry]]]) -> str:
    """One Markdown row per workload: everyone's seconds, and coterie against the best peer.

    "speed" is the fastest peer's time over coterie's, "peak MB" coterie's and the leanest
    peer's memory beyond the data, "quality" coterie's SSE (or potential) over the lowest of the
    peers'. So above 1 is a win for speed, and above 1 is a loss for quality.
    """
    names = list(dict.fromkeys(entry.contender for _, entries in results for entry in entries))
    header = ["workload", *(f"{name} s" for name in names)]
    header += ["speed", "peak MB", "quality"]
    rows = [header, ["---"] * len(header)]
    for workload, entries in results:
        done = _by_name(entries)
        seconds = [f"{done[name].best:.2f}" if name in done else ABSENT for name in names]
        rows.append([workload.title, *seconds, *_against_peers(done)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _against_peers(done: dict[str, Entry]) -> list[str]:
    """Speed, memory and quality of coterie beside the best peer in each."""
    peers = [entry for name, entry in done.items() if not name.startswith(OURS)]
    if OURS not in done or not peers:
        return [ABSENT] * 3
    ours = done[OURS]
    leanest = min(peer.peak_bytes for peer in peers)
    lowest = min(peer.runs[-1].quality for peer in peers)
    return [
        f"{min(peer.best for peer in peers) / ours.best:.2f}x",
        f"{ours.peak_bytes / 1e6:.1f} / {leanest / 1e6:.1f}",
        f"{ours.runs[-1].quality / lowest:.5f}",
    ]


def _by_name(entries: Sequence[Entry]) -> dict[str, Entry]:
    """The entries that have a result."""
    return {entry.contender: entry for entry in entries if entry.failure is None}
