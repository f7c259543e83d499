from django.db.models import TextChoices


class Tier(TextChoices):
    SMOKE = "smoke", "smoke: every change, 50 queries"
    FULL = "full", "full: before merging, every query"
    DEEP = "deep", "deep: before a release, every query and test"


class GateState(TextChoices):
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    UNKNOWN = "unknown", "not known yet"
    NOTHING = "nothing", "nothing checked"
