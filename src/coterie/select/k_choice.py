"""What `choose_k` returns: curves of the criteria, their picks, and a recommendation in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.select._axes import legend_above, some_ticks

Floats = npt.NDArray[np.float64]

#: Criteria whose least value is the best.
LOW_IS_GOOD = ("bic", "aic", "icl", "davies_bouldin", "penalised_sse")


@dataclass(frozen=True)
class SelectionProgress:
    """What a callback is given after every fit: for which criterion or model, with which k."""

    criterion: str
    k: int
    n_fits: int


@dataclass(frozen=True)
class Curve:
    """A criterion along k.

    `values` and `errors` (standard errors, or None) have an entry for every k, NaN where the
    criterion is not defined. `pick` is the k it chooses, None where it cannot, and `reason` says
    why. `weak` criteria are shown but seldom counted; `sees_one` tells whether it could have found
    that all rows are one cluster, and `finds_one` whether its values say so (None: where that is
    its pick), which they may do while its rule picks another k, or not while it picks one.
    """

    values: Floats
    errors: Floats | None
    pick: int | None
    reason: str
    weak: bool
    sees_one: bool
    finds_one: bool | None = None

    @property
    def says_one(self) -> bool:
        """Whether it speaks for one cluster."""
        return self.sees_one and (self.pick == 1 if self.finds_one is None else self.finds_one)


@dataclass(frozen=True)
class KChoice:
    """Numbers of clusters compared; `choose_k` makes one.

    Attributes
    ----------
    k : int or None
        The recommended number of clusters; None where no criterion could choose.
    ks : tuple of int
        What was compared.
    curves : dict of Curve
        Each criterion by its name.
    agreement : float
        The share of the criteria that picked `k`, among those that picked (weak ones aside).
    probabilities : array or None
        P(K | data) for every k from BIC weights, where BIC was asked for.
    model : estimator or None
        Fitted with `k` clusters.
    events : list of str
        What happened on the way: fits that did not settle, criteria left out.
    """

    k: int | None
    ks: tuple[int, ...]
    curves: Mapping[str, Curve]
    agreement: float
    probabilities: Floats | None
    model: Any
    events: list[str]

    @property
    def has_structure(self) -> bool:
        """Whether more than one cluster was chosen, and no criterion speaks for one."""
        return self.k is not None and self.k > 1 and not _who_see_one(self)

    @property
    def picks(self) -> dict[str, int | None]:
        """The k of each criterion; None where it could not choose."""
        return {name: curve.pick for name, curve in self.curves.items()}

    @property
    def table(self) -> list[dict[str, float]]:
        """A row for every k, to look at or to make a data frame of."""
        rows = []
        for place, k in enumerate(self.ks):
            row: dict[str, float] = {"k": k}
            for name, curve in self.curves.items():
                row[name] = float(curve.values[place])
                if curve.errors is not None:
                    row[f"{name}_error"] = float(curve.errors[place])
            if self.probabilities is not None:
                row["probability"] = float(self.probabilities[place])
            rows.append(row)
        return rows

    @property
    def summary(self) -> str:
        """The recommendation, how far the criteria agree, and what to make of it."""
        return summarise(self)

    def plot(self, ax: Any) -> Any:
        """Draw the criteria along k into matplotlib axes.

        Each curve is scaled to the height of the axes, a ring marks its pick, and a line stands at
        the recommended k. Criteria that share a curve are one line with a ring for each.
        """
        rings: Counter[tuple[int, float]] = Counter()  # around each place
        for place, names in enumerate(_sharing(self.curves)):
            curve = self.curves[names[0]]
            least, spread = np.nanmin(curve.values), np.ptp(curve.values[~np.isnan(curve.values)])
            scaled = (curve.values - least) / spread if spread > 0 else 0 * curve.values
            style, color = "--" if curve.weak else "-", f"C{place}"
            label = ", ".join(names) + (" (low is good)" if names[0] in LOW_IS_GOOD else "")
            ax.plot(self.ks, scaled, style, color=color, linewidth=1.5, label=label)
            for name in names:
                pick = self.curves[name].pick
                if pick is not None:
                    at = (pick, round(float(scaled[self.ks.index(pick)]), 2))
                    size, rings[at] = 8 + 4 * rings[at], rings[at] + 1
                    ax.plot(*zip(at), "o", color=color, markersize=size, fillstyle="none")
        if self.k is not None:
            ax.axvline(self.k, color="#333333", linewidth=1, linestyle=":")
        ax.set(xlabel="number of clusters", ylabel="criterion, scaled", xticks=some_ticks(self.ks))
        legend_above(ax)
        return ax


def recommend(ks: tuple[int, ...], curves: Mapping[str, Curve]) -> tuple[int | None, float]:
    """The k that most criteria pick, and their share.

    Weak criteria only break ties, unless no other has a pick; then the criterion named first does.
    Where most of the criteria that can see one cluster do, the others, which cannot, are not asked.
    """
    picked = [curve for curve in curves.values() if curve.pick is not None]
    voters = [curve for curve in picked if not curve.weak] or picked
    if not voters:
        return None, 0.0
    votes = Counter(curve.pick for curve in voters)
    hints = Counter(curve.pick for curve in picked)
    sighted = [curve.says_one for curve in voters if curve.sees_one]
    if 1 in ks and sum(sighted) > len(sighted) / 2:
        best: int | None = 1
    else:
        best = max((curve.pick for curve in voters), key=lambda pick: (votes[pick], hints[pick]))
    return best, votes[best] / len(voters)


def summarise(choice: KChoice) -> str:
    """Sentences on a recommendation."""
    events = [f"{event}." for event in choice.events]
    if choice.k is None:
        reasons = "; ".join(f"{name}: {curve.reason}" for name, curve in choice.curves.items())
        why = f" ({reasons})" if reasons else ""
        return " ".join([f"No criterion could choose among k = {_span(choice.ks)}{why}.", *events])
    said = {name: pick for name, pick in choice.picks.items() if pick is not None}
    agree = [name for name, pick in said.items() if pick == choice.k]
    others = [f"{name} picks {pick}" for name, pick in said.items() if pick != choice.k]
    silent = [
        f"{name}: {curve.reason}" for name, curve in choice.curves.items() if curve.pick is None
    ]
    by = f"picked by {', '.join(agree)}" if agree else "by what could see more"
    sentences = [f"k = {choice.k}, {by}" + _beside(others) + "."]
    if len(said) > 1:
        sentences.append(_confidence(choice, said))
    sentences += [f"No pick by {reason}." for reason in silent]
    sentences += _doubts(choice)
    if choice.k == choice.ks[-1] and len(choice.ks) > 1:
        sentences.append("It is the largest k tried: widen the range.")
    if choice.probabilities is not None:
        chance = float(choice.probabilities[choice.ks.index(choice.k)])
        sentences.append(
            f"By BIC weights, a coarse guide, P(K = {choice.k} | data) = {chance:.2f}."
        )
    return " ".join([*sentences, *events])


def _sharing(curves: Mapping[str, Curve]) -> list[list[str]]:
    """The criteria that have values, those with the same values together."""
    groups: dict[bytes, list[str]] = {}
    for name, curve in curves.items():
        if not np.isnan(curve.values).all():
            groups.setdefault(curve.values.tobytes(), []).append(name)
    return list(groups.values())


def _beside(others: list[str]) -> str:
    return f"; {', '.join(others)}" if others else ""


def _confidence(choice: KChoice, said: Mapping[str, int]) -> str:
    if choice.agreement == 1:
        return "All agree."
    if choice.k == 1:
        return "Criteria that need two clusters cannot say that there is one."
    low, high = min(said.values()), max(said.values())
    if choice.agreement > 0.5 and not _who_see_one(choice):
        return f"Most agree; the picks go from {low} to {high}."
    return f"They disagree, from {low} to {high}: take it as a first guess, not as a finding."


def _doubts(choice: KChoice) -> list[str]:
    """Whether there are clusters at all: what those criteria say that could deny it."""
    seen = _who_see_one(choice)
    sighted = [name for name, curve in choice.curves.items() if curve.sees_one and not curve.weak]
    if choice.k == 1:
        more = [name for name in sighted if not choice.curves[name].says_one and choice.picks[name]]
        by_values = [name for name in more if choice.picks[name] == 1]
        if by_values:
            return [
                f"Yet {', '.join(by_values)}, which picks 1 by its rule, is far better at another "
                "number: look at its curve."
            ]
        if not more:
            return ["There is no sign of more than one cluster."]
        return [f"Only {', '.join(more)} would see more than one cluster."]
    if seen:
        hardly = [name for name in seen if choice.picks[name] != 1]
        verb = "speaks" if len(seen) == 1 else "speak"
        but = f" (what {' and '.join(hardly)} picks is hardly better)" if hardly else ""
        return [
            f"There may be no clusters at all: {', '.join(seen)} {verb} for one{but}, and of the "
            f"others {'most' if len(sighted) > len(seen) else 'all'} cannot; see tendency(X)."
        ]
    if 1 not in choice.ks:
        return ["Whether there are clusters at all was not asked: begin with k = 1."]
    if not sighted:
        return ["None of these can say that there are no clusters; see tendency(X)."]
    return []


def _who_see_one(choice: KChoice) -> list[str]:
    """Criteria that speak for one cluster."""
    return [name for name, curve in choice.curves.items() if curve.says_one and not curve.weak]


def _span(ks: tuple[int, ...]) -> str:
    return f"{ks[0]} to {ks[-1]}" if len(ks) > 1 else f"{ks[0]}"
