from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputErrors, Refusal
from apps.corpus.models import Snapshot
from apps.judging.actions.rounds import next_number
from apps.judging.drafting import Draft, Graded
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.retrieval.actions import lock_queries
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery

ROWS = 500
NAME_LENGTH = 120


class ImportRefused(Refusal):
    """Judgements from outside cannot be taken in."""


class Imported(NamedTuple):
    """The round that holds the judgements; `is_new` is False when they were here before."""

    round: Round
    is_new: bool


@transaction.atomic
def import_judgements(
    *,
    project: Project,
    snapshot: Snapshot,
    draft: Draft,
    actor: User,
    at: datetime,
    name: str = "",
    origin: str = "",
    skip_unknown: bool = False,
) -> Imported:
    """Take in judgements made elsewhere, whole or not at all, as a closed round on a pool of their pairs.

    The importer stands as the annotator, and `origin` says where the file came from. The same judgements on
    the same snapshot again change nothing. Rows that name an unknown query or block stop the import unless
    `skip_unknown` leaves them out. Raises InputErrors with everything that does not fit.
    """
    if draft.is_spoilt or (draft.unknown and not skip_unknown):
        raise InputErrors(list(draft.errors), capped=draft.errors.unlisted > 0)
    if not draft.rows:
        raise ImportRefused("Nothing is left to import: every row was left out.", code="import_empty")
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    mark = draft.mark
    if same := Round.objects.filter(project=project, kind=RoundKind.IMPORTED, origin__endswith=mark).first():
        return Imported(same, is_new=False)
    origin = f"{origin[: 290 - len(mark)]}, {mark}" if origin else mark
    round_ = _add_round(project, snapshot, draft, name.strip() or "Imported judgements", origin, actor, at)
    _store(round_, draft.rows, actor, at)
    _complete(round_, draft, at)
    lock_queries(sorted({row.query_id for row in draft.rows}), at=at)
    record(
        project=project,
        actor=actor,
        action="judgements.imported",
        obj=round_,
        after={"judgements": len(draft.rows), "skipped": draft.skipped, "origin": origin},
        at=at,
    )
    return Imported(round_, is_new=True)


def _add_round(
    project: Project, snapshot: Snapshot, draft: Draft, name: str, origin: str, actor: User, at: datetime
) -> Round:
    number = next_number(project)
    pool = Pool.objects.create(
        project=project,
        snapshot=snapshot,
        name=f"{name[: NAME_LENGTH - 12]}, round {number}"[:NAME_LENGTH],
        kind=PoolKind.IMPORTED,
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    round_ = Round.objects.create(
        project=project,
        pool=pool,
        number=number,
        name=name[:NAME_LENGTH],
        kind=RoundKind.IMPORTED,
        overlap_share=0,
        judges=1,
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    RoundAnnotator.objects.create(round=round_, annotator=actor)
    queries = sorted({row.query_id for row in draft.rows})
    PoolQuery.objects.bulk_create((PoolQuery(pool=pool, query_id=pk) for pk in queries), batch_size=ROWS)
    return round_


def _store(round_: Round, rows: list[Graded], actor: User, at: datetime) -> None:
    for start in range(0, len(rows), ROWS):
        batch = rows[start : start + ROWS]
        entries = PoolEntry.objects.bulk_create(
            PoolEntry(pool=round_.pool, query_id=row.query_id, version_id=row.version_id) for row in batch
        )
        seats = Seat.objects.bulk_create(
            Seat(
                round=round_,
                entry=entry,
                query_id=entry.query_id,
                number=1,
                state=SeatState.DONE,
                annotator=actor,
            )
            for entry in entries
        )
        Judgement.objects.bulk_create(
            Judgement(
                round=round_,
                seat=seat,
                entry=seat.entry,
                annotator=actor,
                grade=row.grade,
                note=row.note,
                idempotency_key=f"import-{round_.pk}-{row.line}",
                given_at=at,
            )
            for seat, row in zip(seats, batch, strict=True)
        )


def _complete(round_: Round, draft: Draft, at: datetime) -> None:
    pool = round_.pool
    pool.state, pool.entry_count, pool.completed_at = PoolState.COMPLETE, len(draft.rows), at
    pool.save(update_fields=["state", "entry_count", "completed_at"])
    round_.state, round_.opened_at, round_.closed_at = RoundState.CLOSED, at, at
    round_.save(update_fields=["state", "opened_at", "closed_at"])
