"""What of a version goes out to the public, by a list of allowed fields.

An item stays in unless its source may be published, and unless it makes sense without any forbidden word. A word in a
field that an item can do without empties that field; a word in its id, question, answer or text keeps the item in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from apps.goldsets.enums import StayReason
from apps.goldsets.formats.content import (
    Content,
    ExpectedBlock,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    JudgementRow,
    SliceRow,
    TripleRow,
)
from apps.goldsets.formats.public.words import NAME, WORD, ForbiddenWords, Found, WordSearch
from apps.querylogs.enums import PUBLIC_PEOPLE, TRAFFIC

QUERIES, TRIPLES, PASSAGES, PAIRS = "queries", "triples", "passages", "pairs"
KINDS = (TRIPLES, QUERIES, PAIRS, PASSAGES)


class Stay(NamedTuple):
    """An item that does not go out. `detail` says more, such as the source, and is for leads only."""

    kind: str
    name: str
    reason: StayReason
    detail: str = ""


class SourceTerms(NamedTuple):
    """Why the items of a source stay in, None where they go out, and what kind of source it is."""

    reason: StayReason | None
    detail: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Terms:
    """What decides: the terms of each query and triple by its id, the splits to publish, the words to look for."""

    queries: Mapping[str, SourceTerms]
    triples: Mapping[str, SourceTerms]
    splits: frozenset[str]
    words: ForbiddenWords

    @cached_property
    def search(self) -> WordSearch:
        return WordSearch(self.words)


class Place(NamedTuple):
    """Where a text was found: in a field of an item. `field` is empty for what an item cannot do without."""

    kind: str
    name: str
    field: str = ""


@dataclass
class Selection:
    """What goes out: ids, and the pseudonym of each person. `emptied` counts fields that were emptied, by field.

    `hits` are the texts that must not go out, each with the places where it was found.
    """

    queries: set[str] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)
    passages: set[str] = field(default_factory=set)
    people: dict[str, str] = field(default_factory=dict)
    stays: list[Stay] = field(default_factory=list)
    inside: Counter[str] = field(default_factory=Counter)
    going: Counter[str] = field(default_factory=Counter)
    emptied: Counter[str] = field(default_factory=Counter)
    hits: dict[Found, list[Place]] = field(default_factory=dict)

    def hit(self, found: Iterable[Found], kind: str, name: str, where: str) -> None:
        for one in found:
            self.hits.setdefault(one, []).append(Place(kind, name, where))

    def stay(self, kind: str, name: str, reason: StayReason, detail: str = "") -> None:
        self.stays.append(Stay(kind, name, reason, detail))

    def pseudonym(self, name: str) -> str:
        return self.people.setdefault(name, f"P{len(self.people) + 1}") if name else ""


def select(content: Content, terms: Terms) -> Selection:
    """Decide on every item of a version: passages, then Q&As, then queries with the pairs that are left of them."""
    chosen = Selection()
    for block in content.blocks():
        _choose(chosen, PASSAGES, block.block_id, _block_stays(block, terms, chosen), chosen.passages)
    for triple in content.triples():
        _choose(chosen, TRIPLES, triple.triple_id, _triple_stays(triple, terms, chosen), chosen.triples)
    may_go: Counter[str] = Counter()
    for grade in content.grades():
        may_go[grade.query_id] += grade.block_id in chosen.passages
    asked = {row.query_id for row in content.triples() if row.triple_id in chosen.triples}
    for query in content.queries():
        stay = _query_stays(query, terms, chosen)
        if not (stay or may_go[query.query_id] or query.query_id in asked):
            stay = StayReason.NOTHING_LEFT, ""
        _choose(chosen, QUERIES, query.query_id, stay, chosen.queries)
    for grade in content.grades():
        chosen.inside[PAIRS] += 1
        chosen.going[PAIRS] += grade.query_id in chosen.queries and grade.block_id in chosen.passages
    _name_and_empty(chosen, content, terms)
    return chosen


def _choose(chosen: Selection, kind: str, name: str, stay: tuple[StayReason, str] | None, goes: set[str]) -> None:
    chosen.inside[kind] += 1
    if stay:
        chosen.stay(kind, name, *stay)
    else:
        goes.add(name)
        chosen.going[kind] += 1


def _block_stays(row: FrozenBlock, terms: Terms, chosen: Selection) -> tuple[StayReason, str] | None:
    if row.redacted:
        return StayReason.REDACTED, ""
    return _worded(terms, chosen, PASSAGES, row.block_id, row.document_id, row.text)


def _query_stays(row: FrozenQuery, terms: Terms, chosen: Selection) -> tuple[StayReason, str] | None:
    stay = _permitted(row.split, terms.queries.get(row.query_id), terms) or _few_asked(row)
    facets = [text for facet in row.facets for text in facet.values()]
    return stay or _worded(terms, chosen, QUERIES, row.query_id, row.text, *facets)


def _few_asked(row: FrozenQuery) -> tuple[StayReason, str] | None:
    """Whether fewer people asked it than a public set needs, in the log in which most did."""
    most = max((one["people"] for one in row.metadata.get(TRAFFIC, [])), default=PUBLIC_PEOPLE)
    return (StayReason.FEW_ASKED, f"{most} of {PUBLIC_PEOPLE} people") if most < PUBLIC_PEOPLE else None


def _triple_stays(row: TripleRow, terms: Terms, chosen: Selection) -> tuple[StayReason, str] | None:
    stay = _permitted(row.split, terms.triples.get(row.triple_id), terms)
    if stay is None and any(block.block_id not in chosen.passages for block in row.blocks):
        stay = StayReason.PASSAGE, ""
    evidence = [text for block in row.blocks for text in block.evidence]
    return stay or _worded(terms, chosen, TRIPLES, row.triple_id, row.question, row.expected_answer, *evidence)


def _permitted(split: str, source: SourceTerms | None, terms: Terms) -> tuple[StayReason, str] | None:
    if source is None:
        return StayReason.NO_SOURCE, ""
    if source.reason:
        return source.reason, source.detail
    return None if split in terms.splits else (StayReason.SEALED, "")


REASONS = {NAME: StayReason.NAME, WORD: StayReason.WORD}


def _worded(terms: Terms, chosen: Selection, kind: str, name: str, *texts: str) -> tuple[StayReason, str] | None:
    """Why an item stays in: what is first among all that its id and texts have and must not go out."""
    found = list(dict.fromkeys(one for text in (name, *texts) for one in terms.search.finds(text)))
    chosen.hit(found, kind, name, "")
    return (REASONS.get(found[0].what, StayReason.PERSONAL), found[0].word) if found else None


def _name_and_empty(chosen: Selection, content: Content, terms: Terms) -> None:
    """Number the people in the order of the Q&As that go out, and count what is emptied in what goes out."""
    public = PublicContent(content, terms, chosen)
    for before in content.triples():
        if before.triple_id in chosen.triples:
            for name in (before.added_by, *before.reviewed_by):
                chosen.pseudonym(name)
            _count_emptied(chosen, terms, TRIPLES, before.triple_id, before, public.triple(before), TRIPLE_FIELDS)
    for query in content.queries():
        if query.query_id in chosen.queries:
            _count_emptied(chosen, terms, QUERIES, query.query_id, query, public.query(query), QUERY_FIELDS)
    for block in content.blocks():
        if block.block_id in chosen.passages:
            _count_emptied(chosen, terms, PASSAGES, block.block_id, block, public.block(block), PASSAGE_FIELDS)


TRIPLE_FIELDS = ("domain", "difficulty")
QUERY_FIELDS = ("intent", "description", "difficulty", "domain", "query_type", "expertise", "answer_format")
PASSAGE_FIELDS = ("title", "document_title", "section")


def _count_emptied(
    chosen: Selection,
    terms: Terms,
    kind: str,
    name: str,
    before: NamedTuple,
    after: NamedTuple,
    fields: tuple[str, ...],
) -> None:
    for of_item in fields:
        value = getattr(before, of_item)
        if value != getattr(after, of_item):
            chosen.emptied[of_item] += 1
            for text in [value] if isinstance(value, str) else value:
                chosen.hit(terms.search.finds(text), kind, name, of_item)


@dataclass(frozen=True)
class PublicContent:
    """The rows of a version that go out, each made anew from the allowed fields, without single judgements, runs
    and slices."""

    content: Content
    terms: Terms
    chosen: Selection

    def queries(self) -> Iterator[FrozenQuery]:
        return (self.query(row) for row in self.content.queries() if row.query_id in self.chosen.queries)

    def blocks(self) -> Iterator[FrozenBlock]:
        return (self.block(row) for row in self.content.blocks() if row.block_id in self.chosen.passages)

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        for row in self.content.grades(split):
            if row.query_id in self.chosen.queries and row.block_id in self.chosen.passages:
                named = row.query_id, row.block_id, row.grade, row.split, row.resolution, row.judges
                yield GradeRow(*named, facets=row.facets)

    def triples(self) -> Iterator[TripleRow]:
        return (self.triple(row) for row in self.content.triples() if row.triple_id in self.chosen.triples)

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow] | None:
        return None

    def traces(self) -> None:
        """None: a trace is of a search that somebody made."""

    def scores(self) -> None:
        return None

    def slices(self) -> Iterator[SliceRow]:
        return iter(())

    def query(self, row: FrozenQuery) -> FrozenQuery:
        source = self.terms.queries.get(row.query_id)
        return FrozenQuery(
            query_id=row.query_id,
            text=row.text,
            intent=self._clean(row.intent),
            description=self._clean(row.description),
            source=self._clean(source.kind if source else ""),
            difficulty=self._clean(row.difficulty),
            domain=self._clean(row.domain),
            query_type=self._clean(row.query_type),
            split=row.split,
            facets=row.facets,
            expertise=self._clean(row.expertise),
            answer_format=self._clean(row.answer_format),
            asked_on=row.asked_on,
            unanswerable=row.unanswerable,
        )

    def block(self, row: FrozenBlock) -> FrozenBlock:
        return FrozenBlock(
            block_id=row.block_id,
            document_id=row.document_id,
            title=self._clean(row.title),
            text=row.text,
            section=tuple(heading for heading in row.section if self._clean(heading) == heading),
            page_start=row.page_start,
            page_end=row.page_end,
            document_title=self._clean(row.document_title),
        )

    def triple(self, row: TripleRow) -> TripleRow:
        return TripleRow(
            triple_id=row.triple_id,
            question=row.question,
            expected_answer=row.expected_answer,
            blocks=tuple(_expected(block) for block in row.blocks),
            match=row.match,
            query_id=row.query_id if row.query_id in self.chosen.queries else "",
            domain=self._clean(row.domain),
            difficulty=self._clean(row.difficulty),
            added_by=self.chosen.people.get(row.added_by, ""),
            added_at=month_of(row.added_at),
            reviewed_by=tuple(self.chosen.people.get(name, "") for name in row.reviewed_by),
            resolution=row.resolution,
            is_machine_written=row.is_machine_written,
            split=row.split,
        )

    def _clean(self, text: str) -> str:
        return "" if self.terms.search.find(text) else text


def _expected(block: ExpectedBlock) -> ExpectedBlock:
    return ExpectedBlock(block.block_id, block.document_id, block.page_start, block.page_end, block.evidence)


def month_of(date: str) -> str:
    """Year and month of an ISO date; of anything else nothing."""
    return date[:7] if len(date) >= 7 and date[4] == "-" else ""
