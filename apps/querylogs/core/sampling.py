"""Which queries of a search log are offered, each with its chance.

The population are the queries that enough people asked. They fall into nine strata: three bands of how often they are
searched, each with a third of the searches (head, torso, tail), by what came of the searches. A sample has so many
places a stratum, and within one a query's chance is proportional to its searches (probability proportional to size,
Hansen and Hurwitz 1943; drawn systematically, Madow 1949, along clusters of wording, so that each has its share).
The queries searched most often, and those searched most often without any result, have a chance of 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.querylogs.enums import Band, Outcome, Plan

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BANDS, OUTCOMES = list(Band), list(Outcome)
STRATA = [(band, outcome) for band in BANDS for outcome in OUTCOMES]
SURE_SHARE = 20
"""One place in so many goes to the queries that are searched most often, and as many to those that found nothing."""
LEAST_PLACES = 2
"""In a stratum, as long as it has as many queries: the spread within one needs two."""
MOST_FITTED = 10_000
"""Queries on which clusters are fitted; the others go to the nearest."""
FEATURES, COMPONENTS = 20_000, 50


class Population(NamedTuple):
    """Kinds of queries: how often they are searched, what came of it (an index of OUTCOMES), and how many they are."""

    searches: Ints
    outcomes: Ints
    counts: Ints

    @property
    def traffic(self) -> int:
        return int((self.searches * self.counts).sum())


class Stratum(NamedTuple):
    """One stratum of a plan. `like_traffic` are the places that its searches alone would give it.

    `chances` are those of its queries: mean, lowest, highest; zeros where it has none.
    """

    band: Band
    outcome: Outcome
    queries: int
    searches: int
    places: int
    like_traffic: float
    chances: tuple[float, float, float]


class SamplePlan(NamedTuple):
    """The strata in the order of STRATA, the least searches of head and torso, and the chance of each kind of query."""

    strata: list[Stratum]
    head_from: int
    torso_from: int
    chances: Floats
    memberships: Ints

    @property
    def queries(self) -> int:
        return sum(stratum.queries for stratum in self.strata)

    @property
    def places(self) -> int:
        return sum(stratum.places for stratum in self.strata)

    @property
    def searches(self) -> int:
        return sum(stratum.searches for stratum in self.strata)


def plan_sample(population: Population, wanted: int, plan: Plan) -> SamplePlan:
    """The places of each stratum and the chance of each kind of query. Fewer queries than wanted are all offered."""
    head_from, torso_from = _thirds(population)
    bands = np.where(population.searches >= head_from, 0, np.where(population.searches >= torso_from, 1, 2))
    memberships = bands * len(OUTCOMES) + population.outcomes
    traffic = population.searches * population.counts
    queries = np.bincount(memberships, population.counts, len(STRATA)).astype(float)
    searches = np.bincount(memberships, traffic, len(STRATA)).astype(float)
    sure = _sure(population, wanted)
    is_sure = np.bincount(memberships[sure], population.counts[sure], len(STRATA)).astype(float)
    wanted = int(min(wanted, queries.sum()))
    weights = searches if plan == Plan.TRAFFIC else _balanced(searches)
    least = np.maximum(np.minimum(queries, LEAST_PLACES), is_sure)
    places = _shared_out(weights, least, queries, wanted)
    chances = np.zeros(len(traffic))
    strata = []
    for number, (band, outcome) in enumerate(STRATA):
        inside = memberships == number
        chances[inside] = _chances(
            population.searches[inside], population.counts[inside], int(places[number]), sure[inside]
        )
        spread = (0.0, 0.0, 0.0)
        if inside.any():
            spread = (
                float(np.average(chances[inside], weights=population.counts[inside])),
                float(chances[inside].min()),
                float(chances[inside].max()),
            )
        like = wanted * float(searches[number]) / max(1.0, float(searches.sum()))
        strata.append(
            Stratum(band, outcome, int(queries[number]), int(searches[number]), int(places[number]), like, spread)
        )
    return SamplePlan(strata, head_from, torso_from, chances, memberships)


def _thirds(population: Population) -> tuple[int, int]:
    """The least searches of a query of the head, and of the torso; queries searched equally often stay together."""
    if not len(population.searches):
        return 1, 1
    order = np.argsort(-population.searches, kind="stable")
    running = np.cumsum((population.searches * population.counts)[order])
    ends = [int(np.searchsorted(running, running[-1] * share / 3)) for share in (1, 2)]
    head, torso = (int(population.searches[order][min(end, len(order) - 1)]) for end in ends)
    return head, min(torso, head)


def _sure(population: Population, wanted: int) -> NDArray[np.bool_]:
    """The kinds of queries that are always offered: of those searched equally often all or none."""
    nothing = population.outcomes == OUTCOMES.index(Outcome.NOTHING)
    most = max(1, wanted // SURE_SHARE)
    everything = np.ones_like(nothing)
    found: NDArray[np.bool_] = _most_searched(population, everything, most) | _most_searched(population, nothing, most)
    return found


def _most_searched(population: Population, among: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    levels, places = np.unique(population.searches[among], return_inverse=True)
    counts = np.bincount(places, population.counts[among], len(levels))
    running = np.cumsum(counts[::-1])
    taken = int(np.searchsorted(running, most, side="right"))
    return among & (population.searches >= levels[len(levels) - taken]) if taken else np.zeros_like(among)


def _balanced(searches: Floats) -> Floats:
    """Weights with which each band that has queries gets as much, divided by the square roots of searches within it."""
    roots = np.sqrt(searches).reshape(len(BANDS), len(OUTCOMES))
    return (roots / np.maximum(roots.sum(axis=1, keepdims=True), 1e-12)).ravel()


def _shared_out(weights: Floats, least: Floats, most: Floats, total: int) -> Ints:
    """Whole places by weight, each between its least and its most, by the largest remainders; they add up to `total`.

    Where the least are more than the total, the total grows to them.
    """
    total = max(total, int(least.sum()))
    low, high = 0.0, float(total) * 1e6
    for _ in range(100):  # by the factor with which the clipped shares add up
        factor = (low + high) / 2
        if np.clip(weights * factor, least, most).sum() < total:
            low = factor
        else:
            high = factor
    shares = np.clip(weights * high, least, most)
    places = np.floor(shares + 1e-9).astype(np.int64)
    for number in np.argsort(-(shares - places), kind="stable")[: max(0, total - int(places.sum()))]:
        places[number] += 1
    return places


def _chances(searches: Ints, counts: Ints, places: int, sure: NDArray[np.bool_]) -> Floats:
    """Chances proportional to searches, at most 1, that add up to the places of the stratum."""
    chances = np.where(sure, 1.0, 0.0)
    while True:
        open_ones = chances < 1
        left = places - int(counts[~open_ones].sum())
        traffic = float((searches * counts)[open_ones].sum())
        if left <= 0 or not traffic:
            return chances
        chances[open_ones] = searches[open_ones] * left / traffic
        over = open_ones & (chances >= 1 - 1e-12)
        if not over.any():
            return chances
        chances[over] = 1.0


def draw(chances: Floats, memberships: Ints, order: Sequence[Ints], seed: int) -> Ints:
    """The places of the queries drawn, in an order by chance, so that a part of it from the beginning is a sample too.

    `order` has for each stratum the places of its queries as they lie beside each other; the same seed draws the same.
    """
    random = np.random.default_rng(seed)
    drawn = []
    for places in order:
        running = np.cumsum(chances[places])
        starts = np.floor(np.concatenate([[0.0], running]) + random.random() - 1e-9)
        drawn.append(places[np.diff(starts) > 0])
    return random.permutation(np.concatenate(drawn)) if drawn else np.zeros(0, np.int64)


def by_wording(texts: Sequence[str], places: int, seed: int) -> Ints:
    """The places of texts so that alike ones lie beside each other: sorted by clusters, as many as places.

    Clusters of character n-grams (TF-IDF, truncated SVD, k-means); of more than MOST_FITTED texts, a part is fitted.
    """
    if not 1 < places < len(texts) or len(texts) < 4:
        return np.arange(len(texts))
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    random = np.random.default_rng(seed)
    fitted = np.sort(random.choice(len(texts), min(len(texts), MOST_FITTED), replace=False))
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=FEATURES, dtype=np.float32)
    sample = grams.fit_transform([texts[place] for place in fitted])
    components = max(1, min(COMPONENTS, sample.shape[1] - 1, len(fitted) - 1))
    svd = TruncatedSVD(components, random_state=seed).fit(sample)
    kmeans = MiniBatchKMeans(min(places, len(fitted)), random_state=seed, n_init=1).fit(svd.transform(sample))
    labels = np.concatenate(
        [
            kmeans.predict(svd.transform(grams.transform(texts[start : start + MOST_FITTED])))
            for start in range(0, len(texts), MOST_FITTED)
        ]
    )
    return np.argsort(labels, kind="stable")


ALIKE = 0.6
"""Cosine of character n-grams from which two queries are alike: the same words in another order or form."""
AT_ONCE = 1_000


def share_alike(texts: Sequence[str], searches: Ints, known: Sequence[str]) -> float | None:
    """The share of the searches for queries that are like one that is known; None where there is nothing to compare."""
    if not len(texts) or not known:
        return None
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), dtype=np.float32).fit([*texts, *known])
    others = grams.transform(known).T.tocsr()
    nearest = np.concatenate(
        [
            (grams.transform(texts[start : start + AT_ONCE]) @ others).max(axis=1).toarray().ravel()
            for start in range(0, len(texts), AT_ONCE)
        ]
    )
    return float(searches[nearest >= ALIKE].sum() / searches.sum())


def as_rows(searches: Ints, people: Ints, outcomes: Ints, least: Sequence[int]) -> list[list[int]]:
    """Rows of (searches, outcome, the greatest of `least` that the people reach, queries), to be stored."""
    levels = np.searchsorted(np.array(least), people, side="right") - 1
    keys, counts = np.unique(np.column_stack([searches, outcomes, levels]), axis=0, return_counts=True)
    return [[*map(int, key), int(count)] for key, count in zip(keys, counts, strict=True)]


def population_of(rows: Sequence[Sequence[int]], least: int, levels: Sequence[int]) -> Population:
    """The queries that at least so many people asked, from rows of `as_rows`."""
    kept = [row for row in rows if row[2] >= 0 and levels[row[2]] >= least]
    table = np.array(kept, np.int64).reshape(-1, 4)
    return Population(table[:, 0], table[:, 1], table[:, 3])
