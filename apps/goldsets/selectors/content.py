"""The content of a frozen version for the writers, streamed from the database in the bytewise order of ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from apps.accounts.models import User
from apps.common.database.batched_reads import answer_to
from apps.common.database.functions import bytewise
from apps.common.files.replayable_rows import ReplayableRows
from apps.common.text.wording import utc_second
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.corpus.selectors.snapshots import entries_of
from apps.goldsets.enums import Split
from apps.goldsets.formats.content import (
    NOTHING,
    ExpectedBlock,
    Feature,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    JudgementRow,
    LeftOut,
    SliceRow,
    Traces,
    TripleRow,
    VersionPart,
)
from apps.goldsets.models import SliceMember, Version, VersionGrade, VersionQuery, VersionTriple
from apps.goldsets.selectors.assembly import Gathered
from apps.goldsets.selectors.freeze_checks import reviewers_of
from apps.goldsets.selectors.judgements import (
    CHUNK,
    GRADES_AT_ONCE,
    HeldQuery,
    Judges,
    judgements_of,
    judges_question,
    queries_held,
    query_batches,
)
from apps.queries.core.strata import CONTEXT
from apps.queries.models import Query
from apps.retrieval.core.ranking import scores_at
from apps.retrieval.models import Ranking, Run
from apps.triples.selectors.triples import AcceptedTriple, ExpectedText

EVERY_SPLIT = tuple(Split.values)


class VersionContent:
    """All rows of a version, each read once from the database and from disk after that: see `part_of` for a part.

    Single judgements are read without those that have no note where only notes are asked for. With `every_answer` all
    are read at first, since all will be asked for. `judges` is what `judges_question` asks, where it was asked already.
    """

    def __init__(self, version: Version, *, every_answer: bool = False, judges: Judges | None = None) -> None:
        # What reads does not refer to this object, so that its files are gone with it and not when the collector comes.
        queries = ReplayableRows(lambda: queries_held(version))
        read_answers = partial(_answers_of, version, judges, queries)
        self.version = version
        self._every_answer = every_answer
        self._queries = queries
        self._blocks = ReplayableRows(lambda: map(frozen_block, entries_of(version.snapshot_id)))
        self._grades = ReplayableRows(lambda: chain.from_iterable(map(_grades_of, query_batches(queries))))
        self._triples = ReplayableRows(lambda: triples_held(version))
        self._answers = ReplayableRows(partial(read_answers, noted=False))
        self._read_answers = read_answers

    def queries(self) -> Iterator[FrozenQuery]:
        return (held.frozen for held in self._queries)

    def blocks(self) -> Iterator[FrozenBlock]:
        return iter(self._blocks)

    def passing_entries(self) -> Iterator[SnapshotBlock]:
        """The entries of the snapshot for its check. When all have passed, `blocks` has them and reads nothing."""
        return self._blocks.passing(entries_of(self.version.snapshot_id), frozen_block)

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        return (row for row in self._grades if split is None or row.split == split)

    def triples(self) -> Iterator[TripleRow]:
        return (held.frozen for held in self._triples)

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow]:
        if noted and not self._every_answer:
            return self._read_answers(noted=True)
        return (row for row in self._answers if row.note or not noted)

    def scores(self) -> None:
        """None: runs are made and chosen afterwards, so what they scored is no part of the version."""

    def traces(self) -> None:
        """None: a log can be drawn again, so where its queries were asked is no part of the version."""

    def slices(self) -> Iterator[SliceRow]:
        """None: they are made after the release and grow, so they are no part of the version."""
        return iter(())

    def keys_of_queries(self) -> dict[str, int]:
        """The key in the project of each query, by its id."""
        return {held.frozen.query_id: held.query for held in self._queries}

    def of_sources(self, sources: Collection[int]) -> LeftOut:
        """The items that come from one of these sources."""
        if not sources:
            return NOTHING
        return LeftOut(
            frozenset(held.frozen.query_id for held in self._queries if held.source in sources),
            frozenset(held.frozen.triple_id for held in self._triples if not held.sources.isdisjoint(sources)),
        )


def _answers_of(
    version: Version, judges: Judges | None, queries: Iterable[HeldQuery], *, noted: bool
) -> Iterator[JudgementRow]:
    judges = judges or answer_to(version, judges_question(version))
    return judgements_of(version, judges, queries, noted=noted)


class HeldTriple(NamedTuple):
    """A triple of a version, and the keys of its own source and of its query's."""

    sources: frozenset[int]
    frozen: TripleRow


def triples_held(version: Version) -> Iterator[HeldTriple]:
    """In the bytewise order of labels."""
    rows = VersionTriple.objects.filter(version=version).order_by(bytewise("label"))
    columns = ("triple__source", "triple__query__source", "content", "split")
    for *sources, content, split in rows.values_list(*columns).iterator(chunk_size=CHUNK):
        yield HeldTriple(frozenset(filter(None, sources)), triple_row(content, split=split))


def frozen_block(row: SnapshotBlock) -> FrozenBlock:
    return FrozenBlock(
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


def part_of(
    whole: VersionContent,
    *,
    splits: Collection[str] = EVERY_SPLIT,
    revoked: Collection[int] = (),
    names: bool = True,
    answers: bool = True,
    runs: Sequence[Run] = (),
    traces: Traces | None = None,
    with_slices: bool = False,
) -> VersionPart:
    """The rows that one reader gets.

    `splits` names those to write. Items of `revoked` sources are left out. Without `names` people are "author" and
    "reviewer 1", for readers who may not see names of single answers; without `answers` there are no single
    judgements, nor their notes. The scores of `runs`, which are on the version's snapshot, and `traces` go along.
    Slices are as they are now.
    """
    left_out = whole.of_sources(revoked)
    scores = RunScores(runs, whole.keys_of_queries) if runs else None
    part = VersionPart(whole, splits, left_out, names=names, answers=answers, run_scores=scores, traces_now=traces)
    return replace(part, slices_now=lambda: slices_of(whole.version, part)) if with_slices else part


class RunScores(NamedTuple):
    """What runs scored for graded pairs, by their positions in the snapshot."""

    runs: Sequence[Run]
    keys_of_queries: Callable[[], dict[str, int]]

    @property
    def features(self) -> list[Feature]:
        return [Feature(run.tag, run.system.name, run.digest) for run in self.runs]

    def beside(self, grades: Iterable[GradeRow]) -> Iterator[tuple[GradeRow, list[float]]]:
        """A pair that a run did not return has its lowest score for the query, or 0 where it has none at all."""
        keys = self.keys_of_queries()
        places = {run.pk: place for place, run in enumerate(self.runs)}
        for batch in chunks_of_grades(grades):
            scored = {
                keys[query]: (np.array([row.position for row in rows]), np.zeros((len(rows), len(places))))
                for query, rows in batch.items()
            }
            rankings = Ranking.objects.filter(run__in=places, query__in=scored)
            for key, run, packed in rankings.values_list("query", "run", "packed").iterator(chunk_size=CHUNK):
                positions, scores = scored[key]
                scores[:, places[run]] = scores_at(bytes(packed), positions)
            for query, rows in batch.items():
                yield from zip(rows, scored[keys[query]][1].tolist(), strict=True)


def chunks_of_grades(grades: Iterable[GradeRow]) -> Iterator[dict[str, list[GradeRow]]]:
    """The grades of a query together, and of as many queries as have some thousand."""
    batch: dict[str, list[GradeRow]] = {}
    held = 0
    for query, rows in groupby(grades, key=lambda row: row.query_id):
        batch[query] = list(rows)
        held += len(batch[query])
        if held >= GRADES_AT_ONCE:
            yield batch
            batch, held = {}, 0
    if batch:
        yield batch


def slices_of(version: Version, part: VersionPart) -> Iterator[SliceRow]:
    """The slices of the version, each with those of its questions that are in this part."""
    inside = {row.query_id for row in part.queries()}, {row.triple_id for row in part.triples()}
    columns = ("slice__kind", "slice__quarter", "number", "query__outside_id", "triple__label", "added_at")
    members = SliceMember.objects.filter(slice__version=version).order_by(
        "slice__kind", "slice__quarter", "number", "pk"
    )
    rows = (row for row in members.values_list(*columns) if row[3] in inside[0] or row[4] in inside[1])
    for (kind, quarter), of_slice in groupby(rows, key=lambda row: (row[0], row[1])):
        questions = list(of_slice)
        last = utc_second(max(added_at for *_, added_at in questions))
        numbered = groupby(questions, key=lambda row: row[2])
        yield SliceRow(quarter or kind, kind, tuple(_question_of(list(same)) for _, same in numbered), last)


def _question_of(rows: list[tuple[Any, ...]]) -> tuple[str, tuple[str, ...]]:
    """The id of the query, "" for none, and the labels of the triples of one question."""
    query = next((row[3] for row in rows if row[3] is not None), "")
    return query, tuple(row[4] for row in rows if row[4] is not None)


def _grades_of(queries: list[HeldQuery]) -> Iterator[GradeRow]:
    """The grades of these queries, in their order and that of the snapshot."""
    numbered = {query.pk: number for number, query in enumerate(queries)}
    rows = VersionGrade.objects.filter(query__in=numbered).values_list(
        "query_id", "position", "block_id", "grade", "resolution", "judges", "block_version__title", "facets"
    )
    for row in sorted(rows, key=lambda row: (numbered[row[0]], row[1])):
        pk, position, block_id, grade, resolution, judges, title, facets = row
        query, chosen = queries[numbered[pk]].frozen, None if facets is None else tuple(facets)
        facts = (query.split, resolution, judges, query.text, title, chosen, position)
        yield GradeRow(query.query_id, block_id, grade, *facts)


def _named(version: BlockVersion) -> dict[str, str]:
    """The digests of a redacted text, with which an export can still be verified."""
    return {"digest": version.digest, "metadata_digest": version.metadata_digest}


def triple_row(content: dict[str, Any], *, split: str) -> TripleRow:
    """The row stored as plain values in `VersionTriple.content`."""
    blocks = tuple(ExpectedBlock(**{**block, "evidence": tuple(block["evidence"])}) for block in content["blocks"])
    return TripleRow(**{**content, "blocks": blocks, "reviewed_by": tuple(content["reviewed_by"]), "split": split})


def stored_triple(row: TripleRow) -> dict[str, Any]:
    """The inverse of `triple_row`, without the split, which has a column of its own."""
    content = row._asdict()
    del content["split"]
    content["blocks"] = [{**block._asdict(), "evidence": list(block.evidence)} for block in row.blocks]
    content["reviewed_by"] = list(row.reviewed_by)
    return content


def query_rows(gathered: Gathered) -> Iterator[VersionQuery]:
    for query in gathered.queries.values():
        yield VersionQuery(
            version=gathered.version,
            query=query,
            outside_id=query.outside_id,
            text=query.text,
            split=gathered.split_of_query(query),
            fields=query_fields(query, gathered),
        )


def query_fields(query: Query, gathered: Gathered) -> dict[str, Any]:
    """What is stored of a query beside its id, its text and its split."""
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
        metadata=query.metadata,
    )._asdict()
    for name in ("query_id", "text", "split", "facets", *CONTEXT, "unanswerable"):
        del fields[name]
    more = {name: value for name in ("facets", *CONTEXT) if (value := getattr(query, name))}
    if query.pk in gathered.unanswerable:
        more["unanswerable"] = gathered.unanswerable[query.pk]
    return fields | {"tags": query.tags} | more  # as they are stored, so that unchanged ones are equal to those


def triple_rows(gathered: Gathered) -> Iterator[VersionTriple]:
    for triple, content in triple_contents(gathered, gathered.triples):
        yield VersionTriple(
            version=gathered.version,
            triple_id=triple.pk,
            revision_id=triple.revision_id,
            label=triple.label,
            split=gathered.split_of_triple(triple),
            content=content,
        )


def triple_contents(
    gathered: Gathered, triples: Collection[AcceptedTriple]
) -> Iterator[tuple[AcceptedTriple, dict[str, Any]]]:
    """Each of these triples of a draft with what is stored of it."""
    reviewers = reviewers_of(triples)
    authors = User.objects.in_bulk({_author_of(triple) for triple in triples})
    for triple in triples:
        row = TripleRow(
            triple_id=triple.label,
            question=triple.question,
            expected_answer=triple.answer,
            blocks=tuple(map(_expected, gathered.expected_of(triple))),
            match="all" if triple.needs_all_blocks else "any",
            added_by=authors[_author_of(triple)].name,
            reviewed_by=triple.reviewed_elsewhere_by or tuple(name for _, name in reviewers[triple.pk]),
            **triple_metadata(gathered, triple),
        )
        yield triple, stored_triple(row)


def triple_metadata(gathered: Gathered, triple: AcceptedTriple) -> dict[str, Any]:
    """What is stored of a triple beside its label, the words of its revision and the names of people."""
    query = triple.query
    return {
        "query_id": query.outside_id if query and query.pk in gathered.queries else "",
        "domain": triple.domain,
        "difficulty": triple.difficulty,
        "added_at": utc_second(triple.created_at),
        "resolution": triple.resolution,
        "is_machine_written": triple.is_machine_written,
    }


def _author_of(triple: AcceptedTriple) -> int:
    return (triple.adopted_by_id if triple.is_machine_written else None) or triple.author_id


def _expected(expected: ExpectedText) -> ExpectedBlock:
    pages = expected.page_start, expected.page_end
    return ExpectedBlock(expected.block, expected.document, *pages, tuple(expected.evidence))
