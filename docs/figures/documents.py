"""Do methods find the topics of documents? Their scores, and the words of the clusters.

python docs/figures/documents.py writes documents.png beside itself.
"""

import runpy
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from coterie import KMeans
from coterie.plots._style import INK, color_of, plain

EXAMPLE = Path(__file__).parents[2] / "examples" / "topics_of_documents.py"
#: Words shown of each cluster.
N_WORDS = 6


def draw_scores(ax: Axes, scores: dict[str, float]) -> None:
    """A bar a method, the best on top."""
    names = sorted(scores, key=lambda name: scores[name])
    bars = ax.barh(names, [scores[name] for name in names], color=color_of(0), height=0.6)
    ax.bar_label(bars, fmt="%.2f", padding=4, color=INK)
    ax.set(xlim=(0, 1.12), xlabel="adjusted Rand index with the topics", title="Who finds them")
    plain(ax)


def draw(folder: Path, n_documents: int = 500) -> None:
    """Left the scores; right every document by its telling words, sorted by cluster."""
    example = runpy.run_path(str(EXAMPLE))
    texts, topic = example["documents"](n_documents)
    vectorizer = CountVectorizer()
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    words = vectorizer.get_feature_names_out()
    tfidf = TfidfTransformer().fit_transform(counts)
    model = KMeans(5, metric="cosine", n_init=10, random_state=0).fit(tfidf)
    shown = [
        word
        for line in example["telling_words"](model.cluster_centers_, words, N_WORDS)
        for word in line.split()
    ]
    order = np.argsort(model.labels_, kind="stable")
    weights = tfidf.toarray()[order][:, [vectorizer.vocabulary_[word] for word in shown]]

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(12, 5.2), dpi=90, layout="constrained", width_ratios=(1, 1.4)
    )
    draw_scores(left, example["compare"](counts, topic))
    darkest = np.quantile(weights, 0.99)
    right.imshow(weights.T, aspect="auto", cmap="Greys", vmax=darkest, interpolation="none")
    ends = np.cumsum(np.bincount(model.labels_))
    for cluster, end in enumerate(ends):
        right.axvline(end - 0.5, color=color_of(1), lw=1)
        right.axhline((cluster + 1) * N_WORDS - 0.5, color=color_of(1), lw=1)
    right.set(xlabel="documents, by cluster", title="Words that tell the clusters apart")
    right.set_yticks(range(len(shown)), shown)
    plain(right)
    right.tick_params(axis="y", labelsize=8, length=0)
    figure.savefig(folder / "documents.png")
    pyplot.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent)
