"""Public releases of a version: what goes out, what stays, who looked, and the bytes."""

from django.db import models
from django.db.models import Q

from apps.goldsets.enums import PublicState, StayKind, StayReason
from apps.goldsets.models.versions import Version, person
from apps.jobs.models import Job


class PublicRelease(models.Model):
    """What of a version goes out to the public: prepared by one lead, signed by another, then fixed for good.

    `digest` is the SHA-256 of the zip file, empty until it is built. Its bytes are kept from then on, in parts.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="public_releases")
    state = models.CharField(max_length=12, choices=PublicState.choices, default=PublicState.PREPARING)
    job = models.ForeignKey(
        Job, models.PROTECT, null=True, related_name="+", help_text="The last one that built the files."
    )
    title = models.CharField(max_length=120)
    holder = models.CharField(max_length=120, blank=True, help_text="Who is credited; empty for nobody.")
    licence = models.CharField(max_length=40)
    splits = models.JSONField(default=list)
    card = models.JSONField(default=dict, help_text="The text of each section of the data card.")
    report = models.JSONField(default=dict, help_text="What goes, what stays, and what was taken out, in counts.")
    digest = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    prepared_by = person()
    prepared_at = models.DateTimeField()
    asked = person(null=True)
    asked_at = models.DateTimeField(null=True)
    signed_by = person(null=True)
    signed_at = models.DateTimeField(null=True)
    released_by = person(null=True)
    released_at = models.DateTimeField(null=True)
    withdrawn_by = person(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawal_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version"], condition=~Q(state="withdrawn"), name="public_release_one_live_per_version"
            ),
            models.CheckConstraint(
                name="public_release_signer_is_another",
                condition=Q(signed_by=None) | ~Q(signed_by=models.F("prepared_by")),
            ),
            models.CheckConstraint(
                name="public_release_state_fits_its_times",
                condition=Q(
                    state__in=["preparing", "failed", "prepared"], signed_at=None, released_at=None, withdrawn_at=None
                )
                | Q(state="signed", signed_at__isnull=False, released_at=None, withdrawn_at=None)
                | Q(state="released", signed_at__isnull=False, released_at__isnull=False, withdrawn_at=None)
                | Q(state="withdrawn", withdrawn_at__isnull=False),
            ),
            models.CheckConstraint(
                name="public_release_has_a_digest",
                condition=Q(state__in=["preparing", "failed", "withdrawn"]) | ~Q(digest=""),
            ),
            models.CheckConstraint(
                name="public_release_signature_has_a_signer",
                condition=Q(signed_at=None, signed_by=None) | Q(signed_at__isnull=False, signed_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} {self.version.label}, public"

    @property
    def is_preparing(self) -> bool:
        return self.state == PublicState.PREPARING

    @property
    def is_prepared(self) -> bool:
        return self.state == PublicState.PREPARED

    @property
    def is_built(self) -> bool:
        """Whether its files are there, and are those of its choices."""
        return self.state not in {PublicState.PREPARING, PublicState.FAILED}

    @property
    def found_texts(self) -> list[str]:
        """The texts that must not go out, as the last build found them."""
        forbidden = self.report.get("forbidden")
        return [*(hit["text"] for hit in self.report.get("hits", [])), *(forbidden[1:2] if forbidden else [])]

    @property
    def open_job(self) -> Job | None:
        """The job that builds its files now, or waits to."""
        return self.job if self.job is not None and not self.job.is_ended else None


class PublicStay(models.Model):
    """An item that a public release keeps in, with the reason."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="stays")
    kind = models.CharField(max_length=8, choices=StayKind.choices)
    name = models.CharField(max_length=300)
    reason = models.CharField(max_length=16, choices=StayReason.choices)
    detail = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["release", "kind", "reason", "id"], name="public_stay_by_reason")]

    def __str__(self) -> str:
        return self.name


class PublicLook(models.Model):
    """A person opened the preview of what goes out, as it was under this digest."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="looks")
    person = person()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "person", "digest"], name="public_look_once")]

    def __str__(self) -> str:
        return f"{self.release_id}: {self.person_id}"


class PublicPart(models.Model):
    """A part of the zip file of a public release, in order."""

    release = models.ForeignKey(PublicRelease, models.PROTECT, related_name="parts")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "number"], name="public_part_once")]

    def __str__(self) -> str:
        return f"{self.release_id}: {self.number}"
