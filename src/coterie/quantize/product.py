"""Product quantization: the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from coterie._checks import ANY, CALLABLE, FLAG, NONE, Rule, whole
from coterie._history import Event, Iteration, Recorder
from coterie._random import check_random_state
from coterie._stored import RECORDS, Array, Field, Nothing, Real, Sizes
from coterie.data import Block
from coterie.quantize._encode import errors_of_block
from coterie.quantize._opq import rotated_part_means
from coterie.quantize._part_coder import PartCoder, Rows
from coterie.quantize._part_means import (
    PartRows,
    PartRun,
    column_means,
    part_means,
    start_part_means,
)
from coterie.quantize._parts import part_starts
from coterie.quantize._training_rows import training_rows

#: Training rows per codeword, and at least.
_ROWS_A_CODEWORD, _FEWEST_ROWS = 256, 1 << 14


class ProductQuantizer(PartCoder):
    """Product quantization: rows as a few bytes, by a small codebook for each part of the columns.

    Columns are cut into M parts, and k-means finds 2^bits codewords in each. A row x becomes the
    numbers of its nearest codewords, q(x) = (q_1(x_1), ..., q_M(x_M)): M * bits bits that stand for
    one of (2^bits)^M vectors, in the memory of 2^bits of them (Jégou, Douze & Schmid 2011). Squared
    distances are sums over parts, so that those of a query to any number of codes take one table of
    M * 2^bits numbers and M additions per code. Rows are worked on in float32.

    With ``rotate=True`` rows are first multiplied with the orthogonal matrix after which least is
    lost: optimized product quantization, OPQ (Ge, He, Ke & Sun 2013). The rotation is found by
    descent from one of two starts, the columns as they are and principal axes dealt to the parts.
    True takes the start with the smaller error on some of the rows; ``rotate="neighbors"`` the one
    whose codes find more of the ten nearest of rows left out, which may have the larger error: what
    an index wants.

    Time: n_iter steps of O(n 2^bits d) on n training rows, whatever M is, as many more of
    O(n (2^bits + d) d) with a rotation; encoding O(2^bits d) per row (and d^2). Memory: the
    training rows twice in float32, or five times with a rotation, and M bytes per row; the model is
    2^bits * d floats (and d^2).

    Parameters
    ----------
    n_subvectors : int, default=8
        The number M of parts, at most that of the columns. Where it does not divide these, the
        first parts have a column more.
    bits : {8, 4}, default=8
        Of a code; 256 or 16 codewords per part.
    rotate : bool or "neighbors", default=False
        Whether to look for a rotation first: True for the least error, "neighbors" for the codes
        that find most neighbours.
    n_iter : int, default=25
        Steps of k-means, and rotations where there are any.
    max_training_rows : int or None, default=None
        Codebooks are learned from so many rows, drawn at random. None: 256 per codeword, and 16384
        at least.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, RandomState or None, default=None
    n_threads : int or None, default=None
        None: the package's option, `COTERIE_NUM_THREADS`, or all usable CPUs. The result is the
        same for any number.
    callback : callable or None, default=None
        Called once per iteration with a `Progress`; returning True stops.

    Attributes
    ----------
    codebooks_ : list of n_subvectors float32 arrays of shape (2^bits, width of the part)
    codewords_ : float32 array of shape (2^bits, n_features)
        The same side by side.
    part_starts_ : int64 array of shape (n_subvectors + 1,)
        Part m has columns ``part_starts_[m]:part_starts_[m + 1]``.
    rotation_ : float32 array of shape (n_features, n_features) or None
        What rows are multiplied with before they are cut.
    training_distortion_ : float
        Mean squared error on the rows the codebooks were learned from.
    n_codewords_ : int
        (2^bits)^M, exactly.
    bits_per_vector_ : int
        M * bits.
    history_ : list of dict
        One entry per iteration: the sum of squared errors of all parts before and after the means
        are taken, changed codes, seconds.
    events_ : list of dict
        What else happened: codewords without rows, early stops.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ProductQuantizer
    >>> X = np.random.default_rng(0).normal(size=(1000, 8))
    >>> model = ProductQuantizer(4, bits=4, random_state=0).fit(X)
    >>> codes = model.encode(X)
    >>> codes.shape, codes.dtype, model.pack(codes).shape
    ((1000, 4), dtype('uint8'), (1000, 2))
    >>> model.n_codewords_, model.bits_per_vector_
    (65536, 16)
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "codewords_": Array("f4", ("codes", "columns")),
        "part_starts_": Array("i8", (None,), 0),
        "rotation_": Array("f4", ("columns", "columns"), -1.01, 1.01) | Nothing(),
        "training_distortion_": Real(0),
        "history_": RECORDS,
        "events_": RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_subvectors": whole(1),
        "bits": Rule(lambda bits: isinstance(bits, (int, np.integer)) and bits in (4, 8), "8 or 4"),
        "rotate": FLAG
        | Rule(lambda rotate: isinstance(rotate, str) and rotate == "neighbors", "'neighbors'"),
        "n_iter": whole(1),
        "max_training_rows": NONE | whole(1),
        "verbose": FLAG,
        "random_state": ANY,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
    }

    training_distortion_: float
    history_: list[Iteration]
    events_: list[Event]

    def __init__(
        self,
        n_subvectors: int = 8,
        *,
        bits: int = 8,
        rotate: bool | str = False,
        n_iter: int = 25,
        max_training_rows: int | None = None,
        verbose: Any = False,
        random_state: Any = None,
        n_threads: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_subvectors = n_subvectors
        self.bits = bits
        self.rotate = rotate
        self.n_iter = n_iter
        self.max_training_rows = max_training_rows
        self.verbose = verbose
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the codebooks, and the rotation if there is to be one, from rows of X.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features), path, Dask collection or source
            Only the rows that are learned from are looked at.
        y : ignored

        Returns
        -------
        self
        """
        self._check_params()
        source = self._part_rows(X, reset=True)
        n_parts, n_codes = int(self.n_subvectors), 1 << int(self.bits)
        if n_parts > source.n_cols:
            raise ValueError(
                f"{self._who}: n_subvectors={n_parts} but X has {source.n_cols} columns; lower "
                "n_subvectors or pass more columns."
            )
        rng, n_threads = check_random_state(self.random_state), self._n_threads()
        n_steps = int(self.n_iter) * (2 if self.rotate else 1)
        recorder = Recorder(n_steps, self._callback())
        size = self.max_training_rows or max(_ROWS_A_CODEWORD * n_codes, _FEWEST_ROWS)
        names = getattr(self, "feature_names_in_", None)
        rows = training_rows(self._who, source, int(size), rng, recorder, names)
        starts = part_starts(source.n_cols, n_parts)
        rotation = None
        if self.rotate:
            wanted = "neighbors" if self.rotate == "neighbors" else "error"
            found = rotated_part_means(
                wanted, rows, starts, n_codes, int(self.n_iter), rng, recorder, n_threads
            )
            rotation, run, shift = found.rotation, found.run, found.shift
        else:
            split = PartRows.split(rows, starts, column_means(rows), n_threads)
            start = start_part_means(split, n_codes, rng)
            run, shift = part_means(split, start, int(self.n_iter), rng, recorder), split.shift
            del split
        self.part_starts_, self.rotation_ = starts, rotation
        self.codewords_ = (run.centers + shift).astype(np.float32)
        self.training_distortion_ = self._distortion_of(rows)
        _note_unused(run, len(rows), recorder)
        self.history_, self.events_ = recorder.history, recorder.events
        return self

    def _distortion_of(self, rows: Rows) -> float:
        """Of rows as they were learned from."""
        block = Block(rows, None, 0, self._n_threads())
        *errors, n_rows = errors_of_block(block, self._parts())
        return float(sum(errors) / n_rows)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        starts = self.part_starts_
        if sizes["codes"] not in (16, 256):
            raise ValueError("codewords_ are neither 16 nor 256")
        if starts.size < 2 or starts[0] != 0 or starts[-1] != self.n_features_in_:
            raise ValueError("part_starts_ do not cover the columns")
        if (np.diff(starts) < 1).any():
            raise ValueError("part_starts_ do not rise")
        if self.rotation_ is not None:
            square = self.rotation_.T.astype(np.float64) @ self.rotation_
            if not np.allclose(square, np.eye(len(square)), atol=1e-3):
                raise ValueError("rotation_ is not orthogonal")


def _note_unused(run: PartRun, n_rows: int, recorder: Recorder) -> None:
    """An event for every part with codewords that no training row has."""
    n_codes = run.counts.shape[1]
    for m in np.flatnonzero((run.counts == 0).any(axis=1)):
        n_used = int(np.count_nonzero(run.counts[m]))
        recorder.event(
            "unused codewords",
            f"part {m} uses {n_used} of {n_codes} codewords for {n_rows} training rows: these have "
            "few that differ there",
            where=int(m),
        )
