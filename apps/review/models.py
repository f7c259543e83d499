from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.corpus.models import BlockVersion
from apps.jobs.models import Job
from apps.review.enums import (
    BulkKind,
    CandidateChoice,
    CandidateState,
    Category,
    ItemState,
    NoteKind,
    ResolutionKind,
    VerdictChoice,
)
from apps.triples.models import Revision, Triple


class ReviewSeat(models.Model):
    """One of the two places from which a revision is reviewed. Live until `released_at` is set.

    `answered_at` and `closed_at` repeat values of verdicts and the round, so that a queue is read without history; a
    round also closes when its triple is retired because a permission was revoked. Like
    a verdict, `answered_at` is shown only to its reviewer and to leads without a part.
    """

    revision = models.ForeignKey(Revision, models.PROTECT, related_name="seats")
    number = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_seats")
    opened_at = models.DateTimeField()
    lease_expires_at = models.DateTimeField(
        null=True, help_text="A pulled seat can be pulled by others once this has passed. None: no lease."
    )
    released_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True, help_text="When the first verdict came from this seat.")
    closed_at = models.DateTimeField(null=True, help_text="When both verdicts of the round were in.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "number"], condition=Q(released_at=None), name="review_seat_number_once"
            ),
            models.UniqueConstraint(
                fields=["revision", "reviewer"], condition=Q(released_at=None), name="review_seat_once_per_person"
            ),
            models.CheckConstraint(name="review_seat_is_first_or_second", condition=Q(number__in=[1, 2])),
        ]
        indexes = [
            models.Index(
                fields=["reviewer", "opened_at"],
                name="review_seat_waiting",
                condition=Q(released_at=None, answered_at=None),
            ),
            models.Index(
                fields=["reviewer", "-answered_at"],
                name="review_seat_in_open_round",
                condition=Q(released_at=None, closed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return f"seat {self.number} of {self.revision_id}"


FLAG_HAS_REASONS = Q(choice="confirm", reasons=[], category="") | (Q(choice="flag") & ~Q(reasons=[]))


class AnyVerdict(models.Model):
    """A confirm, or a flag that names what is wrong. Never changed; a new verdict supersedes it."""

    choice = models.CharField(max_length=8, choices=VerdictChoice.choices)
    reasons = models.JSONField(default=list, help_text="What is wrong: values of Reason, none for a confirm.")
    category = models.CharField(max_length=10, choices=Category.choices, blank=True)
    note = models.TextField(blank=True)
    idempotency_key = models.CharField(max_length=64)
    supersedes = models.OneToOneField("self", models.PROTECT, null=True, related_name="superseded_by")
    given_at = models.DateTimeField()

    class Meta:
        abstract = True


class Verdict(AnyVerdict):
    """One reviewer's confirm or flag of one revision."""

    revision = models.ForeignKey(Revision, models.PROTECT, related_name="verdicts")
    seat = models.ForeignKey(ReviewSeat, models.PROTECT, related_name="verdicts")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="verdicts")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "reviewer"],
                condition=Q(supersedes=None),
                name="verdict_one_chain_per_revision_and_reviewer",
            ),
            models.UniqueConstraint(fields=["reviewer", "idempotency_key"], name="verdict_key_once"),
            models.CheckConstraint(
                name="verdict_flag_has_reasons_and_confirm_none",
                condition=FLAG_HAS_REASONS,
            ),
        ]

    def __str__(self) -> str:
        return f"verdict {self.pk}"


class DisputeMessage(models.Model):
    """One post in the thread of a dispute. Append-only."""

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="messages")
    round = models.PositiveIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    posted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="message_has_text", condition=~Q(text=""))]

    def __str__(self) -> str:
        return f"message {self.pk}"


class Resolution(models.Model):
    """What ended a round: recorded once, never changed."""

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="resolutions")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="resolutions")
    round = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=ResolutionKind.choices)
    category = models.CharField(max_length=10, choices=Category.choices, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    resolved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="resolution_adjudicated_has_judge_and_reason",
                condition=~Q(kind="adjudicated") | (Q(decided_by__isnull=False) & ~Q(reason="")),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.triple_id}"


class Escalation(models.Model):
    """The leads were notified, once, of a triple that has waited too long in one state, since `since`."""

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="escalations")
    since = models.DateTimeField(help_text="When the triple began to wait: its `changed_at` then.")
    told_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["triple", "since"], name="escalation_once")]

    def __str__(self) -> str:
        return f"escalation of {self.triple_id}"


class CandidateBlock(models.Model):
    """A block version that somebody holds for right as well, for an accepted triple. Two reviewers answer.

    It is asked about `revision`, the triple's current one; when another block is added first, it moves on to the
    revision with that block. `evaluation` is where it was found: evaluations lie above, so it is a number, and only
    whom `candidate_sight` allows learns it.
    """

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="candidate_blocks")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    version = models.ForeignKey(BlockVersion, models.PROTECT, related_name="+")
    spans = models.JSONField(default=list, help_text="[start, end] of what answers it; none for all of its text.")
    state = models.CharField(max_length=12, choices=CandidateState.choices, default=CandidateState.OPEN)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    evaluation = models.PositiveBigIntegerField(null=True)
    closed_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True)
    added = models.OneToOneField(
        Revision, models.PROTECT, null=True, related_name="candidate_block", help_text="The revision that has it."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="candidate_state_is_known", condition=Q(state__in=CandidateState.values)),
            models.UniqueConstraint(
                fields=["triple", "version"],
                condition=Q(state__in=["open", "disputed"]),
                name="candidate_asked_once",
            ),
            models.CheckConstraint(
                name="candidate_confirmed_is_added",
                condition=Q(state="confirmed", added__isnull=False) | (~Q(state="confirmed") & Q(added=None)),
            ),
            models.CheckConstraint(
                name="candidate_asked_is_not_closed",
                condition=Q(state__in=["open", "disputed"], closed_at=None)
                | (~Q(state__in=["open", "disputed"]) & Q(closed_at__isnull=False)),
            ),
            models.CheckConstraint(name="candidate_decided_has_a_reason", condition=Q(decided_by=None) | ~Q(reason="")),
        ]
        indexes = [
            models.Index(fields=["proposed_at"], name="candidate_open", condition=Q(state__in=["open", "disputed"]))
        ]

    def __str__(self) -> str:
        return f"candidate block {self.pk}"


class CandidateAnswer(models.Model):
    """One reviewer's answer about a candidate block. Never changed; a new answer supersedes it."""

    candidate = models.ForeignKey(CandidateBlock, models.PROTECT, related_name="answers")
    number = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="candidate_answers")
    choice = models.CharField(max_length=8, choices=CandidateChoice.choices)
    note = models.TextField(blank=True)
    idempotency_key = models.CharField(max_length=64)
    supersedes = models.OneToOneField("self", models.PROTECT, null=True, related_name="superseded_by")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="candidate_answer_is_first_or_second", condition=Q(number__in=[1, 2])),
            models.CheckConstraint(
                name="candidate_answer_choice_is_known", condition=Q(choice__in=CandidateChoice.values)
            ),
            models.UniqueConstraint(
                fields=["candidate", "number"], condition=Q(supersedes=None), name="candidate_answer_two_at_most"
            ),
            models.UniqueConstraint(
                fields=["candidate", "reviewer"], condition=Q(supersedes=None), name="candidate_answer_once_per_person"
            ),
            models.UniqueConstraint(fields=["reviewer", "idempotency_key"], name="candidate_answer_key_once"),
        ]

    def __str__(self) -> str:
        return f"answer {self.number} of {self.candidate_id}"


class MissNote(models.Model):
    """What somebody found who read a missed question: this passage is wrong, or the question is unclear.

    `passage` is the digest of the text that was read, so that nobody is asked about it again.
    """

    triple = models.ForeignKey(Triple, models.PROTECT, related_name="miss_notes")
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=NoteKind.choices)
    passage = models.CharField(max_length=64, blank=True)
    text = models.TextField(blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    evaluation = models.PositiveBigIntegerField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="miss_note_wrong_names_a_passage",
                condition=Q(kind="unclear", passage="") | (Q(kind="wrong") & ~Q(passage="")),
            ),
            models.UniqueConstraint(
                fields=["revision", "kind", "passage"], condition=Q(withdrawn_at=None), name="miss_note_once"
            ),
        ]

    def __str__(self) -> str:
        return f"note {self.pk} on {self.triple_id}"


class BulkStep(models.Model):
    """One action of a lead on many triples, done by a job. `selected` counts also those that it could not be done to.

    `values` are what the action takes: a reason, a source, reviewers. `waits` counts by author those that need them.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="bulk_steps")
    kind = models.CharField(max_length=12, choices=BulkKind.choices)
    values = models.JSONField(default=dict)
    waits = models.JSONField(default=dict)
    selected = models.PositiveIntegerField()
    planned = models.PositiveIntegerField()
    begun_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    begun_at = models.DateTimeField()
    job = models.OneToOneField(Job, models.PROTECT, related_name="bulk_step")
    undo_job = models.OneToOneField(Job, models.PROTECT, null=True, related_name="undone_step")

    class Meta:
        constraints = [
            models.CheckConstraint(name="bulk_kind_is_known", condition=Q(kind__in=BulkKind.values)),
            models.CheckConstraint(
                name="bulk_plans_no_more_than_selected", condition=Q(planned__gte=1, planned__lte=models.F("selected"))
            ),
        ]
        indexes = [models.Index(fields=["project", "-begun_at"], name="bulk_newest")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.planned:,} Q&As"


class BulkItem(models.Model):
    """One triple of a bulk step: done once, whichever worker is killed. `before` is what an undo gives back.

    `edit_version` is that of the triple after the step, so that a later edit is seen.
    """

    step = models.ForeignKey(BulkStep, models.PROTECT, related_name="items")
    triple = models.ForeignKey(Triple, models.PROTECT, related_name="bulk_items")
    state = models.CharField(max_length=8, choices=ItemState.choices, default=ItemState.PLANNED)
    reason = models.TextField(blank=True)
    before = models.JSONField(default=dict)
    edit_version = models.PositiveIntegerField(default=0)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step", "triple"], name="bulk_item_once"),
            models.CheckConstraint(
                name="bulk_item_is_done_at_a_time",
                condition=Q(state__in=["planned", "left"], done_at=None)
                | Q(state__in=["done", "undone", "kept"], done_at__isnull=False),
            ),
            models.CheckConstraint(
                name="bulk_item_left_has_a_reason", condition=~Q(state__in=["left", "kept"]) | ~Q(reason="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.triple} in {self.step_id}"
