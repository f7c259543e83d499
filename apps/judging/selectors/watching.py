"""What a monitor watches of judging, for all projects together."""

from datetime import datetime

from django.db.models import Max

from apps.common.web.exposition import Metric, counter, gauge
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Seat


def lease_metrics(at: datetime) -> list[Metric]:
    """Reads the seats that are leased, which are few: an index has no others."""
    lapsed = Seat.objects.filter(state=SeatState.LEASED, lease_expires_at__lt=at).count()
    about = "Pairs that were leased, and whose lease has lapsed with nobody having asked for a pair since."
    return [gauge("karat_leases_lapsed", about, lapsed)]


def grade_metrics(at: datetime) -> list[Metric]:
    """The highest number of a grade, since counting a million takes a while. Grades are never deleted.

    On PostgreSQL a grade that was taken back before its commit has used a number too.
    """
    highest = Judgement.objects.aggregate(highest=Max("pk"))["highest"] or 0
    return [counter("karat_grades_total", "Grades ever stored, changed and imported ones included.", highest)]
