"""A family of the user's own, with everything it says looked at before it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from coterie._history import Recorder
from coterie.mixture._dead import note_dead
from coterie.mixture._family import Expectation, Family, Floats, Mixture
from coterie.mixture._task import Model

#: A fall of the log-likelihood beside its size that rounding may make.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Own:
    """Parameters by name, an entry per component along the first axis; None before the first."""

    n_components: int
    parameters: dict[str, Floats] | None


@dataclass(frozen=True)
class OwnSums:
    """What `summarise` gave for some rows: an array, or several by name."""

    parts: Floats | dict[str, Floats]

    def __add__(self, other: OwnSums) -> OwnSums:
        if isinstance(self.parts, dict) and isinstance(other.parts, dict):
            return OwnSums({name: own + other.parts[name] for name, own in self.parts.items()})
        assert not isinstance(self.parts, dict)
        assert not isinstance(other.parts, dict)
        return OwnSums(self.parts + other.parts)


@dataclass(frozen=True)
class GuardedFamily(Family):
    """The user's `own` family for rows of so many columns; `who` asks."""

    who: str
    own: Family
    n_cols: int

    @property
    def descends(self) -> bool:
        return False  # `note_falls` tells, in its own way

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{self.who}: {type(self.own).__name__}.{what}")

    def n_components(self, components: Own) -> int:
        return components.n_components

    def blank(self, n_components: int) -> Own:
        return Own(n_components, None)

    def log_prob(self, components: Own, rows: Any) -> Floats:
        rows = np.asarray(rows, dtype=np.float64)
        log_prob = _numbers(self.own.log_prob(components.parameters, rows))
        wanted = len(rows), components.n_components
        if log_prob is None or log_prob.shape != wanted:
            found = "no array of numbers" if log_prob is None else f"shape {log_prob.shape}"
            self._refuse(
                f"log_prob returned {found} for {wanted[0]} rows and {wanted[1]} components; "
                f"return an array of shape {wanted}."
            )
        odd = np.isnan(log_prob) | (log_prob == np.inf)
        if odd.any():
            i, j = np.argwhere(odd)[0]
            self._refuse(
                f"log_prob is {log_prob[i, j]} for the row {_shown(rows[i])} under component {j} "
                f"({self._tell(components, int(j))}); return the logarithm of a density, minus "
                "infinity where that is zero."
            )
        impossible = np.isneginf(log_prob).all(axis=1)
        if impossible.any():
            self._refuse(
                f"log_prob is minus infinity for the row {_shown(rows[np.argmax(impossible)])} "
                "under every component, so the mixture cannot have made it; leave such rows out "
                "or choose a family for them."
            )
        return log_prob

    def _tell(self, components: Own, j: int) -> str:
        own = components.parameters or {}
        return ", ".join(f"{name}={_shown(values[j])}" for name, values in own.items())

    def summarise(self, components: Own, rows: Any, mass: Floats) -> OwnSums:
        rows = np.asarray(rows, dtype=np.float64)
        given = self.own.summarise(components.parameters, rows, mass)
        named = given if isinstance(given, Mapping) else {"": given}
        parts = {}
        for name, part in named.items():
            sums = None if isinstance(part, tuple | list) else _numbers(part)
            if sums is None:
                self._refuse(
                    f"summarise returned {type(part).__name__} where an array was due; return an "
                    "array of sums over the rows, or a dict of such arrays."
                )
            if not np.isfinite(sums).all():
                self._refuse(
                    f"summarise returned NaN or infinity{f' in {name!r}' if name else ''}; return "
                    "sums over the rows, to which a row of mass zero adds nothing."
                )
            parts[name] = sums
        return OwnSums(parts if isinstance(given, Mapping) else parts[""])

    def maximise(self, counts: Floats, summary: OwnSums, before: Own) -> Own:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            given = self.own.maximise(counts, summary.parts, before.parameters)
        after = self.checked(given, before.n_components, "maximise", allow_odd=True)
        for name, values in after.items():
            odd = ~np.isfinite(values).reshape(len(counts), -1).all(axis=1)
            if before.parameters is not None:  # a component without rows has nothing to learn from
                values[counts == 0] = before.parameters[name][counts == 0]
                odd &= counts > 0
            if odd.any():
                j = int(np.argmax(odd))
                self._refuse(
                    f"maximise returned NaN or infinity for {name!r} of component {j}, which has a "
                    f"mass of {counts[j]:.3g}; keep the parameter within limits, or try other "
                    "starts (init_params, random_state)."
                )
        return Own(before.n_components, after)

    def checked(
        self, given: Any, n_components: int, what: str, *, allow_odd: bool = False
    ) -> dict[str, Floats]:
        """Parameters as a dict of arrays, refused where they are none."""
        if not isinstance(given, Mapping) or not given:
            self._refuse(
                f"{what} returned {type(given).__name__}; return a dict of arrays, parameters by "
                "name."
            )
        parameters = {}
        for name, value in given.items():
            values = _numbers(value)
            if not isinstance(name, str) or values is None:
                self._refuse(
                    f"{what} returned {name!r}: {type(value).__name__}; return a dict of arrays of "
                    "numbers, by names that are text."
                )
            if values.shape[:1] != (n_components,):
                self._refuse(
                    f"{what} returned {name!r} of shape {values.shape} for {n_components} "
                    f"components; give an entry per component along the first axis, {n_components} "
                    "of them."
                )
            if not allow_odd and not np.isfinite(values).all():
                self._refuse(
                    f"{what} returned NaN or infinity for {name!r}; return finite numbers."
                )
            parameters[name] = values.copy()
        return parameters

    def expected_log_prob(
        self, components: Own, counts: Floats, summary: OwnSums, before: Own
    ) -> Floats | None:
        return self.own.expected_log_prob(
            components.parameters, counts, summary.parts, before.parameters
        )

    @property
    def has_prior(self) -> bool:
        """Whether the family says one."""
        return type(self.own).log_prior is not Family.log_prior

    def log_prior(self, components: Own) -> float:
        if not self.has_prior:
            return 0.0
        log_prior = float(self.own.log_prior(components.parameters))
        if not np.isfinite(log_prior):
            self._refuse(f"log_prior is {log_prior}; return a finite number.")
        return log_prior

    def count_parameters(self, components: Own) -> int:
        """As many as the family says, otherwise as many as there are numbers."""
        if type(self.own).n_parameters is not Family.n_parameters:
            return int(self.own.n_parameters(components.n_components))
        return sum(values.size for values in (components.parameters or {}).values())

    def draw(
        self, components: Own, component: int, size: int, rng: np.random.RandomState
    ) -> Floats:
        if type(self.own).draw is Family.draw:
            self._refuse("draw is not defined, so there is nothing to sample by; define it.")
        rows = _numbers(self.own.draw(components.parameters, component, size, rng))
        if rows is None or rows.shape != (size, self.n_cols):
            found = "no array of numbers" if rows is None else f"shape {rows.shape}"
            self._refuse(f"draw returned {found}; return rows of shape {(size, self.n_cols)}.")
        return rows


class NoteFalls:
    """Notes, once, a fall of the likelihood, which no M-step makes; and components without rows."""

    def __init__(self, model: Model) -> None:
        family = model.family
        assert isinstance(family, GuardedFamily)
        self._model, self._note_dead, self._noted = model, note_dead(), False
        self._before = -np.inf
        # That of the start is not told, so with a prior the first iteration is not compared.
        self._log_prior = np.nan if family.has_prior else 0.0

    def __call__(
        self, mixture: Mixture, expected: Expectation, recorder: Recorder, n_iter: int
    ) -> None:
        before, now = self._before, expected.log_lik + self._log_prior
        if now < before - _ROUNDING * (abs(before) + 1) and not self._noted:
            self._noted = True
            recorder.event(
                "fell",
                f"the log-likelihood fell from {before:.8g} to {now:.8g} by the M-step of "
                f"iteration {n_iter - 1}: maximise does not maximise what log_prob (and log_prior) "
                "tell, or summarise forgets a part of it",
                iteration=n_iter - 1,
            )
        self._before, self._log_prior = now, self._model.log_prior(mixture)
        self._note_dead(mixture, expected, recorder, n_iter)


def _numbers(given: Any) -> Floats | None:
    """As an array of float64, or None where it is none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _shown(values: Any) -> str:
    """The first few numbers of a row or a parameter."""
    flat = np.ravel(values)
    words = ", ".join(f"{value:g}" for value in flat[:4])
    return f"[{words}, ...]" if flat.size > 4 else (f"[{words}]" if np.ndim(values) else words)
