from django.db import models


class VersionState(models.TextChoices):
    DRAFT = "draft", "draft"
    FROZEN = "frozen", "frozen"
    RELEASED = "released", "released"
    SUPERSEDED = "superseded", "superseded"


class Split(models.TextChoices):
    DEV = "dev", "dev"
    TEST = "test", "test"
