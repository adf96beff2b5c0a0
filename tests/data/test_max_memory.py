"""Fits and predictions of files stay within the memory they are given, to a tenth."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

LIMIT = 256_000_000
COMMAND = "import sys; from _coterie_command import main; sys.exit(main())"
FIT = f"""
import sys
from coterie import KMeans, set_options
set_options(max_memory={LIMIT})
KMeans(8, random_state=0, max_iter=2).fit(sys.argv[1])
"""


def peak(*command: Any) -> int:
    """The most bytes a process had that no file holds, looked at every few milliseconds."""
    most = 0
    with subprocess.Popen([sys.executable, "-W", "ignore", "-c", *map(str, command)]) as process:
        while process.poll() is None:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    most = max(most, int(line.split()[1]) * 1024)
            time.sleep(0.005)
    assert process.returncode == 0
    return most


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows that take the whole limit, in two row groups."""
    path = tmp_path_factory.mktemp("memory") / "rows.parquet"
    rng = np.random.default_rng(0)
    names = [f"x{column}" for column in range(32)]
    with pq.ParquetWriter(path, pa.schema([(name, pa.float32()) for name in names])) as writer:
        for _ in range(2):
            columns = rng.standard_normal((32, 1_000_000), dtype=np.float32)
            writer.write_table(pa.table(list(columns), names=names), row_group_size=1_000_000)
    return path


def test_a_fit(table: Path) -> None:
    assert peak(FIT, table) < 1.1 * LIMIT


def test_the_command_line(table: Path, tmp_path: Path) -> None:
    limit = ("--max-memory", LIMIT)
    out = tmp_path / "out"
    fit = peak(COMMAND, "fit", table, "-k", 8, "--max-iter", 2, "-o", out, *limit)
    assert fit < 1.1 * LIMIT
    labels = tmp_path / "labels.csv"
    predict = peak(COMMAND, "predict", out / "model.coterie", table, "-o", labels, *limit)
    assert predict < 1.1 * LIMIT
