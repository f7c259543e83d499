from django.db.models import TextChoices


class Tier(TextChoices):
    SMOKE = "smoke", "smoke: a minute at most"
    FULL = "full", "full: every query"
    DEEP = "deep", "deep: every query, slice and test"


class GateState(TextChoices):
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    UNKNOWN = "unknown", "not known"
