from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of_lines
from apps.common.errors import Refusal
from apps.corpus.models import BlockVersion
from apps.judging.actions.rounds import next_number
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.judging.selectors.carrying import Carried, CarryRule, carry_of
from apps.retrieval.models import Pool

ROWS = 500
MOST_AT_ONCE = 5_000
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
            "The pairs under this rule have changed since you loaded the page. Nothing was done; please check again."
        )
        raise CarryRefused(changed, code="pairs_changed")
    number = next_number(project)
    round_ = Round.objects.create(
        project=project,
        pool=pool,
        number=number,
        name=f"Carried over, round {number}",
        kind=RoundKind.PROPAGATED,
        overlap_share=0.0,
        judges=1,
        origin=f"From texts of {pool.name} that are the same and were judged. Rule: {IN_WORDS[rule]}",
        created_by=actor,
        created_at=at,
    )
    RoundAnnotator.objects.create(round=round_, annotator=actor)
    _store(round_, carried, actor, at)
    round_.state, round_.opened_at, round_.closed_at = RoundState.CLOSED, at, at
    round_.save(update_fields=["state", "opened_at", "closed_at"])
    exact = sum(each.is_exact for each in carried)
    after = {"pool": pool.pk, "rule": rule, "exact": exact, "near": len(carried) - exact, "mark": seen}
    record(project=project, actor=actor, action="grades.carried", obj=round_, after=after, at=at)
    return round_


def mark_of(pairs: Sequence[Carried]) -> str:
    """A digest of exactly these pairs and the grades they would get, up to the most that one call carries over."""
    return digest_of_lines(f"{each.entry.pk}\t{each.judged}\t{each.grade}" for each in pairs[:MOST_AT_ONCE])


def _store(round_: Round, carried: Sequence[Carried], actor: User, at: datetime) -> None:
    for start in range(0, len(carried), ROWS):
        batch = carried[start : start + ROWS]
        versions = BlockVersion.objects.filter(pk__in={each.judged for each in batch})
        names = dict(versions.values_list("pk", "block__outside_id"))
        seats = [_seat(round_, each, actor) for each in batch]
        Seat.objects.bulk_create(seats)
        Judgement.objects.bulk_create(
            _judgement(seat, each, names[each.judged], at) for seat, each in zip(seats, batch, strict=True)
        )


def _seat(round_: Round, each: Carried, actor: User) -> Seat:
    return Seat(
        round=round_,
        entry=each.entry,
        query_id=each.entry.query_id,
        number=1,
        state=SeatState.DONE,
        annotator=actor,
    )


def _judgement(seat: Seat, each: Carried, name: str, at: datetime) -> Judgement:
    likeness = "the same text" if each.is_exact else "nearly the same text"
    return Judgement(
        round=seat.round,
        seat=seat,
        entry=each.entry,
        annotator=seat.annotator,
        grade=each.grade,
        note=f"Carried over from {name}: {likeness}.",
        idempotency_key=f"carried-{seat.round_id}-{each.entry.pk}",
        given_at=at,
    )
