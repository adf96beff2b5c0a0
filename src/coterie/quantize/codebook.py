"""Vector quantization: the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from coterie._base import Estimator
from coterie._checks import ANY, CALLABLE, FLAG, NONE, Rule, one_of, real, whole
from coterie._history import Event, Iteration
from coterie._random import check_random_state
from coterie._restarts import recorders
from coterie._stored import RECORDS, Array, Field, Real, Sizes, Whole
from coterie.centroid._checked_space import checked_space
from coterie.centroid._fitted import Fitted, sse_of_any
from coterie.centroid._kmeans import kmeans, seeded
from coterie.centroid._seeding import SEEDINGS
from coterie.data import Source
from coterie.data.written import given_or_written
from coterie.errors import ParameterError
from coterie.quantize._codes import bits_for, check_codes, encode_any, smallest_unsigned


class VectorQuantizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A codebook of k vectors by k-means: a row becomes the number of its nearest codeword.

    Minimises the distortion D = sum_i w_i |x_i - c_q(i)|^2 / sum_i w_i over codebooks c_1 ... c_k,
    where q(i) is the codeword nearest to row i, by the generalised Lloyd algorithm (Linde, Buzo &
    Gray 1980), which is k-means. A row of d numbers is then sent as ceil(log2 k) bits, and decoded
    as its codeword.

    Time: O(n k d) per iteration to learn at most, O(n k d) to encode. Memory beyond X: 4 bytes per
    row for the labels of the fit and 4 more for bounds; encoding, the codes alone, 1, 2 or 4 bytes
    per row.

    Parameters
    ----------
    n_codewords : int, default=8
    init : str, default="k-means++"
        How to start, one of the seedings of `coterie.KMeans`. For rows that come block by block
        k-means++ draws by other random numbers, and from five codewords on k-means|| stands in for
        it: another codebook than of the same rows in memory. All others give the same.
    n_init : int, default=1
        Runs from different starts, of which the lowest distortion is kept.
    max_iter : int, default=300
    tol : float, default=1e-4
        A run settles once the summed squared move of the codewords is at most ``tol`` times the
        mean variance of the columns, or no label changes.
    n_training_rows : int or None, default=None
        Learn from so many rows, drawn at random, and no others: an approximation, for more rows
        than are worth it (some hundreds per codeword are enough). None: from all.
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
    codebook_ : array of shape (n_codewords, n_features)
    distortion_ : float
        Mean squared error of the rows learnt from: of a row, summed over columns.
    n_iter_ : int
    history_, events_ : list of dict
        One entry per iteration; what else happened.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import VectorQuantizer
    >>> X = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]])
    >>> model = VectorQuantizer(2, random_state=0).fit(X)
    >>> codes = model.encode(X)
    >>> codes.dtype, model.bits_per_vector, model.distortion(X)
    (dtype('uint8'), 1, 0.25)
    >>> model.decode(codes)
    array([[0. , 0.5],
           [0. , 0.5],
           [9. , 8.5],
           [9. , 8.5]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        "codebook_": Array("f", ("codewords", "columns")),
        "distortion_": Real(0),
        "n_iter_": Whole(),
        "history_": RECORDS,
        "events_": RECORDS,
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_codewords": whole(1),
        "init": one_of(*SEEDINGS),
        "n_init": whole(1),
        "max_iter": whole(1),
        "tol": real(0),
        "n_training_rows": NONE | whole(1),
        "verbose": FLAG,
        "random_state": ANY,
        "n_threads": NONE | whole(1),
        "callback": NONE | CALLABLE,
    }

    codebook_: npt.NDArray[Any]
    distortion_: float
    n_iter_: int
    history_: list[Iteration]
    events_: list[Event]
    _n_features_out: int

    def __init__(
        self,
        n_codewords: int = 8,
        *,
        init: str = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        n_training_rows: int | None = None,
        verbose: Any = False,
        random_state: Any = None,
        n_threads: int | None = None,
        callback: Any = None,
    ) -> None:
        self.n_codewords = n_codewords
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_training_rows = n_training_rows
        self.verbose = verbose
        self.random_state = random_state
        self.n_threads = n_threads
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # codes are small whole numbers
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the codebook from the rows of X.

        Parameters
        ----------
        X : array, data frame, CSR matrix of shape (n_rows, n_features), path or source
        y : ignored
        sample_weight : array of shape (n_rows,) or None
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_params()
        who = type(self).__name__
        rng = check_random_state(self.random_state)
        given = self._source(X, sample_weight, reset=True)
        blocks = self._rows_to_learn_from(given, rng)
        columns, space = checked_space(who, blocks, None, self._names())
        n_codewords = self._check_enough(columns.n_rows, blocks is not given)
        run = kmeans(
            blocks,
            space,
            n_codewords,
            rng,
            start=seeded(self.init),
            max_iter=self.max_iter,
            tol=self.tol * float(columns.variance.mean()),
            runs=recorders(self.n_init, self.max_iter, self._callback()),
        )
        recorder = run.recorder
        if blocks is not given:
            recorder.event("sampled", f"learnt from {blocks.n_rows} rows drawn at random")
        self.codebook_ = run.centers.astype(blocks.dtype)
        self.n_iter_ = run.n_iter
        self.history_, self.events_ = recorder.history, recorder.events
        self._n_features_out = 1
        self.distortion_ = self._distortion(blocks)
        if not run.settled and run.n_iter == self.max_iter:
            recorder.event(
                "not settled",
                f"the codewords were still moving after max_iter={self.max_iter} iterations",
                iteration=run.n_iter,
            )
        n_used = int(np.count_nonzero(~run.step.tally.empty))
        if n_used < n_codewords:
            sentence = f"only {n_used} of {n_codewords} codewords are the nearest of any row"
            recorder.event("fewer codewords", sentence)
            warnings.warn(
                f"{who}: {sentence}; X has many equal rows, so lower n_codewords.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _rows_to_learn_from(self, blocks: Source, rng: np.random.RandomState) -> Source:
        """The rows, or as many of them as `n_training_rows` says."""
        if self.n_training_rows is None or blocks.n_rows <= self.n_training_rows:
            return blocks
        return blocks.sample(int(self.n_training_rows), 1, rng)

    def _check_enough(self, n_rows: int, sampled: bool) -> int:
        if n_rows < self.n_codewords:
            # The first words are scikit-learn's, which tools look for.
            raise ValueError(
                f"{type(self).__name__}: n_samples={n_rows}"
                f"{', as n_training_rows says,' if sampled else ''} should be >= "
                f"n_codewords={self.n_codewords}; lower n_codewords or pass more rows."
            )
        return int(self.n_codewords)

    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _known(self) -> Fitted:
        codebook = np.ascontiguousarray(self.codebook_, dtype=np.float64)
        return Fitted(type(self).__name__, codebook, self._names())

    @property
    def bits_per_vector(self) -> int:
        """Bits of a code of fixed length, ceil(log2 k); the codebook is not counted."""
        check_is_fitted(self)
        return bits_for(len(self.codebook_))

    def bits(
        self, n_vectors: int, *, codebook: bool = True, bits_per_value: int | None = None
    ) -> int:
        """Bits of so many codes and, unless told otherwise, of the codebook once.

        ``n_vectors * ceil(log2 k) + k * d * bits_per_value``, the second term with `codebook` only.

        Parameters
        ----------
        n_vectors : int
        codebook : bool, default=True
            Whether the codebook is sent along.
        bits_per_value : int or None, default=None
            Bits of one number of the codebook; None: those of its type, 32 or 64.
        """
        check_is_fitted(self)
        for name, value in (("n_vectors", n_vectors), ("bits_per_value", bits_per_value or 0)):
            if not whole(0).allows(value):
                raise ParameterError(
                    f"{type(self).__name__}: {name}={value!r} was given; use a whole number of at "
                    "least 0."
                )
        each = 8 * self.codebook_.itemsize if bits_per_value is None else int(bits_per_value)
        return int(n_vectors) * self.bits_per_vector + codebook * self.codebook_.size * each

    def encode(self, X: Any, *, out: Any = None) -> Any:
        """The number of the codeword nearest to each row; ties go to the lower number.

        Parameters
        ----------
        X : array, data frame or CSR matrix of shape (n_rows, n_features), path or source
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        codes : array of shape (n_rows,), or the path of `out`
            uint8 for up to 256 codewords, else uint16 or uint32.
        """
        check_is_fitted(self)
        blocks = self._source(X, reset=False)
        dtype = smallest_unsigned(len(self.codebook_))
        return given_or_written(blocks, out, "code", encode_any, self._known(), dtype=dtype)

    def decode(self, codes: Any) -> npt.NDArray[Any]:
        """The codewords of these numbers.

        Parameters
        ----------
        codes : array of whole numbers, of any shape

        Returns
        -------
        array of shape (\\*codes.shape, n_features), of the type of the codebook
        """
        check_is_fitted(self)
        numbers = check_codes(type(self).__name__, codes, len(self.codebook_))
        return self.codebook_[numbers]

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """`encode` as a column, of shape (n_rows, 1), for pipelines."""
        return self.encode(X).reshape(-1, 1)

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """`decode` a column of codes; their rows, of shape (n_rows, n_features)."""
        check_is_fitted(self)
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != 1:
            raise ValueError(
                f"{type(self).__name__}: codes of shape {codes.shape} were given; pass one column, "
                "as transform makes it, or use decode."
            )
        return self.decode(codes[:, 0])

    def distortion(self, X: Any, sample_weight: Any = None) -> float:
        """Mean squared error of decoding: sum_i w_i |x_i - c_q(i)|^2 / sum_i w_i.

        Of a row, summed over its columns; a column's is 1/d of that.
        """
        check_is_fitted(self)
        return self._distortion(self._source(X, sample_weight, reset=False))

    def _distortion(self, blocks: Source) -> float:
        sse = blocks.total(sse_of_any, self._known())
        weights = blocks.weights
        return float(sse / (blocks.n_rows if weights is None else weights.sum()))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the distortion of these rows."""
        return -self.distortion(X, sample_weight)

    def _check_together_loaded(self, sizes: Sizes) -> None:
        if sizes["codewords"] < 1:
            raise ValueError("codebook_ has no codeword")
        self._n_features_out = 1
