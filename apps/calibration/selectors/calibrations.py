"""Reads of calibrations: who reviews what once more, what is hidden from them meanwhile, and what is sealed."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Holding, Member
from apps.audit.selectors.events import sealed_kind
from apps.calibration.models import (
    Calibration,
    CalibrationItem,
    CalibrationMessage,
    CalibrationState,
    CalibrationVerdict,
)
from apps.common.digests import utc_text
from apps.review.selectors.reviews import words_payload
from apps.triples.models import Triple


def register() -> None:
    """Register for sealing what is append-only and therefore its own record."""
    sealed_kind(
        "calibration verdict", CalibrationVerdict, project_path="item__calibration__project", payload=verdict_payload
    )
    sealed_kind("calibration message", CalibrationMessage, project_path="calibration__project", payload=message_payload)


def verdict_payload(verdict: CalibrationVerdict) -> dict[str, Any]:
    return {
        "item": verdict.item_id,
        "person": verdict.person_id,
        "supersedes": verdict.supersedes_id,
        **words_payload(verdict),
    }


def message_payload(message: CalibrationMessage) -> dict[str, Any]:
    return {
        "calibration": message.calibration_id,
        "author": message.author_id,
        "text": message.text,
        "posted_at": utc_text(message.posted_at),
    }


def held_calibrations(user: User) -> list[Holding]:
    open_ = Calibration.objects.filter(Q(subject=user) | Q(partner=user)).exclude(state=CalibrationState.CLOSED)
    counted = open_.order_by("project__name").values_list("project__name").annotate(count=Count("pk"))
    return [Holding("calibration", count, "stays open; a lead closes it", project) for project, count in counted]


LARGEST_NUMBER = 2**31 - 1


def blinded_triples(person: User) -> QuerySet[Any]:
    """Ids of the triples that the person is reviewing once more: all verdicts on them are hidden from them."""
    return CalibrationItem.objects.filter(
        Q(calibration__subject=person) | Q(calibration__partner=person), calibration__state=CalibrationState.OPEN
    ).values("revision__triple")


def blinded_among(triples: Sequence[Triple], person: User) -> set[int]:
    """The keys of those of the triples whose verdicts are hidden from the person."""
    items = blinded_triples(person).filter(revision__triple__in=triples)
    return set(items.values_list("revision__triple", flat=True))


def is_compared_by(person: User, calibration: Calibration) -> bool:
    """Whether the answers are shown to the person: not while one of its triples is hidden from them."""
    if calibration.is_open:
        return False
    return not calibration.items.filter(revision__triple__in=blinded_triples(person)).exists()


def calibrations_for(member: Member) -> QuerySet[Calibration]:
    """The calibrations that this member may see, newest first: all for leads, their own for others."""
    calibrations = Calibration.objects.filter(project=member.project).select_related("project", "subject", "partner")
    if not member.is_lead:
        calibrations = calibrations.filter(Q(subject=member.user) | Q(partner=member.user))
    return calibrations.order_by("-number")


def calibration_for(member: Member, number: int) -> Calibration:
    rows = calibrations_for(member).select_related("opened_by", "closed_by")
    calibration = rows.filter(number=number).first() if number <= LARGEST_NUMBER else None
    if calibration is None:
        raise Http404("No such calibration.")
    return calibration


def locked_calibration(project: Project, pk: int) -> Calibration:
    calibration = (
        Calibration.objects.select_for_update(of=("self",))
        .select_related("project")
        .filter(project=project, pk=pk)
        .first()
    )
    if calibration is None:
        raise Http404("No such calibration.")
    return calibration


def unanswered_items(person: User, project: Project) -> QuerySet[CalibrationItem]:
    """Items this person has not answered, in the order of their set."""
    mine = live_verdicts().filter(item=OuterRef("pk"), person=person)
    return (
        CalibrationItem.objects.filter(
            Q(calibration__subject=person) | Q(calibration__partner=person),
            calibration__project=project,
            calibration__state=CalibrationState.OPEN,
        )
        .exclude(Exists(mine))
        .order_by("calibration__number", "number")
    )


def live_verdicts() -> QuerySet[CalibrationVerdict]:
    return CalibrationVerdict.objects.filter(superseded_by=None)


def own_verdicts(calibration: Calibration, person: User) -> dict[int, CalibrationVerdict]:
    """The person's verdicts in force, by item."""
    return {
        verdict.item_id: verdict
        for verdict in live_verdicts().filter(item__calibration=calibration, person=person).select_related("item")
    }


def answered_by(calibration: Calibration) -> dict[int, int]:
    """How many items each has answered; for leads without a part in it, and to end the answering."""
    rows = live_verdicts().filter(item__calibration=calibration).values_list("person").annotate(Count("pk"))
    return dict(rows.order_by())


def is_all_answered(calibration: Calibration) -> bool:
    counts = answered_by(calibration)
    return all(counts.get(person, 0) == calibration.item_count for person in calibration.people)


def messages_of(calibration: Calibration) -> QuerySet[CalibrationMessage]:
    return calibration.messages.select_related("author").order_by("posted_at", "pk")
