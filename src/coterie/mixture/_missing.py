"""Rows with missing values: each enters through the columns where it was observed.

Given the component, the observed columns are Gaussian themselves, which gives the exact
likelihood; what is missing is a hidden variable whose conditional moments complete the M-step
(Ghahramani & Jordan 1994). Rows are grouped by which of their columns are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.data import ArraySource, Block, Source
from coterie.mixture._complete import completed, look_over_observed
from coterie.mixture._covariance import invert_lower
from coterie.mixture._family import Expectation, Likelihood, Mixture
from coterie.mixture._gaussian import GaussianFamily, Moments
from coterie.mixture._overview import Overview, look_over

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

#: Rows handled at a time where a copy of them is made.
_TILE_ROWS = 1 << 16


@dataclass(frozen=True)
class Pattern:
    """Rows that miss the same columns: which, and what was `observed` of them (None: all)."""

    row_ids: Ints
    observed: npt.NDArray[np.bool_] | None


@dataclass(frozen=True)
class Patterns:
    """Rows in memory, and the patterns they fall into: found once, one index per row."""

    rows: Any
    found: tuple[Pattern, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere there is nothing of it: rows there are others, and looked at as they come."""
        return type(None), ()


@dataclass(frozen=True)
class Group:
    """Some rows of a block with the same missing columns, as a block of their own."""

    row_ids: Any
    block: Block
    observed: npt.NDArray[np.bool_] | None


def find_patterns(rows: Any) -> tuple[Pattern, ...]:
    """The complete rows, then the others by which of their columns are missing."""
    n_rows, n_cols = rows.shape
    packed = np.concatenate(
        [
            np.packbits(np.isnan(rows[start : start + _TILE_ROWS]), axis=1)
            for start in range(0, n_rows, _TILE_ROWS)
        ]
    )
    incomplete = packed.any(axis=1)
    complete, ids = Pattern(np.flatnonzero(~incomplete), None), np.flatnonzero(incomplete)
    if not ids.size:
        return (complete,)
    patterns, which = np.unique(packed[ids], axis=0, return_inverse=True)
    members = np.split(
        ids[np.argsort(which.ravel(), kind="stable")], np.cumsum(np.bincount(which.ravel()))[:-1]
    )
    return complete, *(
        Pattern(row_ids, np.unpackbits(pattern, count=n_cols) == 0)
        for pattern, row_ids in zip(patterns, members, strict=True)
    )


def patterns_of(blocks: Source) -> Patterns | None:
    """The patterns of the rows of a fit; None where they are not in memory."""
    if not isinstance(blocks, ArraySource):
        return None
    return Patterns(blocks.rows, find_patterns(blocks.rows))


def groups(block: Block, known: Patterns | None = None) -> Iterator[Group]:
    """The rows of a block by pattern, which may be known; no copy exceeds a tile."""
    found = known.found if known and known.rows is block.rows else find_patterns(block.rows)
    if found[0].row_ids.size == block.n_rows:
        yield Group(slice(None), block, None)
        return
    for pattern in found:
        yield from _tiles(block, pattern.row_ids, pattern.observed)


def _tiles(block: Block, row_ids: Ints, observed: npt.NDArray[np.bool_] | None) -> Iterator[Group]:
    for start in range(0, row_ids.size, _TILE_ROWS):
        ids = row_ids[start : start + _TILE_ROWS]
        rows = block.rows[ids] if observed is None else block.rows[np.ix_(ids, observed)]
        weights = None if block.weights is None else block.weights[ids]
        yield Group(ids, Block(rows, weights, 0, block.n_threads), observed)


class Marginal(Likelihood):
    """Gaussians as seen through the observed columns of one pattern.

    Summaries are over all columns: with y = x_o - mu_o, the missing ones have the conditional mean
    mu_m + B y and covariance C, where B = Sigma_mo Sigma_oo^-1 and C = Sigma_mm - B Sigma_om.
    `neg_entropy` is that of the missing columns given the observed, E_q[log q], a component.
    """

    def __init__(
        self,
        means: Floats,
        covariances: Floats,
        log_norms: Floats,
        observed: npt.NDArray[np.bool_],
    ) -> None:
        self._observed, self._missing = np.flatnonzero(observed), np.flatnonzero(~observed)
        self._means = means[:, observed]
        self._n_cols = observed.size
        own_norms = self._condition(covariances)
        self._log_norms = np.broadcast_to(own_norms, log_norms.shape)
        self.neg_entropy = log_norms - self._log_norms - self._missing.size / 2

    def _condition(self, covariances: Floats) -> Floats:
        """Regress the missing on the observed columns; the log-norms of the observed ones."""
        seen, unseen = self._observed, self._missing
        inner = covariances[:, seen[:, np.newaxis], seen]
        # Scaled to a unit diagonal first, as in `_covariance`.
        scale = np.sqrt(np.diagonal(inner, axis1=1, axis2=2))
        lower = np.linalg.cholesky(inner / scale[:, np.newaxis, :] / scale[:, :, np.newaxis])
        inverse = np.stack([invert_lower(one) for one in lower])
        self._whiten = inverse / scale[:, np.newaxis, :]
        cross = covariances[:, unseen[:, np.newaxis], seen] @ self._whiten.transpose(0, 2, 1)
        self._regression = cross @ self._whiten
        self._residual = covariances[:, unseen[:, np.newaxis], unseen] - (
            cross @ cross.transpose(0, 2, 1)
        )
        diagonals = np.diagonal(self._whiten, axis1=1, axis2=2)
        return np.asarray(np.log(diagonals).sum(axis=1) - seen.size / 2 * np.log(2 * np.pi))

    def n_components(self, components: Any) -> int:
        return int(self._means.shape[0])

    def log_prob(self, components: Any, rows: Any) -> Floats:
        white = self._centred(rows) @ self._whiten.transpose(0, 2, 1)
        return np.asarray((self._log_norms[:, np.newaxis] - np.square(white).sum(axis=2) / 2).T)

    def summarise(self, components: Any, rows: Any, mass: Floats) -> Moments:
        centred = self._centred(rows)
        weighted = centred * mass.T[:, :, np.newaxis]
        return self._complete(
            mass.sum(axis=0), weighted.sum(axis=1), weighted.transpose(0, 2, 1) @ centred
        )

    def _complete(self, counts: Floats, first: Floats, second: Floats) -> Moments:
        """Moments over all columns from those over the observed ones."""
        k, d = first.shape[0], self._n_cols
        seen, unseen = self._observed, self._missing
        onto = self._regression
        cross = onto @ second
        every_first, every_second = np.empty((k, d)), np.empty((k, d, d))
        every_first[:, seen] = first
        every_first[:, unseen] = (onto @ first[:, :, np.newaxis])[:, :, 0]
        every_second[:, seen[:, np.newaxis], seen] = second
        every_second[:, unseen[:, np.newaxis], seen] = cross
        every_second[:, seen[:, np.newaxis], unseen] = cross.transpose(0, 2, 1)
        every_second[:, unseen[:, np.newaxis], unseen] = (
            cross @ onto.transpose(0, 2, 1) + counts[:, np.newaxis, np.newaxis] * self._residual
        )
        return Moments(every_first, every_second)

    def _centred(self, rows: Any) -> Floats:
        rows = np.asarray(rows, dtype=np.float64)
        return np.asarray(rows[np.newaxis] - self._means[:, np.newaxis])


class DiagonalMarginal(Marginal):
    """The same where columns are independent: nothing is learnt about what is missing."""

    def _condition(self, covariances: Floats) -> Floats:
        seen = covariances[:, self._observed]
        self._residual = covariances[:, self._missing]
        self._whiten = 1 / np.sqrt(seen)
        n_seen = self._observed.size
        return np.asarray(np.log(self._whiten).sum(axis=1) - n_seen / 2 * np.log(2 * np.pi))

    def log_prob(self, components: Any, rows: Any) -> Floats:
        white = self._centred(rows) * self._whiten[:, np.newaxis]
        return np.asarray((self._log_norms[:, np.newaxis] - np.square(white).sum(axis=2) / 2).T)

    def summarise(self, components: Any, rows: Any, mass: Floats) -> Moments:
        centred = self._centred(rows)
        weighted = centred * mass.T[:, :, np.newaxis]
        first, second = np.zeros((2, centred.shape[0], self._n_cols))
        first[:, self._observed] = weighted.sum(axis=1)
        second[:, self._observed] = (weighted * centred).sum(axis=1)
        second[:, self._missing] = mass.sum(axis=0)[:, np.newaxis] * self._residual
        return Moments(first, second)


@dataclass(frozen=True)
class ObservedGaussianFamily(GaussianFamily):
    """Gaussians whose rows may miss values. Complete rows still go through the native pass.

    The `patterns` of the rows of a fit may be known beforehand.
    """

    patterns: Patterns | None = None

    def _knows_second(self, mixture: Mixture) -> bool:
        return False

    def expect(self, block: Block, mixture: Mixture) -> Expectation:
        parts = [self._expect_group(group, mixture) for group in groups(block, self.patterns)]
        return sum(parts[1:], parts[0])

    def _expect_group(self, group: Group, mixture: Mixture) -> Expectation:
        if group.observed is None:
            return super().expect(group.block, mixture)
        marginal, seen = self._seen_through(group.observed, mixture)
        expected = marginal.expect(group.block, seen)
        hidden = marginal.neg_entropy
        if self.box is not None:
            hidden = np.append(hidden, self.box.log_density(~group.observed))
        neg_entropy = expected.neg_entropy + float(expected.counts @ hidden)
        return replace(expected, neg_entropy=neg_entropy)

    def posterior(
        self,
        block: Block,
        mixture: Mixture,
        *,
        log_prob: Floats | None = None,
        resp: Floats | None = None,
        labels: npt.NDArray[np.int32] | None = None,
    ) -> None:
        asked = {"log_prob": log_prob, "resp": resp, "labels": labels}
        for group in groups(block):
            outputs: dict[str, Any] = {
                name: out[group.row_ids] for name, out in asked.items() if out is not None
            }
            if group.observed is None:
                super().posterior(group.block, mixture, **outputs)
            else:
                marginal, seen = self._seen_through(group.observed, mixture)
                marginal.posterior(group.block, seen, **outputs)
            for name, part in outputs.items():
                asked[name][group.row_ids] = part  # type: ignore[index]

    def log_joint(self, mixture: Mixture, rows: Any) -> Floats:
        joint = np.empty((rows.shape[0], mixture.log_weights.size))
        for group in groups(Block(rows, None, 0, 1)):
            if group.observed is None:
                joint[group.row_ids] = super().log_joint(mixture, group.block.rows)
            else:
                marginal, seen = self._seen_through(group.observed, mixture)
                joint[group.row_ids] = marginal.log_joint(seen, group.block.rows)
        return joint

    def _seen_through(
        self, observed: npt.NDArray[np.bool_], mixture: Mixture
    ) -> tuple[Marginal, Mixture]:
        """Likelihood and mixture for rows that have these columns only."""
        components = mixture.components
        k, d = components.means.shape
        norms = self.shape.log_norms(components.factors, k, d)
        if self.shape.diagonal:
            factors = self.shape.kernel_factors(components.factors, k, d)
            marginal: Marginal = DiagonalMarginal(components.means, factors**-2.0, norms, observed)
        else:
            covariances = components.covariances.reshape(-1, d, d)
            marginal = Marginal(components.means, covariances, norms, observed)
        if self.box is not None:
            mixture = replace(mixture, background=self.box.log_density(observed))
        return marginal, mixture


@dataclass(frozen=True)
class Cells:
    """How rows are fitted whose cells are all there, or not: a family, and what it needs to know
    of the rows beforehand: an overview, rows to start from.
    """

    family: type[GaussianFamily]
    look_over: Callable[..., Overview]
    to_start_from: Callable[[Source], Source]


def _look_over(who: str, blocks: Source, *, diagonal: bool, names: Any) -> Overview:
    return look_over(blocks, blocks.take([0])[0], diagonal=diagonal)


#: By whether cells are missing.
CELLS = {
    False: Cells(GaussianFamily, _look_over, lambda blocks: blocks),
    True: Cells(ObservedGaussianFamily, look_over_observed, completed),
}
