"""The slices of the demo's version: two quarters' samples, and those that grew by hand and from disputes."""

from datetime import timedelta

from apps.dashboard.execution.demo.stage import WEEKS, Stage
from apps.goldsets.actions.slices import add_found, add_to_slice, make_rotating_slice
from apps.goldsets.core.rotation import first_day, quarter_of
from apps.goldsets.enums import SliceKind
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import questions_for_slices

SIZE = 12
CANARY = "Asked every week; it has to work."
HARD = "Its words are not those of the handbook."
FELL = "It fell when long passages were damped for the first time."


def cut_slices(stage: Stage, version: Version) -> None:
    """Cut every kind of slice; the newest rotating one is of the quarter in which the demo is loaded."""
    actor, at = stage.lead, stage.at(41.3)
    now = quarter_of(stage.at(7 * WEEKS))
    before = quarter_of(first_day(now) - timedelta(days=1))
    for quarter in (before, now):
        make_rotating_slice(version_id=version.pk, quarter=quarter, size=SIZE, actor=actor, at=at)
    names = [question.name for question in questions_for_slices(version)]
    picked = {
        SliceKind.CANARY: (names[::6], CANARY),
        SliceKind.REGRESSION: (names[3::8], FELL),
        SliceKind.CHALLENGE: (names[1::5], HARD),
    }
    for kind, (chosen, why) in picked.items():
        add_to_slice(version_id=version.pk, kind=kind, names=dict.fromkeys(chosen, why), actor=actor, at=at)
    add_found(version_id=version.pk, kind=SliceKind.CHALLENGE, actor=actor, at=at)
