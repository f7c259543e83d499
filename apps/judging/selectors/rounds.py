"""Rounds with their pilots, guidelines, pools, seats and pairs, always inside one project."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Q, QuerySet
from django.shortcuts import get_object_or_404
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from apps.accounts.models import Project, User
from apps.accounts.selectors import Holding
from apps.common.database.batched_reads import BatchedRead, ListOf
from apps.common.database.statements import prepared_cursor, rows_of
from apps.judging.core import keymap
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Guideline, Judgement, KeyMap, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.deciding import left_to_judges
from apps.judging.selectors.plans import pilot_queries, plan_of
from apps.judging.selectors.progress import fixed_seat_count
from apps.metrics.agreement.counting import ordinal_alpha
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool, PoolEntry


class RoundSummary(NamedTuple):
    """A round in the list, with its seats counted."""

    round: Round
    planned: int
    done: int
    people: int
    with_judges: int

    @property
    def is_full(self) -> bool:
        """Whether every planned grade of an open round is given. A lead can close it, once its judges have settled."""
        return self.round.state == RoundState.OPEN and 0 < self.planned <= self.done


def round_summaries(project: Project) -> list[RoundSummary]:
    """Every round of the project, withdrawn ones too, newest first, in a fixed number of statements."""
    rounds = list(Round.objects.filter(project=project).select_related("pool", "guideline").order_by("-number"))
    seats = Seat.objects.filter(round__in=rounds)
    fixed = {round_.pk: fixed_seat_count(round_) for round_ in rounds}
    every = _by_round(seats.filter(round__in=[pk for pk, number in fixed.items() if number is None]))
    reserved = _by_round(seats.filter(reserved_for__isnull=False))
    done = _by_round(seats.filter(state=SeatState.DONE))
    people = _by_round(RoundAnnotator.objects.filter(round__in=rounds))
    planned = {pk: every.get(pk, 0) if number is None else number + reserved.get(pk, 0) for pk, number in fixed.items()}
    settling = left_to_judges(project, rounds)
    return [
        RoundSummary(round_, planned[round_.pk], done.get(round_.pk, 0), people.get(round_.pk, 0), settling[round_.pk])
        for round_ in rounds
    ]


def _by_round(rows: QuerySet) -> dict[int, int]:
    return dict(rows.values_list("round").annotate(n=Count("pk")).order_by())


def own_keys(person: User) -> dict[str, str]:
    """The keys this person chose for the judging screen; empty for the defaults."""
    row = KeyMap.objects.filter(person=person).first()
    return dict(row.keys) if row else {}


def keys_question(person: User) -> BatchedRead[dict[str, str]]:
    """Asks for the key of every act of the judging screen for this person."""
    chosen = ListOf(KeyMap.objects.filter(person=person).values_list("keys"), json=["keys"])
    return BatchedRead({"keys": chosen}, lambda found: keymap.keys_of(found["keys"][0][0] if found["keys"] else {}))


def lease_metrics(at: datetime) -> list[Metric]:
    """Reads the seats that are leased, which are few: an index has no others."""
    lapsed = Seat.objects.filter(state=SeatState.LEASED, lease_expires_at__lt=at).count()
    about = "Pairs that were leased, and whose lease has lapsed with nobody having asked for a pair since."
    return [GaugeMetricFamily("karat_leases_lapsed", about, lapsed)]


def grade_metrics(at: datetime) -> list[Metric]:
    """The highest number of a grade, since counting a million takes a while. Grades are never deleted.

    On PostgreSQL a grade that was taken back before its commit has used a number too.
    """
    highest = Judgement.objects.aggregate(highest=Max("pk"))["highest"] or 0
    about = "Grades ever stored, changed and imported ones included."
    return [CounterMetricFamily("karat_grades", about, highest)]


def held_pairs(user: User) -> list[Holding]:
    """Leased pairs, and those that wait in open rounds to be judged by this person only: nobody else can."""
    seats = Seat.objects.order_by("round__project__name").values_list("round__project__name")
    leased = seats.filter(annotator=user, state=SeatState.LEASED).annotate(count=Count("pk"))
    only_theirs = Q(reserved_for=user, state=SeatState.OPEN) & ~Q(round__state=RoundState.CLOSED)
    reserved = seats.filter(only_theirs).annotate(count=Count("pk"))
    left = "stay unjudged; a lead closes the round without them"
    return [
        *(Holding("leased pair", count, "back to the queue", project) for project, count in leased),
        *(Holding("pair that only they can judge,pairs that only they can judge", count, left, project)
          for project, count in reserved),
    ]  # fmt: skip


UNFILLED_SEATS = """
SELECT EXISTS (SELECT 1 FROM judging_seat s
  WHERE s.round_id = %(round)s AND s.state IN ('open', 'leased') AND s.query_id IN ({}) AND s.pass_number = 1
    AND (SELECT q.retired_at FROM queries_query q WHERE q.id = s.query_id) IS NULL)
"""


class PilotProgress(NamedTuple):
    """The pilot of a round: its size, its progress, its ordinal α so far, and its decision."""

    queries: int
    planned: int
    done: int
    alpha: float | None
    bar: float
    decision: PilotDecision | None
    is_waiting: bool

    @property
    def is_judged(self) -> bool:
        """Whether every seat of the pilot is done."""
        return self.done == self.planned


def answers_over(round_: Round, queries: list[int]) -> dict[int, list[int | None]]:
    """The answers in force on each judged pair of these queries, None for "can't judge"."""
    seats = Seat.objects.filter(round=round_, query__in=queries, pass_number=1, state=SeatState.DONE)
    judgements = Judgement.objects.filter(seat__in=seats, superseded_by=None)
    answers: dict[int, list[int | None]] = {}
    for entry_id, grade in judgements.values_list("entry_id", "grade"):
        answers.setdefault(entry_id, []).append(grade)
    return answers


def alpha_over(round_: Round, queries: list[int]) -> float | None:
    """Ordinal α over the grades in force on the pairs of these queries; None where it is undefined."""
    return ordinal_alpha(answers_over(round_, queries).values())


def is_filled(round_: Round, queries: list[int]) -> bool:
    """Whether no first grade is missing on these queries. Asked after each grade of a pilot."""
    statement = UNFILLED_SEATS.format(", ".join(str(int(query)) for query in queries))
    with prepared_cursor() as cursor:
        ((is_missing,),) = rows_of(cursor, statement, {"round": round_.pk})
    return not is_missing


def pilot_progress(round_: Round) -> PilotProgress | None:
    """The progress of the pilot of this round; None for a round without one."""
    queries = pilot_queries(round_)
    if not queries:
        return None
    seats = Seat.objects.filter(round=round_, query__in=queries, pass_number=1)
    decision = PilotDecision.objects.filter(round=round_).select_related("decided_by").first()
    return PilotProgress(
        queries=len(queries),
        planned=seats.count(),
        done=seats.filter(state=SeatState.DONE).count(),
        alpha=decision.alpha if decision else alpha_over(round_, queries),
        bar=plan_of(round_).pilot_bar,
        decision=decision,
        is_waiting=decision is None and round_.state == RoundState.OPEN,
    )


def rounds_in(project: Project) -> QuerySet[Round]:
    """The project's rounds, newest first, without those that were withdrawn."""
    return Round.objects.in_force().filter(project=project).select_related("pool", "guideline").order_by("-number")


def rounds_of(user: User, project: Project) -> QuerySet[Round]:
    """The rounds in which this person is an annotator, newest first."""
    mine = RoundAnnotator.objects.filter(annotator=user)
    return rounds_in(project).filter(kind=RoundKind.JUDGING, pk__in=mine.values("round"))


def round_in(project: Project, pk: int) -> Round:
    """The round, or Http404."""
    rounds = Round.objects.select_related("project", "pool__snapshot", "guideline", "created_by")
    return get_object_or_404(rounds, project=project, pk=pk)


def own_round(user: User, project: Project, pk: int) -> Round:
    """The round if this person is an annotator of it, or Http404."""
    rounds = Round.objects.select_related("project", "guideline")
    return get_object_or_404(rounds, project=project, pk=pk, annotators__annotator=user)


def seat_in(round_: Round, pk: int) -> Seat:
    """The seat, or Http404."""
    return get_object_or_404(Seat, round=round_, pk=pk)


def entry_in(round_: Round, pk: int) -> PoolEntry:
    """The pair, or Http404."""
    entries = PoolEntry.objects.select_related("query", "version__block__document")
    return get_object_or_404(entries, pool=round_.pool_id, pk=pk)


def entries_in(round_: Round, pks: list[int]) -> dict[int, PoolEntry]:
    """These pairs of the round with their query and text, by key."""
    entries = PoolEntry.objects.select_related("query", "version__block__document")
    return {entry.pk: entry for entry in entries.filter(pool=round_.pool_id, pk__in=pks)}


def open_rounds_of(user: User, project: Project) -> QuerySet[Round]:
    """The open rounds in which this person is an annotator, oldest first."""
    return rounds_of(user, project).filter(state=RoundState.OPEN).order_by("number")


def guidelines_in(project: Project) -> QuerySet[Guideline]:
    """The versions of the project's guideline, newest first."""
    return Guideline.objects.filter(project=project).select_related("published_by").order_by("-number")


def guideline_in(project: Project, number: int) -> Guideline:
    """The version of the guideline, or Http404."""
    return get_object_or_404(guidelines_in(project), number=number)


def latest_guideline(project: Project) -> Guideline | None:
    """The version that new rounds use."""
    return guidelines_in(project).first()


def wants_first_round(project: Project) -> bool:
    """Whether pairs wait in a pool and nobody was ever asked to judge any."""
    pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE).exclude(kind=PoolKind.IMPORTED)
    return pools.exists() and not rounds_in(project).exists()


def pool_in(project: Project, pk: int) -> Pool:
    """The pool, or Http404."""
    return get_object_or_404(Pool.objects.select_related("snapshot"), project=project, pk=pk)


def free_pool_name(project: Project, name: str) -> str:
    """The name, with a number where a pool has it already."""
    used = set(Pool.objects.filter(project=project, name__startswith=name).values_list("name", flat=True))
    names = [name, *(f"{name} ({number})" for number in range(2, len(used) + 2))]
    return next(each for each in names if each not in used)


def pools_judged_by(user: User) -> QuerySet:
    """Keys of the pools of which this person may still be assigned pairs: their ranks are hidden from them."""
    return RoundAnnotator.objects.filter(annotator=user).exclude(round__state=RoundState.CLOSED).values("round__pool")


def withdrawn_pools(project: Project) -> QuerySet[Pool]:
    """The pools that came with grades whose import was undone."""
    return Pool.objects.filter(project=project, rounds__withdrawn_at__isnull=False)


def person_of_round(round_: Round, pk: int) -> User | None:
    """A person who was asked in a round; None for anybody else."""
    return User.objects.filter(pk=pk, pk__in=round_.annotators.values("annotator")).first()
