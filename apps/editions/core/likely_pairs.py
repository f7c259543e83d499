"""Which new passages people judge for which queries, before any system has run on the new edition."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import log

from apps.corpus.core.near_duplicates import normalised

AT_LEAST = 0.5
PER_QUERY = 5


def likely_pairs(
    queries: Mapping[int, str], passages: Mapping[str, str], *, at_least: float = AT_LEAST, per_query: int = PER_QUERY
) -> list[tuple[int, str]]:
    """The pairs of a query and a new passage that contains much of its words, at most `per_query` for a query.

    A passage qualifies with at least the share `at_least` of the query's words, where a word that few queries have
    counts more: its weight is its inverse frequency over the queries. Best first, ties by id; in the order of
    `queries`. A passage without any of the words never qualifies.
    """
    words = {key: set(normalised(text)) for key, text in queries.items()}
    times = Counter(word for own in words.values() for word in own)
    holding: dict[str, list[str]] = defaultdict(list)
    for name in sorted(passages):
        for word in times.keys() & set(normalised(passages[name])):
            holding[word].append(name)
    pairs = []
    for key, own in words.items():
        weights = {word: log(1 + len(queries) / times[word]) for word in sorted(own)}
        shares: dict[str, float] = defaultdict(float)
        for word, weight in weights.items():
            for name in holding.get(word, ()):
                shares[name] += weight
        enough = at_least * sum(weights.values())
        ranked = sorted((name for name in shares if shares[name] >= enough), key=lambda name: (-shares[name], name))
        pairs += [(key, name) for name in ranked[:per_query]]
    return pairs
