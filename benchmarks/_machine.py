"""Describe the machine and the versions a run was made with."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class Machine:
    """Where a run was made, with which versions (None: not installed)."""

    cpu: str
    isa: str
    cores: int | None
    load: float  # runnable processes in the minute before: near 0, or the times say little
    system: str
    versions: dict[str, str | None]

    def __str__(self) -> str:
        versions = (f"{name} {version}" for name, version in self.versions.items())
        machine = f"{self.cpu}, {self.isa}, {self.cores} cores, load {self.load:.2f}"
        return f"{machine}\n{', '.join(versions)}"


def describe(distributions: Iterable[str]) -> Machine:
    """Look at this machine and at the installed distributions."""
    return Machine(
        cpu=_cpuinfo().get("model name", platform.processor() or platform.machine()),
        isa=isa(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        system=platform.platform(),
        versions={
            "python": platform.python_version(),
            **{name: _version(name) for name in distributions},
        },
    )


def isa() -> str:
    """The x86-64 level of the processor, or the architecture's name elsewhere."""
    flags = set(_cpuinfo().get("flags", "").split())
    if not flags:
        return platform.machine()
    return "x86-64-v4" if flags >= V4 else "x86-64-v3" if flags >= V3 else "x86-64-v2"


def narrower_builds() -> list[str]:
    """Those of our builds for AVX2 and AVX-512 that this processor runs but would not choose."""
    if isa() != "x86-64-v4":
        return []
    return ["v3", "v4"] if "avx512_vnni" in _cpuinfo()["flags"].split() else ["v3"]


def _cpuinfo() -> dict[str, str]:
    """The fields of the first processor in /proc/cpuinfo; empty where there is none."""
    if not CPUINFO.exists():
        return {}
    first = CPUINFO.read_text().split("\n\n")[0]
    fields = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in fields}


def _version(distribution: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
