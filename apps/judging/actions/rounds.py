"""Open and close a round, and decide on its pilot; and the rows that actions in a round lock.

They read what they decide on after locking, never before. Grading and claiming lock the person's own place in the
round, so that people never wait for each other. Closing a round and deciding on its pairs lock all its places and then
the round itself, always in this order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Max

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.database.statements import run
from apps.common.errors import Forbidden, Refusal
from apps.corpus.models import Snapshot
from apps.jobs.actions.jobs import enqueue
from apps.judging import rules
from apps.judging.actions.differences import tell_of_closing
from apps.judging.core.plan import Plan, Remit
from apps.judging.enums import RoundState, SeatState
from apps.judging.execution.jobs import create_seats, finish_opening, keep_judged_pairs, seat_counts
from apps.judging.models import Guideline, KnownAnswer, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.differences import open_differences
from apps.judging.selectors.plans import (
    CHECK,
    judges_by_query,
    keeps_grades,
    pairs_to_plan,
    pilot_of,
    pilot_queries,
    plan_of,
    split_by_grade,
    undecided_pilot_queries,
)
from apps.judging.selectors.rejudging import KnownGrade, known_pairs
from apps.judging.selectors.rounds import alpha_over, latest_guideline
from apps.queries.actions.sets import draw_set
from apps.queries.models import Query, SavedSet
from apps.queries.selectors import frozen_query_ids
from apps.retrieval.actions.runs import lock_queries
from apps.retrieval.models import Pool, PoolEntry
from apps.retrieval.selectors.pools import proposed_sources
from apps.retrieval.selectors.question_sets import QueryChoice

PLACE = """
SELECT p.id FROM judging_roundannotator p
 WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s [FOR UPDATE]
"""


class NotAnnotator(Forbidden):
    """Somebody who is not an annotator of this round tried to grade in it."""

    def __init__(self) -> None:
        super().__init__("You are not an annotator in this round.", code="not_in_round")


def lock_place(cursor: CursorWrapper, facts: Mapping[str, Any]) -> None:
    """Lock the place of `person` in `round`, where rows are locked.

    A statement of its own: a row joined to one that was waited for is as it was before the wait.
    """
    if connection.features.has_select_for_update:
        run(cursor, PLACE, facts)


def locked_place(round_id: int, annotator: User) -> RoundAnnotator:
    """This person's place in the round, locked, with the round as it is now. Raises NotAnnotator for others."""
    places = RoundAnnotator.objects.filter(round=round_id, annotator=annotator)
    list(places.select_for_update().values_list("pk"))
    place = places.select_related("round__project").first()
    if place is None:
        raise NotAnnotator()
    return place


def locked_round(round_id: int) -> Round:
    """Lock the round and all its places until the transaction ends, and return it as it is now."""
    return locked_rounds([round_id])[0]


def locked_rounds(round_ids: Iterable[int]) -> list[Round]:
    """The same for several rounds, by key. For a round without places only its own row is locked."""
    ids = list(round_ids)
    places = RoundAnnotator.objects.select_for_update().filter(round__in=ids).order_by("pk")
    list(places.values_list("pk", flat=True))
    return list(Round.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))


def entries_for(pool: Pool, known: Sequence[KnownGrade]) -> list[PoolEntry]:
    """The pool's entries for these known pairs; a pair that no run returned is added for the check alone.

    The caller has locked the pool's row.
    """
    entries = {pair_of(entry): entry for entry in _entries(pool, known)}
    new = [pair for pair in known if pair[:2] not in entries]
    sampled = {"how": CHECK}
    PoolEntry.objects.bulk_create(
        PoolEntry(pool=pool, query_id=pair.query_id, version_id=pair.version_id, sampled=sampled) for pair in new
    )
    if new:
        pool.entry_count = PoolEntry.objects.filter(pool=pool).count()
        pool.save(update_fields=["entry_count"])
        entries = {pair_of(entry): entry for entry in _entries(pool, known)}
    return [entries[pair[:2]] for pair in known]


def pair_of(entry: PoolEntry) -> tuple[int, int]:
    """The query and the text of an entry."""
    return entry.query_id, entry.version_id


def _entries(pool: Pool, known: Sequence[KnownGrade]) -> list[PoolEntry]:
    wanted = {pair[:2] for pair in known}
    rows = PoolEntry.objects.filter(pool=pool, query__in={query for query, _ in wanted})
    rows = rows.filter(version__in={version for _, version in wanted})
    return [entry for entry in rows if pair_of(entry) in wanted]


class PilotRefused(Refusal):
    """A pilot cannot be decided."""


@transaction.atomic
def open_after_pilot(*, round_id: int, actor: User, reason: str, at: datetime) -> PilotDecision:
    """Open the rest of a round whatever the agreement in its pilot, with the lead's reason on record."""
    round_ = locked_round(round_id)
    reason = reason.strip()
    if refusal := rules.pilot_refusal(round_, is_waiting=undecided_pilot_queries(round_) is not None, reason=reason):
        raise PilotRefused(refusal, code="pilot_not_open")
    alpha = alpha_over(round_, pilot_queries(round_))
    decision = PilotDecision.objects.create(round=round_, alpha=alpha, decided_by=actor, reason=reason, decided_at=at)
    after = {"alpha": alpha, "reason": reason}
    record(project=round_.project, actor=actor, action="round.pilot_opened", obj=round_, after=after, at=at)
    return decision


MOST_PAIRS_AT_ONCE = 5_000


class RoundRefused(Refusal):
    """A round cannot be opened or closed."""


@transaction.atomic
def open_round(
    *,
    project: Project,
    actor: User,
    pool: Pool,
    guideline: Guideline | None,
    annotators: Sequence[User],
    plan: Plan,
    at: datetime,
    name: str = "",
    lease_minutes: int = 30,
    remits: Mapping[int, Remit] | None = None,
    known: Sequence[KnownGrade] = (),
) -> Round:
    """Plan who judges how much of a pool, and create exactly the planned seats.

    `remits` maps people, by key, to what they may judge; everybody else may judge everything. `known` are checks in
    addition to those that the plan takes from earlier rounds. Up to 5,000 pairs the round is opened at once; beyond
    that by a job.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    locked = Pool.objects.select_for_update(of=("self",), no_key=True).select_related("snapshot").get(pk=pool.pk)
    people = set(members_of(project, Role.ANNOTATOR).filter(pk__in=[user.pk for user in annotators]))
    own = {person.pk: (remits or {}).get(person.pk) for person in sorted(people, key=lambda person: person.pk)}
    keeps = keeps_grades(locked, plan)
    is_early = rules.too_early_refusal(is_opening=_is_another_opening(locked, plan, keeps))
    if reason := rules.open_round_refusal(locked, guideline, len(people)) or is_early:
        raise RoundRefused(reason, code="round_not_possible")
    checks = _checks(locked, plan, known)
    round_ = _create_round(project, actor, locked, guideline, plan, name, lease_minutes, at)
    KnownAnswer.objects.bulk_create(
        KnownAnswer(round=round_, entry=entry, grade=pair.grade, origin=pair.origin)
        for entry, pair in zip(entries_for(locked, checks), checks, strict=True)
    )
    pairs, kept_pairs = _counted_pairs(round_, keeps)
    repeats = plan.preview(pairs).repeated > 0
    most = plan.judges if repeats else 1
    if reason := rules.pairs_refusal(pairs, len(checks), kept_pairs) or _people_refusal(locked, plan, own, most):
        raise RoundRefused(reason, code="round_not_possible")
    RoundAnnotator.objects.bulk_create(
        RoundAnnotator(round=round_, annotator_id=pk, only=remit) for pk, remit in own.items()
    )
    lock_queries(list(pool.pool_queries.values_list("query_id", flat=True)), at=at)
    _record_plan(round_, list(own), len(checks), kept_pairs, actor, at)
    _open_planned(round_, pairs + kept_pairs, actor, at)
    return round_


@transaction.atomic
def start_pilot(
    *,
    project: Project,
    name: str,
    number: int,
    seed: int,
    of: SavedSet | None = None,
    snapshot: Snapshot,
    depth: int,
    annotators: Sequence[User],
    actor: User,
    at: datetime,
) -> Pool:
    """Draw a frozen set of queries by stratum, and pool the systems and runs that a new pool proposes for it.

    The job that builds the pool opens the round, in which each of the annotators judges every pair.
    """
    from apps.retrieval.actions.pools import request_pool  # it loads what asks other servers

    refusal = rules.pilot_start_refusal(latest_guideline(project), len(annotators), number)
    RoundRefused.raise_for(refusal, code="pilot_not_possible")
    drawn = draw_set(project=project, name=name, number=number, seed=seed, of=of, actor=actor, at=at)
    proposal = proposed_sources(project, snapshot)
    return request_pool(
        project=project,
        name=name,
        snapshot_id=snapshot.pk,
        system_ids=proposal.systems,
        run_ids=proposal.runs,
        with_built_in=not any(proposal),
        depth=depth,
        choice=QueryChoice(questions=drawn.key),
        then={"annotators": [person.pk for person in annotators], "seed": seed},
        actor=actor,
        at=at,
    )


def open_pilot(pool: Pool, then: Mapping[str, Any], actor: User, at: datetime) -> str:
    """Open the round of a pilot on its pool; returns why it cannot be opened, "" once it is."""
    people = list(User.objects.filter(pk__in=then["annotators"]))
    plan = Plan(overlap=1.0, judges=max(1, len(people)), seed=then["seed"])
    try:
        open_round(
            project=pool.project,
            actor=actor,
            pool=pool,
            guideline=latest_guideline(pool.project),
            annotators=people,
            plan=plan,
            name=pool.name,
            at=at,
        )
    except RoundRefused as refusal:
        return refusal.sentence
    return ""


def _record_plan(round_: Round, people: list[int], checks: int, kept_pairs: int, actor: User, at: datetime) -> None:
    after = {
        "pool": round_.pool_id,
        "seed": round_.seed,
        "annotators": people,
        "plan": round_.plan,
        "checks": checks,
        "kept": kept_pairs,
    }
    record(project=round_.project, actor=actor, action="round.planned", obj=round_, after=after, at=at)


def _is_another_opening(pool: Pool, plan: Plan, keeps: bool) -> bool:
    """Whether a round that decides which pairs are new is opening: on the corpus, or for `only_new` on this pool."""
    opening = Round.objects.filter(state=RoundState.OPENING)
    if keeps:
        return opening.filter(pool__snapshot__corpus=pool.snapshot.corpus_id).exists()
    return plan.only_new and opening.filter(pool=pool).exists()


def _counted_pairs(round_: Round, keeps: bool) -> tuple[int, int]:
    """How many pairs the round judges, and how many keep their earlier grade."""
    entries = pairs_to_plan(round_.pool, plan_of(round_), before=round_)
    if not keeps:
        return entries.count(), 0
    new, judged = split_by_grade(entries)
    return new.count(), judged.count()


def _open_planned(round_: Round, pairs: int, actor: User, at: datetime) -> None:
    """At once, or in a job where there are too many pairs for a request."""
    if pairs > MOST_PAIRS_AT_ONCE:
        params = {"round_id": round_.pk}
        enqueue(kind="judging.open_round", params=params, project=round_.project, actor=actor, at=at)
    else:
        keep_judged_pairs(round_)
        create_seats(round_, seat_counts(round_))
        finish_opening(round_, actor=actor, at=at)


def _checks(pool: Pool, plan: Plan, known: Sequence[KnownGrade]) -> list[KnownGrade]:
    """The known pairs of the round: those named, and as many from earlier rounds as the plan wants."""
    named = {pair[:2]: pair for pair in known}
    sampled = known_pairs(pool.snapshot, plan.checks, seed=plan.seed)
    if len(sampled) < plan.checks:
        raise RoundRefused(rules.checks_refusal(plan.checks, len(sampled)), code="checks_refusal")
    return list(({pair[:2]: pair for pair in sampled} | named).values())


def _people_refusal(pool: Pool, plan: Plan, remits: Mapping[int, Remit | None], most: int) -> str | None:
    if reason := rules.plan_refusal(len(remits), most):
        return reason
    if not any(remits.values()):
        return None
    queries = Query.objects.filter(pk__in=pool.pool_queries.values("query"))
    if plan.questions:
        queries = queries.filter(pk__in=frozen_query_ids(pool.project_id, plan.questions))
    short = sorted(pk for pk, people in judges_by_query(queries, remits).items() if len(people) < most)
    example = Query.objects.get(pk=short[0]).outside_id if short else ""
    return rules.remits_refusal(len(short), example, most)


def _create_round(
    project: Project,
    actor: User,
    pool: Pool,
    guideline: Guideline | None,
    plan: Plan,
    name: str,
    lease_minutes: int,
    at: datetime,
) -> Round:
    number = next_number(project)
    return Round.objects.create(
        project=project,
        pool=pool,
        guideline=guideline,
        number=number,
        name=name or f"Round {number}",
        overlap_share=plan.overlap,
        judges=plan.judges,
        seed=plan.seed,
        plan=_written(pool, plan),
        lease_minutes=lease_minutes,
        created_by=actor,
        created_at=at,
    )


def _written(pool: Pool, plan: Plan) -> dict[str, Any]:
    """The plan as the round stores it, with what it read from the pool: the queries of its pilot and the last pair."""
    last = PoolEntry.objects.filter(pool=pool).aggregate(top=Max("pk"))["top"]
    entries = pairs_to_plan(pool, plan)
    with_work = split_by_grade(entries)[0] if keeps_grades(pool, plan) else entries
    queries = [query.pk for query in pilot_of(pool, plan, with_work)]
    return {**plan.to_json(), "pilot_queries": queries, "last_entry": last}


def next_number(project: Project) -> int:
    """The number of the project's next round; the caller has locked the project's row."""
    return (Round.objects.filter(project=project).aggregate(top=Max("number"))["top"] or 0) + 1


@transaction.atomic
def close_round(*, round_id: int, actor: User, at: datetime) -> Round:
    """End a round. Empty seats stay empty, and pairs resolve on their answers so far."""
    round_ = locked_round(round_id)
    RoundRefused.raise_for(rules.close_refusal(round_), code="round_not_closable")
    left = Counter(judge for each in open_differences(round_) for judge in each.asked)
    seats = Seat.objects.filter(round=round_)
    seats.filter(state=SeatState.LEASED).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    round_.state = RoundState.CLOSED
    round_.closed_at = at
    round_.save(update_fields=["state", "closed_at"])
    record(
        project=round_.project,
        actor=actor,
        action="round.closed",
        obj=round_,
        before={"state": RoundState.OPEN},
        after={
            "state": RoundState.CLOSED,
            "planned": seats.count(),
            "given": seats.filter(state=SeatState.DONE).count(),
        },
        at=at,
    )
    tell_of_closing(round_, left, by=actor, at=at)
    return round_
