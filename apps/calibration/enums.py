from django.db import models


class CalibrationState(models.TextChoices):
    """Open: the two review blindly. Answered: they compare and discuss. Closed: with a note, finally."""

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    CLOSED = "closed", "Closed"
