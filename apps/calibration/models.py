from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from apps.accounts.models import Project
from apps.review.enums import RateSide
from apps.review.models import FLAG_HAS_REASONS, AnyVerdict
from apps.triples.models import Revision


class CalibrationState(models.TextChoices):
    """Open: the two review blindly. Answered: they compare and discuss. Closed: with a note, finally."""

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    CLOSED = "closed", "Closed"


class Calibration(models.Model):
    """`subject` is the person whose rate signalled, as an author or as a reviewer; `partner` reviews the same set.

    `why` has the figures that fired the rule, or {"by_hand": …}; `period` is the group of the chart that fired, "" when
    a lead opened it by hand.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="calibrations")
    number = models.PositiveIntegerField()
    subject = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    partner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    side = models.CharField(max_length=10, choices=RateSide.choices)
    period = models.CharField(max_length=20, blank=True)
    why = models.JSONField(default=dict)
    item_count = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=CalibrationState.choices, default=CalibrationState.OPEN)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    opened_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="calibration_number_in_project"),
            models.UniqueConstraint(
                fields=["project", "subject", "side", "period"],
                condition=~Q(period=""),
                name="calibration_once_per_person_side_and_period",
            ),
            models.UniqueConstraint(
                fields=["project", "subject", "side"],
                condition=~Q(state="closed"),
                name="calibration_one_at_a_time_per_person_and_side",
            ),
            models.CheckConstraint(name="calibration_takes_two", condition=~Q(subject=F("partner"))),
            models.CheckConstraint(name="calibration_side_is_known", condition=Q(side__in=RateSide.values)),
            models.CheckConstraint(
                name="calibration_closed_has_who_when_and_a_note",
                condition=(
                    Q(state="closed", closed_at__isnull=False, closed_by__isnull=False) & ~Q(note="")
                    | Q(state__in=["open", "answered"], closed_at=None, closed_by=None, note="")
                ),
            ),
            models.CheckConstraint(
                name="calibration_answered_has_a_time",
                condition=Q(state="open", answered_at=None)
                | Q(state="answered", answered_at__isnull=False)
                | Q(state="closed"),
            ),
        ]

    def __str__(self) -> str:
        return f"C-{self.number:03d}"

    @property
    def people(self) -> tuple[int, int]:
        return self.subject_id, self.partner_id

    @property
    def is_open(self) -> bool:
        return self.state == CalibrationState.OPEN

    @property
    def is_closed(self) -> bool:
        return self.state == CalibrationState.CLOSED

    def includes(self, person: Any) -> bool:
        return person.pk in self.people


class CalibrationItem(models.Model):
    """One past revision of the set. Never changed."""

    calibration = models.ForeignKey(Calibration, models.PROTECT, related_name="items")
    number = models.PositiveSmallIntegerField()
    revision = models.ForeignKey(Revision, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["calibration", "number"], name="calibration_item_number_once"),
            models.UniqueConstraint(fields=["calibration", "revision"], name="calibration_item_once"),
        ]

    def __str__(self) -> str:
        return f"item {self.number} of {self.calibration_id}"


class CalibrationVerdict(AnyVerdict):
    """One of the two people's answer to an item."""

    item = models.ForeignKey(CalibrationItem, models.PROTECT, related_name="verdicts")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "person"],
                condition=Q(supersedes=None),
                name="calibration_verdict_one_chain_per_item_and_person",
            ),
            models.UniqueConstraint(fields=["person", "idempotency_key"], name="calibration_verdict_key_once"),
            models.CheckConstraint(
                name="calibration_flag_has_reasons_and_confirm_none",
                condition=FLAG_HAS_REASONS,
            ),
        ]

    def __str__(self) -> str:
        return f"calibration verdict {self.pk}"


class CalibrationMessage(models.Model):
    """One post in the discussion of a calibration. Append-only."""

    calibration = models.ForeignKey(Calibration, models.PROTECT, related_name="messages")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    posted_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="calibration_message_has_text")]

    def __str__(self) -> str:
        return f"calibration message {self.pk}"
