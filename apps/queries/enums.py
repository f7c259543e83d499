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


class QueryCheck(models.TextChoices):
    """A check of every query that comes in. `query_` and its value is the name of the policy: a `CheckEffect`."""

    PERSONAL = "personal", "Personal data"
    DUPLICATE = "duplicate", "Nearly the same as another query"
    COPIED = "copied", "Words copied from a passage"
    STOP_WORDS = "stop_words", "Only words that say nothing by themselves"
    LANGUAGE = "language", "In another language than the other queries"


class CheckEffect(models.TextChoices):
    """What a check does that finds something in a query."""

    BLOCK = "block", "Keep the query out"
    WARN = "warn", "Warn, and list it"
    LIST = "list", "List it only"


class ReportState(models.TextChoices):
    """What became of a report of a search that went wrong."""

    OPEN = "open", "open"
    TAKEN = "taken", "taken as a query"
    REJECTED = "rejected", "rejected"


class VariantKind(models.TextChoices):
    """How a wording is degraded. The value is part of the variant's id, the label its kind in files."""

    TYPO = "typo", "typo"
    SLIP = "slip", "keyboard slip"
    MARKS = "marks", "no diacritics"
    LOWER = "lower", "lower case"
    TELEGRAPHIC = "short", "telegraphic"
    ACRONYM = "acronym", "acronym"
    QUESTION = "question", "as a question"
    LANGUAGE = "language", "other language"
