from django.db import models


class SourceKind(models.TextChoices):
    """Where queries come from."""

    QUERY_LOG = "query_log", "query log"
    FAILURE_CASE = "failure_case", "failure case"
    ADVERSARIAL = "adversarial", "adversarial probe"
    INTERVIEW = "interview", "interview"
    PUBLIC_RFP = "public_rfp", "public RFP"
    CUSTOMER = "customer", "customer material"
    SYNTHETIC = "synthetic", "synthetic"


class PermissionScope(models.TextChoices):
    """The allowed use of a source's material."""

    INTERNAL = "internal", "internal"
    PUBLIC = "public", "public"


class Difficulty(models.TextChoices):
    EASY = "easy", "easy"
    STANDARD = "standard", "standard"
    MEDIUM = "medium", "medium"
    HARD = "hard", "hard"
