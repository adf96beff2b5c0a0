"""What are these documents about? Cosine k-means on TF-IDF, and a Poisson mixture of the counts.

    python examples/topics_of_documents.py

The documents are made by code from lists of words, so their topics are known: nothing has to be
downloaded, and every answer can be scored. Most words of a document are about nothing, one in
ten may be about another topic, and some documents are ten times as long as others.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from coterie import KMeans, PoissonMixture
from coterie.evaluate import adjusted_rand_score, silhouette_score

TOPICS = {
    "cooking": "oven butter flour simmer garlic onion recipe pan roast sauce pepper bake stir "
    "dough salt spoon boil slice soup herb",
    "sailing": "harbour mast sail anchor wind deck rudder tide knot crew hull compass wave coast "
    "storm buoy cabin rope voyage port",
    "chess": "pawn rook bishop queen king gambit checkmate opening endgame castle board clock "
    "knight draw tournament rating sacrifice fork pin tempo",
    "gardening": "soil seed compost prune bloom rose hedge lawn shade bulb mulch weed spade pot "
    "greenhouse sprout root watering frost herb",
    "astronomy": "telescope orbit planet star comet galaxy eclipse lens nebula crater moon "
    "spectrum meteor satellite gravity lunar solar sky observatory wave",
}
COMMON = (
    "time people way day thing year good long great little old big small large next early young "
    "important few public first last right different able work week point home water room area "
    "hand part place case fact group problem number night side eye word start turn ask show "
    "try call keep need feel leave put mean let begin seem help talk open move live"
)


def documents(n_documents: int = 500, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Texts and the topic of each; two words belong to two topics, as words do."""
    rng = np.random.default_rng(seed)
    lists = [words.split() for words in TOPICS.values()]
    everyday = COMMON.split()
    topic = rng.integers(0, len(lists), n_documents)
    lengths = np.exp(rng.normal(np.log(60), 0.7, n_documents)).astype(int) + 10
    texts = []
    for own, length in zip(topic, lengths, strict=True):
        source = rng.choice(3, length, p=(0.75, 0.15, 0.10))  # about nothing, the topic, any topic
        stray = rng.integers(0, len(lists), length)
        words = [
            rng.choice(everyday if kind == 0 else lists[own if kind == 1 else other])
            for kind, other in zip(source, stray, strict=True)
        ]
        texts.append(" ".join(words))
    return texts, topic


def thinned(counts: sp.csr_array, n_words: int, seed: int = 0) -> sp.csr_array:
    """As many words of every document, drawn without replacement: lengths tell nothing then."""
    rng = np.random.default_rng(seed)
    dense = counts.toarray()
    kept = [rng.multivariate_hypergeometric(row, min(n_words, row.sum())) for row in dense]
    return sp.csr_array(np.array(kept))


def compare(counts: sp.csr_array, topic: np.ndarray) -> dict[str, float]:
    """Adjusted Rand index of each method with the topics."""
    tfidf = TfidfTransformer().fit_transform(counts)
    even = thinned(counts, 30)
    settings = {"n_init": 10, "random_state": 0}
    labels = {
        "k-means, counts": KMeans(5, **settings).fit_predict(counts),
        "k-means, TF-IDF": KMeans(5, **settings).fit_predict(tfidf),
        "cosine k-means, counts": KMeans(5, metric="cosine", **settings).fit_predict(counts),
        "cosine k-means, TF-IDF": KMeans(5, metric="cosine", **settings).fit_predict(tfidf),
        "Poisson mixture, counts": poisson(5).fit_predict(counts),
        "Poisson mixture, 30 words": poisson(5).fit_predict(even),
    }
    return {name: adjusted_rand_score(topic, found) for name, found in labels.items()}


def poisson(n_components: int) -> PoissonMixture:
    """Rates of every word in every component."""
    return PoissonMixture(n_components, n_init=10, random_state=0, max_iter=300)


def telling_words(weights: np.ndarray, words: np.ndarray, n_words: int = 6) -> list[str]:
    """Of each centre the words that stand out most from the mean of all centres."""
    ahead = weights - weights.mean(axis=0)
    return [" ".join(words[np.argsort(-row, kind="stable")[:n_words]]) for row in ahead]


def main() -> None:
    """Compare the methods, and tell the topics."""
    texts, topic = documents()
    vectorizer = CountVectorizer()
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    words = vectorizer.get_feature_names_out()
    lengths = counts.sum(axis=1)
    print(f"{counts.shape[0]} documents of {lengths.min()} to {lengths.max()} words, "
          f"{counts.shape[1]} different ones")  # fmt: skip
    for name, score in compare(counts, topic).items():
        print(f"  {name:26} ARI {score:.2f}")

    tfidf = TfidfTransformer().fit_transform(counts)
    model = KMeans(5, metric="cosine", n_init=10, random_state=0).fit(tfidf)
    print("Clusters of cosine k-means:")
    sizes = np.bincount(model.labels_)
    for size, line in zip(sizes, telling_words(model.cluster_centers_, words), strict=True):
        print(f"  {size:4}  {line}")

    print("How many? Silhouette of cosine k-means, BIC of Poisson mixtures of 30 words:")
    even = thinned(counts, 30)
    for k in range(2, 9):
        labels = KMeans(k, metric="cosine", n_init=10, random_state=0).fit_predict(tfidf)
        silhouette = silhouette_score(tfidf, labels, metric="cosine")
        print(f"  {k}  {silhouette:.3f}  {poisson(k).fit(even).bic(even):.0f}")


if __name__ == "__main__":
    main()
