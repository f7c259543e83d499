"""Carrying grades over to pairs with the same text, and along to the next edition."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.digests import digest_of_lines
from apps.common.errors import Refusal
from apps.corpus.models import BlockVersion, Snapshot
from apps.judging.actions.rounds import next_number
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.judging.selectors.propagation import Carried, CarryRule, carry_of
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool, PoolEntry

ROWS = 500
MOST_AT_ONCE = 5_000
ALONG = {"how": "along"}
"""The plan of a pool of grades that came along to a newer snapshot; beside it, how many are on which texts."""

IN_WORDS = {CarryRule.EXACT: "exact texts", CarryRule.NEAR: "exact and near texts"}


class CarryRefused(Refusal):
    """No grade can be carried over."""


@transaction.atomic
def carry_over(*, pool: Pool, rule: CarryRule, seen: str, actor: User, at: datetime) -> Round:
    """Give pairs the grade of the judged pair with the same text, as a closed round of its own on the pool.

    `seen` is the mark of the pairs that the lead was shown (`mark_of`); when the pairs have changed since, nothing is
    carried over. At most 5,000 pairs at once; the next call carries over the rest. A pair that has the grade already,
    or was judged itself, is left alone.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=pool.project_id)
    carried = carry_of(pool).under(rule)[:MOST_AT_ONCE]
    if not carried:
        raise CarryRefused("This rule gives a grade to no pair.", code="nothing_to_carry")
    if mark_of(carried) != seen:
        changed = (
            "The pairs under this rule have changed since you looked at them. Nothing was done; please check again."
        )
        raise CarryRefused(changed, code="pairs_changed")
    origin = f"From texts of {pool.name} that are the same and were judged. Rule: {IN_WORDS[rule]}"
    round_ = _round_of(pool, origin, actor, at)
    _store(round_, _sourced(carried))
    _close(round_, at)
    exact = sum(each.is_exact for each in carried)
    after = {"pool": pool.pk, "rule": rule, "exact": exact, "near": len(carried) - exact, "mark": seen}
    record(project=project, actor=actor, action="grades.carried", obj=round_, after=after, at=at)
    return round_


def mark_of(pairs: Sequence[Carried]) -> str:
    """A digest of exactly these pairs and the grades they would get, up to the most that one call carries over."""
    return digest_of_lines(f"{each.entry.pk}\t{each.judged}\t{each.grade}" for each in pairs[:MOST_AT_ONCE])


class GradeToCarry(NamedTuple):
    """A grade given on an earlier snapshot, for a query and a block version of a newer one.

    `is_changed` when the text is another there, else only the id is. `facets` are the subtopics chosen with the grade.
    """

    query_id: int
    version_id: int
    grade: int
    note: str
    is_changed: bool
    facets: list[str] | None = None


@transaction.atomic
def carry_along(
    *, snapshot: Snapshot, name: str, grades: Sequence[GradeToCarry], origin: str, actor: User, at: datetime
) -> Round:
    """Give pairs of a snapshot the grades that were given to earlier texts, as a closed round on a pool of its own.

    `name` is the pool's. Each judgement keeps where its grade is from, in its note. Raises ChoiceRefused.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=snapshot.corpus.project_id)
    pairs = [(each.query_id, each.version_id) for each in grades]
    changed = sum(each.is_changed for each in grades)
    plan = {**ALONG, "changed": changed, "renamed": len(grades) - changed}
    pool = choose_pairs(
        project=project, snapshot=snapshot, name=name, pairs=pairs, origin=origin, plan=plan, actor=actor, at=at
    )
    round_ = _round_of(pool, origin, actor, at)
    entries = {(entry.query_id, entry.version_id): entry for entry in PoolEntry.objects.filter(pool=pool)}
    sourced = (_Sourced(entries[one[:2]], one.grade, one.note, one.facets) for one in grades)
    _store(round_, sourced)
    _close(round_, at)
    after = {"pool": pool.pk, "snapshot": snapshot.digest, "grades": len(pairs)}
    record(project=project, actor=actor, action="grades.carried_along", obj=round_, after=after, at=at)
    return round_


class _Sourced(NamedTuple):
    """A pair with the grade it gets, and the words that say from where."""

    entry: PoolEntry
    grade: int
    note: str
    facets: list[str] | None = None


def _sourced(carried: Sequence[Carried]) -> Iterable[_Sourced]:
    for batch in chunks(carried, ROWS):
        versions = BlockVersion.objects.filter(pk__in={each.judged for each in batch})
        names = dict(versions.values_list("pk", "block__outside_id"))
        for each in batch:
            likeness = "the same text" if each.is_exact else "nearly the same text"
            yield _Sourced(each.entry, each.grade, f"Carried over from {names[each.judged]}: {likeness}.", each.facets)


def _round_of(pool: Pool, origin: str, actor: User, at: datetime) -> Round:
    """A round for carried grades; the caller has locked the project."""
    number = next_number(pool.project)
    round_ = Round.objects.create(
        project=pool.project,
        pool=pool,
        number=number,
        name=f"Carried over, round {number}",
        kind=RoundKind.PROPAGATED,
        overlap_share=0.0,
        judges=1,
        origin=origin[:300],
        created_by=actor,
        created_at=at,
    )
    RoundAnnotator.objects.create(round=round_, annotator=actor)
    return round_


def _close(round_: Round, at: datetime) -> None:
    round_.state, round_.opened_at, round_.closed_at = RoundState.CLOSED, at, at
    round_.save(update_fields=["state", "opened_at", "closed_at"])


def _store(round_: Round, carried: Iterable[_Sourced]) -> None:
    """One judged seat and one judgement for each pair, by the person who created the round."""
    for batch in chunks(carried, ROWS):
        seats = [_seat(round_, each.entry) for each in batch]
        Seat.objects.bulk_create(seats)
        Judgement.objects.bulk_create(_judgement(seat, each) for seat, each in zip(seats, batch, strict=True))


def _seat(round_: Round, entry: PoolEntry) -> Seat:
    return Seat(
        round=round_,
        entry=entry,
        query_id=entry.query_id,
        number=1,
        state=SeatState.DONE,
        annotator=round_.created_by,
    )


def _judgement(seat: Seat, each: _Sourced) -> Judgement:
    return Judgement(
        round=seat.round,
        seat=seat,
        entry=each.entry,
        annotator=seat.annotator,
        grade=each.grade,
        note=each.note,
        facets=each.facets,
        idempotency_key=f"carried-{seat.round_id}-{each.entry.pk}",
        given_at=seat.round.created_at,
    )
