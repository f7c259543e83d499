from django.db import models

FREEZE = "corpus.freeze"
"""The kind of job that freezes a large corpus."""


class ImportState(models.TextChoices):
    """The state of an import. Ready, faulty and applying are open; applied, failed and discarded are final."""

    READING = "reading", "being read"
    READY = "ready", "waiting for confirmation"
    FAULTY = "faulty", "has mistakes"
    APPLYING = "applying", "being applied"
    APPLIED = "applied", "applied"
    FAILED = "failed", "failed"
    DISCARDED = "discarded", "discarded"


class ImportMode(models.TextChoices):
    """Whether blocks that the file does not contain are removed."""

    REPLACE = "replace", "The file is the whole corpus: passages it does not contain are removed"
    MERGE = "merge", "The file adds to the corpus: passages it does not contain stay"


class BlockField(models.TextChoices):
    """What measures read of a block besides its text. Which metadata name it has, a project states."""

    DATE = "date", "Date"
    TYPE = "type", "Type"
    PROVIDER = "provider", "Provider"
    AUDIENCE = "audience", "Audience"

    @property
    def policy(self) -> str:
        """The policy of a project that names its metadata."""
        return f"{self.value}_field"
