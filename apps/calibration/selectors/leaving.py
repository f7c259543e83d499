"""The calibrations of a person who leaves, which a lead closes."""

from django.db.models import Count, Q

from apps.accounts.core.guests import Holding
from apps.accounts.models import User
from apps.calibration.enums import CalibrationState
from apps.calibration.models import Calibration


def held_calibrations(user: User) -> list[Holding]:
    open_ = Calibration.objects.filter(Q(subject=user) | Q(partner=user)).exclude(state=CalibrationState.CLOSED)
    counted = open_.order_by("project__name").values_list("project__name").annotate(count=Count("pk"))
    return [Holding("calibration", count, "stays open; a lead closes it", project) for project, count in counted]
