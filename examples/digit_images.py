"""What is in a collection of pictures, and which are like this one? Handwritten digits, 8 x 8.

    python examples/digit_images.py

The 1797 pictures come with scikit-learn. The methods do not see which digit was meant; it is only
used to score them. A vocabulary tree then finds pictures like those it has not seen.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from coterie import (
    HDBSCAN,
    AgglomerativeClustering,
    BernoulliMixture,
    GaussianMixture,
    HierarchicalKMeans,
    KMeans,
)
from coterie.evaluate import adjusted_rand_score, purity_score

#: Pictures that the tree keeps; the others are looked for in it.
N_KEPT = 1500


def compare(pictures: np.ndarray) -> dict[str, np.ndarray]:
    """Labels of each method; the pixels are columns from 0 to 16."""
    settings = {"n_init": 10, "random_state": 0}
    ink = {"threshold": 7.5, "alpha": 1, "max_iter": 300, **settings}
    components = PCA(20, random_state=0).fit_transform(pictures)
    return {
        "k-means, 10": KMeans(10, **settings).fit_predict(pictures),
        "k-means, 20": KMeans(20, **settings).fit_predict(pictures),
        "Bernoulli mixture, 10": BernoulliMixture(10, **ink).fit_predict(pictures),
        "Bernoulli mixture, 20": BernoulliMixture(20, **ink).fit_predict(pictures),
        "Gaussian mixture, 10": GaussianMixture(10, **settings).fit_predict(components),
        "Ward, 10": AgglomerativeClustering(10).fit_predict(pictures),
        "HDBSCAN": HDBSCAN(min_cluster_size=20).fit_predict(pictures),
    }


def vocabulary(pictures: np.ndarray) -> HierarchicalKMeans:
    """A tree of 8 x 8 leaves that keeps the pictures."""
    return HierarchicalKMeans(branching=8, depth=2, store_rows=True, random_state=0).fit(pictures)


def alike(tree: HierarchicalKMeans, queries: np.ndarray, beam: int) -> np.ndarray:
    """The five kept pictures most like each query, among the leaves that the beam reaches."""
    _, found = tree.search(queries, k=5, beam=beam)
    return found


def main() -> None:
    """Score the clusterings, then the search."""
    digits = load_digits()
    pictures, meant = digits.data, digits.target
    print(f"{len(pictures)} pictures of {pictures.shape[1]} pixels")
    for name, labels in compare(pictures).items():
        score, purity = adjusted_rand_score(meant, labels), purity_score(meant, labels)
        noise = np.mean(labels == -1)
        print(f"  {name:22} ARI {score:.2f}, purity {purity:.2f}, noise {noise:.0%}")

    tree = vocabulary(pictures[:N_KEPT])
    queries, wanted = pictures[N_KEPT:], meant[N_KEPT:, np.newaxis]
    exact = alike(tree, queries, tree.n_leaves_)
    print(f"{len(queries)} other pictures, looked for in a tree of {tree.n_leaves_} leaves:")
    for beam in (1, 2, 4, 8):
        found = alike(tree, queries, beam)
        hits = [np.isin(row, truth) for row, truth in zip(found, exact, strict=True)]
        recall, same = np.mean(hits), (meant[found] == wanted).mean()
        print(f"  beam {beam}: {recall:.0%} of the nearest, {same:.0%} of the same digit")
    print(f"  all leaves: {(meant[exact] == wanted).mean():.0%} of the same digit")


if __name__ == "__main__":
    main()
