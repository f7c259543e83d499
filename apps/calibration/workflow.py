"""The states of a calibration and the one function that moves it."""

from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.audit.actions import record
from apps.calibration.enums import CalibrationState
from apps.calibration.models import Calibration

STEPS: dict[tuple[str, str], str] = {
    (CalibrationState.OPEN, "answer"): CalibrationState.ANSWERED,
    (CalibrationState.OPEN, "close"): CalibrationState.CLOSED,
    (CalibrationState.ANSWERED, "close"): CalibrationState.CLOSED,
}


class IllegalStep(Exception):
    """A step that is not in the table; only a fault of the program raises it."""


def move(calibration: Calibration, step: str, *, actor: User, at: datetime, **changes: Any) -> Calibration:
    """Make `step` on the locked row, with `changes` to other fields, and write its event."""
    before = calibration.state
    if (before, step) not in STEPS:
        raise IllegalStep(f"{calibration} is {before}; {step} is no step from there.")
    changes = {"state": STEPS[before, step], **changes}
    for name, value in changes.items():
        setattr(calibration, name, value)
    calibration.save(update_fields=list(changes))
    record(
        project=calibration.project,
        actor=actor,
        action=f"calibration.{step}",
        obj=calibration,
        before={"state": before},
        after={"state": calibration.state, "note": calibration.note},
        at=at,
    )
    return calibration
