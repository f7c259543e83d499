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


class DeliveryState(TextChoices):
    WAITING = "waiting", "waiting"
    SENT = "sent", "sent"
    FAILED = "failed", "failed"


class UploadState(TextChoices):
    STORED = "stored", "stored"
    USED = "used", "used"
    DISCARDED = "discarded", "discarded"


class MailHow(TextChoices):
    DIGEST = "digest", "A digest in working hours"
    AT_ONCE = "at_once", "At once, in working hours"
    NEVER = "never", "Never"
