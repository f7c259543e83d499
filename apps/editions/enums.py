from django.db import models


class ChangeKind(models.TextChoices):
    """What a new edition does to a passage, in the order of pages."""

    SAME = "same", "Same text"
    METADATA = "metadata", "Metadata only"
    RENAMED = "renamed", "Renamed or moved"
    CHANGED = "changed", "Changed"
    GONE = "gone", "Gone"
    NEW = "new", "New"


KEEPS_ITS_TEXT = (ChangeKind.SAME, ChangeKind.METADATA, ChangeKind.RENAMED)
"""Kinds whose grades come along without a question."""


class Choice(models.TextChoices):
    """What happens to the grades of a changed passage."""

    CARRY = "carry", "Carry along"
    AGAIN = "again", "Judge again"
