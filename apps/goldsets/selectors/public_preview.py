"""The records that go out, one by one, beside what the version has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from apps.goldsets.formats import jsonl
from apps.goldsets.formats.content import FrozenQuery, TripleRow
from apps.goldsets.formats.public.preview import PreviewLine, preview_lines
from apps.goldsets.formats.public.scrub import PASSAGES, PublicContent, Selection
from apps.goldsets.models import PublicRelease
from apps.goldsets.selectors.content import VersionContent
from apps.goldsets.selectors.public import terms_of


class PreviewRecord(NamedTuple):
    """A record of one kind, numbered from 1, of so many."""

    kind: str
    number: int
    total: int
    lines: list[PreviewLine]
    name: str


PREVIEWED = ("triples", "queries")
Pair = tuple[dict[str, Any], dict[str, Any]]
"""A record as the version has it, and as it goes out."""


def preview_record(release: PublicRelease, kind: str, number: int, *, at: datetime) -> PreviewRecord:
    """The record with this number among those that go out, or the nearest there is."""
    version = release.version
    whole = VersionContent(version)
    terms = terms_of(version, release.splits, at=at)
    queries, triples = list(whole.queries()), list(whole.triples())
    public = PublicContent(whole, terms, _stored_selection(release, queries, triples))
    total = release.report["counts"][kind]["going"]
    number = max(1, min(number, total))
    pairs = _triple_pairs(triples, public) if kind == "triples" else _query_pairs(queries, public)
    before, after = next(islice(pairs, number - 1, None), ({}, {}))
    name = str(before.get("id" if kind == "triples" else "query_id", ""))
    return PreviewRecord(kind, number if total else 0, total, preview_lines(before, after), name)


def _stored_selection(
    release: PublicRelease, queries: Iterable[FrozenQuery], triples: Iterable[TripleRow]
) -> Selection:
    """What was chosen when the release was built, from what it kept in. Passages are not in it."""
    staying = set(release.stays.exclude(kind=PASSAGES).values_list("kind", "name"))
    chosen = Selection()
    chosen.queries = {row.query_id for row in queries if ("queries", row.query_id) not in staying}
    chosen.triples = {row.triple_id for row in triples if ("triples", row.triple_id) not in staying}
    for row in triples:
        if row.triple_id in chosen.triples:
            for name in (row.added_by, *row.reviewed_by):
                chosen.pseudonym(name)
    return chosen


def _triple_pairs(rows: Iterable[TripleRow], public: PublicContent) -> Iterator[Pair]:
    for row in rows:
        if row.triple_id in public.chosen.triples:
            yield jsonl.triple_entry(row), jsonl.triple_entry(public.triple(row))


def _query_pairs(rows: Iterable[FrozenQuery], public: PublicContent) -> Iterator[Pair]:
    for row in rows:
        if row.query_id in public.chosen.queries:
            yield jsonl.query_entry(row), jsonl.query_entry(public.query(row))
