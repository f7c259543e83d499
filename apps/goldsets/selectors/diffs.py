"""Differences between two versions, item by item."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from apps.common.digests import plain_numbers
from apps.common.text.worddiff import Piece, word_diff
from apps.corpus.models import BlockVersion
from apps.corpus.selectors.corpora import texts_of
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade, VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import Gathered
from apps.goldsets.selectors.content import query_fields, triple_contents, triple_metadata
from apps.goldsets.selectors.exclusions import facets_in_one
from apps.triples.models import ExpectedBlock


class Pin(NamedTuple):
    """A text that an item refers to: the block, the digest of the text, and the block version."""

    block: str
    digest: str
    version_id: int

    @property
    def text(self) -> tuple[str, str]:
        return self.block, self.digest


class ItemChange(NamedTuple):
    """One item that differs. `before` and `after` are for display; an added item has no before.

    A re-pinned item has its earlier texts and its current ones, without those in both.
    """

    name: str
    before: str = ""
    after: str = ""
    pins_before: tuple[Pin, ...] = ()
    pins_after: tuple[Pin, ...] = ()


class Repinned(NamedTuple):
    """A re-pinned item for display: each changed text, word by word."""

    name: str
    texts: list[RepinnedText]


class RepinnedText(NamedTuple):
    """The blocks before and after, and the difference between their texts. Empty where one of them is missing."""

    before: str
    after: str
    pieces: list[Piece]


class Diff(NamedTuple):
    """Changes by kind, each in the order of names. `repinned` are the same items on another text.

    `remarked` are Q&As with other evidence, or another count of needed passages, and `redescribed` are items of which
    only the metadata changed.
    """

    added: list[ItemChange]
    removed: list[ItemChange]
    regraded: list[ItemChange]
    repinned: list[ItemChange]
    reworded: list[ItemChange]
    remarked: list[ItemChange]
    redescribed: list[ItemChange]

    @property
    def is_empty(self) -> bool:
        return not any(self)


class _ItemState(NamedTuple):
    """The compared values of an item: its value (grade or words), its texts, the marks in them, and its metadata."""

    value: str
    pins: tuple[Pin, ...] = ()
    marks: str = ""
    about: Mapping[str, Any] = {}

    @property
    def texts(self) -> set[tuple[str, str]]:
        return {pin.text for pin in self.pins}


def diff(former: Version, version: Version, *, splits: Iterable[str] = tuple(Split.values)) -> Diff:
    """Queries, pairs and triples of two frozen versions, restricted to items on one of `splits` in the later one.

    An item that was removed is compared by its split in the former.
    """
    chosen = tuple(splits)
    pairs = _unlike(_pairs(former, chosen), _pairs(version, chosen))
    return _difference(_stored(former, chosen), _stored(version, chosen), *pairs)


def diff_of_draft(former: Version, gathered: Gathered) -> Diff:
    """What a draft would change if it were frozen now, over both splits."""
    before = _stored(former, tuple(Split.values))
    return _difference(before, _drafted(gathered, before), *_unlike_before(gathered))


_PairState = tuple[str, int, str, int, str, int, str | None]
"""Of a judged pair, as they are stored: the name of the query, block version, name of the block, grade, resolution,
judges, and the subtopics in one text.

A version has hundreds of thousands of them."""
_TripleState = tuple[int, dict[str, Any]]
"""The revision and the content of a triple, as they are stored: they decide all of its `_ItemState`."""


_QueryState = tuple[str, dict[str, Any]]
"""The text of a query and what else is stored of it."""


class _States(NamedTuple):
    """The queries and triples of a version by name."""

    queries: dict[str, _QueryState]
    triples: dict[str, _TripleState]


def _difference(before: _States, after: _States, gone: Iterable[_PairState], come: Iterable[_PairState]) -> Diff:
    """`gone` and `come` are the pairs that one of them does not have exactly like this."""
    queries = _compare(*(_queries(one.queries, other.queries) for one, other in ((before, after), (after, before))))
    triples = _compare(*(_triples(one.triples, other.triples) for one, other in ((before, after), (after, before))))
    pairs = _compare(_by_name(gone), _by_name(come))
    return Diff(
        added=[*queries.added, *pairs.added, *triples.added],
        removed=[*queries.removed, *pairs.removed, *triples.removed],
        regraded=pairs.changed,
        repinned=[*pairs.moved, *triples.moved],
        reworded=[*queries.changed, *triples.changed],
        remarked=triples.remarked,
        redescribed=[*queries.redescribed, *pairs.redescribed, *triples.redescribed],
    )


class _Compared(NamedTuple):
    added: list[ItemChange]
    removed: list[ItemChange]
    changed: list[ItemChange]
    moved: list[ItemChange]
    remarked: list[ItemChange]
    redescribed: list[ItemChange]


def _unlike(before: Iterable[_PairState], after: Iterable[_PairState]) -> tuple[set[_PairState], set[_PairState]]:
    """The pairs of each that the other does not have exactly like this."""
    gone, come = set(), set(after)
    for pair in before:
        if pair in come:
            come.remove(pair)
        else:
            gone.add(pair)
    return gone, come


def _unlike_before(gathered: Gathered) -> tuple[Collection[_PairState], Collection[_PairState]]:
    """As `_unlike`, of the version before and a draft, whose pairs are known by key: nearly all are the same."""
    names = {item.key: item.name for item in gathered.queries_before}
    gone, come = dict(gathered.pairs_before), []
    for query, place, grade, resolution, judges, key, facets in gathered.pairs:
        pair = (place.version_id, place.outside_id, grade, resolution, judges, facets_in_one(facets))
        if gone.get(key) == pair and names[key[0]] == query.outside_id:
            del gone[key]
        else:
            come.append((query.outside_id, *pair))
    return [(names[query], *pair) for (query, _), pair in gone.items()], come


def _by_name(pairs: Iterable[_PairState]) -> dict[str, _ItemState]:
    pairs = list(pairs)
    texts = texts_of(version for _, version, *_ in pairs)
    return {
        f"{query} with {block}": _ItemState(
            f"grade {grade}",
            (Pin(block, texts[version].digest, version),),
            about={"resolution": resolution, "judges": judges} | ({} if facets is None else {"subtopics": facets}),
        )
        for query, version, block, grade, resolution, judges, facets in pairs
    }


def _compare(before: Mapping[str, _ItemState], after: Mapping[str, _ItemState]) -> _Compared:
    compared = _Compared([], [], [], [], [], [])
    for name in sorted(before.keys() | after.keys(), key=str.encode):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            changes = compared.added if old is None else compared.removed
            changes.append(ItemChange(name, old.value if old else "", new.value if new else ""))
            continue
        if old.value != new.value:
            compared.changed.append(ItemChange(name, old.value, new.value))
        if old.texts != new.texts:
            gone = tuple(pin for pin in old.pins if pin.text not in new.texts)
            come = tuple(pin for pin in new.pins if pin.text not in old.texts)
            compared.moved.append(ItemChange(name, old.value, new.value, gone, come))
        if old.marks != new.marks and old.texts == new.texts:
            compared.remarked.append(ItemChange(name, old.marks, new.marks))
        if old.about != new.about and old._replace(about={}) == new._replace(about={}):
            compared.redescribed.append(ItemChange(name, *_changed_facts(old.about, new.about)))
    return compared


def _changed_facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str]:
    """The facts that differ, as they were and as they are."""
    names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    was, now = ("; ".join(f"{name}: {_in_words(facts.get(name))}" for name in names) for facts in (before, after))
    return was, now


def _in_words(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def with_texts(changes: Sequence[ItemChange]) -> list[Repinned]:
    """Re-pinned items with the difference of their texts: those of one block first, then the others, in order."""
    pins = [pin for change in changes for pin in (*change.pins_before, *change.pins_after)]
    texts = dict(BlockVersion.objects.filter(pk__in={pin.version_id for pin in pins}).values_list("pk", "text"))
    return [Repinned(change.name, [_text_difference(pair, texts) for pair in _paired(change)]) for change in changes]


def _paired(change: ItemChange) -> list[tuple[Pin | None, Pin | None]]:
    after = {pin.block: pin for pin in change.pins_after}
    same = [(pin, after.pop(pin.block)) for pin in change.pins_before if pin.block in after]
    left = [pin for pin in change.pins_before if pin.block not in {before.block for before, _ in same}]
    return [*same, *zip_longest(left, after.values())]


def _text_difference(pair: tuple[Pin | None, Pin | None], texts: Mapping[int, str]) -> RepinnedText:
    before, after = (texts[pin.version_id] if pin else "" for pin in pair)
    block_before, block_after = (pin.block if pin else "" for pin in pair)
    return RepinnedText(block_before, block_after, word_diff(before, after))


def _stored(version: Version, splits: tuple[str, ...]) -> _States:
    queries = VersionQuery.objects.filter(version=version, split__in=splits)
    triples = VersionTriple.objects.filter(version=version, split__in=splits)
    return _States(
        {name: (text, fields) for name, text, fields in queries.values_list("outside_id", "text", "fields")},
        {label: (revision, content) for label, revision, content in triples.values_list(*TRIPLE)},
    )


def _drafted(gathered: Gathered, before: _States) -> _States:
    """Of a triple that is as it was, what is stored of it stands for it: nothing is read or made of it."""
    queries = {query.outside_id: (query.text, query_fields(query, gathered)) for query in gathered.queries.values()}
    triples, unlike = {}, []
    for triple in gathered.triples:
        revision, content = before.triples.get(triple.label, (None, {}))
        if revision == triple.revision_id and triple_metadata(gathered, triple).items() <= content.items():
            triples[triple.label] = before.triples[triple.label]
        else:
            unlike.append(triple)
    triples |= {triple.label: (triple.revision_id, content) for triple, content in triple_contents(gathered, unlike)}
    return _States(queries, triples)


def _queries(queries: Mapping[str, _QueryState], others: Mapping[str, _QueryState]) -> dict[str, _ItemState]:
    """Those that the others do not have exactly like this."""
    unlike = ((name, state) for name, state in queries.items() if others.get(name) != state)
    return {name: _ItemState(text, about=plain_numbers(fields)) for name, (text, fields) in unlike}


def _pairs(version: Version, splits: tuple[str, ...]) -> Iterator[_PairState]:
    rows = VersionGrade.objects.filter(version=version, query__split__in=splits)
    columns = ("query__outside_id", "block_version_id", "block_id", "grade", "resolution", "judges", "facets")
    for *pair, facets in rows.values_list(*columns).iterator(chunk_size=5_000):
        query, version_id, block, grade, resolution, judges = pair
        yield query, version_id, block, grade, resolution, judges, facets_in_one(facets)


TRIPLE = ("label", "revision_id", "content")
NO_METADATA = frozenset({"question", "expected_answer", "blocks", "match", "added_by", "reviewed_by"})
"""What of a triple is measured, or names people. The rest of it is metadata."""


def _triples(triples: Mapping[str, _TripleState], others: Mapping[str, _TripleState]) -> dict[str, _ItemState]:
    """Those that the others do not have exactly like this."""
    unlike = {label: state for label, state in triples.items() if others.get(label) != state}
    pins_of = _pins([revision for revision, _ in unlike.values()])
    states = {}
    for label, (revision, content) in unlike.items():
        words = f"{content['question']} {content['expected_answer']}"
        about = {name: value for name, value in content.items() if name not in NO_METADATA}
        states[label] = _ItemState(words, tuple(sorted(pins_of[revision])), _marks(content), plain_numbers(about))
    return states


def _pins(revisions: Collection[int]) -> Mapping[int, list[Pin]]:
    """The texts that each of these revisions expects, without reading the texts."""
    pins: defaultdict[int, list[Pin]] = defaultdict(list)
    columns = ("revision_id", "version__block__outside_id", "version__text_digest", "version_id")
    for revision, *pin in ExpectedBlock.objects.filter(revision__in=revisions).values_list(*columns):
        pins[revision].append(Pin(*pin))
    return pins


def _marks(content: Mapping[str, Any]) -> str:
    """The marked evidence, and whether one of the passages is enough."""
    marked = [
        f"{block['block_id']}: {' … '.join(block['evidence'])}" for block in content["blocks"] if block["evidence"]
    ]
    return "; ".join([f"needs {content['match']}", *marked])
