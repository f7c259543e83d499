from django.db.models import TextChoices

STRATA = {"domain": "Domain", "query_type": "Type", "difficulty": "Difficulty", "source": "Source"}
"""The fields of a query by which scores are told apart, in the order of the pages."""


class Tier(TextChoices):
    SMOKE = "smoke", "smoke: a minute at most"
    FULL = "full", "full: every query"
    DEEP = "deep", "deep: every query, slice and test"


class GateState(TextChoices):
    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    UNKNOWN = "unknown", "not known"
