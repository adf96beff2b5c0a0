"""Simulate the quantiles of the dip of uniform samples: src/coterie/select/_dip_table.py.

python -m benchmarks.select.make_dip_table > src/coterie/select/_dip_table.py
"""

from __future__ import annotations

import os

import numpy as np

from coterie.select.dip import simulate_dips

#: Sample sizes and how many samples of each: the same work for all from 2000 on.
SIZES = dict.fromkeys((4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 50, 100, 200, 500), 200_000)
SIZES |= {1000: 100_000, 2000: 60_000, 5000: 30_000, 10_000: 20_000, 50_000: 10_000}
#: The chances of a larger dip.
CHANCES = [0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01,
           0.005, 0.002, 0.001, 0.0005]  # fmt: skip
#: The same on two lines.
CHANCE_WORDS = ",\n    ".join(", ".join(map(str, part)) for part in (CHANCES[:12], CHANCES[12:]))

HEAD = '''"""Quantiles of sqrt(n) * dip of uniform samples, simulated.

Made by benchmarks/select/make_dip_table.py from {least} to {most} samples a size.
"""

import numpy as np

#: Sample sizes, a row of quantiles each.
SIZES = np.array({sizes}, dtype=np.float64)
#: The logarithms of the chances of a larger dip, a column of quantiles each.
LOG_P = np.log([
    {chances},
])  # fmt: skip
#: sqrt(n) * dip.
ROOT_N_DIPS = np.array([
{rows}
])  # fmt: skip'''


def main() -> None:
    """Write the module."""
    rng = np.random.RandomState(1985)
    n_threads = len(os.sched_getaffinity(0))
    rows = []
    for n_values, n_draws in SIZES.items():
        roots = np.sqrt(n_values) * simulate_dips(n_values, n_draws, rng, n_threads)
        found = np.quantile(roots, 1 - np.array(CHANCES))
        cells = [f"{value:.5f}" for value in found]
        rows.append(f"    [{', '.join(cells[:10])},\n     {', '.join(cells[10:])}],  # {n_values}")
    counts = SIZES.values()
    print(
        HEAD.format(
            least=min(counts), most=max(counts), sizes=list(SIZES), chances=CHANCE_WORDS,
            rows="\n".join(rows),
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
