"""The comparison of two editions of a corpus, passage by passage, and the queries that a new passage may answer."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import log
from typing import NamedTuple

import numpy as np

from apps.common.digests import digest_of_lines
from apps.corpus.core.near_duplicates import normalised
from apps.editions.enums import ChangeKind

AT_LEAST = 0.5
PER_QUERY = 5


def likely_pairs(
    queries: Mapping[int, str], passages: Mapping[str, str], *, per_query: int = PER_QUERY
) -> list[tuple[int, str]]:
    """The pairs of a query and a new passage that contains much of its words, at most `per_query` for a query.

    A passage qualifies with at least the share `AT_LEAST` of the query's words, where a word that few queries have
    counts more: its weight is its inverse frequency over the queries. Best first, ties by id; in the order of
    `queries`. A passage without any of the words never qualifies.
    """
    words = {key: set(normalised(text)) for key, text in queries.items()}
    times = Counter(word for own in words.values() for word in own)
    names, asked = sorted(passages), set(times)
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        for word in asked.intersection(normalised(passages[name])):
            holding[word].append(place)
    places_of = {word: np.array(places) for word, places in holding.items()}
    pairs = []
    for key, own in words.items():
        weights = {word: log(1 + len(queries) / times[word]) for word in sorted(own)}
        if not (held := [word for word in weights if word in places_of]):
            continue
        places, at = np.unique(np.concatenate([places_of[word] for word in held]), return_inverse=True)
        each = np.repeat([weights[word] for word in held], [len(places_of[word]) for word in held])
        shares = np.bincount(at, weights=each)
        best = np.argsort(-shares, kind="stable")[:per_query]
        enough = AT_LEAST * sum(weights.values())
        pairs += [(key, names[places[one]]) for one in best if shares[one] >= enough]
    return pairs


class EditionPassage(NamedTuple):
    """A passage of one edition: its id, the digest of title and text, and all else that may differ.

    `rest` covers section, pages and metadata: what nobody grades.
    """

    name: str
    text: str
    rest: str


class PassageChange(NamedTuple):
    """What became of a passage. `before` is None for a new one, `after` for one that is gone."""

    kind: ChangeKind
    before: EditionPassage | None
    after: EditionPassage | None

    @property
    def name(self) -> str:
        """The id in the new edition; of a passage that is gone, in the old one."""
        passage = self.after or self.before
        assert passage is not None
        return passage.name


def compare(old: Iterable[EditionPassage], new: Iterable[EditionPassage]) -> list[PassageChange]:
    """Every passage of both editions once: those of the new one in its order, then the ones that are gone.

    A passage is renamed when an id that is gone and a new id have the same text, and no other of them has it: where two
    could be meant, both stay gone and new.
    """
    before = {passage.name: passage for passage in old}
    after = {passage.name: passage for passage in new}
    origins = _renamed(before, after)
    changes = [_change(passage, before.get(name) or origins.get(name)) for name, passage in after.items()]
    taken = {origin.name for origin in origins.values()}
    gone = (passage for name, passage in before.items() if name not in after and name not in taken)
    return [*changes, *(PassageChange(ChangeKind.GONE, passage, None) for passage in gone)]


def _renamed(before: dict[str, EditionPassage], after: dict[str, EditionPassage]) -> dict[str, EditionPassage]:
    """The old passage of each new id whose text one passage that is gone had, and no other."""
    gone = [passage for name, passage in before.items() if name not in after]
    added = [passage for name, passage in after.items() if name not in before]
    times_gone = Counter(passage.text for passage in gone)
    times_added = Counter(passage.text for passage in added)
    by_text = {passage.text: passage for passage in gone if times_gone[passage.text] == 1}
    return {passage.name: by_text[passage.text] for passage in added if _is_clear(passage.text, by_text, times_added)}


def _is_clear(text: str, by_text: dict[str, EditionPassage], times_added: Counter[str]) -> bool:
    return text in by_text and times_added[text] == 1


def _change(after: EditionPassage, before: EditionPassage | None) -> PassageChange:
    if before is None:
        kind = ChangeKind.NEW
    elif before.name != after.name:
        kind = ChangeKind.RENAMED
    elif before.text != after.text:
        kind = ChangeKind.CHANGED
    else:
        kind = ChangeKind.SAME if before.rest == after.rest else ChangeKind.METADATA
    return PassageChange(kind, before, after)


def mark_of(changes: Iterable[PassageChange]) -> str:
    """A digest of these changes in whichever order, to notice that they are not those that somebody was shown."""
    return digest_of_lines(sorted("\t".join(_fields(change)) for change in changes))


def _fields(change: PassageChange) -> Iterator[str]:
    yield change.kind.value
    yield from (field for passage in (change.before, change.after) for field in passage or ("",))
