from django.db import models

FREEZE = "corpus.freeze"
"""The kind of job that freezes a large corpus."""


class ImportState(models.TextChoices):
    """How far a file has come. Ready, faulty and applying wait; applied, failed and discarded are ends."""

    READING = "reading", "being read"
    READY = "ready", "waiting for confirmation"
    FAULTY = "faulty", "has mistakes"
    APPLYING = "applying", "being applied"
    APPLIED = "applied", "applied"
    FAILED = "failed", "failed"
    DISCARDED = "discarded", "discarded"


class ImportMode(models.TextChoices):
    """What becomes of blocks that the file does not name."""

    REPLACE = "replace", "The file is the whole corpus: passages it does not contain are removed"
    MERGE = "merge", "The file adds to the corpus: passages it does not contain stay"
