"""Actions of calibrations and their states: open, answer blindly, discuss, close. A periodic task opens them too."""

import logging
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max
from django.urls import reverse

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, members_of, policy, roles_of
from apps.audit.actions import record, save_step
from apps.calibration import rules
from apps.calibration.models import (
    Calibration,
    CalibrationItem,
    CalibrationMessage,
    CalibrationState,
    CalibrationVerdict,
)
from apps.calibration.selectors import calibrations, comparisons
from apps.common.errors import Forbidden, Refusal
from apps.jobs.actions.notifications import notify
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.execution.periodic import periodic_task
from apps.review.enums import RateSide
from apps.review.rules import flag_fault

KIND = "calibration"


class CalibrationRefused(Refusal):
    """The calibration cannot be opened, answered or closed this way."""


class Checked(NamedTuple):
    """The calibrations that the rule opened, and the people for whom it could not, each with a reason."""

    opened: list[Calibration]
    refused: list[str]


# Steps ----------------------------------------------------------------------------------------------------------------

STEPS: dict[tuple[str, str], str] = {
    (CalibrationState.OPEN, "answer"): CalibrationState.ANSWERED,
    (CalibrationState.OPEN, "close"): CalibrationState.CLOSED,
    (CalibrationState.ANSWERED, "close"): CalibrationState.CLOSED,
}


def move(calibration: Calibration, step: str, *, actor: User, at: datetime, **changes: Any) -> Calibration:
    """Make `step` on the locked row, with `changes` to other fields, and write its event. Raises IllegalStep."""
    save_step(
        calibration,
        step,
        STEPS.get((calibration.state, step)),
        project=calibration.project,
        actor=actor,
        action=f"calibration.{step}",
        after={"note": changes.get("note", calibration.note)},
        at=at,
        **changes,
    )
    return calibration


# Opening -----------------------------------------------------------------------------------------------------------


@transaction.atomic
def open_calibration(
    *, project: Project, subject: User, partner: User, side: RateSide, lead: User, reason: str, at: datetime
) -> Calibration:
    """A lead opens one by hand."""
    _lock(project)
    Forbidden.raise_for(rules.open_refusal(_member(project, lead)), code="not_a_lead")
    if Calibration.objects.filter(project=project, subject=subject, side=side).exclude(state="closed").exists():
        raise CalibrationRefused(f"{subject} is in a calibration {side.label} already. Close it first.", code="twice")
    why = {"by_hand": reason.strip()}
    return _open(project, subject, partner, side, why=why, period="", opened_by=lead, at=at)


@transaction.atomic
def check_project(*, project: Project, actor: User | None, at: datetime) -> Checked:
    """Open a calibration for everybody whose chart signals. A second call opens nothing twice."""
    _lock(project)
    opened, refused = [], []
    for fired in comparisons.fired_in(project):
        subject = User.objects.get(pk=fired.person)
        try:
            opened.append(_open_for(project, subject, fired, actor, at))
        except CalibrationRefused as refusal:
            refused.append(f"{subject}, {fired.side.label}: {refusal.sentence}")
    return Checked(opened, refused)


def _open_for(
    project: Project, subject: User, fired: comparisons.Fired, actor: User | None, at: datetime
) -> Calibration:
    """Open one with the first partner for whom there is a set. Else raises the refusal for the first one."""
    first: CalibrationRefused | None = None
    for partner in comparisons.partners_for(project, subject):
        try:
            return _open(
                project,
                subject,
                partner,
                fired.side,
                why=comparisons.why_of(fired.signal),
                period=fired.signal.group.first,
                opened_by=actor,
                at=at,
            )
        except CalibrationRefused as refusal:
            first = first or refusal
    raise first or CalibrationRefused("There is no other reviewer to calibrate with.", code="no_partner")


def _open(
    project: Project,
    subject: User,
    partner: User,
    side: RateSide,
    *,
    why: dict[str, Any],
    period: str,
    opened_by: User | None,
    at: datetime,
) -> Calibration:
    able = frozenset(comparisons.able_people(project).values_list("pk", flat=True))
    CalibrationRefused.raise_for(rules.pair_refusal(subject, partner, able), code="pair")
    number = (Calibration.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0) + 1
    revisions = _set_for(project, subject, partner, number)
    made = Calibration.objects.create(
        project=project,
        number=number,
        subject=subject,
        partner=partner,
        side=side,
        period=period,
        why=why,
        item_count=len(revisions),
        opened_by=opened_by,
        opened_at=at,
    )
    CalibrationItem.objects.bulk_create(
        CalibrationItem(calibration=made, number=place, revision_id=revision)
        for place, revision in enumerate(revisions, start=1)
    )
    after = {"subject": subject.pk, "partner": partner.pk, "side": side, "items": len(revisions), "why": why}
    record(project=project, actor=opened_by, action="calibration.open", obj=made, after=after, at=at)
    _notify_opened(made, at)
    return made


def _set_for(project: Project, subject: User, partner: User, number: int) -> list[int]:
    """The revisions for the project's calibration of that number, as many as its settings require."""
    wanted = max(rules.LEAST_ITEMS, policy(project, "calibration_items"))
    seed = f"{project.pk}:{subject.pk}:{partner.pk}:{number}"
    choice = comparisons.choose_set(project, subject, partner, wanted=wanted, seed=seed)
    if choice.refusal:
        raise CalibrationRefused(choice.refusal, code="too_few_triples")
    return choice.revisions


def _notify_opened(made: Calibration, at: datetime) -> None:
    """Notify the two people of the items to answer, and every other lead of the calibration."""
    for person in (made.subject, made.partner):
        sentence = f"{made}: please review {made.item_count} past Q&As again, blind."
        _notify(made, person, "opened", sentence, at)
    for lead in members_of(made.project, "lead"):
        if lead.pk not in made.people and lead != made.opened_by:
            was = f"{made} was opened for {made.subject} {made.get_side_display()}, with {made.partner}."
            _notify(made, lead, "opened", was, at)
    facts = {"calibration": made.number, "items": made.item_count, "url": absolute(_page_of(made))}
    post_to_webhooks(project=made.project, event=WebhookEvent.CALIBRATION, facts=facts, at=at)


def _lock(project: Project) -> None:
    """Serialize openings: numbers and the rule's periods stay unique."""
    Project.objects.select_for_update().get(pk=project.pk)


def _member(project: Project, person: User) -> Member:
    return Member(user=person, project=project, roles=roles_of(person, project))


def _notify(calibration: Calibration, person: User, step: str, sentence: str, at: datetime) -> None:
    key, path = f"calibration:{calibration.pk}:{step}", _page_of(calibration)
    notify(person=person, project=calibration.project, kind=KIND, sentence=sentence, path=path, key=key, at=at)


def _page_of(calibration: Calibration) -> str:
    return reverse("calibration:calibration", args=[calibration.project.slug, calibration.number])


# Answering ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def answer_item(
    *,
    project: Project,
    calibration_id: int,
    number: int,
    person: User,
    choice: str,
    reasons: list[str],
    category: str = "",
    note: str = "",
    idempotency_key: str,
    at: datetime,
) -> CalibrationVerdict:
    """Confirm or flag item `number` once more. It may be changed until both have answered all; the triple stays as is.

    The same key twice has one effect and returns the same answer. The last answer of the two opens the comparison.
    """
    calibration = calibrations.locked_calibration(project, calibration_id)
    item = calibration.items.filter(number=number).first()
    if item is None:
        raise CalibrationRefused(f"{calibration} has no item {number}.", code="no_item")
    sent = CalibrationVerdict.objects.filter(person=person, idempotency_key=idempotency_key).first()
    if sent is not None:
        return _same_or_refused(sent, item, choice, reasons)
    CalibrationRefused.raise_for(rules.answer_refusal(calibration, person), code="no_answer")
    CalibrationRefused.raise_for(flag_fault(choice, reasons, category, note), code="bad_verdict")
    verdict = CalibrationVerdict.objects.create(
        item=item,
        person=person,
        choice=choice,
        reasons=list(reasons),
        category=category,
        note=note.strip(),
        idempotency_key=idempotency_key,
        supersedes=calibrations.live_verdicts().filter(item=item, person=person).first(),
        given_at=at,
    )
    if calibrations.is_all_answered(calibration):
        move(calibration, "answer", actor=person, at=at, answered_at=at)
        for one in (calibration.subject, calibration.partner):
            _notify(calibration, one, "answered", f"{calibration}: both of you have answered. Compare and discuss.", at)
    return verdict


def _same_or_refused(
    sent: CalibrationVerdict, item: CalibrationItem, choice: str, reasons: list[str]
) -> CalibrationVerdict:
    if (sent.item_id, sent.choice, sent.reasons) != (item.pk, choice, list(reasons)):
        raise CalibrationRefused("This key was used for another verdict.", code="key_reused")
    return sent


# Discussing and closing --------------------------------------------------------------------------------------------


@transaction.atomic
def post_calibration_message(
    *, project: Project, calibration_id: int, author: User, text: str, at: datetime
) -> CalibrationMessage:
    calibration = calibrations.locked_calibration(project, calibration_id)
    CalibrationRefused.raise_for(rules.discuss_refusal(calibration, _member(project, author)), code="no_message")
    if not text.strip():
        raise CalibrationRefused("Write a message first.", code="text_missing")
    return CalibrationMessage.objects.create(calibration=calibration, author=author, text=text.strip(), posted_at=at)


@transaction.atomic
def close_calibration(*, project: Project, calibration_id: int, person: User, note: str, at: datetime) -> Calibration:
    """Close it with a note on what follows. That ends the hiding of verdicts, even if not both answered."""
    calibration = calibrations.locked_calibration(project, calibration_id)
    CalibrationRefused.raise_for(rules.close_refusal(calibration, _member(project, person)), code="not_closable")
    if not note.strip():
        raise CalibrationRefused("Write what you agreed on: a calibration needs a note to close.", code="note_missing")
    closed = move(calibration, "close", actor=person, at=at, closed_at=at, closed_by=person, note=note.strip())
    for one in (closed.subject, closed.partner):
        if one != person:
            _notify(closed, one, "closed", f"{person} closed {closed} with a note.", at)
    return closed


# Periodic ----------------------------------------------------------------------------------------------------------


log = logging.getLogger(__name__)


@periodic_task("open calibrations", every=timedelta(hours=6))
def open_calibrations(at: datetime) -> None:
    """Check every project's charts. What could not be opened is reported again at the next check, and on the page."""
    for project in Project.objects.not_deleted().order_by("pk"):
        for sentence in check_project(project=project, actor=None, at=at).refused:
            log.info("No calibration in %s. %s", project.slug, sentence)
