from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.review.enums import Category, ResolutionKind, VerdictChoice
from apps.triples.models import Revision, Triple


class ReviewSeat(models.Model):
    """One of the two places from which a revision is reviewed. Live until `released_at` is set.

    `answered_at` and `closed_at` repeat values of verdicts and the round, so that a queue is read without history. Like
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
