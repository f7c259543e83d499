"""Sending a revision to its two reviewers."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot
from apps.review import rules
from apps.review.actions.rounds import SubmitRefused, locked_with_standing, start_round
from apps.triples.actions import add_revision, save_draft
from apps.triples.checks import WARN, stop_sentence
from apps.triples.drafting import Wording, checks_of
from apps.triples.enums import State, Step
from apps.triples.models import Revision, Triple
from apps.triples.selectors import open_revision

STEP_OF_SUBMITTING = {State.DRAFT: Step.SUBMIT, State.DISPUTED: Step.REVISE, State.ACCEPTED: Step.RE_PIN}


@transaction.atomic
def submit_triple(*, project: Project, triple_id: int, author: User, at: datetime) -> Triple:
    """Send the open revision to two reviewers: a first draft, the answer to a dispute, or a re-pin."""
    triple, standing = locked_with_standing(project, triple_id, author)
    revision = open_revision(triple)
    if revision is None:
        raise SubmitRefused("No revision is open; there is nothing to submit.", code="no_open_revision")
    if reason := rules.submit_refusal(triple, standing, revision.author_id == author.pk):
        raise SubmitRefused(reason, code="not_submittable")
    checks = checks_of(project, author, revision)
    if sentence := stop_sentence(checks):
        raise SubmitRefused(sentence, code="checks")
    revision.warnings = [
        {"code": check.code, "sentence": check.sentence, "detail": check.detail}
        for check in checks
        if check.level == WARN
    ]
    return start_round(triple, revision, STEP_OF_SUBMITTING[State(triple.state)], actor=author, at=at)


@transaction.atomic
def begin_revision(*, project: Project, triple_id: int, person: User, snapshot: Snapshot, at: datetime) -> Revision:
    """Open the next revision of a disputed triple, or of a stale one on the newer `snapshot`.

    Nothing moves until it is submitted. Opening it again returns the one that is open.
    """
    triple, standing = locked_with_standing(project, triple_id, person)
    rule = rules.repin_refusal if triple.state == State.ACCEPTED else rules.revise_refusal
    if reason := rule(triple, standing):
        raise SubmitRefused(reason, code="not_revisable")
    revision = open_revision(triple)
    if revision is None:
        return add_revision(triple, person, snapshot, at)
    if revision.author_id != person.pk:
        raise SubmitRefused(f"{revision.author} is writing the next revision already.", code="being_written")
    return revision


@transaction.atomic
def revise(
    *, project: Project, triple_id: int, author: User, snapshot: Snapshot, wording: Wording, at: datetime
) -> Triple:
    """Answer a dispute with a new revision and a new round, in one go."""
    revision = begin_revision(project=project, triple_id=triple_id, person=author, snapshot=snapshot, at=at)
    save_draft(
        project=project,
        triple_id=triple_id,
        author=author,
        seen_version=revision.triple.edit_version,
        snapshot=snapshot,
        wording=wording,
        at=at,
    )
    return submit_triple(project=project, triple_id=triple_id, author=author, at=at)


@transaction.atomic
def re_pin(*, project: Project, triple_id: int, person: User, snapshot: Snapshot, at: datetime) -> Triple:
    """Pin a stale triple to the new text with the evidence that it still says, and have it reviewed again.

    Refused by the checks when the evidence is gone from the new text: then it is written anew on the bench.
    """
    begin_revision(project=project, triple_id=triple_id, person=person, snapshot=snapshot, at=at)
    return submit_triple(project=project, triple_id=triple_id, author=person, at=at)
