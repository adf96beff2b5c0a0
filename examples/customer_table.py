"""Which kinds of customers are in a table of numbers, words and missing cells?

    python examples/customer_table.py

The table is made by code, so the kinds are known and every answer can be scored. Each method is
told the number of kinds, except the study, which gets the raw table and nothing else.
"""

import numpy as np
import pandas as pd

import coterie
from coterie import KMeans, KMedoids, MixedMixture
from coterie.evaluate import adjusted_rand_score

#: Share of the customers; age; basket; orders a month; odds of channels, payments; newsletter.
KINDS = {
    "students": (0.30, (24, 3.5), 18, 5, (0.15, 0.25, 0.60), (0.10, 0.30, 0.60, 0.00), 0.20),
    "families": (0.35, (41, 7.0), 75, 4, (0.60, 0.25, 0.15), (0.15, 0.65, 0.20, 0.00), 0.65),
    "retired": (0.20, (68, 7.0), 35, 7, (0.80, 0.15, 0.05), (0.60, 0.35, 0.05, 0.00), 0.40),
    "firms": (0.15, (45, 11.0), 230, 2, (0.05, 0.85, 0.10), (0.00, 0.20, 0.05, 0.75), 0.10),
}
CHANNELS = np.array(["shop", "web", "app"], dtype=object)
PAYMENTS = np.array(["cash", "card", "wallet", "invoice"], dtype=object)
REGIONS = np.array(["north", "east", "south", "west"], dtype=object)


def customers(n_rows: int = 800, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with one customer per row, and the kind of each.

    The region has nothing to do with the kind; about one cell in twelve of age, channel and
    newsletter is missing.
    """
    rng = np.random.default_rng(seed)
    shares, ages, baskets, orders, channels, payments, letters = zip(*KINDS.values(), strict=True)
    kind = rng.choice(len(KINDS), n_rows, p=shares)

    def drawn(words: np.ndarray, odds: tuple[tuple[float, ...], ...]) -> np.ndarray:
        return words[[rng.choice(len(words), p=odds[one]) for one in kind]]

    table = pd.DataFrame(
        {
            "customer_id": rng.permutation(90_000)[:n_rows] + 10_000,
            "age": rng.normal(*np.array(ages)[kind].T).round(),
            "basket": np.exp(rng.normal(np.log(baskets)[kind], 0.45)).round(2),
            "orders": rng.poisson(np.array(orders)[kind]),
            "channel": drawn(CHANNELS, channels),
            "payment": drawn(PAYMENTS, payments),
            "newsletter": np.where(rng.random(n_rows) < np.array(letters)[kind], "yes", "no"),
            "region": rng.choice(REGIONS, n_rows),
        }
    )
    for column in ("age", "channel", "newsletter"):
        table.loc[rng.random(n_rows) < 1 / 12, column] = None
    return table, kind


def prepared(table: pd.DataFrame) -> pd.DataFrame:
    """Without the number of the customer, and with baskets by their logarithm: they are skewed."""
    return table.drop(columns="customer_id").assign(basket=np.log(table["basket"]))


def in_numbers(table: pd.DataFrame) -> np.ndarray:
    """What k-means needs: standardised numbers, 0/1 for every word, means in missing cells."""
    coded = pd.get_dummies(table, dtype=float)
    coded = coded.fillna(coded.mean())
    return ((coded - coded.mean()) / coded.std(ddof=0)).to_numpy()


def compare(table: pd.DataFrame, kind: np.ndarray) -> dict[str, float]:
    """Adjusted Rand index of each method with the kinds."""
    rows = prepared(table)
    numbers = rows[["age", "basket", "orders"]]
    labels = {
        "k-means, numbers": KMeans(4, n_init=10, random_state=0).fit_predict(in_numbers(numbers)),
        "k-means, all coded": KMeans(4, n_init=10, random_state=0).fit_predict(in_numbers(rows)),
        "k-medoids, Gower": KMedoids(4, metric="gower", random_state=0).fit_predict(rows),
        "mixture, raw baskets": mixture(4).fit_predict(table.drop(columns="customer_id")),
        "mixture": mixture(4).fit_predict(rows),
    }
    return {name: adjusted_rand_score(kind, found) for name, found in labels.items()}


def mixture(n_components: int) -> MixedMixture:
    """Normal numbers and tables of words, independent given the component."""
    return MixedMixture(n_components, n_init=10, random_state=0, max_iter=500)


def described(own: pd.DataFrame) -> str:
    """A line about the customers of a component."""
    return (
        f"{len(own)} customers: age {own['age'].mean():.0f}, basket {own['basket'].median():.0f}, "
        f"{own['orders'].mean():.0f} orders, mostly {own['channel'].mode()[0]} "
        f"and {own['payment'].mode()[0]}"
    )


def main() -> None:
    """Compare the methods, choose the number, tell the kinds."""
    table, kind = customers()
    rows = prepared(table)
    print(f"{len(table)} customers, {table.isna().to_numpy().sum()} missing cells")
    for name, score in compare(table, kind).items():
        print(f"  {name:22} ARI {score:.2f}")

    bic = {k: mixture(k).fit(rows).bic(rows) for k in range(1, 7)}
    print("BIC:", ", ".join(f"{k}: {value:.0f}" for k, value in bic.items()))
    best = min(bic, key=lambda k: bic[k])
    labels = mixture(best).fit_predict(rows)
    for component in range(best):
        print("  " + described(table[labels == component]))

    study = coterie.study(table, random_state=0, time=10)
    score = adjusted_rand_score(kind, study.labels)
    print(f"Study of the raw table, ARI {score:.2f}: {study.verdict}")


if __name__ == "__main__":
    main()
