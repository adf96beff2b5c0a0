"""What fitted codebooks of parts do: code rows, decode codes, and measure what is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._base import Estimator
from coterie.data import Source
from coterie.data.written import given_or_written
from coterie.quantize._checked_codes import checked_codes
from coterie.quantize._dense_rows import refuse_not_dense
from coterie.quantize._encode import PartCodes, encode_block, errors_of_block
from coterie.quantize._nibbles import pack_nibbles, unpack_nibbles
from coterie.quantize._part_means import column_means

Rows = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


class PartCoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """An estimator with a codebook for each part of the columns."""

    codewords_: Rows
    part_starts_: npt.NDArray[np.int64]
    rotation_: Rows | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # codes are bytes
        return tags

    @property
    def _who(self) -> str:
        return type(self).__name__

    @property
    def _n_features_out(self) -> int:
        return int(self.part_starts_.size - 1)

    @property
    def codebooks_(self) -> list[Rows]:
        """The codewords of each part."""
        return np.split(self.codewords_, self.part_starts_[1:-1], axis=1)

    @property
    def n_codewords_(self) -> int:
        """How many vectors codes can stand for."""
        return len(self.codewords_) ** self._n_features_out

    @property
    def bits_per_vector_(self) -> int:
        """Of the codes of a row."""
        return (len(self.codewords_).bit_length() - 1) * self._n_features_out

    def _parts(self) -> PartCodes:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        shift = column_means(self.codewords_)
        return PartCodes(
            self._who, self.codewords_, self.part_starts_, shift, self.rotation_, names
        )

    def encode(self, X: Any, *, out: Any = None) -> Any:
        """The nearest codeword of every row in every part; ties go to the lower.

        Nearest is what the direct form of the squared distance says in float64, of rows and
        codewords in float32: the same on every processor and any number of threads.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features), path, Dask collection or source
        out : path or None
            A `.parquet`, `.npy`, `.csv` or `.arrow` file to write to instead, block by block.

        Returns
        -------
        codes : uint8 array of shape (n_rows, n_subvectors), or the path of `out`
        """
        check_is_fitted(self)
        source = self._part_rows(X, reset=False)
        names = [f"code_{m}" for m in range(self._n_features_out)]
        return given_or_written(source, out, names, encode_block, self._parts(), dtype=np.uint8)

    def transform(self, X: Any, *, out: Any = None) -> Any:
        """The codes of rows, see `encode`."""
        return self.encode(X, out=out)

    def decode(self, codes: Any) -> Rows:
        """The vectors that codes stand for, turned back where rows were rotated.

        Parameters
        ----------
        codes : array of whole numbers of shape (n_rows, n_subvectors)

        Returns
        -------
        float32 array of shape (n_rows, n_features)
        """
        return self._parts().decode(self._codes(codes), self._n_threads())

    def inverse_transform(self, X: Any) -> Rows:
        """The vectors that codes stand for, see `decode`."""
        return self.decode(X)

    def pack(self, codes: Any) -> Bytes:
        """Codes in `bits_per_vector_` bits: with 4 bits two a byte, the first in the low bits.

        The layout of André, Kermarrec & Le Scouarnec (2015); with 8 bits codes are as they are.

        Returns
        -------
        uint8 array of shape (n_rows, ceil(bits_per_vector_ / 8))
        """
        check_is_fitted(self)
        checked = self._codes(codes)
        return pack_nibbles(checked) if len(self.codewords_) == 16 else checked

    def unpack(self, packed: Any) -> Bytes:
        """Codes of shape (n_rows, n_subvectors) from what `pack` made of them."""
        check_is_fitted(self)
        n_parts, narrow = self._n_features_out, len(self.codewords_) == 16
        width = (n_parts + 1) // 2 if narrow else n_parts
        given = checked_codes(self._who, packed, width, 256, "packed codes")
        return unpack_nibbles(given, n_parts) if narrow else given

    def distortion(self, X: Any) -> float:
        """Mean over rows of |x - decode(encode(x))|^2: the sum over parts of their mean errors."""
        return float(self.part_distortions(X).sum())

    def part_distortions(self, X: Any) -> npt.NDArray[np.float64]:
        """The mean squared error of each part, shape (n_subvectors,)."""
        check_is_fitted(self)
        source = self._part_rows(X, reset=False)
        *errors, n_rows = source.total(errors_of_block, self._parts())
        return np.asarray(errors) / n_rows

    def distance_tables(self, queries: Any) -> Rows:
        """Squared distances of queries to all codewords, part by part.

        Parameters
        ----------
        queries : array or data frame of shape (n_queries, n_features)

        Returns
        -------
        float32 array of shape (n_queries, n_subvectors, 2^bits)
        """
        parts = self._parts()
        return parts.tables(self._turned(queries, parts), self._n_threads())

    def asymmetric_distances(self, queries: Any, codes: Any) -> Rows:
        """Squared distances of queries to what codes stand for: sums of their `distance_tables`.

        The squared distance of a query to ``decode(codes)``, without decoding. Memory: the result.

        Parameters
        ----------
        queries : array or data frame of shape (n_queries, n_features)
        codes : array of whole numbers of shape (n_rows, n_subvectors)

        Returns
        -------
        float32 array of shape (n_queries, n_rows)
        """
        parts = self._parts()
        turned = self._turned(queries, parts)
        return parts.distances(turned, self._codes(codes), self._n_threads())

    def symmetric_distances(self, codes: Any, others: Any) -> Rows:
        """Squared distances between what codes stand for.

        Parameters
        ----------
        codes, others : arrays of whole numbers of shapes (n, n_subvectors), (m, n_subvectors)

        Returns
        -------
        float32 array of shape (n, m)
        """
        parts, n_threads = self._parts(), self._n_threads()
        words = parts.words_of(self._codes(codes), n_threads)
        return parts.distances(words, self._codes(others), n_threads)

    def _part_rows(self, X: Any, *, reset: bool) -> Source:
        refuse_not_dense(self._who, X)
        return self._source(small_integers_as_floats(X), reset=reset)

    def _codes(self, codes: Any) -> Bytes:
        return checked_codes(self._who, codes, self._n_features_out, len(self.codewords_), "codes")

    def _turned(self, queries: Any, parts: PartCodes) -> Rows:
        rows = self._dense_rows(small_integers_as_floats(queries), reset=False)
        return parts.turn(rows, self._n_threads())


def small_integers_as_floats(X: Any) -> Any:
    """Bytes and other numbers that float32 holds go the short way."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.dtype.itemsize <= 2:
        return X.astype(np.float32)
    return X
