"""Grades and verdicts of people who differ, given through the real actions."""

import random
from datetime import datetime
from typing import NamedTuple

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.calibration.actions import answer_item, open_calibration
from apps.calibration.models import Calibration
from apps.judging.models import Round
from apps.review.actions.submitting import give_verdict
from apps.review.enums import Category, RateSide, Reason, VerdictChoice
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import judge_all, make_pool, make_round
from tests.review.factories import answer_both, make_in_review, reload, reviewers_of, take_back
from tests.triples.factories import make_snapshot

NAMES = ("Mara Quist", "Tobias Engel", "Ines Okonjo-Vale")


def make_noisy_round(project: Project, *, queries: int = 8, share: float = 0.25, seed: int = 1, pool=None) -> Round:
    """Three annotators grade every pair; each slips on a `share` of them."""
    annotators = [make_member(project, Role.ANNOTATOR, name=name) for name in NAMES]
    pool = pool or make_pool(project, queries=queries, snapshot=make_snapshot(project))
    round_ = make_round(project, pool=pool, annotators=annotators, overlap=1.0, judges=3)
    dice = random.Random(seed)
    for person in annotators:
        judge_all(round_, person, lambda seat: slip(seat.entry_id % 4, dice, share))
    return round_


def slip(grade: int, dice: random.Random, share: float) -> int:
    return min(3, max(0, grade + dice.choice((-1, 1)))) if dice.random() < share else grade


def make_reviewed(project: Project, *, both: int = 3, one: int = 1, none: int = 0) -> None:
    """Triples by one author: `both` confirmed twice, `one` confirmed and flagged, `none` flagged twice."""
    for name in ("Petra Lomas", "Sef Arden"):
        make_member(project, Role.REVIEWER, name=name)
    author = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
    plan = [(VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)] * both
    plan += [(VerdictChoice.CONFIRM, VerdictChoice.FLAG)] * one + [(VerdictChoice.FLAG, VerdictChoice.FLAG)] * none
    for answers in plan:
        answer_both(make_in_review(project, author=author), *answers)


def make_team(**reviewed: int) -> Project:
    project = make_project()
    make_noisy_round(project)
    make_reviewed(project, **reviewed)
    return project


def review_once(
    project: Project, author: User, first: str, second: str, *, at: datetime = AT, by: User | None = None, **flag
) -> Triple:
    """One triple whose first round was answered at `at` by two reviewers; it may end disputed. `by` says the second."""
    triple = make_in_review(project, author=author)
    reviewers = sorted(reviewers_of(triple), key=lambda person: person == by)
    for reviewer, choice in zip(reviewers, (first, second), strict=True):
        about = {"reasons": [Reason.OVERSTATED], "category": Category.NUMERIC, "note": "SECRET-NOTE"} | flag
        give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=triple.current_id,
            reviewer=reviewer,
            choice=choice,
            idempotency_key=f"tracked-{triple.pk}-{reviewer.pk}",
            at=at,
            **(about if choice == VerdictChoice.FLAG else {"reasons": []}),
        )
    return reload(triple)


def make_past(project: Project, author: User, *, confirmed: int = 4, flagged: int = 4) -> list[Triple]:
    """Triples that ended: `confirmed` by both, and `flagged` by one and accepted by policy after all."""
    found = [review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM) for _ in range(confirmed)]
    for _ in range(flagged):
        triple = review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
        found.append(take_back(triple, reviewers_of(triple)[1]))
    return found


class Calibrated(NamedTuple):
    """A project with past triples, and the two who review them once more."""

    project: Project
    calibration: Calibration
    lead: User
    subject: User
    partner: User
    author: User


def make_calibration(*, items: int = 4, **past: int) -> Calibrated:
    """A calibration of two reviewers, opened by the lead by hand."""
    project = make_project()
    project.policies = {**project.policies, "calibration_items": items}
    project.save(update_fields=["policies"])
    subject = make_member(project, Role.REVIEWER, name="Petra Lomas")
    partner = make_member(project, Role.REVIEWER, name="Sef Arden")
    author = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
    make_past(project, author, **past)
    lead = lead_of(project)
    made = open_calibration(
        project=project, subject=subject, partner=partner, side=RateSide.REVIEWER, lead=lead, reason="Talk.", at=AT
    )
    return Calibrated(project, made, lead, subject, partner, author)


def answer_items(made: Calibrated, person: User, choice: str = VerdictChoice.CONFIRM, *, most: int = 99) -> None:
    about = (
        {"reasons": [Reason.WRONG_BLOCK], "note": "SECOND-LOOK"} if choice == VerdictChoice.FLAG else {"reasons": []}
    )
    for number in range(1, min(most, made.calibration.item_count) + 1):
        answer_item(
            project=made.project,
            calibration_id=made.calibration.pk,
            number=number,
            person=person,
            choice=choice,
            idempotency_key=f"again-{made.calibration.pk}-{number}-{person.pk}-{choice}",
            at=AT,
            **about,
        )
