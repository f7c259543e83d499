import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from apps.common.files import store
from apps.jobs.core.progress import percent_done, progress_line, seconds_left, spoken
from apps.jobs.enums import ENDED, DeliveryKind, DeliveryState, JobState, MailHow, UploadState

MAX_ATTEMPTS = 3
NEAR_BYTES = 8 << 20
ENDED_STATES = sorted(ENDED)


class JobQuerySet(models.QuerySet["Job"]):
    def open(self) -> "JobQuerySet":
        return self.filter(state__in=[JobState.QUEUED, JobState.RUNNING])


class Job(models.Model):
    """A piece of slow work. This table is the queue; a message on the broker only wakes a worker.

    `attempt` is the fencing token: it rises with every claim, and a worker may write only while it has the current one.
    `lease_expires_at` and `next_at` are times of the database's clock, never of a host's.
    """

    project = models.ForeignKey("accounts.Project", models.PROTECT, null=True, related_name="jobs")
    kind = models.CharField(max_length=80)
    title = models.CharField(max_length=200)
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=MAX_ATTEMPTS)
    lease_expires_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True, help_text="Not to be claimed before.")
    nudged_at = models.DateTimeField(null=True)
    worker = models.CharField(max_length=120, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True)
    progress_text = models.CharField(max_length=200, blank=True)
    progress_at = models.DateTimeField(null=True)
    result = models.JSONField(null=True)
    error = models.TextField(blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(name="job_state_is_known", condition=Q(state__in=JobState.values)),
            models.CheckConstraint(
                name="job_finished_at_goes_with_an_end",
                condition=Q(state__in=ENDED_STATES, finished_at__isnull=False)
                | (~Q(state__in=ENDED_STATES) & Q(finished_at=None)),
            ),
            models.CheckConstraint(
                name="job_lease_goes_with_running",
                condition=Q(state=JobState.RUNNING, lease_expires_at__isnull=False)
                | (~Q(state=JobState.RUNNING) & Q(lease_expires_at=None)),
            ),
            models.CheckConstraint(name="job_attempts_are_limited", condition=Q(attempt__lte=F("max_attempts"))),
        ]
        indexes = [
            models.Index(
                fields=["state", "id"],
                name="job_open",
                condition=Q(state__in=[JobState.QUEUED, JobState.RUNNING]),
            ),
            models.Index(fields=["project", "-id"], name="job_newest_first"),
            models.Index(fields=["state"], name="job_by_state"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_cancelling(self) -> bool:
        return self.state == JobState.RUNNING and self.cancel_requested_at is not None

    @property
    def percent(self) -> int | None:
        return percent_done(self.done, self.total)

    @property
    def seconds_left(self) -> int | None:
        """Estimated from the rate of this attempt; both times are the database's, so hosts' clocks do not matter."""
        if self.state != JobState.RUNNING or not self.started_at or not self.progress_at:
            return None
        return seconds_left(self.done, self.total, (self.progress_at - self.started_at).total_seconds())

    @property
    def progress_line(self) -> str:
        return progress_line(self.done, self.total, self.seconds_left)

    @property
    def taken(self) -> str:
        """How long the last attempt took, in words; "" while it has not ended."""
        if not self.started_at or not self.finished_at:
            return ""
        return spoken(max(0.0, (self.finished_at - self.started_at).total_seconds()))


class JobChunk(models.Model):
    """A part of a job whose effect is committed. Written in the transaction of that effect."""

    job = models.ForeignKey(Job, models.PROTECT, related_name="chunks")
    key = models.CharField(max_length=200)
    attempt = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "key"], name="job_chunk_happens_once")]

    def __str__(self) -> str:
        return self.key


class WorkerBeat(models.Model):
    """When each worker was last seen, by the database's clock, and the id of the data directory that it uses."""

    worker = models.CharField(max_length=120, unique=True)
    host = models.CharField(max_length=32, default="")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.worker


class Outbox(models.Model):
    """An outgoing message, delivered at least once; a receiver recognises a repeat by `delivery_id`."""

    delivery_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey("accounts.Project", models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=16, choices=DeliveryKind.choices)
    payload = models.JSONField()
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    answered = models.PositiveSmallIntegerField(null=True, help_text="The status that the last attempt got over HTTP.")
    error = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="outbox_kind_is_known", condition=Q(kind__in=DeliveryKind.values)),
            models.CheckConstraint(
                name="outbox_sent_at_goes_with_sent",
                condition=Q(state=DeliveryState.SENT, sent_at__isnull=False)
                | Q(state__in=[DeliveryState.WAITING, DeliveryState.FAILED], sent_at=None),
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], name="outbox_due", condition=Q(state=DeliveryState.WAITING)),
            models.Index(fields=["state"], name="outbox_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.delivery_id}"


class Webhook(models.Model):
    """An address elsewhere that gets chosen events of a project. Messages are signed with the named secret.

    Until `former_until` they are also signed with the secret before, so that the receiver can change over in between.
    `failing_since` is the first failure since a message was accepted, and `disabled_at` when that had lasted too long;
    `former_until` and both are times of the database's clock.
    """

    project = models.ForeignKey("accounts.Project", models.PROTECT, related_name="webhooks")
    url = models.CharField(max_length=2_000)
    secret = models.CharField(max_length=60, help_text="Name of the project's secret that signs.")
    former_secret = models.CharField(max_length=60, blank=True, help_text="Name of the one that signs as well.")
    former_until = models.DateTimeField(null=True)
    events = models.JSONField(default=list, help_text="Types of the events that it gets.")
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "url"], condition=Q(ended_at=None), name="webhook_told_once"),
            models.CheckConstraint(
                name="webhook_ended_by_goes_with_ended_at",
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.url


class Upload(models.Model):
    """An uploaded file, stored under a generated name.

    `filename` is the person's name for it: shown, never used as a path. `path` is relative to the files folder.
    """

    project = models.ForeignKey("accounts.Project", models.PROTECT, related_name="uploads")
    kind = models.CharField(max_length=32)
    purpose = models.CharField(max_length=64)
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=120, unique=True)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=16, choices=UploadState.choices, default=UploadState.STORED)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="upload_state_is_known", condition=Q(state__in=UploadState.values))]

    def __str__(self) -> str:
        return self.filename

    @property
    def place(self) -> Path:
        """Where this host has the file, or would have it: another one may have taken it in."""
        return store.path_of(self.path)

    @property
    def is_near(self) -> bool:
        """Whether a request may wait for the file: this host has it, or it is small."""
        return self.size <= NEAR_BYTES or self.place.exists()

    def file_here(self) -> Path:
        """The path of the file on this host, fetched when another one has taken it in.

        Raises FileGone where nobody has it any more, and BucketAway where the store does not answer.
        """
        return store.here(self.path, sha256=self.sha256)


class Notification(models.Model):
    """A notification of one person, listed in the app and mailed if they want.

    `key` makes it unique: a second notification with the same key to the same person is not written. It contains only
    what the person would see at `path` anyway.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="notifications")
    project = models.ForeignKey("accounts.Project", models.PROTECT, related_name="notifications")
    kind = models.CharField(max_length=40)
    sentence = models.CharField(max_length=300)
    path = models.CharField(max_length=300)
    key = models.CharField(max_length=160)
    about = models.BigIntegerField(
        null=True, help_text="The triple whose verdicts it tells of; it may be hidden for a while."
    )
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "key"], name="notification_once")]
        indexes = [
            models.Index(fields=["person", "project", "-id"], name="notification_newest_first"),
            models.Index(fields=["person", "project"], name="notification_unread", condition=Q(read_at=None)),
            models.Index(
                fields=["person", "id"], name="notification_to_mail", condition=Q(read_at=None, mailed_at=None)
            ),
        ]

    def __str__(self) -> str:
        return self.sentence


class MailChoice(models.Model):
    """How a person wants to get mail. Without a row: a digest in working hours.

    Hours are of the person's own time zone, `from_hour` included and `to_hour` not. Two workers that are about to write
    the same mail lock this row.
    """

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.PROTECT, related_name="mail_choice")
    how = models.CharField(max_length=8, choices=MailHow.choices, default=MailHow.DIGEST)
    from_hour = models.PositiveSmallIntegerField(default=9)
    to_hour = models.PositiveSmallIntegerField(default=17)
    weekdays_only = models.BooleanField(default=True)
    digest_at = models.DateTimeField(null=True, help_text="When the last digest was put together.")

    class Meta:
        constraints = [
            models.CheckConstraint(name="mail_how_is_known", condition=Q(how__in=MailHow.values)),
            models.CheckConstraint(
                name="mail_hours_are_a_span", condition=Q(from_hour__lt=F("to_hour"), to_hour__lte=24)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.how} for {self.person_id}"


class PeriodicTask(models.Model):
    """When a periodic task was last claimed, by the database's clock, which all workers share."""

    name = models.CharField(max_length=80, unique=True)
    taken_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
