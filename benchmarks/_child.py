"""Run one contender once in this process and write what it cost as JSON.

Called by the harness as `python -m benchmarks._child WORKLOAD CONTENDER DATA_FOLDER ANSWER`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path

import numpy as np

from ._families import find_workload
from ._harness import WARM_ROWS, Run
from ._memory import peak_extra_bytes


def main(workload_name: str, contender_name: str, folder: str, answer: str) -> None:
    """Load the arrays, warm up, time the call, then judge its result."""
    workload = find_workload(workload_name)
    contender = next(c for c in workload.contenders if c.name == contender_name)
    arrays = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}

    contender.prepare(workload.make(WARM_ROWS))()
    call = contender.prepare(arrays)
    with peak_extra_bytes() as extra_bytes:
        start = time.perf_counter()
        outcome = call()
        seconds = time.perf_counter() - start

    quality = workload.judge(arrays, outcome.result)
    run = Run(seconds, quality, outcome.n_iter, extra_bytes())
    Path(answer).write_text(json.dumps(dataclasses.asdict(run)))


if __name__ == "__main__":
    main(*sys.argv[1:])
