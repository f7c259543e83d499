from django.db.models import TextChoices


class JobState(TextChoices):
    QUEUED = "queued", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


class JobStep(TextChoices):
    CLAIM = "claim"
    RECLAIM = "reclaim"
    FINISH = "finish"
    TRY_AGAIN = "try again"
    GIVE_UP = "give up"
    CANCEL = "cancel"
    RETRY = "retry"


class DeliveryKind(TextChoices):
    MAIL = "mail", "mail"
    WEBHOOK = "webhook", "webhook"


class WebhookEvent(TextChoices):
    """What a webhook can be told of; the values are the `type` of its messages."""

    RELEASED = "version.released", "A version is released"
    GATE = "gate.changed", "A gate changes its state"
    CALIBRATION = "calibration.due", "A calibration is opened"
    DISPUTE = "dispute.escalated", "A dispute takes too long"
    PERMISSION = "permission.revoked", "A permission is revoked"
    JOB = "job.failed", "A job fails"


class ServerEvent(TextChoices):
    """What the webhook of the operators is told of, which belongs to no project."""

    BACKUP = "backup.old", "The last verified backup is old"
    JOB = "job.failed", "A job of no project fails"


class DeliveryState(TextChoices):
    WAITING = "waiting", "waiting"
    SENT = "sent", "sent"
    FAILED = "failed", "failed"


PASSING_UPLOADS = frozenset({"log"})
"""Kinds of uploads of which nothing may stay: deleted with their last attempt, and in no backup."""


class UploadState(TextChoices):
    STORED = "stored", "stored"
    USED = "used", "used"
    DISCARDED = "discarded", "discarded"


class MailHow(TextChoices):
    DIGEST = "digest", "A digest in working hours"
    AT_ONCE = "at_once", "At once, in working hours"
    NEVER = "never", "Never"
