"""The states of a calibration and the one function that moves it."""

from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.audit.actions import save_step
from apps.calibration.enums import CalibrationState
from apps.calibration.models import Calibration

STEPS: dict[tuple[str, str], str] = {
    (CalibrationState.OPEN, "answer"): CalibrationState.ANSWERED,
    (CalibrationState.OPEN, "close"): CalibrationState.CLOSED,
    (CalibrationState.ANSWERED, "close"): CalibrationState.CLOSED,
}


def move(calibration: Calibration, step: str, *, actor: User, at: datetime, **changes: Any) -> Calibration:
    """Make `step` on the locked row, with `changes` to other fields, and write its event. Raises IllegalStep."""
    save_step(
        calibration,
        step,
        STEPS.get((calibration.state, step)),
        project=calibration.project,
        actor=actor,
        action=f"calibration.{step}",
        after={"note": changes.get("note", calibration.note)},
        at=at,
        **changes,
    )
    return calibration
