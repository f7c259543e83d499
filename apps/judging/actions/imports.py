"""Importing judgements that were made elsewhere, as a closed round."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.actions.people import stand_in
from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import InputErrors, Refusal
from apps.corpus.models import Snapshot
from apps.judging.actions.rounds import next_number
from apps.judging.enums import ErrorType, RoundKind, RoundState, SeatState
from apps.judging.execution.judgement_import import Graded, JudgementDraft
from apps.judging.models import Adjudication, Judgement, Round, RoundAnnotator, Seat
from apps.retrieval.actions import lock_queries
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery

ROWS = 500
NAME_LENGTH = 120


class ImportRefused(Refusal):
    """Judgements made elsewhere cannot be imported."""


class ImportedRound(NamedTuple):
    """The round of the judgements; `is_new` is False when they were imported before."""

    round: Round
    is_new: bool


@transaction.atomic
def import_judgements(
    *,
    project: Project,
    snapshot: Snapshot,
    draft: JudgementDraft,
    actor: User,
    at: datetime,
    name: str = "",
    origin: str = "",
    skip_unknown: bool = False,
) -> ImportedRound:
    """Import judgements made elsewhere, all or none, as a closed round on a pool of their pairs.

    The annotator is the importer, or, for a file with several raters, a user without an account for each of them; final
    grades that the ratings do not resolve to become decisions. `origin` names the file's source. The same judgements on
    the same snapshot again change nothing. Rows with an unknown query or block stop the import, unless `skip_unknown`
    leaves them out. Raises InputErrors with every fault.
    """
    if draft.is_spoilt or (draft.unknown and not skip_unknown):
        raise InputErrors(list(draft.errors), capped=draft.errors.unlisted > 0)
    if not draft.rows:
        raise ImportRefused("There is nothing to import: every row was left out.", code="import_empty")
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    mark = draft.mark
    if same := Round.objects.in_force().filter(project=project, kind=RoundKind.IMPORTED, origin__endswith=mark).first():
        return ImportedRound(same, is_new=False)
    origin = f"{origin[: 290 - len(mark)]}, {mark}" if origin else mark
    round_ = _add_round(project, snapshot, draft, name.strip() or "Imported judgements", origin, actor, at)
    people = {rater: stand_in(project=project, name=rater, actor=actor, at=at) for rater in draft.raters}
    entries = _store(round_, draft.rows, people or {"": actor}, at)
    _decide(round_, entries, draft, actor, at)
    _complete(round_, len(entries), at)
    lock_queries(sorted({row.query_id for row in draft.rows}), at=at)
    after = {"judgements": len(draft.rows), "skipped": draft.skipped, "origin": origin}
    if people:
        after |= {"raters": draft.raters, "decisions": len(draft.rulings)}
    record(project=project, actor=actor, action="judgements.imported", obj=round_, after=after, at=at)
    return ImportedRound(round_, is_new=True)


def _add_round(
    project: Project, snapshot: Snapshot, draft: JudgementDraft, name: str, origin: str, actor: User, at: datetime
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
    ratings = Counter(row.pair for row in draft.rows)
    shared = sum(n > 1 for n in ratings.values())
    round_ = Round.objects.create(
        project=project,
        pool=pool,
        number=number,
        name=name[:NAME_LENGTH],
        kind=RoundKind.IMPORTED,
        overlap_share=shared / len(ratings),
        judges=max(ratings.values()),
        origin=origin,
        created_by=actor,
        created_at=at,
    )
    queries = sorted({row.query_id for row in draft.rows})
    PoolQuery.objects.bulk_create((PoolQuery(pool=pool, query_id=pk) for pk in queries), batch_size=ROWS)
    return round_


def _store(
    round_: Round, rows: Sequence[Graded], people: Mapping[str, User], at: datetime
) -> dict[tuple[int, int], PoolEntry]:
    """Write pairs, seats and judgements; each rater of a pair has a seat of their own."""
    places = [RoundAnnotator(round=round_, annotator=person) for person in people.values()]
    RoundAnnotator.objects.bulk_create(places)
    pairs = dict.fromkeys(row.pair for row in rows)
    new = [PoolEntry(pool=round_.pool, query_id=query, version_id=version) for query, version in pairs]
    entries = dict(zip(pairs, PoolEntry.objects.bulk_create(new, batch_size=ROWS), strict=True))
    seat_counts: Counter[tuple[int, int]] = Counter()
    for start in range(0, len(rows), ROWS):
        batch = rows[start : start + ROWS]
        seats = [_seat(round_, entries[row.pair], people[row.rater], row, seat_counts) for row in batch]
        judgements = [_judgement(round_, seat, row, at) for seat, row in zip(seats, batch, strict=True)]
        Seat.objects.bulk_create(seats)
        Judgement.objects.bulk_create(judgements)
    return entries


def _seat(round_: Round, entry: PoolEntry, person: User, row: Graded, seat_counts: Counter[tuple[int, int]]) -> Seat:
    seat_counts[row.pair] += 1
    return Seat(
        round=round_,
        entry=entry,
        query_id=row.query_id,
        number=seat_counts[row.pair],
        state=SeatState.DONE,
        annotator=person,
    )


def _judgement(round_: Round, seat: Seat, row: Graded, at: datetime) -> Judgement:
    return Judgement(
        round=round_,
        seat=seat,
        entry=seat.entry,
        annotator=seat.annotator,
        grade=row.grade,
        note=row.note,
        idempotency_key=f"import-{round_.pk}-{row.line}",
        given_at=at,
    )


def _decide(
    round_: Round, entries: Mapping[tuple[int, int], PoolEntry], draft: JudgementDraft, actor: User, at: datetime
) -> None:
    """Store the final grades of the file where the ratings do not resolve to them."""
    reason = f"The final grade that came with the ratings. {round_.origin}"
    Adjudication.objects.bulk_create(
        (
            Adjudication(
                round=round_,
                entry=entries[pair],
                adjudicator=actor,
                grade=grade,
                reason=reason,
                error_type=ErrorType.NOT_RECORDED,
                given_at=at,
            )
            for pair, grade in sorted(draft.rulings.items())
        ),
        batch_size=ROWS,
    )


def _complete(round_: Round, pairs: int, at: datetime) -> None:
    pool = round_.pool
    pool.state, pool.entry_count, pool.completed_at = PoolState.COMPLETE, pairs, at
    pool.save(update_fields=["state", "entry_count", "completed_at"])
    round_.state, round_.opened_at, round_.closed_at = RoundState.CLOSED, at, at
    round_.save(update_fields=["state", "opened_at", "closed_at"])
