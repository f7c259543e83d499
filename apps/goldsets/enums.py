from django.db import models


class VersionState(models.TextChoices):
    DRAFT = "draft", "draft"
    FROZEN = "frozen", "frozen"
    RELEASED = "released", "released"
    SUPERSEDED = "superseded", "superseded"


class VersionStep(models.TextChoices):
    FREEZE = "freeze", "freeze"
    RELEASE = "release", "release"
    SUPERSEDE = "supersede", "supersede"


class Split(models.TextChoices):
    DEV = "dev", "dev"
    TEST = "test", "test"


class GroupBy(models.TextChoices):
    """What a split keeps whole. Items with the same words are always kept together."""

    GROUP = "group", "entity or time group"
    DOCUMENT = "document", "document of a triple"
    SOURCE = "source", "source"


class StopKind(models.TextChoices):
    """What stops a freeze: the heading under which its items are named."""

    EMPTY = "empty", "nothing to freeze"
    UNRESOLVED = "unresolved", "unresolved grade"
    NOT_ACCEPTED = "not_accepted", "triple no longer accepted"
    STALE = "stale", "stale triple"
    MACHINE = "machine", "machine-written triple"
    PERMISSION = "permission", "source without permission"
    LEAK = "leak", "leak between dev and test"
