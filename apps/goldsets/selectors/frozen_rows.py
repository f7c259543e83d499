"""The queries and triples of a version as a freeze writes them, not saved yet."""

from __future__ import annotations

from collections.abc import Iterator

from apps.common.text.words import utc_second
from apps.goldsets.formats.content import ExpectedBlock, FrozenQuery, TripleRow
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import Gathered, wording_of
from apps.goldsets.selectors.content import stored_triple
from apps.goldsets.selectors.freeze_checks import reviewers_of
from apps.queries.models import Query
from apps.triples.models import Triple
from apps.triples.selectors.triples import ExpectedText


def query_rows(gathered: Gathered) -> list[VersionQuery]:
    return [_query_row(gathered.version, row, gathered.split_of_query(row)) for row in gathered.queries.values()]


def _query_row(version: Version, query: Query, split: str) -> VersionQuery:
    fields = FrozenQuery(
        query_id=query.outside_id,
        text=query.text,
        label=query.label,
        intent=query.intent,
        description=query.description,
        source=query.source.slug if query.source else "",
        difficulty=query.difficulty,
        domain=query.domain,
        query_type=query.query_type,
        group=query.group_key,
        tags=tuple(query.tags),
        metadata=query.metadata,
    )._asdict()
    for name in ("query_id", "text", "split"):
        del fields[name]
    return VersionQuery(
        version=version, query=query, outside_id=query.outside_id, text=query.text, split=split, fields=fields
    )


def triple_rows(gathered: Gathered) -> Iterator[VersionTriple]:
    reviewers = reviewers_of(gathered.triples)
    for triple in gathered.triples:
        names = tuple(name for _, name in reviewers[triple.pk])
        yield VersionTriple(
            version=gathered.version,
            triple=triple,
            revision=triple.current,
            label=triple.label,
            split=gathered.split_of_triple(triple),
            content=stored_triple(_triple_row(triple, gathered, names)),
        )


def _triple_row(triple: Triple, gathered: Gathered, reviewers: tuple[str, ...]) -> TripleRow:
    revision = wording_of(triple)
    author = triple.adopted_by if triple.is_machine_written and triple.adopted_by else triple.author
    return TripleRow(
        triple_id=triple.label,
        question=revision.question,
        expected_answer=revision.answer,
        blocks=tuple(map(_expected, gathered.expected_of(triple))),
        match="all" if revision.needs_all_blocks else "any",
        query_id=triple.query.outside_id if triple.query and triple.query_id in gathered.queries else "",
        domain=triple.domain,
        difficulty=triple.difficulty,
        added_by=author.name,
        added_at=utc_second(triple.created_at),
        reviewed_by=reviewers,
        resolution=triple.resolution,
        is_machine_written=triple.is_machine_written,
    )


def _expected(expected: ExpectedText) -> ExpectedBlock:
    pages = expected.page_start, expected.page_end
    return ExpectedBlock(expected.block, expected.document, *pages, tuple(expected.evidence))
