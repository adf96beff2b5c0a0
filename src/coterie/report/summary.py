"""A study as one object of plain data, which feeds the page, the terminal and JSON.

docs/study_json.md has the schema.
"""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import version
from typing import Any

import numpy as np

from coterie.data.encoding import Levels, Measure
from coterie.report._aside import listed_names
from coterie.report._chosen import CRITERIA, Chosen
from coterie.report._cluster_names import cluster_names
from coterie.report._findings import Clustered, Findings
from coterie.report._map_points import map_points
from coterie.report._pictures import (
    bic,
    dendrogram,
    k_distances,
    memberships,
    profiles,
    silhouettes,
)
from coterie.report._plain import plain
from coterie.report._quality import quality
from coterie.report._verdict import as_sentence, verdict
from coterie.select._rules import Rule
from coterie.select.tendency import Tendency

SCHEMA = 1


def summarise(found: Findings) -> dict[str, Any]:
    """The summary of a study."""
    clustered = found.clustered
    parts: dict[str, Any] = {
        "schema": SCHEMA,
        "title": found.given.name,
        "source": _source(found),
        "settings": {
            "random_state": found.seed, "time": found.plan.time, "without": list(found.without),
        },
        "verdict": verdict(found),
        "columns": _told_columns(found),
        "notes": _notes(found),
        "quality": quality(found),
        "tendency": _tendency(found),
        "methods": [], "choice_of_k": None, "clusters": [], "noise": None, "profiles": [],
        "silhouette": None, "null_replay": _replay(found), "map": map_points(found),
        "dendrogram": None, "k_distances": None, "bic": None, "memberships": None,
        "sensitivity": [], "reproduce": _reproduce(found),
    }  # fmt: skip
    if clustered is not None:
        silhouette = silhouettes(found)
        parts |= {
            "methods": _methods(clustered.chosen),
            "choice_of_k": _choice_of_k(clustered.chosen),
            "clusters": _clusters(found, clustered, silhouette),
            "profiles": profiles(found),
            "silhouette": silhouette,
            "dendrogram": dendrogram(found, clustered.chosen),
            "k_distances": k_distances(found, clustered.chosen),
            "bic": bic(clustered.chosen),
            "memberships": memberships(found),
            "sensitivity": [
                {"what": one.what, "agreement": one.agreement, "n_clusters": one.n_clusters,
                 "sentence": one.sentence}
                for one in clustered.changes
            ],
        }  # fmt: skip
    told: dict[str, Any] = plain(parts)
    return told


def _source(found: Findings) -> dict[str, Any]:
    n_rows, n_columns = found.given.table.shape
    sampled = len(found.studied) < n_rows
    said = list(found.given.notes)
    if sampled:
        said.append(
            f"Models were fitted to {len(found.studied):,} rows drawn from {n_rows:,}; every row "
            "has its label from them."
        )
    if len(found.compared) < len(found.studied):
        said.append(f"Methods were compared on {len(found.compared):,} of them.")
    return {
        "name": found.given.name, "n_rows": n_rows, "n_columns": n_columns,
        "n_studied": len(found.studied), "sampled": sampled,
        "how": " ".join(said) or "All rows were studied.",
    }  # fmt: skip


def _told_columns(found: Findings) -> list[dict[str, Any]]:
    codes = {code.name: code for code in found.ready.codes}
    return [
        {
            "name": kind.name, "kind": kind.kind, "used": kind.is_used, "reason": kind.reason,
            "n_missing": kind.n_missing, "n_distinct": kind.n_distinct,
            "coded_as": _coded_as(codes.get(kind.name)),
        }
        for kind in found.ready.kinds
    ]  # fmt: skip


def _coded_as(code: Any) -> str:
    if code is None:
        return "left out"
    if isinstance(code, Levels):
        return f"a place for each of {len(code.levels)} levels"
    if isinstance(code, Measure):
        return "logarithm, standardised" if code.logs else "standardised"
    return f"steps of {len(code.levels)} levels, standardised"


def _notes(found: Findings) -> list[str]:
    more = [found.space.note] if found.space.note else []
    if found.model.rows_ is not None:
        more.append(
            f"New rows get the label of the nearest of {len(found.model.rows_):,} studied rows, "
            "since the method itself labels only rows it was fitted to."
        )
    if found.n_copied:
        more.append(
            f"{found.n_copied:,} of {len(found.studied):,} rows are copies of others. Structure "
            "was tested and methods were compared without them, since a copy is no evidence."
        )
    return [*found.ready.notes, *more, *found.notes]


def _column_part(tested: Tendency, names: list[str]) -> list[dict[str, Any]]:
    """The dips of the columns one by one, where they were tested."""
    place = tested.column
    if place is None:
        return []
    least = f"{names[place]!r} has the least chance"
    return [{"name": "columns", "value": tested.columns[place].statistic,
             "p_value": tested.column_p_value,
             "sentence": f"The dip of the columns one by one: {least}."}]  # fmt: skip


def _tendency(found: Findings) -> dict[str, Any]:
    tested = found.tested
    if tested is None:
        return {"p_value": 1.0, "has_structure": False, "verdict": "One row.", "parts": []}
    return {
        "p_value": tested.p_value,
        "has_structure": tested.has_structure,
        "verdict": _verdict_of_tendency(found, tested),
        "parts": [
            {"name": "components", "value": max(one.statistic for one in tested.components),
             "p_value": tested.component_p_value,
             "sentence": "The dip of the first principal components: more than one mode?"},
            *_column_part(tested, found.ready.place_names),
            {"name": "distances", "value": tested.distances.statistic,
             "p_value": tested.distances.p_value,
             "sentence": "The dip of the distances between rows."},
            {"name": "replay", "value": tested.replay.score, "p_value": tested.replay.p_value,
             "sentence": "The deepest gap between two clusters of k-means, against rows without "
                         "structure."},
            {"name": "hopkins", "value": tested.hopkins.statistic, "p_value": None,
             "sentence": "Hopkins' statistic, 0.5 where rows are uniform; it does not count."},
        ],
    }  # fmt: skip


def _verdict_of_tendency(found: Findings, tested: Tendency) -> str:
    """What the test said; where a replay spoke against it, that this counts."""
    if found.doubted is None:
        return tested.verdict
    told = tested.verdict.replace("There is structure", "The test by itself sees structure", 1)
    return f"{told} Clusters of these rows do not bear it out (see the verdict)."


def _rule(rule: Rule) -> str:
    """A rule, and how well it fits."""
    return f"{rule} (holds for {rule.recall:.0%} of it; {rule.precision:.0%} of such rows are its)"


def _replay(found: Findings) -> dict[str, Any] | None:
    told = found.doubted if found.clustered is None else found.clustered.replay
    if told is None:
        return None
    return {
        "score": told.score, "observed": told.observed, "null": told.null,
        "p_value": told.p_value, "n_without": told.n_without, "sentence": told.sentence,
    }  # fmt: skip


def _methods(chosen: Chosen) -> list[dict[str, Any]]:
    rows = []
    for place, one in enumerate(chosen.candidates):
        estimator = one.recipe.estimator
        usual = type(estimator)().get_params(deep=False)
        shown = {name: value for name, value in estimator.get_params(deep=False).items()
                 if name in _SHOWN and value != usual[name]}  # fmt: skip
        rows.append({
            "name": one.recipe.name, "parameters": shown, "n_clusters": chosen.n_clusters,
            "score": one.score, "parts": one.parts, "agreement": one.agreement,
            "chosen": place == 0, "note": "the largest score" if place == 0 else "",
        })  # fmt: skip
    return rows


#: Parameters of methods that are shown where they are not the defaults.
_SHOWN = (
    "covariance_type", "linkage", "gini_threshold", "min_cluster_size", "min_samples", "metric",
)  # fmt: skip


def _choice_of_k(chosen: Chosen) -> dict[str, Any]:
    ks = list(chosen.by_centres.ks)
    curves: dict[str, tuple[Any, int | None, bool]] = {
        name: (curve.values, curve.pick, curve.weak)
        for name, curve in chosen.by_centres.curves.items()
    }
    if chosen.by_cells is not None:
        curves |= {
            name: (_aligned(ks, chosen.by_cells.ks, curve.values), curve.pick, name == "icl")
            for name, curve in chosen.by_cells.curves.items()
        }
    if chosen.mixtures is not None:
        sound = [one for one in chosen.mixtures.candidates if not one.degenerate]
        least = {k: min((one.bic for one in sound if one.k == k), default=np.nan) for k in ks}
        curves["bic"] = (list(least.values()), chosen.mixtures.k, False)
    if len(chosen.borders) > 1:
        values = [chosen.borders.get(k, np.nan) for k in ks]
        curves["border"] = (values, chosen.votes.get("border"), False)
    return {
        "k": ks,
        "criteria": [
            {"name": name, "label": CRITERIA[name][0], "values": values, "pick": pick,
             "better": CRITERIA[name][1], "weak": weak}
            for name, (values, pick, weak) in curves.items()
        ],
        "recommended": chosen.n_clusters,
        "sentence": as_sentence(chosen.why),
    }  # fmt: skip


def _aligned(ks: list[int], own: Any, values: Any) -> list[float]:
    known = dict(zip(own, np.asarray(values).tolist(), strict=True))
    return [known.get(k, np.nan) for k in ks]


def _clusters(
    found: Findings, clustered: Clustered, silhouette: dict[str, Any] | None
) -> list[dict[str, Any]]:
    labels, back = found.placed.labels, clustered.comeback
    explained = {cluster.label: cluster for cluster in clustered.explanation.clusters}
    means = {}
    if silhouette is not None:
        means = {part["label"]: float(np.mean(part["values"])) for part in
                 silhouette["by_cluster"] if part["values"]}  # fmt: skip
    names = cluster_names(
        [() if (one := explained.get(label)) is None else one.traits
         for label in range(found.n_clusters)],
        {kind.name: kind.levels for kind in found.ready.used if len(kind.levels) == 2},
    )  # fmt: skip
    rows = []
    for label in range(found.n_clusters):
        size, one = int((labels == label).sum()), explained.get(label)
        stability = None
        if back is not None:
            stability = {
                "jaccard": back.jaccard[label], "low": back.low[label], "high": back.high[label],
                "verdict": back.verdict(label),
            }  # fmt: skip
        rows.append({
            "label": label, "name": names[label], "size": size,
            "share": size / found.n_rows,
            "rule": "" if one is None or one.rule is None else _rule(one.rule),
            "confidence": float(found.placed.confidence[labels == label].mean()) if size else 0.0,
            "stability": stability, "silhouette": means.get(label),
            "rival": None if one is None else one.rival,
            "traits": [] if one is None else [_trait(trait) for trait in one.traits],
            "typical_rows": [] if one is None else list(one.typical),
            "ambiguous_rows": [] if one is None else list(one.ambiguous),
        })  # fmt: skip
    return rows


def _trait(trait: Any) -> dict[str, Any]:
    high = trait.effect > 0
    words = ("high", "low") if trait.measure == "mean" else ("is", "is not")
    return {
        "column": trait.column, "sentence": trait.text, "effect": trait.effect,
        "direction": words[0] if high else words[1],
    }  # fmt: skip


def _reproduce(found: Findings) -> dict[str, Any]:
    given, seed, time = found.given, found.seed, found.plan.time
    more = f"--seed {seed}" + ("" if time in (60, None) else f" --time {time:g}")
    asked = f"random_state={seed}, time={time if time is None else f'{time:g}'}"
    if found.without:
        more += f" --without {shlex.quote(listed_names(found.without))}"
        asked += f", without={list(found.without)!r}"
    libraries = ("coterie", "numpy", "scipy", "scikit-learn")
    return {
        "command": None if given.command is None else f"coterie study {given.command} {more}",
        "python": None if given.python is None else f"coterie.study({given.python}, {asked})",
        "seed": seed, "cut_short": found.cut_short,
        "versions": {"python": sys.version.split()[0], **{one: version(one) for one in libraries}},
    }  # fmt: skip
