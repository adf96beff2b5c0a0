"""Mixtures of categorical distributions (latent classes): the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie._checks import ARRAY, NONE, Rule, one_of
from coterie._stored import Array, Field, Many, Sizes, Text
from coterie.data import Source
from coterie.data.columns import column_words
from coterie.mixture._categorical import CategoricalFamily
from coterie.mixture._categories import check_chances, decode, learn_categories
from coterie.mixture._family import Mixture
from coterie.mixture._given import given_within
from coterie.mixture._layout import Encoding, categories_alone
from coterie.mixture._learn_layout import learn_all_categories
from coterie.mixture._tables import TableMixture
from coterie.mixture._task import Model, Task
from coterie.mixture._values import Reading


class CategoricalMixture(TableMixture):
    """Mixture of independent categorical columns (latent class analysis), fitted by EM.

    p(x) = sum_j w_j prod_c theta_jc[x_c]. The categories of a column may be whole numbers, words
    or truth values; a missing cell (None, NaN) is left out of the product.

    Time O(n k d) per iteration, one pass over the rows, whatever the number of categories. Memory
    beyond X: 12 bytes per cell for the encoded rows, O(k) a category, nothing of n x k.

    Parameters
    ----------
    n_components : int, default=1
        k, the number of components.
    alpha : float, default=0.01
        Strength of the prior: theta is proportional to the mass of a category plus alpha, the mode
        under a symmetric Dirichlet(1 + alpha) prior. With 0, maximum likelihood, a category that
        no row of a component has is impossible there: 2^-53, so that logarithms stay finite.
    categories : "auto" or list of arrays, default="auto"
        The categories of every column; "auto": those that X has. Others are an error.
    tol, max_iter, n_init, init_params, random_state, warm_start, verbose, n_threads, callback
        As in `GaussianMixture`.
    weights_init : array or None
        Shares of the components to start from, with a sum of one.
    probabilities_init : list of arrays of shape (n_components, n_categories), or None
        Given starting values; what is not given comes from `init_params`.
    keep : {None, "parameters"}, default=None
        "parameters" stores the probabilities of every iteration in `history_`, all columns side
        by side.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Shares of the components, with a sum of one.
    categories_ : list of arrays
        The categories of every column, sorted.
    probabilities_ : list of arrays of shape (n_components, n_categories)
        Probabilities of the categories, for every column.
    converged_, n_iter_, lower_bounds_, history_, events_
        As in `GaussianMixture`.
    lower_bound_ : float
        Mean log-likelihood per row plus the log-prior's share, at the last E-step.

    References
    ----------
    Goodman (1974), Exploratory latent structure analysis using both identifiable and
    unidentifiable models, Biometrika 61.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import CategoricalMixture
    >>> X = np.array([["red", "round"], ["red", "round"], ["green", "long"], ["green", "long"]])
    >>> model = CategoricalMixture(2, random_state=0).fit(X)
    >>> model.predict([["red", "round"], ["green", "long"]])
    array([1, 0])
    >>> model.probabilities_[0].round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    _stores: ClassVar[Mapping[str, Field]] = {
        **TableMixture._stores,
        "categories_": Many(Text((None,)), "columns"),
        "probabilities_": Many(Array("f8", ("components", None), 0, 1), "columns"),
    }
    _rules: ClassVar[Mapping[str, Rule]] = {
        **TableMixture._rules,
        "categories": one_of("auto") | ARRAY,
        "probabilities_init": NONE | ARRAY,
    }

    categories_: list[npt.NDArray[Any]]
    probabilities_: list[npt.NDArray[np.float64]]

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 0.01,
        categories: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        probabilities_init: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: Any = False,
        n_threads: int | None = None,
        callback: Any = None,
        keep: str | None = None,
    ) -> None:
        super().__init__(
            n_components, alpha, tol, max_iter, n_init, init_params, weights_init, random_state,
            warm_start, verbose, n_threads, callback, keep,
        )  # fmt: skip
        self.categories = categories
        self.probabilities_init = probabilities_init

    def _to_read(self, X: Any, sample_weight: Any = None, *, reset: bool) -> tuple[Source, Reading]:
        """Tables, read as one-hot rows; learns the categories when `reset`."""
        who, tables = type(self).__name__, self._tables(X, sample_weight, reset=reset)
        names = self._column_names
        if reset:
            self.categories_ = self._learned(tables)
        remedy = "list it in categories= when fitting"
        return tables, Encoding(who, names, categories_alone(self.categories_), remedy)

    def _learned(self, tables: Source) -> list[npt.NDArray[Any]]:
        """Categories as given, or those of the columns."""
        who, names = type(self).__name__, self._column_names
        if isinstance(self.categories, str):
            return learn_all_categories(who, tables, names)
        given = [np.asarray(own) for own in self.categories]
        if len(given) != tables.n_cols or any(own.ndim != 1 for own in given):
            raise ValueError(
                f"{who}: categories has {len(given)} entries, but X has {tables.n_cols} "
                "columns; give a list of categories for every column."
            )
        return [learn_categories(who, column_words(names, c), own) for c, own in enumerate(given)]

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(own) for own in self.categories_)

    def _task(self, blocks: Source, missing: bool) -> Task:
        family = CategoricalFamily(blocks.n_cols, alpha=self.alpha, sizes=self._sizes)
        return self._plain_task(blocks, family, self._given(family))

    def _given(self, family: CategoricalFamily) -> Any:
        """The probabilities to start with, or None."""
        if self.probabilities_init is None:
            return None
        who, k = type(self).__name__, int(self.n_components)
        if len(self.probabilities_init) != len(self._sizes):
            raise ValueError(
                f"{who}: probabilities_init has {len(self.probabilities_init)} entries, but X has "
                f"{len(self._sizes)} columns; give an array for every column."
            )
        given = [
            given_within(who, f"probabilities_init[{c}]", own, (k, size), 0.0, 1.0)
            for c, (own, size) in enumerate(zip(self.probabilities_init, self._sizes, strict=True))
        ]
        for c, own in enumerate(given):
            if not np.allclose(own.sum(axis=1), 1):
                raise ValueError(
                    f"{who}: a row of probabilities_init[{c}] sums to "
                    f"{own.sum(axis=1)[np.argmax(np.abs(own.sum(axis=1) - 1))]:.5f}; give "
                    "probabilities that sum to one for every component."
                )
        return family.within(np.hstack(given))

    def _publish_components(self, mixture: Mixture, model: Model, dtype: np.dtype[Any]) -> None:
        self.probabilities_ = np.split(mixture.components, np.cumsum(self._sizes)[:-1], axis=1)

    def _fitted(self, missing: bool = False) -> tuple[Model, Mixture]:
        family = CategoricalFamily(sum(self._sizes), sizes=self._sizes)
        return self._plainly(family, np.hstack(self.probabilities_))

    def _check_together_loaded(self, sizes: Sizes) -> None:
        check_chances(self.categories_, self.probabilities_)
        super()._check_together_loaded(sizes)

    def sample(self, n_samples: int = 1) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Random rows of categories from the fitted mixture, and the component of each."""
        codes, labels = super().sample(n_samples)
        return decode(codes, self.categories_), labels
