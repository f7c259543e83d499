"""Reads of the pairs that the same person judged blindly a second time, by week."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from apps.agreement.core.drift import DriftCheck
from apps.agreement.core.weeks import monday_of
from apps.common.database.periods import Day
from apps.judging.models import Judgement, Round


def repeats_since(rounds: Sequence[Round], since: date) -> list[DriftCheck]:
    """Pairs of these rounds judged a second time since this day; superseded and "can't judge" answers do not count."""
    live = Judgement.objects.filter(round__in=rounds, superseded_by=None, grade__isnull=False)
    again = live.filter(pass_number__gt=1, given_at__gte=datetime.combine(since, time(), UTC))
    rows: Any = again.order_by("pk").values_list("round", "entry", "annotator", "grade", Day("given_at"))
    looks: Any = live.filter(pass_number=1, entry__in=again.values("entry"))
    first = {look[:3]: look[3] for look in looks.values_list("round", "entry", "annotator", "grade")}
    return [
        DriftCheck(monday_of(date.fromisoformat(day)), first[round_, entry, person], grade)
        for round_, entry, person, grade, day in rows
        if (round_, entry, person) in first
    ]
