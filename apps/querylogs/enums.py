"""What a search log is drawn by, and what becomes of a query that was offered from it."""

from django.db import models


class Plan(models.TextChoices):
    """How the places of a sample are shared out."""

    BALANCED = "balanced", "Balanced"
    TRAFFIC = "traffic", "Like the traffic"


class Band(models.TextChoices):
    """How often a query is searched: each band holds a third of the searches."""

    HEAD = "head", "head"
    TORSO = "torso", "torso"
    TAIL = "tail", "tail"


class Outcome(models.TextChoices):
    """What came of most searches for a query."""

    FOUND = "found", "with results"
    AGAIN = "again", "searched again"
    NOTHING = "nothing", "nothing found"


class OfferState(models.TextChoices):
    WAITING = "waiting", "not read"
    KEPT = "kept", "kept"
    SAME = "same", "same as another"
    REJECTED = "rejected", "rejected"
    EXPIRED = "expired", "deleted unread"


TRAFFIC = "traffic"
"""The name in a query's metadata of what its searches tell: a list, an entry for each query of a log that it is."""
USUAL_PEOPLE, PUBLIC_PEOPLE = 5, 30
USUAL_OFFERED = 200
LEAST_PEOPLE = (1, 2, 3, USUAL_PEOPLE, 10, PUBLIC_PEOPLE)
"""The numbers of people who must have asked, between which a lead can choose."""
