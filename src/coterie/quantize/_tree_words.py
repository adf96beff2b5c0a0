"""A vocabulary tree whose leaves are the words of documents."""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from coterie._checks import check_memory, check_params, one_of
from coterie.quantize._bags import (
    NORMS,
    bag_distances,
    count_words,
    documents_of,
    inverse_frequencies,
    weigh_bags,
)
from coterie.quantize._tree import Floats
from coterie.quantize._tree_estimator import TreeClusterer


class TreeWords(TreeClusterer):
    """The part of the estimator that counts and weighs words."""

    idf_: Floats

    def bag_of_words(self, X: Any, groups: Any, *, beam: int | None = None) -> sp.csr_matrix:
        """How often the rows of each document reach each leaf.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features), path or source
            Rows of all documents, for example descriptors of images.
        groups : array of shape (n_rows,)
            The document of each row: numbers or text.
        beam : int or None
            As in `predict`.

        Returns
        -------
        bags : CSR matrix of int64, shape (n_documents, n_leaves)
            Documents in the order of their sorted names.
        """
        words = self.predict(X, beam=beam)
        documents, places = documents_of(groups, words.size, type(self).__name__)
        return count_words(words, places, documents.size, self.n_leaves_)

    def learn_idf(self, bags: Any) -> Self:
        """Weigh the leaves by how few documents have them: `idf_` = log(N / N_i).

        Parameters
        ----------
        bags : CSR matrix of shape (n_documents, n_leaves)
            Of `bag_of_words`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.idf_ = inverse_frequencies(self._checked_bags(bags))
        return self

    def tf_idf(self, bags: Any, *, norm: str = "l1") -> sp.csr_matrix:
        """Bags times `idf_`, each of length one in the l1 or l2 norm.

        Parameters
        ----------
        bags : CSR matrix of shape (n_documents, n_leaves)
        norm : {"l1", "l2"}, default="l1"
            That of the paper's best results is l1.

        Returns
        -------
        weighed : CSR matrix of float64 of the same shape
        """
        check_is_fitted(self)
        check_params(type(self).__name__, {"norm": norm}, {"norm": one_of(*NORMS)})
        if not hasattr(self, "idf_"):
            raise ValueError(
                f"{type(self).__name__}: tf_idf was asked for and idf_ is not known; call "
                "learn_idf(bags) with the bags of the documents first."
            )
        return weigh_bags(self._checked_bags(bags), self.idf_, norm)

    def document_distances(self, queries: Any, documents: Any, *, norm: str = "l1") -> Floats:
        """Distance of every document asked about to every document known, by tf-idf.

        The score of Nister & Stewenius: |q / |q| - d / |d|| of bags weighed by `idf_`; 0 for the
        same bag, 2 (l1) or sqrt(2) (l2) where no weighed word is shared. Memory: the result.

        Parameters
        ----------
        queries, documents : CSR matrices of shape (n_queries, n_leaves) and (n_documents, n_leaves)
            Of `bag_of_words`.
        norm : {"l1", "l2"}, default="l1"

        Returns
        -------
        distances : float64 array of shape (n_queries, n_documents)
        """
        asked, known = self.tf_idf(queries, norm=norm), self.tf_idf(documents, norm=norm)
        shape = asked.shape[0], known.shape[0]
        check_memory(
            type(self).__name__, 8 * shape[0] * shape[1],
            f"distances of {shape[0]} to {shape[1]} documents", "ask for fewer at a time",
        )  # fmt: skip
        return bag_distances(asked, known, norm)

    def _checked_bags(self, bags: Any) -> sp.csr_matrix:
        counts = sp.csr_matrix(bags)
        if counts.shape[1] != self.n_leaves_ or counts.shape[0] < 1:
            raise ValueError(
                f"{type(self).__name__}: bags has shape {counts.shape} and the tree has "
                f"{self.n_leaves_} leaves; pass what bag_of_words returns."
            )
        return counts
