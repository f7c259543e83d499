"""Verdicts, reasons, and the outcome of two verdicts."""

from enum import Enum

from django.db import models
from django.db.models import TextChoices


class VerdictChoice(models.TextChoices):
    CONFIRM = "confirm", "Confirm"
    FLAG = "flag", "Flag"


class Reason(models.TextChoices):
    UNREALISTIC = "unrealistic", "Question unrealistic"
    WRONG_BLOCK = "wrong_block", "Wrong passage"
    NOT_ENTAILED = "not_entailed", "Answer not entailed"
    OVERSTATED = "overstated", "Answer overstated"
    UNDERSTATED = "understated", "Answer understated"
    OTHER = "other", "Other"


class Category(models.TextChoices):
    NUMERIC = "numeric", "Numeric precision"
    SYNONYM = "synonym", "Synonym or tense"
    COMPOUND = "compound", "Compound claim"
    OTHER = "other", "Other"


class Outcome(models.TextChoices):
    PENDING = "pending", "Open"
    CONSENSUS = "consensus", "Both confirm"
    DISPUTE = "dispute", "One confirms, one flags"
    DROP = "drop", "Both flag"


class ResolutionKind(models.TextChoices):
    CONSENSUS = "consensus", "Consensus"
    REVISED = "revised", "Revised"
    POLICY = "policy", "Policy"
    ADJUDICATED = "adjudicated", "Adjudicated"
    SPLIT = "split", "Split"
    DROPPED = "dropped", "Dropped"


ABOUT_ENTAILMENT = frozenset({Reason.NOT_ENTAILED, Reason.OVERSTATED, Reason.UNDERSTATED})

REASON_HELP = {
    Reason.UNREALISTIC: "Nobody would ask this, or not in these words",
    Reason.WRONG_BLOCK: "The evidence is not what answers it",
    Reason.NOT_ENTAILED: "The passage does not say it",
    Reason.OVERSTATED: "It says more than the passage does",
    Reason.UNDERSTATED: "It leaves out a condition that matters",
    Reason.OTHER: "In your own words, below",
}

REASON_KEYS = dict(zip(Reason, "123456", strict=True))
CATEGORY_KEYS = dict(zip(Category, "qwer", strict=True))


class Decision(Enum):
    ACCEPT = "accept"
    RETURN = "return"
    DROP = "drop"


class RateSide(TextChoices):
    """Whose rate it is: flags received as an author, or given as a reviewer."""

    AUTHOR = "author", "as an author"
    REVIEWER = "reviewer", "as a reviewer"
