"""Settling a difference among its judges: looking at the grades of the others, and answering.

A judge's place in the round is locked by each of their grades. Here the places of all judges of the pair are locked, so
that nobody changes a first grade, answers, or closes the round meanwhile.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.http import Http404
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.accounts.selectors import members_of
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.jobs.actions.notifications import notify, read_about
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Notification
from apps.judging import rules
from apps.judging.core.differences import Difference, SecondAnswer
from apps.judging.enums import DIFFERENCES, ROUND_CLOSED, DecidedBy, ErrorType, RoundState
from apps.judging.models import Adjudication, Judgement, Round, RoundAnnotator, SecondGrade, SecondLook
from apps.judging.selectors.deciding import is_reconciled_in
from apps.judging.selectors.differences import OwnDifference, differences_of, open_differences
from apps.retrieval.models import PoolEntry


class SecondGradeRefused(Refusal):
    """A judge cannot look at this difference, or not answer it so."""


@transaction.atomic
def look_at_difference(*, round_: Round, entry: PoolEntry, judge: User, at: datetime) -> OwnDifference:
    """Show a judge the grades of the others on a pair; from now on their own first grade is final.

    Looking again changes nothing. Raises SecondGradeRefused where there is nothing to settle, Http404 for others.
    """
    own = _locked(round_, entry, judge)
    if own is None:
        raise SecondGradeRefused(_why_none(round_, entry), code="no_difference")
    if own.answer_of(judge.pk) is None:
        SecondLook.objects.get_or_create(round=round_, entry=entry, judge=judge, defaults={"looked_at": at})
        read_about(person=judge, project=round_.project, prefix=_key(round_, ""), at=at)
    return own


@transaction.atomic
def answer_difference(
    *,
    round_: Round,
    entry: PoolEntry,
    judge: User,
    grade: int | None,
    cant_judge: str = "",
    reason: str = "",
    seen: int,
    idempotency_key: str,
    at: datetime,
) -> SecondGrade:
    """Keep one's grade of a pair on which judges differ, or change it with a word why.

    `seen` is the number of answers to the difference that the judge had seen. When all give one grade now, the pair is
    settled at it, at once. The same key again returns the answer that it made. Raises SecondGradeRefused.
    """
    own = _locked(round_, entry, judge)
    if own is None:
        raise SecondGradeRefused(_why_none(round_, entry), code="no_difference")
    if earlier := next((each for each in own.second if _is_same(each, judge, idempotency_key)), None):
        return earlier
    answer = SecondAnswer(judge.pk, grade)
    if fault := rules.answer_refusal(round_.project, grade, cant_judge) or _refusal(own, answer, reason, seen):
        raise SecondGradeRefused(fault, code="second_grade_not_possible")
    look = SecondLook.objects.filter(round=round_, entry=entry, judge=judge).first()
    if look is None:
        raise SecondGradeRefused("Look at the grades of the other judges first.", code="not_looked")
    after = Difference(own.difference.first, [*own.difference.answers, answer])
    given = SecondGrade.objects.create(
        look=look,
        grade=grade,
        cant_judge=cant_judge,
        reason=reason.strip(),
        is_last=after.has_ended,
        idempotency_key=idempotency_key,
        given_at=at,
    )
    if after.reconciled is not None:
        _settle(round_, entry, after.reconciled, [*own.second, given], at)
    return given


def _settle(round_: Round, entry: PoolEntry, grade: int, given: Sequence[SecondGrade], at: datetime) -> None:
    """Record the grade that all give now. The last word why is its reason: who returns to their own grade gave none."""
    last, reason = given[-1], next(each.reason for each in reversed(given) if each.reason)
    decision = Adjudication.objects.create(
        round=round_,
        entry=entry,
        adjudicator=last.look.judge,
        grade=grade,
        reason=reason,
        error_type=ErrorType.NOT_RECORDED,
        decided_by=DecidedBy.JUDGES,
        given_at=at,
    )
    after = {"grade": grade, "reason": reason}
    record(project=round_.project, actor=last.look.judge, action="pair.reconciled", obj=decision, after=after, at=at)


def _locked(round_: Round, entry: PoolEntry, judge: User) -> OwnDifference | None:
    """The difference as it is now, with the places of its judges locked; None where there is none for this person.

    Raises Http404 for somebody who has not judged the pair.
    """
    judges = Judgement.objects.filter(round=round_, entry=entry, pass_number=1).values("annotator")
    places = RoundAnnotator.objects.filter(round=round_, annotator__in=judges).order_by("pk")
    people = list(places.select_for_update().values_list("annotator", flat=True))
    if judge.pk not in people:
        raise Http404("No such pair of yours.")
    if reason := rules.annotator_refusal(locked_roles(judge, round_.project)):
        raise SecondGradeRefused(reason, code="no_longer_annotator")
    fresh = Round.objects.select_related("project").get(pk=round_.pk)
    return next(iter(differences_of(judge, [fresh], entry)), None)


def _is_same(given: SecondGrade, judge: User, key: str) -> bool:
    return given.look.judge_id == judge.pk and given.idempotency_key == key


def _refusal(own: OwnDifference, answer: SecondAnswer, reason: str, seen: int) -> str | None:
    """Why the judge can't answer so: settled, ended with the round, or by the rules of a difference."""
    if (decision := own.decision) is not None:
        by_judges = decision.decided_by == DecidedBy.JUDGES
        return rules.settled_words(grade=decision.grade, own=own.own.grade, by_judges=by_judges)
    open_ = rules.second_look_refusal(own.round.state, reconcile=is_reconciled_in(own.round), has_left=own.has_left)
    return open_ or rules.second_grade_refusal(own.difference, answer, reason, seen=seen)


def _why_none(round_: Round, entry: PoolEntry) -> str:
    fresh = Round.objects.get(pk=round_.pk)
    reason = rules.second_look_refusal(fresh.state, reconcile=is_reconciled_in(fresh), has_left=False)
    return reason or "The judges of this pair do not differ, or have not all answered yet."


# Notifications -----------------------------------------------------------------------------------------------------


@periodic_task("judging.differences", every=timedelta(minutes=5))
def tell_of_differences(at: datetime) -> None:
    """Notify judges once of differences that wait for them, and again when all that they were told of is done.

    Not in the moment of a grade: that would tell when the other judge gave theirs.
    """
    rounds = Round.objects.filter(state=RoundState.OPEN, plan__reconcile=True, project__archived_at=None)
    for round_ in rounds.filter(project__in=Project.objects.not_deleted()).select_related("project").order_by("pk"):
        _tell(round_, at)


@transaction.atomic
def _tell(round_: Round, at: datetime) -> None:
    since: dict[int, datetime] = {}
    for each in open_differences(round_):
        for judge, asked_at in each.asked.items():
            since[judge] = min(asked_at, since.get(judge, asked_at))
    earlier = Notification.objects.filter(project=round_.project, person__in=since, key__startswith=_key(round_, ""))
    unread = set(earlier.filter(read_at=None).values_list("person", flat=True))
    told = dict(earlier.order_by().values_list("person").annotate(last=Max("created_at")))
    for person in User.objects.filter(pk__in=since.keys() - unread).order_by("pk"):
        if person.pk in told and told[person.pk] >= since[person.pk]:
            continue
        notify(
            person=person,
            project=round_.project,
            kind=DIFFERENCES,
            sentence=f"In {round_} you and another judge differ. Look at both grades, and keep yours or change it.",
            path=reverse("judging:differences", args=[round_.project.slug, round_.pk]),
            key=_key(round_, since[person.pk].isoformat()),
            at=at,
        )


def tell_of_closing(round_: Round, left: Counter[int], *, by: User, at: datetime) -> None:
    """Notify who judged in a round that it was closed; `left` are the differences that waited for each of them."""
    places = RoundAnnotator.objects.filter(round=round_).values("annotator")
    for judge in members_of(round_.project).filter(pk__in=places).order_by("pk"):
        read_about(person=judge, project=round_.project, prefix=_key(round_, ""), at=at)
        if judge != by:
            own = plural(left[judge.pk], "difference that waited for you goes", "differences that waited for you go")
            notify(
                person=judge,
                project=round_.project,
                kind=ROUND_CLOSED,
                sentence=f"{by} closed {round_}. {f'{own} to a lead.' if left[judge.pk] else 'Its grades are final.'}",
                path=reverse("judging:mine", args=[round_.project.slug]),
                key=f"round:{round_.pk}:closed",
                at=at,
            )


def _key(round_: Round, since: str) -> str:
    return f"differences:{round_.pk}:{since}"
