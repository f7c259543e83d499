from django.db import models


class RoundKind(models.TextChoices):
    JUDGING = "judging", "judging"
    IMPORTED = "imported", "imported"
    PROPAGATED = "propagated", "carried over"


class RoundState(models.TextChoices):
    OPENING = "opening", "opening"
    OPEN = "open", "open"
    CLOSED = "closed", "closed"


class SeatState(models.TextChoices):
    OPEN = "open", "open"
    LEASED = "leased", "leased"
    DONE = "done", "done"


class CantJudgeReason(models.TextChoices):
    UNCLEAR_QUERY = "unclear_query", "unclear query"
    UNREADABLE = "unreadable", "unreadable passage"
    NEEDS_EXPERT = "needs_expert", "needs an expert"
    MISSING_CONTEXT = "missing_context", "missing context"


class ErrorType(models.TextChoices):
    """Why judges differed, by the adjudicator."""

    UNCLEAR_QUERY = "unclear_query", "unclear query"
    UNCLEAR_GUIDELINE = "unclear_guideline", "unclear guideline"
    UNREADABLE = "unreadable", "unreadable passage"
    SLIP = "slip", "slip"
    AMBIGUITY = "ambiguity", "real ambiguity"
    NOT_RECORDED = "not_recorded", "not recorded"

    @classmethod
    def choosable(cls) -> list[tuple[str, str]]:
        """The values an adjudicator chooses from; "not recorded" is for imported decisions only."""
        return [choice for choice in cls.choices if choice[0] != cls.NOT_RECORDED]


DIFFERENCES = "judging.differences"
ROUND_CLOSED = "judging.closed"
NOTICES = {
    DIFFERENCES: ("rounds have differences that wait for your answer.", "judging:index"),
    ROUND_CLOSED: ("rounds that you judged in were closed.", "judging:mine"),
}
"""Kinds of notifications of which several are one line: what follows their number, and the page that lists them."""


class DecidedBy(models.TextChoices):
    """Who ended a pair that its judges had graded differently. The value of a decision from before this is "lead"."""

    LEAD = "lead", "a lead"
    LEAD_WHO_JUDGED = "lead_who_judged", "a lead who also judged the pair"
    JUDGES = "judges", "its judges, who saw each other's grades"


class AbsenceState(models.TextChoices):
    """How far it is settled that nothing in a snapshot answers a query."""

    OPEN = "open", "waits for votes"
    NOT_DEEP = "not_deep", "not judged deep enough"
    BEING_JUDGED = "being_judged", "being judged"
    DIFFERENT = "different", "votes differ"
    CONFIRMED = "confirmed", "unanswerable"
    ANSWERED = "answered", "a passage was named"
    FALLEN = "fallen", "fallen"
