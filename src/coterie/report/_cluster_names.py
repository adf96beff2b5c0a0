"""What clusters are called: a few words for each, no two alike where their traits differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.report._plain import level_text

#: Traits that a name has where these tell clusters apart.
_USUAL = 2


def cluster_names(traits: Sequence[Sequence[Any]], pairs: Mapping[str, Sequence[Any]]) -> list[str]:
    """Of each cluster its two largest traits in words, and more where two names are alike.

    Where they stay alike, numbers tell their means.

    Parameters
    ----------
    traits
        Of every cluster the traits that `coterie.select.explain` finds, the largest first.
    pairs
        The levels of columns that have two: what is not the one is the other.
    """
    n_told = [min(_USUAL, len(own)) for own in traits]
    while True:
        names = [_name(own[:n], pairs) for own, n in zip(traits, n_told, strict=True)]
        alike = [i for i, name in enumerate(names)
                 if names.count(name) > 1 and n_told[i] < len(traits[i])]  # fmt: skip
        if not alike:
            return [
                _name(own[:n], pairs, means=names.count(name) > 1)
                for name, own, n in zip(names, traits, n_told, strict=True)
            ]
        for i in alike:
            n_told[i] += 1


def _name(traits: Sequence[Any], pairs: Mapping[str, Sequence[Any]], *, means: bool = False) -> str:
    told = []
    for trait in traits:
        if trait.measure == "mean":
            value = f" ({trait.inside:.3g})" if means else ""
            told.append(f"{'high' if trait.effect > 0 else 'low'} {trait.column}{value}")
        elif trait.measure == "missing":
            told.append(f"{trait.column} {'missing' if trait.effect > 0 else 'known'}")
        elif trait.effect > 0:
            told.append(f"{trait.column} {level_text(trait.level)}")
        else:
            others = [level_text(level) for level in pairs.get(trait.column, ())
                      if level_text(level) != level_text(trait.level)]  # fmt: skip
            other = others[0] if len(others) == 1 else f"not {level_text(trait.level)}"
            told.append(f"{trait.column} {other}")
    return ", ".join(told) or "apart in no column alone"
