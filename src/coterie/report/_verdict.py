"""The answer in plain words, and how far it can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.report._aside import compared_with_columns
from coterie.report._chosen import Chosen
from coterie.report._findings import Clustered, Findings
from coterie.report._mirages import clusters_of_gaps, far_cells, fillers
from coterie.report._numbers import chance, count

#: So many rows are enough for the absence of structure to show.
_ENOUGH_ROWS = 50
#: The chance from which on clusters are no clearer than those of rows without structure.
_AS_CHANCE = 0.05
#: Clusters whose Jaccard indices are below this on average do not come back (Hennig 2007).
_COMES_BACK = 0.6


def verdict(found: Findings) -> dict[str, Any]:
    """Headline, sentences, and a confidence with its reasons."""
    if found.clustered is None:
        return _no_structure(found)
    return _clusters(found, found.clustered)


def _no_structure(found: Findings) -> dict[str, Any]:
    tested, doubted = found.tested, found.doubted
    n_rows = found.n_rows - found.n_copied
    if tested is None:
        sentence, why = "There is one row, and nothing to compare it with.", ["One row."]
        confidence = "high"
    elif doubted is not None:
        sentence = (
            "The rows look uneven, but clustering finds no more in them than in rows without "
            f"structure. {doubted.sentence}"
        )
        why = [f"The null replay has p = {doubted.p_value:.2g}."]
        confidence = "moderate"
    else:
        sentence = tested.verdict
        why = [
            f"The test of tendency has {chance(tested.p_value)}.",
            "It looks for gaps: groups that overlap would go unseen.",
        ]
        confidence = "moderate"
    if found.n_copied and tested is not None:
        why.append(f"Only {count(n_rows, 'row')} went into the test; the others are copies.")
    if n_rows < _ENOUGH_ROWS and tested is not None:
        why.append(f"{n_rows} rows are few: what is there may not show.")
        confidence = "low" if n_rows < 20 else confidence
    return {
        "has_structure": False, "n_clusters": 1,
        "headline": f"No clusters were found in the {found.n_rows:,} rows of {found.given.name}.",
        "sentences": [sentence, "Every row has the label 0."],
        "confidence": confidence, "why": why, "doubts": [],
    }  # fmt: skip


def _clusters(found: Findings, clustered: Clustered) -> dict[str, Any]:
    chosen, k = clustered.chosen, found.n_clusters
    shares = np.bincount(found.placed.labels, minlength=k) / found.n_rows
    told = ", ".join(f"{share:.0%}" for share in shares[:8]) + (", ..." if k > 8 else "")
    n_ambiguous = int(found.placed.ambiguous.sum())
    by_chance = clustered.replay.p_value > _AS_CHANCE
    back = clustered.comeback
    unstable = back is not None and float(back.jaccard.mean()) < _COMES_BACK
    sentences = [
        f"{chosen.best.recipe.name} follows the rows best; the clusters hold {told} of the rows."
    ]
    if not (by_chance and chosen.are_apart):  # rows without structure can be cut like that, too
        sentences.append(as_sentence(chosen.why))
    sentences.append(_between(n_ambiguous, found.n_rows))
    sentences += compared_with_columns(found)
    good, bad = _reasons(found, clustered)
    confidence = "high" if not bad else "moderate" if len(good) >= len(bad) else "low"
    if by_chance:
        confidence = "low"
        sentences.append(
            "The rows are not one heap, but these clusters are no clearer than those that the same "
            "method cuts from rows without structure: take them for a first look."
        )
    if unstable:
        confidence = "low"
        sentences.append(
            "Hardly any of these clusters is found again among two thirds of the rows: that there "
            "are groups is surer than where one ends and the next begins."
        )
    where = f"in the {found.n_rows:,} rows of {found.given.name}"
    if confidence == "low":
        headline = f"There may be {k} clusters {where}."
    elif chosen.is_sure:
        headline = f"There are {k} clusters {where}."
    else:
        headline = f"There are clusters, perhaps {k}, {where}."
    return {
        "has_structure": True, "n_clusters": k, "headline": headline,
        "sentences": sentences, "confidence": confidence, "why": [*good, *bad], "doubts": bad,
    }  # fmt: skip


def as_sentence(told: str) -> str:
    """Words as a sentence."""
    return f"{told[0].upper()}{told[1:]}."


def _between(n_ambiguous: int, n_rows: int) -> str:
    if not n_ambiguous:
        return "No row could as well be in another cluster."
    rows = "row" if n_ambiguous == 1 else "rows"
    return (
        f"{n_ambiguous:,} {rows} ({n_ambiguous / n_rows:.1%}) could as well be in another cluster."
    )


def _reasons(found: Findings, clustered: Clustered) -> tuple[list[str], list[str]]:
    """What speaks for the clusters, and what against them."""
    good: list[str] = []
    bad: list[str] = []

    def weigh(holds: bool, said: str, otherwise: str | None = None) -> None:
        (good if holds else bad).append(said if holds or otherwise is None else otherwise)

    assert found.tested is not None
    tested = f"(test of tendency, {chance(found.tested.p_value)})"
    weigh(
        found.tested.p_value <= 0.01,
        f"The rows are more than one heap {tested}.",
        f"It is not certain that the rows are more than one heap {tested}.",
    )
    weigh(clustered.replay.p_value <= _AS_CHANCE, clustered.replay.sentence)
    back = clustered.comeback
    if back is not None:
        least, mean = int(np.argmin(back.jaccard)), f"{back.jaccard.mean():.2f}"
        told = f"{back.jaccard[least]:.2f}"
        weigh(
            float(back.jaccard.min()) >= 0.75,
            f"Clustered again, {back.n_resamples} times two thirds of the rows, each cluster has a "
            f"Jaccard index of {mean} with its closest match on average"
            + (f", least {told} for cluster {least}." if told != mean else "."),
        )
    runner_up = clustered.chosen.runner_up
    if runner_up is not None:
        name, how_far = runner_up.recipe.name, f"{runner_up.agreement:.2f} (adjusted Rand index)"
        weigh(
            runner_up.agreement >= 0.7,
            f"The runner-up, {name}, agrees by {how_far}.",
            f"The runner-up, {name}, agrees by no more than {how_far}.",
        )
    weigh(*_how_sure_the_number(clustered.chosen))
    for said in _mirages(found):
        weigh(False, said)
    return good, bad


def _how_sure_the_number(chosen: Chosen) -> tuple[bool, str]:
    """Whether nothing speaks against the number of clusters, and what was counted.

    Criteria know clusters by centres, so what they say of those of another shape counts for little.
    """
    told = f"{chosen.n_agreeing} of {len(chosen.votes)} criteria pick {chosen.n_clusters} clusters"
    if not chosen.are_apart:
        return chosen.is_sure, f"{told}." if chosen.is_sure else f"Only {told}."
    if 2 * chosen.n_agreeing > len(chosen.votes):
        return True, f"{told}, and all clusters are apart."
    if chosen.best.recipe.is_centred:
        return False, f"All clusters are apart, but only {told}."
    return True, f"All clusters are apart; {told}, but they look for other shapes."


def _mirages(found: Findings) -> list[str]:
    """What in the table may have made the clusters, a sentence each."""
    ready, table = found.ready, found.given.table
    told = []
    for name, value, n_rows in far_cells(ready, table):
        told.append(
            f"{name!r} is {value:.3g} in {count(n_rows, 'row')}, so far from all its other numbers "
            "that these look alike. Correct or empty such cells and study the table again."
        )
    for name, value, n_rows in fillers(ready, table):
        told.append(
            f"{name!r} is {value:.0f} in {n_rows:,} rows, far from all its other numbers. If that "
            "means a missing cell, empty these cells and study the table again."
        )
    for name, clusters in clusters_of_gaps(ready, table, found.placed.labels):
        one = len(clusters) == 1
        told.append(
            f"{'Cluster' if one else 'Clusters'} {', '.join(map(str, clusters))} "
            f"{'has' if one else 'have'} hardly a value of {name!r}: that cells are missing may be "
            f"what sets {'it' if one else 'them'} apart."
        )
    return told
