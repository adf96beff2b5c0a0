"""The compiled kernels, in the build that suits this processor."""

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING

from coterie._kernels._cpu import supported_isas

__all__ = ["available_isas", "kernels"]


def available_isas() -> list[str]:
    """Builds of the kernels that are installed and that this processor can run, slowest first."""
    return [isa for isa in supported_isas() if importlib.util.find_spec(_module_name(isa))]


def _module_name(isa: str) -> str:
    return f"coterie._kernels._kernels_{isa}"


def _choose() -> str:
    """The fastest build, or the one `COTERIE_ISA` asks for."""
    available = available_isas()
    asked = os.environ.get("COTERIE_ISA")
    if asked:
        if asked not in available:
            raise ImportError(
                f"COTERIE_ISA={asked} was asked for, but this machine can run "
                f"{', '.join(available) or 'none'} of the installed kernels; "
                "unset it or name one of these."
            )
        return asked
    if not available:
        raise ImportError(
            f"coterie: no installed kernels run on this processor (it supports "
            f"{', '.join(supported_isas()) or 'no x86-64 level'}); "
            "reinstall with `pip install .` on this machine."
        )
    return available[-1]


if TYPE_CHECKING:
    from coterie._kernels import _native as kernels
else:
    kernels = importlib.import_module(_module_name(_choose()))
