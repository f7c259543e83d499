"""The content of a frozen version for the writers, streamed from the database in the bytewise order of ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from django.db.models import Q, QuerySet

from apps.common.text.wording import utc_second
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.corpus.selectors.integrity import with_titles
from apps.goldsets.enums import Split
from apps.goldsets.formats.content import (
    ExpectedBlock,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    JudgementRow,
    SliceRow,
    TripleRow,
)
from apps.goldsets.models import SliceMember, Version, VersionGrade, VersionQuery, VersionTriple
from apps.goldsets.selectors.batches import query_batches
from apps.goldsets.selectors.bytewise import bytewise
from apps.goldsets.selectors.judgements import judgements_of

CHUNK = 2_000
EVERY_SPLIT = tuple(Split.values)
AUTHOR, REVIEWER = "author", "reviewer"


class VersionContent:
    """The rows of a version.

    `splits` names those to write. Items of `revoked` sources are left out. Without `names` people are "author" and
    "reviewer 1", for readers who may not see names of single answers; without `answers` there are no single
    judgements, nor their notes. Slices are made after the release and grow, so they are no part of the version: they
    come along `with_slices`, as they are now.
    """

    def __init__(
        self,
        version: Version,
        *,
        splits: Collection[str] = EVERY_SPLIT,
        revoked: Collection[int] = (),
        names: bool = True,
        answers: bool = True,
        with_slices: bool = False,
    ) -> None:
        self.version = version
        self.splits = tuple(splits)
        self.revoked = tuple(revoked)
        self.names = names
        self.answers = answers
        self.with_slices = with_slices

    def query_rows(self) -> QuerySet[VersionQuery]:
        rows = VersionQuery.objects.filter(version=self.version, split__in=self.splits)
        return rows.exclude(query__source__in=self.revoked) if self.revoked else rows

    def grade_rows(self) -> QuerySet[VersionGrade]:
        rows = VersionGrade.objects.filter(version=self.version, query__split__in=self.splits)
        return rows.exclude(query__query__source__in=self.revoked) if self.revoked else rows

    def triple_rows(self) -> QuerySet[VersionTriple]:
        rows = VersionTriple.objects.filter(version=self.version, split__in=self.splits)
        if not self.revoked:
            return rows
        return rows.exclude(Q(triple__source__in=self.revoked) | Q(triple__query__source__in=self.revoked))

    def queries(self) -> Iterator[FrozenQuery]:
        rows = self.query_rows().order_by(bytewise("outside_id"))
        for row in rows.iterator(chunk_size=CHUNK):
            fields = {**row.fields, "tags": tuple(row.fields.get("tags", ()))}
            yield FrozenQuery(query_id=row.outside_id, text=row.text, split=row.split, **fields)

    def blocks(self) -> Iterator[FrozenBlock]:
        rows = with_titles(SnapshotBlock.objects.filter(snapshot=self.version.snapshot_id)).order_by("position")
        for row in rows.select_related("block__document", "version").iterator(chunk_size=CHUNK):
            yield FrozenBlock(
                block_id=row.block.outside_id,
                document_id=row.block.document.outside_id,
                title=row.version.title,
                text=row.version.text,
                section=tuple(row.version.section_path),
                page_start=row.version.page_start,
                page_end=row.version.page_end,
                document_title=row.document_title,  # type: ignore[attr-defined]
                metadata=row.version.metadata,
                redacted=_named(row.version) if row.version.redacted_at else None,
            )

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        rows = self.query_rows()
        for queries in query_batches(rows if split is None else rows.filter(split=split)):
            yield from _grades_of(queries)

    def triples(self) -> Iterator[TripleRow]:
        for row in self.triple_rows().order_by(bytewise("label")).iterator(chunk_size=CHUNK):
            yield triple_row(row.content, split=row.split, names=self.names)

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow] | None:
        if not self.answers:
            return None
        return judgements_of(self.version, self.query_rows(), noted=noted)

    def slices(self) -> Iterator[SliceRow]:
        """The slices where they were asked for, each with those of its questions that are in this content."""
        if not self.with_slices:
            return
        members = SliceMember.objects.filter(slice__version=self.version)
        members = members.filter(Q(query__in=self.query_rows()) | Q(triple__in=self.triple_rows()))
        columns = ("slice__kind", "slice__quarter", "number", "query__outside_id", "triple__label", "added_at")
        rows = members.order_by("slice__kind", "slice__quarter", "number", "pk").values_list(*columns)
        for (kind, quarter), of_slice in groupby(rows, key=lambda row: (row[0], row[1])):
            questions = list(of_slice)
            last = utc_second(max(added_at for *_, added_at in questions))
            numbered = groupby(questions, key=lambda row: row[2])
            yield SliceRow(quarter or kind, kind, tuple(_question_of(list(same)) for _, same in numbered), last)


def _question_of(rows: list[tuple[Any, ...]]) -> tuple[str, tuple[str, ...]]:
    """The id of the query, "" for none, and the labels of the triples of one question."""
    query = next((row[3] for row in rows if row[3] is not None), "")
    return query, tuple(row[4] for row in rows if row[4] is not None)


def _grades_of(queries: list[VersionQuery]) -> Iterator[GradeRow]:
    """The grades of these queries, in their order and that of the snapshot."""
    numbered = {query.pk: number for number, query in enumerate(queries)}
    rows = VersionGrade.objects.filter(query__in=numbered).values_list(
        "query_id", "position", "block_id", "grade", "resolution", "judges", "block_version__title"
    )
    for pk, _, block_id, grade, resolution, judges, title in sorted(rows, key=lambda row: (numbered[row[0]], row[1])):
        query = queries[numbered[pk]]
        yield GradeRow(query.outside_id, block_id, grade, query.split, resolution, judges, query.text, title)


def _named(version: BlockVersion) -> dict[str, str]:
    """The digests of a redacted text, with which an export can still be verified."""
    return {"digest": version.digest, "metadata_digest": version.metadata_digest}


def triple_row(content: dict[str, Any], *, split: str, names: bool = True) -> TripleRow:
    """The row stored as plain values in `VersionTriple.content`."""
    blocks = tuple(ExpectedBlock(**{**block, "evidence": tuple(block["evidence"])}) for block in content["blocks"])
    reviewers = tuple(content["reviewed_by"])
    row = TripleRow(**{**content, "blocks": blocks, "reviewed_by": reviewers, "split": split})
    if names:
        return row
    numbered = tuple(f"{REVIEWER} {place}" for place in range(1, len(reviewers) + 1))
    return row._replace(added_by=AUTHOR if row.added_by else "", reviewed_by=numbered)


def stored_triple(row: TripleRow) -> dict[str, Any]:
    """The inverse of `triple_row`, without the split, which has a column of its own."""
    content = row._asdict()
    del content["split"]
    content["blocks"] = [{**block._asdict(), "evidence": list(block.evidence)} for block in row.blocks]
    content["reviewed_by"] = list(row.reviewed_by)
    return content
