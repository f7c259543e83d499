"""Rounds and judgements for tests, walked to through the real actions on a small corpus."""

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, snapshot_digest
from apps.corpus.models import Block, BlockVersion, Corpus, Document, Snapshot, SnapshotBlock, SnapshotDocument
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.rounds import open_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import Plan
from apps.judging.core.resolution import Answer
from apps.judging.models import Adjudication, Guideline, Judgement, Round, Seat
from apps.judging.selectors.my_progress import OwnProgress, own_progress_in
from apps.queries.models import Query
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.triples.factories import record_frozen

TEXT = "Archives leave the source region encrypted with AES-256-GCM.\n\nDaily archives are kept for 35 days."
_numbers = itertools.count(1)
_keys = itertools.count(1)


def make_snapshot(project: Project, *, blocks: int = 4, names: list[str] | None = None) -> Snapshot:
    names = names or [f"b{b:05}" for b in range(blocks)]
    blocks = len(names)
    lead, n = lead_of(project), next(_numbers)
    corpus = Corpus.objects.create(project=project, slug=f"c{n}", name=f"Corpus {n}", created_by=lead, created_at=AT)
    document = Document.objects.create(corpus=corpus, outside_id="handbook", title="Security handbook")
    rows = [Block(corpus=corpus, document=document, outside_id=name) for name in names]
    Block.objects.bulk_create(rows)
    versions = [_version(block, position) for position, block in enumerate(rows)]
    BlockVersion.objects.bulk_create(versions)
    digest = snapshot_digest(
        SnapshotEntry(version.block.outside_id, "handbook", version.digest, "", document.title) for version in versions
    )
    snapshot = Snapshot.objects.create(
        corpus=corpus, number=1, name=f"S{n}", digest=digest, block_count=blocks, document_count=1,
        frozen_by=lead, frozen_at=AT,
    )  # fmt: skip
    SnapshotDocument.objects.create(snapshot=snapshot, document=document, title=document.title)
    SnapshotBlock.objects.bulk_create(
        SnapshotBlock(snapshot=snapshot, position=position, block=version.block, version=version)
        for position, version in enumerate(versions)
    )
    record_frozen(snapshot, project)
    return snapshot


def _version(block: Block, position: int) -> BlockVersion:
    text = f"{TEXT}\n\nParagraph of block {position}."
    seen = {
        "title": "Backups", "text": text, "section_path": ["4 Data protection", "4.2 Backups"], "page_start": 31,
        "page_end": 32,
    }  # fmt: skip
    digests = block_digests(**seen)
    return BlockVersion(block=block, digest=digests.version, text_digest=digests.text, created_at=AT, **seen)


def make_pool(project: Project, *, queries: int = 2, blocks: int = 4, snapshot: Snapshot | None = None) -> Pool:
    """A complete pool in which every query meets every block."""
    lead, n = lead_of(project), next(_numbers)
    snapshot = snapshot or make_snapshot(project, blocks=blocks)
    pool = Pool.objects.create(
        project=project, snapshot=snapshot, name=f"Pool {n}", kind=PoolKind.DEPTH, depth=blocks, created_by=lead,
        created_at=AT,
    )  # fmt: skip
    rows = [
        Query(
            project=project, outside_id=f"Q{n}-{q:04}", text=f"Which cipher are backups of {q} encrypted with?",
            intent="Fill in a questionnaire.", created_by=lead, created_at=AT,
        )
        for q in range(queries)
    ]  # fmt: skip
    Query.objects.bulk_create(rows)
    versions = [entry.version_id for entry in snapshot.entries.order_by("position")]
    PoolQuery.objects.bulk_create(PoolQuery(pool=pool, query=query) for query in rows)
    PoolEntry.objects.bulk_create(
        (PoolEntry(pool=pool, query=query, version_id=pk, found_by=[[1, 1]]) for query in rows for pk in versions),
        batch_size=500,
    )
    pool.state, pool.entry_count, pool.completed_at = PoolState.COMPLETE, len(rows) * len(versions), AT
    pool.save()
    return pool


def grade_texts() -> list[dict]:
    names = ("Not relevant", "Related", "Answers part", "Answers all")
    return [
        {"grade": grade, "name": name, "definition": f"What {name.lower()} means.", "examples": [f"Case {grade}"]}
        for grade, name in enumerate(names)
    ]


def make_guideline(project: Project) -> Guideline:
    latest = project.guidelines.order_by("-number").first()
    return latest or publish_guideline(
        project=project, actor=lead_of(project), grades=grade_texts(), markdown="Take the *lower* grade.", at=AT
    )


def make_round(
    project: Project | None = None,
    *,
    queries: int = 2,
    blocks: int = 4,
    annotators: list[User] | int = 2,
    pool: Pool | None = None,
    known=(),
    remits=None,
    at: datetime = AT,
    **plan,
) -> Round:
    project = project or make_project()
    if isinstance(annotators, int):
        annotators = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(annotators)]
    return open_round(
        project=project,
        actor=lead_of(project),
        pool=pool or make_pool(project, queries=queries, blocks=blocks),
        guideline=make_guideline(project),
        annotators=annotators,
        plan=Plan(**{"seed": 7, **plan}),
        known=known,
        remits=remits,
        at=at,
    )


def people_of(round_: Round) -> list[User]:
    return [place.annotator for place in round_.annotators.select_related("annotator").order_by("annotator")]


def give(seat: Seat, annotator: User, grade: int | None = 2, *, key: str = "", at=AT, **more) -> Judgement:
    answer = Answer(grade=grade, cant_judge="" if grade is not None else "unreadable", **more)
    key = key or f"key-{next(_keys)}"
    return give_judgement(
        round_=seat.round, seat_id=seat.pk, annotator=annotator, answer=answer, idempotency_key=key, at=at
    )


def judge_all(round_: Round, annotator: User, grade_of=lambda seat: 2, *, at=AT, **more) -> list[Judgement]:
    """Everything this person can be given, graded by `grade_of(seat)`."""
    given = []
    while seats := claim_seats(round_=round_, annotator=annotator, n=10, at=at):
        given += [give(seat, annotator, grade_of(seat), at=at, **more) for seat in seats]
    return given


def judge_pairs(round_: Round, *given: Sequence[int | None]) -> None:
    """The grades of each person of the round, for its pairs in their order."""
    for person, grades in zip(people_of(round_), given, strict=True):
        by_entry = dict(zip(entries_of(round_), grades, strict=True))
        judge_all(round_, person, lambda seat, by_entry=by_entry: by_entry[seat.entry])


def entries_of(round_: Round) -> list[PoolEntry]:
    return list(round_.pool.entries.order_by("pk"))


def decide(
    round_: Round,
    entry: PoolEntry,
    grade: int | None = 2,
    *,
    person: User | None = None,
    reason: str = "The block names no cipher.",
    error_type: str = "slip",
) -> Adjudication:
    """The lead of the project, or this person, decides on a pair."""
    return adjudicate(
        round_=round_,
        entry=entry,
        adjudicator=person or lead_of(round_.project),
        grade=grade,
        reason=reason,
        error_type=error_type,
        at=AT,
    )


def own_progress(round_: Round, annotator: User) -> OwnProgress:
    return own_progress_in([round_], annotator)[round_.pk]


def later(minutes: int):
    return AT + timedelta(minutes=minutes)
