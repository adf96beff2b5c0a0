"""Bags of words: how often the rows of a document reach each leaf, and how alike two are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]

#: The norms that bags are compared in.
NORMS = ("l1", "l2")


def count_words(
    words: npt.NDArray[np.int32], documents: npt.NDArray[np.int64], n_documents: int, n_words: int
) -> sp.csr_matrix:
    """How often each word occurs in each document: int64, shape (n_documents, n_words)."""
    counts = sp.coo_matrix(
        (np.ones(words.size, dtype=np.int64), (documents, words)), shape=(n_documents, n_words)
    )
    return counts.tocsr()


def inverse_frequencies(bags: sp.csr_matrix) -> Floats:
    """log(N / N_i) of N documents, N_i of which have word i; zero for a word that none has."""
    n_with = np.bincount(bags.indices[bags.data > 0], minlength=bags.shape[1])
    return np.log(bags.shape[0] / np.maximum(n_with, 1)) * (n_with > 0)


def weigh_bags(bags: sp.csr_matrix, weights: Floats, norm: str) -> sp.csr_matrix:
    """Counts times the weights of their words, each bag of length one in a norm.

    A bag without weight stays zero.
    """
    weighed = bags.astype(np.float64).multiply(weights[np.newaxis]).tocsr()
    weighed.eliminate_zeros()
    values = weighed.data if norm == "l1" else np.square(weighed.data)
    rows = np.repeat(np.arange(weighed.shape[0]), np.diff(weighed.indptr))
    lengths = np.bincount(rows, weights=values, minlength=weighed.shape[0])
    lengths = lengths if norm == "l1" else np.sqrt(lengths)
    weighed.data /= lengths[rows]
    return weighed


def bag_distances(queries: sp.csr_matrix, documents: sp.csr_matrix, norm: str) -> Floats:
    """Distance of every weighed query to every weighed document: (n_queries, n_documents).

    Nister and Stewenius (2006): of vectors of length one only the words they share matter, since
    |q - d|_1 = 2 - 2 sum_i min(q_i, d_i) and |q - d|_2^2 = 2 - 2 sum_i q_i d_i. Zero for a bag and
    itself, 2 (l1) or sqrt(2) (l2) where no word is shared. Time O(words of the queries times the
    documents that have each).
    """
    if norm == "l2":
        shared = np.asarray((queries @ documents.T).todense())
        return np.sqrt(np.maximum(2.0 - 2.0 * shared, 0.0))
    by_word = documents.tocsc()
    shared = np.zeros((queries.shape[0], documents.shape[0]))
    for query in range(queries.shape[0]):
        entry = slice(queries.indptr[query], queries.indptr[query + 1])
        words, values = queries.indices[entry], queries.data[entry]
        having = by_word[:, words]
        least = np.minimum(having.data, np.repeat(values, np.diff(having.indptr)))
        shared[query] = np.bincount(having.indices, weights=least, minlength=documents.shape[0])
    return np.maximum(2.0 - 2.0 * shared, 0.0)


def documents_of(groups: Any, n_rows: int, who: str) -> tuple[npt.NDArray[Any], Any]:
    """The distinct documents, sorted, and the place of each row's among them."""
    names = np.asarray(groups)
    if names.ndim != 1 or names.size != n_rows:
        raise ValueError(
            f"{who}: groups has shape {names.shape} and X has {n_rows} rows; pass the document of "
            "every row."
        )
    return np.unique(names, return_inverse=True)
