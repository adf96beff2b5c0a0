"""What all tests share: options put back, small searches, kernels of every instruction set."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import coterie
import toys
from coterie._kernels import available_isas

settings.register_profile(
    "coterie",
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("coterie")


@pytest.fixture(autouse=True)
def _options_put_back() -> Iterator[None]:
    """Whatever a test sets, the next one starts from the defaults."""
    with coterie.options():
        yield


@pytest.fixture(params=available_isas())
def isa_kernels(request: pytest.FixtureRequest) -> Any:
    """The kernels, in each build this machine can run."""
    return importlib.import_module(f"coterie._kernels._kernels_{request.param}")


@pytest.fixture
def public_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toys as if they were coterie's."""
    for cls in (toys.Toy, toys.Strict, toys.Hidden, toys.Estimated):
        monkeypatch.setattr(coterie, cls.__name__, cls, raising=False)
    monkeypatch.setattr(coterie, "__all__", [*coterie.__all__, "Toy", "Strict", "Estimated"])
