"""What clusters are called: a few words for each, no two alike where their traits differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.report._plain import plain

#: Traits that a name has where these tell clusters apart.
_USUAL = 2


def cluster_names(traits: Sequence[Sequence[Any]]) -> list[str]:
    """Of each cluster its two largest traits in words, and more where two names are alike.

    Parameters
    ----------
    traits
        Of every cluster the traits that `coterie.select.explain` finds, the largest first.
    """
    n_told = [min(_USUAL, len(own)) for own in traits]
    while True:
        names = [_name(own[:n]) for own, n in zip(traits, n_told, strict=True)]
        alike = [i for i, name in enumerate(names)
                 if names.count(name) > 1 and n_told[i] < len(traits[i])]  # fmt: skip
        if not alike:
            return names
        for i in alike:
            n_told[i] += 1


def _name(traits: Sequence[Any]) -> str:
    told = []
    for trait in traits:
        if trait.measure == "mean":
            told.append(f"{'high' if trait.effect > 0 else 'low'} {trait.column}")
        elif trait.measure == "missing":
            told.append(f"{trait.column} {'missing' if trait.effect > 0 else 'known'}")
        else:
            is_so = "" if trait.effect > 0 else "not "
            told.append(f"{trait.column} {is_so}{plain(trait.level)}")
    return ", ".join(told) or "nothing sets it apart"
